"""Where pages stand is counted as it would be from all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.entries import PageChange, PagesChanged
from recrawl.store.sqlite.page_counts import (
    Standing,
    appointed,
    rules_of_pages,
    standing,
    without_page,
)
from recrawl.store.sqlite.reader import Reader
from recrawl.store.sqlite.store import Store
from recrawl.visits.status import PageStatus
from tests.store.made import NOON, found, numbered, store_with


def test_pages_are_counted_by_rule_and_status(tmp_path):
    path = tmp_path / "pages.db"
    with store_with(path, "https://a.org/1", "https://a.org/2", "https://a.org/3") as store:
        store.write([found("https://b.org/", host="b.org", rule=1)])
        late, soon = (PageChange(PageStatus.GONE, 1, NOON + each) for each in (-60, 60))
        store.write([PagesChanged([1, 2], [late, soon])])

    assert standing(path, NOON) == [
        Standing(0, PageStatus.NEW, 1, 0, None),
        Standing(0, PageStatus.GONE, 2, 1, NOON - 60),
        Standing(1, PageStatus.NEW, 1, 0, None),
    ]
    assert without_page(path).tolist() == appointed(path).tolist() == [1, 2]
    assert rules_of_pages(path).tolist() == [0, 0, 0, 1]


def test_an_empty_store_has_nothing_to_count(tmp_path):
    path = tmp_path / "pages.db"
    Store.create(path).close()

    assert standing(path, NOON) == []
    assert len(rules_of_pages(path)) == len(without_page(path)) == len(appointed(path)) == 0


_changes = st.lists(
    st.tuples(st.sampled_from(PageStatus), st.none() | st.integers(-100, 100)), min_size=1
)


@given(_changes)
def test_counts_are_those_of_the_columns(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("counted") / "pages.db"
    with store_with(path, *numbered(len(changes))) as store:
        moved = [
            PageChange(status, 0, None if after is None else NOON + after)
            for status, after in changes
        ]
        store.write([PagesChanged(range(1, len(changes) + 1), moved)])
    with Reader(path) as reader:
        columns = reader.pages()

    counted = standing(path, NOON)
    late = columns.next_at < np.datetime64(round(NOON * 1e6), "us")
    assert sum(each.overdue for each in counted) == np.count_nonzero(late)
    for status in PageStatus:
        pages = sum(each.pages for each in counted if each.status is status)
        assert pages == np.count_nonzero(columns.status == status)
    assert appointed(path).tolist() == (np.flatnonzero(~np.isnat(columns.next_at)) + 1).tolist()
