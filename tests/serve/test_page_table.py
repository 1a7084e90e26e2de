"""The table of all pages: one that follows another, search and order."""

import time

import numpy as np
import pytest

from recrawl.inspect.pages import VisitCounts
from recrawl.serve.views import page_table
from recrawl.serve.views.page_table import PagesView, TableQuery
from recrawl.settings.settings import read_settings
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY
from tests.serve import stores


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    stores.example(folder)
    return folder


def read(folder, before=None):
    """The table of a crawl as it is now, and its reader."""
    reader = open_store(folder / "recrawl.db")
    seen = load_snapshot(read_settings(stores.TEXT), reader, time.time() / SECONDS_A_DAY)
    return PagesView.read(seen, reader, before), reader


def test_a_table_counts_on_where_the_last_one_ended(folder):
    before, reader = read(folder)
    with reader:
        ended = before.counts.visit
    stores.one_more_change(folder)
    after, reader = read(folder, before)
    with reader:
        anew = VisitCounts.of(reader)

    assert after.counts.visit == anew.visit == ended + 1
    assert after.rows.changes[0] == before.rows.changes[0] + 1
    for name in ("visits", "changes", "last_change"):
        np.testing.assert_array_equal(getattr(after.counts, name), getattr(anew, name))


def test_what_a_table_was_asked_for_is_ready_in_the_next_one(folder, monkeypatch):
    before, reader = read(folder)
    with reader:
        before.find(TableQuery(sort="next"), reader)
    after, reader = read(folder, before)

    def fail(*_):
        raise AssertionError("it is worked out again")

    monkeypatch.setattr(page_table, "next_visits", fail)
    with reader:
        found, total = after.find(TableQuery(sort="-next"), reader)
    assert len(found) == total


def test_what_nobody_asked_for_is_not_worked_out(folder):
    before, reader = read(folder)
    reader.close()
    after, reader = read(folder, before)
    reader.close()

    assert after.asked == set()


@pytest.mark.parametrize("few", [0, 20_000])
@pytest.mark.parametrize("sort", ["address", "-address"])
@pytest.mark.parametrize("search", ["", "news", "org"])
def test_addresses_are_in_order_however_many_are_read(folder, monkeypatch, few, sort, search):
    """Of many pages only the first are read in order; the result is the same."""
    monkeypatch.setattr(page_table, "_FEW", few)
    table, reader = read(folder)
    with reader:
        names = [name for some in reader.all_addresses() for name in some]
        held = sorted((name for name in names if search in name), reverse=sort[0] == "-")
        query = TableQuery(search=search, sort=sort, first=2, rows=5)
        found, total = table.find(query, reader)

    assert [names[page] for page in found.tolist()] == held[2:7]
    assert total == len(held)
