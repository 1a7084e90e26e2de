"""Pages that are again what they were before."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.returns import Returns


def test_a_text_that_a_page_had_before_is_a_return():
    returns = Returns()

    assert not returns.seen(1, b"B", b"A")
    assert not returns.seen(1, b"C", b"B")
    assert returns.seen(1, b"A", b"C")


def test_what_another_page_had_is_none():
    returns = Returns()
    returns.seen(1, b"B", b"A")

    assert not returns.seen(2, b"A", b"B")


@given(st.lists(st.sampled_from([b"A", b"B", b"C", b"D"]), min_size=2, max_size=30))
def test_a_page_of_few_texts_returns_to_every_text_that_it_had(texts):
    """The oracle: all texts before the last."""
    returns = Returns()
    changes = [(old, new) for old, new in pairwise(texts) if old != new]

    had = set()
    for old, new in changes:
        had.add(old)
        assert returns.seen(0, new, old) == (new in had)


def test_memory_is_bounded():
    returns = Returns()
    for number in range(30):
        returns.seen(0, b"%d" % (number + 1), b"%d" % number)
    assert not returns.seen(0, b"0", b"30")
    assert len(returns._pages[0]) == 8

    for page in range(30_000):
        returns.seen(page, b"B", b"A")
    assert len(returns._pages) == 20_000
