"""A store is read as the log that a crawl would have written beside it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import AnswerKind
from recrawl.adapters.stores import visits as store_visits
from recrawl.errors import InvalidTable, StoreMissing
from recrawl.store import create_store
from recrawl.visits.rows import UNKNOWN_TIME
from recrawl.visits.status import VisitOutcome
from tests.adapters.tables.files import rows_in, visits_in, write_csv
from tests.store.made import NOON, found, store_with, visit

PAGES = ("https://a.org/1", "https://a.org/2", "https://a.org/3")

# How a log writes each outcome: changed and status; None where it is left out.
LOGGED = {
    VisitOutcome.FIRST: ("", "200"),
    VisitOutcome.SAME: ("false", "200"),
    VisitOutcome.NOT_MODIFIED: ("false", "304"),
    VisitOutcome.CHANGED: ("true", "200"),
    VisitOutcome.GONE: ("", "404"),
    VisitOutcome.COSMETIC: ("false", "200"),
    VisitOutcome.FAILED: None,
    VisitOutcome.REFUSED: None,
    VisitOutcome.MOVED: None,
    VisitOutcome.WALLED: None,
    VisitOutcome.DUPLICATE: None,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


def read(path, monkeypatch):
    """Rows of a store, as those of a file."""
    monkeypatch.setattr("tests.adapters.tables.files.read_batches", store_visits.read)
    rows = rows_in(visits_in(path))
    monkeypatch.undo()
    return rows


def test_each_outcome_is_what_a_log_calls_it(path, monkeypatch):
    with store_with(path, *PAGES) as store:
        store.write(
            [
                visit(1, 0, outcome=VisitOutcome.FIRST, age=1.0),
                visit(1, 60, outcome=VisitOutcome.FAILED, http=503),
                visit(1, 120, outcome=VisitOutcome.CHANGED, age=60 / 86_400),
                visit(0, 180, outcome=VisitOutcome.GONE, http=410),
            ]
        )

    at = round(NOON * 1e6)
    day, minute = 86_400_000_000, 60_000_000
    assert read(path, monkeypatch) == [
        (PAGES[1], at, -1, at - day, AnswerKind.OK, None),
        (PAGES[1], at + 2 * minute, 1, at + minute, AnswerKind.OK, None),
        (PAGES[0], at + 3 * minute, -1, UNKNOWN_TIME, AnswerKind.GONE, None),
    ]


_visits = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(VisitOutcome),
        st.none() | st.integers(-100, 10**8),
        st.integers(0, 7),
    ),
    max_size=20,
)


@given(_visits)
def test_a_store_and_a_log_of_the_same_crawl_are_the_same(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("same")
    rows = []
    with store_with(folder / "pages.db", *PAGES) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_visits, "_ROWS", 4)  # several batches
        for second, (page, outcome, modified, part) in enumerate(made):
            at = NOON + second + part / 8
            age = None if modified is None else (at - (NOON - modified)) / 86_400
            store.write([visit(page, at - NOON, outcome=outcome, age=age)])
            if (logged := LOGGED[outcome]) is not None:
                date = None if modified is None else NOON - modified
                rows.append((PAGES[page], at, logged[0], date, logged[1]))

        stored = read(folder / "pages.db", patch)

    assert stored == (rows_in(write_csv(folder / "log.csv", rows)) if rows else [])


def test_pages_found_while_a_store_is_read_have_their_names(path, monkeypatch):
    monkeypatch.setattr(store_visits, "_ROWS", 1)
    with store_with(path, *PAGES) as store:
        store.write([visit(0), visit(1)])
        batches = store_visits.read(visits_in(path))
        first = next(batches)
        store.write([found("https://a.org/4")])
        second = next(batches)

    assert [*first.names.tolist(), *second.names.tolist()] == list(PAGES[:2])


def test_progress_ends_with_the_last_visit(path):
    with store_with(path, *PAGES) as store:
        store.write([visit(0, number) for number in range(5)])
    shares: list[float] = []

    (batch,) = store_visits.read(visits_in(path, progress=shares.append))

    assert shares == [1.0]
    assert np.diff(batch.at).tolist() == [1_000_000] * 4


def test_an_empty_store_has_no_visits(path):
    create_store(path).close()

    assert list(store_visits.read(visits_in(path))) == []


def test_a_store_has_columns_of_its_own(path):
    store_with(path, *PAGES).close()

    with pytest.raises(InvalidTable, match="column 'url' not found"):
        list(store_visits.read(visits_in(path, columns={"page": "url"})))
    with pytest.raises(StoreMissing):
        list(store_visits.read(visits_in(path.with_name("nothing.db"))))
