"""Which pages of a host show the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.state import contents
from recrawl.state.contents import ContentIndex

SIGNATURES = [bytes([number]) * 8 for number in range(4)]
puts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.sampled_from(SIGNATURES)))


def index_of(pages):
    index = ContentIndex()
    index.grow(pages)
    return index


@given(puts, st.integers(0, 2), st.sampled_from(SIGNATURES))
@settings(max_examples=100)
def test_pages_with_a_content_are_those_that_had_it_last(history, host, signature):
    """The oracle is a dictionary of what each page shows; sorted or recent makes no difference."""
    loaded, index, last = index_of(10), index_of(10), {}
    for page, its_host, its_signature in history:
        index.put(page, host=its_host, signature=its_signature)
        last[page] = its_host, its_signature
    pages = np.array(sorted(last), np.int64)
    hosts = np.array([last[page][0] for page in pages.tolist()], np.int64)
    data = b"".join(last[page][1] for page in pages.tolist())
    loaded.load(pages, hosts, np.frombuffer(data, "<i8").astype(np.int64))
    expected = {page for page, each in last.items() if each == (host, signature)}

    assert set(index.same(signature, host)) == expected
    assert set(loaded.same(signature, host)) == expected


def test_what_came_since_is_sorted_in_now_and_then(monkeypatch):
    monkeypatch.setattr(contents, "_FEWEST_TO_SORT", 3)
    index = index_of(8)

    for page in range(8):
        index.put(page, host=1, signature=SIGNATURES[page % 2])

    assert list(index.same(SIGNATURES[0], 1)) == [0, 2, 4, 6]
