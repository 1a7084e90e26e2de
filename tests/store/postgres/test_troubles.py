"""What may go wrong with a store in PostgreSQL, as one sentence each."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import apsw
import pytest

from recrawl.entries.entries import Copy, HintsGiven, HintsTaken, PagesErased
from recrawl.errors import (
    InvalidParameter,
    NotAStore,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreMissing,
    StoreTooNew,
    StoreTooOld,
    StoreUnwritable,
)
from recrawl.store import (
    add_hints,
    back_up,
    create_store,
    delete_store,
    hold_store,
    is_taken,
    open_for_writing,
    open_store,
)
from recrawl.store.lock import is_locked, reloading_process, tell_that_it_reloads
from recrawl.store.retention import Retention
from recrawl.visits.status import VisitOutcome
from tests.servers import postgres
from tests.store.made import NOON, found, numbered, visit


@pytest.fixture
def address():
    with postgres.place() as place:
        yield place


@pytest.fixture
def store(address):
    with create_store(address) as made:
        made.write([found(*numbered(3))])
        yield made


@pytest.fixture
def server(address, store):
    """A connection of somebody else."""
    from recrawl.parse.store_addresses import read_address
    from recrawl.store.postgres.connections import connect

    with connect(read_address(address)) as connection:
        yield connection


def test_a_second_crawl_is_refused_as_with_a_file(address, store):
    with pytest.raises(StoreLocked) as raised:
        open_for_writing(address)
    sentence = f" is in use by another crawl (process {os.getpid()})"
    assert str(raised.value).endswith(address.partition("@")[2] + sentence)
    store.close()
    open_for_writing(address).close()


def test_others_see_who_holds_a_store(address, store):
    assert is_locked(address)
    assert reloading_process(address) is None
    tell_that_it_reloads(address)
    assert reloading_process(address) == os.getpid()
    store.close()
    assert not is_locked(address)
    assert reloading_process(address) is None


def test_a_process_on_another_machine_is_named_with_it(address, store, server):
    server.execute("update writers set host = 'elsewhere', reloads = true")
    with pytest.raises(StoreLocked, match=r"process \d+ on elsewhere"):
        open_for_writing(address)
    assert reloading_process(address) is None
    assert socket.gethostname() != "elsewhere"


def test_a_writer_that_lost_its_lock_writes_nothing(address, store, server):
    """As one that wakes up after its connection was taken for dead."""
    server.execute("update writers set fence = fence + 1, process = 7")
    with pytest.raises(StoreLocked, match="process 7"):
        store.write([visit(0)])
    with open_store(address) as reader:
        assert reader.last_visit() == 0


def test_a_connection_that_is_lost_is_one_sentence(address, store, server):
    (pid,) = store._connection.execute("select pg_backend_pid()").fetchone()
    server.execute(f"select pg_terminate_backend({pid})")
    with pytest.raises(StoreUnwritable, match=r"^[^\n]*the server has failed[^\n]*$"):
        store.write([visit(0)])
    with open_for_writing(address) as opened:
        assert opened.write([visit(0)]) == [1]


def test_a_reader_does_without_connections_that_have_ended(address, store, server):
    open_store(address).close()
    server.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
        "and backend_type = 'client backend'"
    )
    with open_store(address) as reader:
        assert reader.page_count() == 3


def test_a_reader_that_is_closed_reads_nothing(address, store):
    reader = open_store(address)
    reader.close()
    reader.close()
    for read in (reader.page_count, reader.pages):
        with pytest.raises(StoreError, match="closed"):
            read()


def test_a_store_that_is_not_there(address):
    assert not is_taken(address)
    for attempt in (open_store, open_for_writing):
        with pytest.raises(StoreMissing, match="recrawl init"):
            attempt(address)
    with hold_store(address) as held:
        assert held.page_count() == 0
    assert is_taken(address)
    with pytest.raises(StoreError, match="already exists"):
        create_store(address)
    hold_store(address).close()
    delete_store(address)
    assert not is_taken(address)


def test_tables_of_others_are_no_store(address, store, server):
    store.close()
    server.execute("drop table meta cascade")
    for attempt in (open_store, open_for_writing):
        with pytest.raises(NotAStore, match="somebody else"):
            attempt(address)


@pytest.mark.parametrize(("number", "error"), [("99", StoreTooNew), ("0", StoreTooOld)])
def test_other_formats_are_refused(address, store, server, number, error):
    server.execute("update meta set value = $1 where name = 'format'", (number,))
    with pytest.raises(error):
        open_store(address)


def test_a_table_that_is_lost_is_damage(address, store, server):
    server.execute("drop table masks")
    with pytest.raises(StoreCorrupt, match="lost the table masks"):
        open_store(address)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("update visits set page = 99", lambda reader: list(reader.visits())),
        ("update visits set outcome = 99", lambda reader: list(reader.outcomes())),
        ("delete from visits where id = 1", lambda reader: list(reader.visits())),
        ("update pages set host = 99", lambda reader: reader.pages()),
        ("update pages set id = 1000000000000 where id = 3", lambda reader: reader.page_count()),
        ("update meta set value = 'x' where name = 'seed'", lambda reader: None),
        ("alter table hosts drop column name cascade", lambda reader: list(reader.hosts())),
    ],
)
def test_what_cannot_be_is_damage_and_never_a_crash(address, store, server, change, read):
    store.write([visit(0), visit(1)])
    server.execute(change)
    with pytest.raises(StoreCorrupt, match=r"is damaged \("), open_store(address) as reader:
        read(reader)


def test_a_text_that_postgres_cannot_hold_fails_alone(store):
    with pytest.raises(InvalidParameter, match="rejected a row"):
        store.write([HintsGiven(["https://a.org/\0"], NOON)])
    assert store.write([visit(0)]) == [1]


def test_processes_that_start_at_once_migrate_once(address, store, monkeypatch):
    from recrawl.parse.store_addresses import read_address
    from recrawl.store.postgres import schema
    from recrawl.store.postgres.connections import connect

    store.close()
    steps = (*schema.steps_in(), "alter table masks add column more bigint; select pg_sleep(0.1)")
    monkeypatch.setattr(schema, "steps_in", lambda: steps)
    problems: list[Exception] = []

    def start() -> None:
        try:
            with connect(read_address(address)) as connection:
                schema.upgrade(connection, read_address(address))
                schema.require_current(connection, read_address(address))
        except Exception as error:  # noqa: BLE001 - told by the test
            problems.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_stores_that_are_created_at_once_are_one(address):
    made, problems = [], []

    def start() -> None:
        try:
            made.append(create_store(address))
        except StoreError as error:
            problems.append(str(error))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in made:
        each.close()
    assert len(made) == 1
    assert len(problems) == 3


def test_hints_are_numbered_in_the_order_of_commits(address, store, server):
    """Else the crawl would delete, with those that it has heard, one that it has not."""
    server.execute("begin")
    server.execute("update counters set value = value + 1 where name = 'hints'")
    server.execute("insert into hints values (1, 'https://a.org/slow', 0)")
    other = threading.Thread(target=add_hints, args=(address, ["https://a.org/fast"], NOON))
    other.start()
    other.join(0.2)
    assert other.is_alive()
    with open_store(address) as reader:
        assert reader.hints(0, 9) == []
        server.execute("commit")
        other.join()
        assert reader.hints(0, 9) == [
            (1, 0.0, "https://a.org/slow"),
            (2, NOON, "https://a.org/fast"),
        ]
    store.write([HintsTaken(1)])


def test_what_was_erased_is_not_in_the_files_of_the_tables(address, store, server):
    secret = b"nobody-may-read-this-any-more"
    text = secret.decode()
    copy = Copy(b"12345678", etag=text)
    body = os.urandom(5000)
    made = visit(0, outcome=VisitOutcome.FIRST, copy=copy, body=body, masks=text)
    store.write([made])
    (path,) = server.execute("select current_setting('data_directory')").fetchone()
    if not os.access(path, os.R_OK | os.X_OK):
        pytest.skip("the server's files cannot be read")
    server.execute("checkpoint")
    assert any(secret in each.read_bytes() for each in (Path(path) / "base").glob("*/*"))
    store.write([PagesErased([0], NOON)])
    assert store.wipe()
    server.execute("checkpoint")
    assert not any(secret in each.read_bytes() for each in (Path(path) / "base").glob("*/*"))
    assert store.wipe()


def test_a_reader_in_the_way_of_wiping_is_said(address, store, server):
    store.write([visit(0, body=b"sheep"), PagesErased([0], NOON)])
    store._connection.execute("set lock_timeout = 50")
    server.execute("begin")
    server.execute("select * from bodies")
    assert not store.wipe()
    server.execute("commit")
    assert store.wipe()


def test_old_versions_go_where_the_budget_is_small(address, store, monkeypatch):
    from recrawl.store.postgres import disk

    monkeypatch.setattr(disk, "_CALLS", 2)
    store.close()
    with open_store(address) as reader:
        empty = reader.disk_usage().total_bytes
    with open_for_writing(address, Retention(total_bytes=empty + 400_000)) as opened:
        bodies = [os.urandom(20_000) for _ in range(60)]
        for second, body in enumerate(bodies):
            opened.write([visit(0, second, body=body)])
        with open_store(address) as reader:
            kept = [each.digest for each in reader.versions(0)]
            assert 5 < len(kept) < 25
            assert reader.newest_body(0) == bodies[-1]
            assert reader.disk_usage().has_versions


def test_a_store_on_a_server_is_not_backed_up_as_a_file(address, store, tmp_path):
    with pytest.raises(InvalidParameter, match="recrawl move"):
        back_up(address, tmp_path / "copy.db")


def test_checking_names_what_does_not_fit(address, store, server):
    store.write([visit(0, body=b"sheep")])
    with open_store(address) as reader:
        assert [each for each in reader.check() if each.problems] == []
        server.execute("update bodies set data = '\\x00'")
        server.execute("update visits set page = 99")
        found = {each.what for each in reader.check() if each.problems}
    assert found == {"visits", "bodies"}
    assert store.check() == []


def test_views_and_tables_are_those_of_a_file(address, store, server, tmp_path):
    """Users read the same views, and `recrawl move` the same columns."""
    create_store(tmp_path / "pages.db").close()
    own = {"writers", "counters", "workers", "slots", "slot_notes", "slot_hosts"}
    query = """
        select table_name, column_name from information_schema.columns
        where table_schema = current_schema order by table_name, ordinal_position
    """
    there: dict[str, list[str]] = {}
    for table, column in server.execute(query):
        there.setdefault(table, []).append(column)
    here: dict[str, list[str]] = {}
    connection = apsw.Connection(str(tmp_path / "pages.db"))
    names = connection.execute("select name from sqlite_schema where type in ('table', 'view')")
    for name in [str(name) for (name,) in names.fetchall()]:
        if not name.startswith("sqlite_"):
            here[name] = [row[1] for row in connection.execute(f"pragma table_info({name})")]
    connection.close()
    here["checkpoint"].remove("id")
    assert {name: columns for name, columns in there.items() if name not in own} == here
