"""Whatever the disk does is told in one sentence, and what was written stays."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.entries import Checkpoint, Copy, Prune, RobotsRead
from recrawl.errors import (
    InvalidParameter,
    NotAStore,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreUnwritable,
)
from recrawl.store import create_store, is_store, open_for_writing, open_store
from tests.disks import small_disk
from tests.noise import noise
from tests.store.made import NOON, found, numbered, store_with, visit
from tests.store.sqlite.connection import connection_of

BOTH = pytest.mark.parametrize("opened", [open_for_writing, open_store])


def sentence(kind, do):
    """The one sentence of an error."""
    with pytest.raises(kind) as raised:
        do()
    text = str(raised.value)
    assert type(raised.value) is kind
    assert "\n" not in text
    return text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "small", "2m") as folder:
        yield folder


@BOTH
def test_a_missing_store_is_not_made_by_the_way(path, opened):
    text = sentence(StoreMissing, lambda: opened(path))

    assert text == f"{path} not found; `recrawl init` creates a store"
    assert list(path.parent.iterdir()) == []


@BOTH
@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "the file is empty"),
        (b"page,visited_at,changed\n", "not an SQLite database"),
        (b"\x01\xfe\0" * 500, "not an SQLite database"),
        (b"SQLite format 3\0" + bytes(200), "not an SQLite database"),
    ],
)
def test_another_file_is_no_store(path, opened, content, got):
    path.write_bytes(content)

    text = sentence(NotAStore, lambda: opened(path))

    assert text == f"{path} is not a recrawl store ({got})"
    assert not is_store(path)
    assert path.read_bytes() == content


@BOTH
def test_a_folder_is_no_store(tmp_path, opened):
    text = sentence(NotAStore, lambda: opened(tmp_path))

    assert text == f"{tmp_path} is not a recrawl store (not a regular file)"


@BOTH
def test_another_program_s_database_is_no_store(path, opened):
    connection = apsw.Connection(str(path))
    connection.execute("create table pages (id integer primary key)")
    connection.close()

    assert "another program's" in sentence(NotAStore, lambda: opened(path))


def test_a_store_is_known_by_its_first_bytes(path):
    with store_with(path, *numbered(1)):
        program = (
            f"import sys, pathlib; from recrawl.store import is_store; "
            f"sys.exit(is_store(pathlib.Path({str(path)!r})))"
        )
        other = subprocess.run([sys.executable, "-c", program], check=False)
        assert other.returncode == 1  # while its log is open, too
    assert is_store(path)
    assert not is_store(path.with_name("nothing.db"))


def test_a_second_crawl_is_told_who_has_the_store(path):
    with store_with(path, *numbered(1)) as store:
        text = sentence(StoreLocked, lambda: open_for_writing(path))
        program = f"from recrawl.store import open_for_writing; open_for_writing({str(path)!r})"
        other = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )

        assert text == (f"{path} is in use by another crawl (process {os.getpid()})")
        assert other.stderr.endswith(f"StoreLocked: {text}\n")
        assert store.write([visit(0)]) == [1]
    open_for_writing(path).close()


def test_a_link_to_a_store_is_that_store(path):
    """Two crawls over one store would ask hosts too often and number pages twice."""
    link = path.with_name("link.db")
    link.symlink_to(path)

    with store_with(path, *numbered(1)):
        sentence(StoreLocked, lambda: open_for_writing(link))
    with open_for_writing(link):
        sentence(StoreLocked, lambda: open_for_writing(path))


def locks_on(path):
    """Locks that processes hold on a file, as the system lists them."""
    inode = path.stat().st_ino
    lines = Path("/proc/locks").read_text("utf-8").splitlines()
    return [line.split()[1:5] for line in lines if f":{inode} " in line]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists its locks")
def test_reading_in_the_crawl_s_own_process_leaves_its_locks_alone(path):
    """A process that opens and closes a file by itself loses its locks on it, SQLite's too.

    Another program could then take itself for the last and remove the log that the crawl goes
    on writing to.
    """
    with store_with(path, *numbered(1)) as store:
        store.write([visit(0)])
        held = locks_on(path)
        with open_store(path) as reader:
            assert reader.last_visit() == 1
        with pytest.raises(StoreLocked):
            open_for_writing(path)

        assert len(held) == 1
        assert locks_on(path) == held


def damaged(path, spoil):
    """A store of some size with its file spoiled."""
    with store_with(path, *numbered(3000)) as store:
        store.write([visit(page, page, body=b"%d" % page * 50) for page in range(3000)])
    content = bytearray(path.read_bytes())
    path.write_bytes(spoil(content))


def read_all(path):
    with open_store(path) as reader:
        reader.pages()
        list(reader.visits())
        for page in range(3000):
            reader.history(page)
            reader.versions(page)


def write_all(path):
    with open_for_writing(path) as store:
        store.write([found(*numbered(6000))])
        store.write([visit(page, body=b"%d" % page) for page in range(3000)])


@pytest.mark.parametrize("used", [read_all, write_all])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:5000],
        lambda content: content[:4096] + noise(len(content) - 4096),
        lambda content: content[:4096] + bytes(len(content) - 4096),
        lambda content: content[:100] + noise(3996) + content[4096:],
    ],
    ids=["half", "one page", "noise", "zeros", "noise in the first page"],
)
def test_a_damaged_store_says_so(path, used, spoil):
    damaged(path, spoil)

    with pytest.raises(StoreError) as raised:
        used(path)

    assert isinstance(raised.value, StoreCorrupt | NotAStore)
    assert "\n" not in str(raised.value)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small store with something in every table."""
    path = tmp_path_factory.mktemp("whole") / "pages.db"
    with store_with(path, *numbered(100)) as store:
        pages = range(100)
        store.write([visit(page, body=b"%d" % page, copy=Copy(b"a")) for page in pages])
        store.write([visit(page, 1, body=b"%d" % page * 9) for page in pages])
        store.write([RobotsRead("https://a.org", NOON, 200, b"User-agent: *")])
        store.write([Checkpoint({"rates": np.arange(3000.0), "price": [1]}, visit=200)])
    return path


def use(path):
    """Read everything, then write to every table."""
    with open_store(path) as reader:
        reader.pages()
        for columns in (reader.visits, reader.outcomes, reader.all_addresses, reader.hosts):
            list(columns())
        reader.checkpoint()
        reader.copies(range(100))
        for page in range(100):
            reader.history(page)
            for version in reader.versions(page):
                reader.body(version.digest)
    with open_for_writing(path) as store:
        store.write([found(*numbered(120)), *(visit(page, body=b"new") for page in range(100))])
        store.write([Prune(NOON)])
        store.write([Checkpoint({"price": 2}, visit=3)])


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1))
def test_damage_anywhere_is_told_or_harmless(tmp_path_factory, whole, spoilt):
    path = tmp_path_factory.mktemp("spoilt") / "pages.db"
    content = bytearray(whole.read_bytes())
    for where, value in spoilt:
        content[100 + int(where * (len(content) - 100))] = value
    path.write_bytes(content)

    # What is written may clash with a row that was spoilt.
    with contextlib.suppress(StoreError, InvalidParameter):
        use(path)


def test_a_check_of_the_whole_file_finds_what_no_query_met(path):
    with store_with(path, *numbered(3000)) as store:
        root = (
            connection_of(store)
            .execute("select rootpage from sqlite_schema where name = 'pages_by_key'")
            .get
        )
    content = bytearray(path.read_bytes())
    content[4096 * (root - 1) : 4096 * root] = bytes(4096)
    path.write_bytes(content)

    with contextlib.closing(open_for_writing(path)) as store:
        assert store.check() != []


def fill(store):
    """Write bodies until nothing more is taken."""
    for number in range(10_000):
        store.write([visit(0, number, body=noise(20_000, store.last_visit()))])


def fill_with_many_rows(store):
    """Write visits until a statement of many rows stops half done."""
    for number in range(10_000):
        store.write([visit(0, number)] * 500)


@pytest.mark.parametrize("filled", [fill, fill_with_many_rows])
def test_a_full_store_keeps_what_was_acknowledged(path, filled):
    store = store_with(path, *numbered(1))
    connection_of(store).execute("pragma max_page_count = 200")

    text = sentence(StoreFull, lambda: filled(store))
    written = store.last_visit()
    again = sentence(StoreFull, lambda: filled(store))
    store.abandon()

    assert text == again == f"{path}: the disk is full"
    assert written > 10
    with open_for_writing(path) as store:
        assert store.last_visit() == written
        assert store.check() == []
        assert store.write([visit(0)]) == [written + 1]


def test_a_full_disk_keeps_what_was_acknowledged(disk):
    path = disk / "pages.db"
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(200_000))
    store = store_with(path, *numbered(1))

    text = sentence(StoreFull, lambda: fill(store))
    written = store.last_visit()
    store.abandon()

    assert text == f"{path}: the disk is full"
    ballast.unlink()
    with open_for_writing(path) as store:
        assert store.last_visit() == written > 0
        assert store.check() == []


def test_a_disk_that_cannot_be_written_is_read_all_the_same(disk):
    path = disk / "pages.db"
    with store_with(path, *numbered(2)) as store:
        store.write([visit(0)])
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    text = sentence(StoreUnwritable, lambda: open_for_writing(path))
    new = sentence(StoreUnwritable, lambda: create_store(disk / "new.db"))

    assert text == f"{path}: cannot create a lock file beside it (read-only file system)"
    assert new == f"{disk / 'new.db'}: cannot create a lock file beside it (read-only file system)"
    with open_store(path) as reader:
        assert reader.page_count() == 2
        assert len(reader.history(0).page) == 1


def test_a_folder_that_is_not_there_is_told(tmp_path):
    path = tmp_path / "nowhere" / "pages.db"

    text = sentence(StoreUnwritable, lambda: create_store(path))

    assert text == f"{path}: cannot create a lock file beside it (no such file or directory)"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_told(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)

    text = sentence(StoreUnwritable, lambda: create_store(folder / "pages.db"))

    assert text.endswith("cannot create a lock file beside it (permission denied)")
