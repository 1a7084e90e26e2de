"""Texts that pages lately had: shared by pages of a host, or reverted to."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.recent_texts import RevertedTexts, SharedTexts


def test_one_text_for_two_pages_that_had_texts_of_their_own_is_a_wall():
    shared = SharedTexts()

    assert not shared.seen("h", "/1", b"wall", b"one")
    assert shared.seen("h", "/2", b"wall", b"two")
    assert shared.seen("h", "/3", b"wall", b"three")


def test_a_page_may_show_its_text_again():
    shared = SharedTexts()

    assert not shared.seen("h", "/1", b"text", b"one")
    assert not shared.seen("h", "/1", b"text", b"one")


def test_one_page_under_two_addresses_may_change():
    shared = SharedTexts()

    assert not shared.seen("h", "/1", b"new", b"same")
    assert not shared.seen("h", "/1?a", b"new", b"same")


def test_first_copies_may_be_alike():
    shared = SharedTexts()

    assert not shared.seen("h", "/1", b"text", None)
    assert not shared.seen("h", "/2", b"text", None)
    assert not shared.seen("h", "/3", b"text", b"three")


def test_hosts_are_apart():
    shared = SharedTexts()

    assert not shared.seen("h", "/1", b"wall", b"one")
    assert not shared.seen("i", "/2", b"wall", b"two")


def test_of_a_host_the_latest_texts_are_known():
    shared = SharedTexts()
    for number in range(30):
        shared.seen("h", f"/{number}", str(number).encode(), b"own")

    assert not shared.seen("h", "/x", b"0", b"x")
    assert shared.seen("h", "/x", b"29", b"x")


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 99)), max_size=50))
def test_memory_of_shared_texts_is_bounded(asked):
    shared = SharedTexts()
    for host, text in asked * 30:
        shared.seen(str(host), "/", str(text).encode(), b"")
    for host in range(1500):
        shared.seen(str(host), "/", b"", b"")

    assert len(shared._hosts) == 1000
    assert all(len(texts) <= 20 for texts in shared._hosts.values())


def test_a_text_that_a_page_had_before_is_reverted():
    reverted = RevertedTexts()

    assert not reverted.seen(1, b"B", b"A")
    assert not reverted.seen(1, b"C", b"B")
    assert reverted.seen(1, b"A", b"C")


def test_what_another_page_had_is_none():
    reverted = RevertedTexts()
    reverted.seen(1, b"B", b"A")

    assert not reverted.seen(2, b"A", b"B")


@given(st.lists(st.sampled_from([b"A", b"B", b"C", b"D"]), min_size=2, max_size=30))
def test_a_page_of_few_texts_returns_to_every_text_that_it_had(texts):
    """The oracle: all texts before the last."""
    reverted = RevertedTexts()
    changes = [(old, new) for old, new in pairwise(texts) if old != new]

    had = set()
    for old, new in changes:
        had.add(old)
        assert reverted.seen(0, new, old) == (new in had)


def test_memory_of_reverted_texts_is_bounded():
    reverted = RevertedTexts()
    for number in range(30):
        reverted.seen(0, b"%d" % (number + 1), b"%d" % number)
    assert not reverted.seen(0, b"0", b"30")
    assert len(reverted._pages[0]) == 8

    for page in range(30_000):
        reverted.seen(page, b"B", b"A")
    assert len(reverted._pages) == 20_000
