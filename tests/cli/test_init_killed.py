"""An `init` or `add` that is killed at any instant is completed by the same command again."""

import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import pytest

import recrawl
from recrawl.cli.init import init
from recrawl.settings.text import first_settings
from recrawl.store import open_for_writing, open_store
from recrawl.store.scratch import whole_file
from recrawl.store.sqlite import schema
from recrawl.store.sqlite.connections import connect_new
from tests.cli.running import names_in, run
from tests.store.made import found

AGENT = "my-crawler (me@example.org)"
HOME = str(Path(recrawl.__file__).parent)
TOLD = ("cli/init.py", "store/")
STEP = 14  # lines between two kills


def lines_of(verb, folder, kill_at=0):
    """Run a verb in a forked process, and kill it before so many lines of our own code.

    Returns how many lines it ran: between any two of them there is at most one change on disk.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which all wait
        child = os.fork()
    if not child:
        lines = 0

        def count(frame, event, _):
            nonlocal lines
            name = frame.f_code.co_filename
            if not name.startswith(HOME) or not name[len(HOME) + 1 :].startswith(TOLD):
                return None
            if event == "line":
                lines += 1
                if lines == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
            return count

        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.settrace(count)
        try:
            verb()
            os.write(writing, str(lines).encode())
        except BaseException:  # noqa: BLE001 - nothing of the child may go on in it
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return int(said) if said else 0


@pytest.mark.parametrize(("first", "agent"), [(1, ""), (1 + STEP, AGENT)], ids=["bare", "agent"])
def test_a_second_init_completes_a_killed_one(tmp_path, first, agent):
    """Every second kill is of one without an agent, the others of one with an agent."""

    def begin(folder=Path()):
        init(str(folder), agent=agent)

    begin(tmp_path / "first")  # what it needs is loaded before anything is counted
    kills = range(first, lines_of(begin, tmp_path) + 1, 2 * STEP)

    for kill_at in kills:
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        assert lines_of(begin, folder, kill_at) == 0
        assert lines_of(begin, folder) > 0

        assert (folder / "recrawl.toml").read_text() == first_settings(agent)
        with open_store(folder / "recrawl.db") as reader:
            assert reader.page_count() == 0
        left = {name for name in names_in(folder) if not name.endswith(".part")}
        assert left <= {
            *("recrawl.toml", "recrawl.db", "recrawl.db.lock", "recrawl.db-wal", "recrawl.db-shm")
        }
        shutil.rmtree(folder)
    assert len(kills) > 20


def half_made(path, steps):
    connection = connect_new(path)
    schema.upgrade(path, connection, schema.steps_in()[:steps])
    connection.close()


@pytest.mark.parametrize("settings", [False, True], ids=["alone", "with settings"])
@pytest.mark.parametrize(
    "leave",
    [lambda path: path.touch(), lambda path: half_made(path, 0), lambda path: half_made(path, 2)],
    ids=["empty", "without tables", "older"],
)
def test_what_an_older_version_left_is_completed(tmp_path, leave, settings):
    leave(tmp_path / "recrawl.db")
    if settings:
        (tmp_path / "recrawl.toml").write_text(first_settings(AGENT))

    ended = run("init", "--agent", AGENT, cwd=tmp_path)

    assert ended.code == 0, ended.err
    assert run("status", cwd=tmp_path).code == 0


def test_a_store_with_pages_is_no_leftover(tmp_path):
    run("init", "--agent", AGENT, cwd=tmp_path)
    with open_for_writing(tmp_path / "recrawl.db") as store:
        store.write([found("https://a.org/")])
    before = (tmp_path / "recrawl.db").read_bytes()

    again = run("init", "--agent", AGENT, cwd=tmp_path)
    (tmp_path / "recrawl.toml").unlink()
    without = run("init", "--agent", AGENT, cwd=tmp_path)

    assert again.code == without.code == 1
    assert "already exists" in again.err
    assert without.err == "Error: recrawl.db already exists; choose another folder\n"
    assert (tmp_path / "recrawl.db").read_bytes() == before


def test_settings_are_old_or_new_whenever_add_is_killed(tmp_path):
    run("init", "--agent", AGENT, cwd=tmp_path)
    path = tmp_path / "recrawl.toml"
    old = path.read_text()

    def append():
        with whole_file(Path("recrawl.toml")) as file:
            file.write(old.encode() * 2)

    for kill_at in range(1, lines_of(append, tmp_path) + 1):
        path.write_text(old)
        lines_of(append, tmp_path, kill_at)
        assert path.read_text() in (old, old * 2)


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(tmp_path):
    path = tmp_path / "recrawl.toml"
    dead, young, mine = (
        tmp_path / name
        for name in (
            ".recrawl.toml.abcd1234.part",
            ".recrawl.toml.abcd5678.part",
            ".recrawl.toml.bak",
        )
    )
    for each in (dead, young, mine):
        each.write_text("x")
    for each in (dead, mine):
        os.utime(each, (time.time() - 60,) * 2)
    os.utime(young, (time.time() + 600,) * 2)

    with whole_file(path) as outer:
        outer.write(b"outer")
        outer.flush()
        (alive,) = set(tmp_path.glob(".*.part")) - {young}
        os.utime(alive, (time.time() - 60,) * 2)
        with whole_file(path) as inner:
            inner.write(b"inner")
        assert alive.exists()

    assert path.read_bytes() == b"outer"
    assert set(names_in(tmp_path)) == {mine.name, young.name, path.name}
