"""Where pages stand is counted as it would be from all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.entries import PageChange, PagesChanged
from recrawl.store import create_store, open_store
from recrawl.visits.status import PageStatus
from tests.store.made import NOON, numbered, store_with


def test_an_empty_store_has_nothing_to_count(tmp_path):
    path = tmp_path / "pages.db"
    create_store(path).close()

    with open_store(path) as reader:
        assert reader.page_counts(NOON) == []
        assert reader.rules().tolist() == []
        assert reader.pages_without_content().tolist() == []
        assert reader.appointed_pages().tolist() == []


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
        store.write([PagesChanged(range(len(changes)), moved)])
    with open_store(path) as reader:
        columns = reader.pages()
        counted = reader.page_counts(NOON)
        appointed = reader.appointed_pages()

    late = columns.next_at < np.datetime64(round(NOON * 1e6), "us")
    assert sum(each.overdue for each in counted) == np.count_nonzero(late)
    for status in PageStatus:
        pages = sum(each.pages for each in counted if each.status is status)
        assert pages == np.count_nonzero(columns.status == status)
    assert appointed.tolist() == np.flatnonzero(~np.isnat(columns.next_at)).tolist()
