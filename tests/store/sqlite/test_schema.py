"""Numbered steps lead an older store to the newest format."""

import apsw
import pytest

from recrawl.errors import StoreError, StoreTooNew, StoreTooOld
from recrawl.store import open_for_writing, open_store
from recrawl.store.sqlite import schema
from tests.store.made import numbered, store_with, visit
from tests.store.sqlite.connection import connection_of

FIRST = "create table pages (id integer primary key, address text) strict;"
SECOND = """
alter table pages add column weight integer not null default 1;
update pages set weight = 2 where address = 'b'; -- a comment; with a semicolon
"""
WRONG = "create table extra (id integer primary key); insert into nowhere values (1);"


def steps(folder, *texts):
    """Steps read from a folder of numbered files, with another file among them."""
    folder.mkdir()
    (folder / "README.txt").write_text("not a step")
    for number, text in enumerate(texts, 1):
        (folder / f"{number:04d}_step.sql").write_text(text)
    return schema.steps_in(folder)


@pytest.fixture
def connection(tmp_path):
    opened = apsw.Connection(str(tmp_path / "any.db"))
    yield opened
    opened.close()


def test_an_older_store_is_led_on_with_its_rows(tmp_path, connection):
    path = tmp_path / "any.db"
    schema.upgrade(path, connection, steps(tmp_path / "old", FIRST))
    connection.execute("insert into pages values (1, 'a'), (2, 'b')")

    schema.upgrade(path, connection, steps(tmp_path / "new", FIRST, SECOND))

    assert schema.format_of(connection) == 2
    assert connection.execute("select address, weight from pages").fetchall() == [
        ("a", 1),
        ("b", 2),
    ]


def test_a_step_that_fails_changes_nothing(tmp_path, connection):
    path = tmp_path / "any.db"
    with pytest.raises(StoreError, match="no such table: nowhere"):
        schema.upgrade(path, connection, steps(tmp_path / "wrong", FIRST, WRONG))

    assert schema.format_of(connection) == 1
    assert connection.execute("select name from sqlite_schema").fetchall() == [("pages",)]


def test_a_step_is_never_taken_twice(tmp_path, connection):
    path = tmp_path / "any.db"
    for _ in range(2):
        schema.upgrade(path, connection, [FIRST])

    assert schema.format_of(connection) == 1


def test_steps_without_a_number_missing(tmp_path):
    folder = tmp_path / "gap"
    folder.mkdir()
    (folder / "0002_second.sql").write_text(SECOND)

    with pytest.raises(AssertionError):
        schema.steps_in(folder)


def test_every_step_from_the_first_leads_to_a_store_that_works(tmp_path):
    """A store left at any older format is opened, brought up to date and written to."""
    all_steps = schema.steps_in()
    for done in range(len(all_steps)):
        path = tmp_path / f"{done}.db"
        store_with(path, *numbered(1)).close()
        path.unlink()
        from recrawl.store.sqlite.connections import connect_new

        connection = connect_new(path)
        schema.upgrade(path, connection, all_steps[:done])
        connection.close()

        with pytest.raises(StoreTooOld, match="the next crawl upgrades it"):
            open_store(path)
        with open_for_writing(path) as store:
            assert store.check() == []


def test_a_newer_store_is_left_alone(tmp_path):
    path = tmp_path / "pages.db"
    with store_with(path, *numbered(1)) as store:
        connection_of(store).execute("pragma user_version = 99")
    before = path.read_bytes()

    for opened in (open_for_writing, open_store):
        with pytest.raises(
            StoreTooNew, match=r"format 99 is from a newer recrawl \(this one reads up to \d+\)$"
        ):
            opened(path)
    assert path.read_bytes() == before


def test_the_newest_format_is_what_a_new_store_has(tmp_path):
    path = tmp_path / "pages.db"
    with store_with(path, *numbered(1)) as store:
        assert schema.format_of(connection_of(store)) == len(schema.steps_in())
        assert store.write([visit(0)]) == [1]
