"""Stores where tables are expected: read as logs, turned into rates, or refused."""

import numpy as np
import pytest

from recrawl.adapters.tables.rates import read_rates
from recrawl.adapters.tables.visits import read_batches
from recrawl.adapters.tables.whole import WholeTable
from recrawl.entries.entries import PageChange, VisitMade
from recrawl.errors import InvalidTable
from recrawl.inspect.pages import page_rows
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.adapters.tables.files import visits_in
from tests.inspect.looked import BEGAN, DAY, addresses, made, save


@pytest.fixture
def path(tmp_path):
    made(tmp_path / "recrawl.db")
    return tmp_path / "recrawl.db"


@pytest.mark.parametrize("name", ["recrawl.db", "visits.csv", "visits.parquet", "noname"])
def test_a_store_is_known_by_its_first_bytes_whatever_its_name(path, name):
    other = path.rename(path.with_name(name))

    assert sum(len(batch.at) for batch in read_batches(visits_in(other))) == 300


def test_another_programs_database_is_no_store(tmp_path):
    other = tmp_path / "other.db"
    other.write_bytes(b"SQLite format 3\0" + bytes(84))

    with pytest.raises(InvalidTable, match="an SQLite database, but not a recrawl store"):
        list(read_batches(visits_in(other)))


def test_rates_are_those_of_the_pages_that_are_there(path):
    with open_for_writing(path) as store:
        gone = PageChange(PageStatus.GONE)
        store.write([VisitMade(0, (BEGAN + 20) * DAY, VisitOutcome.GONE, http=404, change=gone)])
    table = read_rates(path)

    assert table.pages == addresses(60)[1:]
    assert (table.figures["low"] <= table.figures["rate_per_day"]).all()
    assert np.isfinite(table.figures["shape"]).all()
    assert table.host is None


def test_pages_that_changed_at_every_visit_are_the_faster_ones(path):
    """They changed four times in four gaps of two days, the others never."""
    rates = np.sort(read_rates(path).figures["rate_per_day"])

    assert rates[0] < 0.1
    assert rates[-1] > 0.5


def test_rates_are_what_the_crawl_believes(tmp_path):
    """At its last visit; `recrawl pages` says the same of them."""
    path, now = tmp_path / "other.db", BEGAN + 9
    settings = made(path, own=True)
    save(settings, path, now)
    with open_store(path) as reader:
        rows = page_rows(load_snapshot(settings, reader, now), reader)
    table = read_rates(path)

    assert table.pages == [*addresses(60), *addresses(30, "b.org")]
    np.testing.assert_allclose(table.figures["rate_per_day"], rows.rate, rtol=1e-3)


def test_where_a_table_is_needed_a_store_is_refused(path):
    with pytest.raises(
        InvalidTable, match=r"this is a store, not a table; `recrawl export` writes"
    ):
        WholeTable(path)
