"""Stores that are moved from a file to PostgreSQL and back, and moves that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from recrawl.entries.entries import HintsTaken, Prune
from recrawl.errors import InvalidParameter, StoreCorrupt, StoreError, StoreLocked
from recrawl.store import create_store, moving, open_for_writing, open_rows, open_store
from recrawl.store.retention import Retention
from tests.cli.running import run
from tests.servers import postgres
from tests.store.everything import fill
from tests.store.made import NOON, found, numbered, visit

# Moves, in small steps, and rests after each so that it can be killed in between.
_SLOW = """
import sys, time
from recrawl.store import moving
moving._MOST_ROWS = 40
def tell(share):
    print(share, flush=True)
    time.sleep(0.01)
moving.move(sys.argv[1], sys.argv[2], tell)
"""


@pytest.fixture
def there():
    with postgres.place() as place:
        yield place


@pytest.fixture
def here(tmp_path):
    fill(tmp_path / "here.db", pages=20, visits=150)
    return tmp_path / "here.db"


def contents(address):
    """Everything in a store: number and checksum of the rows of each table, and single values."""
    with open_rows(address) as store, store.transaction():
        found = {table: moving._sum(store.database, table) for table in moving.TABLES}
        newest = {table: store.database.newest(table) for table in moving._NUMBERED}
        rows = store.database.execute("select name, value from meta where name <> 'format'")
        return found, newest, {name: str(value) for name, value in rows}


def test_every_table_is_moved(there, here):
    """What is added to the schema must be added to what is moved."""
    with open_rows(here) as store:
        query = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
        tables = {name for (name,) in store.database.execute(query)}
        assert tables == {*moving.TABLES, "meta"}
        empty = [each for each in moving.TABLES if not moving._count(store.database, each)]
        assert empty == []


def test_a_store_comes_back_as_it_was(there, here, tmp_path):
    shares: list[float] = []
    moved = moving.move(here, there, shares.append)
    moving.move(there, tmp_path / "back.db")
    assert contents(here) == contents(there) == contents(tmp_path / "back.db")
    assert moved.rows == sum(count for count, _ in contents(here)[0].values())
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with open_for_writing(there) as store, open_store(there) as reader:
        assert not any(each.found for each in reader.check())
        count = reader.last_visit()
        assert store.write([visit(0, 900.0)]) == [count + 1]
        assert reader.checkpoint() is not None
        assert reader.remarks == []


def test_numbers_go_on_where_all_of_them_are_gone(there, here, tmp_path):
    with open_for_writing(here, Retention(events=1)) as store:
        store.write([Prune(NOON + 9e6), HintsTaken(99)])
    with open_store(here) as reader:
        before = reader.feed_range()
        assert before.oldest == before.newest + 1 > 100
    moving.move(here, there)
    moving.move(there, tmp_path / "back.db")
    for each in (there, tmp_path / "back.db"):
        with open_store(each) as reader:
            assert reader.feed_range() == before


@pytest.mark.parametrize("back", [False, True], ids=["to a server", "to a file"])
def test_a_move_that_is_killed_goes_on(there, here, tmp_path, back):
    source, target = here, there
    if back:
        moving.move(here, there)
        source, target = there, tmp_path / "back.db"
    seen = set()
    for lines in (1, 3, 5, 7):
        share = killed_after(lines, source, target)
        seen.add(share)
        for attempt in (open_store, open_for_writing):
            with pytest.raises(StoreError, match="only a part of a store"):
                attempt(target)
    assert len(seen) > 2
    moved = moving.move(source, target)
    assert 0 < moved.before < moved.rows
    assert contents(source) == contents(target)


def killed_after(lines, source, target):
    """Begin a move, and kill it once it has told of its progress so often."""
    words = [sys.executable, "-c", _SLOW, os.fspath(source), os.fspath(target)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        for _ in range(lines):
            share = process.stdout.readline()
            assert share
        process.send_signal(signal.SIGKILL)
    return float(share)


def test_a_store_with_other_content_is_never_overwritten(there, here, tmp_path):
    with create_store(there) as store:
        store.write([found(*numbered(2))])
    before = contents(there)
    with pytest.raises(StoreError, match="has content already"):
        moving.move(here, there)
    assert contents(there) == before
    with pytest.raises(InvalidParameter, match="itself"):
        moving.move(here, here)


def test_a_part_of_another_store_is_refused(there, here, tmp_path):
    killed_after(3, here, there)
    fill(tmp_path / "other.db", pages=3, visits=9)
    with pytest.raises(StoreError, match="part of another store"):
        moving.move(tmp_path / "other.db", there)
    with pytest.raises(StoreError, match="only a part"):
        moving.move(there, tmp_path / "new.db")


def test_a_source_that_changed_in_between_is_noticed(there, here):
    killed_after(12, here, there)
    with open_rows(here) as store, store.transaction():
        store.database.execute("update pages set depth = 7 where id = 1")
    with pytest.raises(StoreCorrupt, match="pages has 21 rows that differ from the 21"):
        moving.move(here, there)
    with pytest.raises(StoreError, match="only a part"):
        open_store(there)


def test_a_crawl_is_not_moved_while_it_runs(there, here):
    with open_for_writing(here), pytest.raises(StoreLocked, match="in use by another crawl"):
        moving.move(here, there)


def test_the_command_says_what_to_do_next(there, here, tmp_path):
    ended = run("move", here, there)
    assert (ended.code, ended.out) == (0, ""), ended.err
    assert "all compared." in ended.err
    assert 'store = "postgresql://' in ended.err
    again = run("move", here, there)
    assert again.code == 1
    assert "a move never overwrites a store" in again.err
