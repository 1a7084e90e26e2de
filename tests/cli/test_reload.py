"""SIGHUP: a crawl that runs reads its settings again."""

import fcntl
import os
import signal
import termios
from functools import partial

from recrawl.store import open_for_writing, open_store
from recrawl.store.lock import is_locked, reloading_process
from tests.cli import crawls
from tests.cli.running import run
from tests.preloaded import RECRAWL
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import started, wait_until


def server_of(*paths):
    return FaultServer({path: answers.page(path.encode()) for path in ("/", *paths)}).in_thread()


def said_by(process, word):
    """Lines that a crawl says up to one with a word in it."""
    lines: list[str] = []
    while not lines or word not in lines[-1]:
        lines.append(process.stderr.readline())
        assert lines[-1], lines
    return lines


def test_settings_are_read_again(tmp_path):
    """What needs no replay applies, the rest waits; ones with an error change nothing."""
    with server_of("/q") as server:
        crawls.crawl_in(tmp_path, server)
        path, store = tmp_path / "recrawl.toml", tmp_path / "recrawl.db"
        first = path.read_text()
        with crawls.start(tmp_path) as crawl:
            wait_until(lambda: reloading_process(store) == crawl.pid)
            path.write_text(first + "weights = 2\n")
            crawl.send_signal(signal.SIGHUP)
            assert 'unknown key "weights"' in said_by(crawl, "the crawl goes on")[-1]
            path.write_text(
                f'{first}weight = 2\n[[page]]\naddress = "{server.address("/q")}"\nlocal = true\n'
            )
            crawl.send_signal(signal.SIGHUP)
            assert said_by(crawl, "read again")[-1] == (
                f"Settings read again; applied: {server.address('/q')} (new); "
                f"restart the crawl for: weight of {server.address('/')}.\n"
            )
            wait_until(lambda: server.asked("/q"))
            crawl.send_signal(signal.SIGHUP)
            assert "restart the crawl for" in said_by(crawl, "read again")[-1]
            wait_until(lambda: reloading_process(store) == crawl.pid)
            crawl.send_signal(signal.SIGTERM)
            assert crawl.wait() == 0
        assert not is_locked(store)


def test_a_quiet_crawl_still_warns_of_settings_that_cannot_be_read(tmp_path):
    with server_of() as server:
        crawls.crawl_in(tmp_path, server)
        path = tmp_path / "recrawl.toml"
        with crawls.start(tmp_path, "--quiet") as crawl:
            wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == crawl.pid)
            path.write_text(path.read_text() + "links = many\n")
            crawl.send_signal(signal.SIGHUP)
            assert said_by(crawl, "the crawl goes on")[0].startswith("Warning: recrawl.toml, line ")
            crawl.send_signal(signal.SIGTERM)
            _, err = crawl.communicate()
            assert (crawl.returncode, err) == (0, "")


def test_add_tells_a_crawl_that_runs(tmp_path):
    with server_of("/q") as server:
        crawls.crawl_in(tmp_path, server)
        with crawls.start(tmp_path) as crawl:
            wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == crawl.pid)
            ended = run("add", server.address("/q"), "--page-only", "--local", cwd=tmp_path)

            assert ended.code == 0, ended
            assert f"A crawl is running (process {crawl.pid}); it reloads the settings" in ended.err
            wait_until(lambda: server.asked("/q"))
            crawl.send_signal(signal.SIGTERM)
            assert crawl.wait() == 0
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() >= 2


def test_whoever_does_not_listen_is_not_told(tmp_path):
    """A signal would end a program that expects none."""
    with server_of() as server:
        crawls.crawl_in(tmp_path, server)
        with open_for_writing(tmp_path / "recrawl.db"):
            assert reloading_process(tmp_path / "recrawl.db") is None
            assert is_locked(tmp_path / "recrawl.db")
            ended = run("add", server.address("/q"), "--page-only", "--local", cwd=tmp_path)

    assert ended.code == 0
    assert "A crawl is running: restart it to discover the pages." in ended.err


def test_a_terminal_that_is_closed_ends_the_crawl(tmp_path):
    """The signal that comes then is the same."""
    with server_of() as server:
        crawls.crawl_in(tmp_path, server)
        terminal, end = os.openpty()
        own = partial(fcntl.ioctl, end, termios.TIOCSCTTY, 0)
        streams = {"stdin": end, "stdout": end, "stderr": end}
        with started(
            [RECRAWL, "crawl"], cwd=tmp_path, start_new_session=True, preexec_fn=own, **streams
        ) as crawl:
            os.close(end)
            wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == crawl.pid)
            os.close(terminal)

            # What it says then may reach nobody: that is 120 where only Python is left to notice.
            assert crawl.wait() in {0, 1, 120}
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.checkpoint() is not None
