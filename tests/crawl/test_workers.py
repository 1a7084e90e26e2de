"""Several workers on one crawl, each a process of its own, and all that may happen to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import pytest

from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.store.settings_file import load_settings
from tests.cli.running import run, sentence, start
from tests.laws.test_state import assert_equal
from tests.servers import postgres
from tests.servers.changing_site import page
from tests.servers.loopback import servers
from tests.waiting import ending, wait_until

AGENT = "test-bot (me@example.org)"
DELAY, LEASE = 0.2, 3.0
SITES, PAGES = 8, 10
# The clock of a worker, five minutes ahead: everything that reads the time of day is loaded after.
AHEAD = """
import sys, time
real = time.time
time.time = lambda: real() + 300
from recrawl.cli.main import main
main()
"""


class Sites:
    """Sites on loopback addresses, one each, and when each was asked and had answered."""

    def __init__(self):
        self.addresses: list[str] = []
        self.log: dict[str, list[tuple[float, float]]] = {}
        self.pages: Counter[str] = Counter()
        self.logins: set[str] = set()
        self.lock = threading.Lock()

    def answer(self, handler):
        began = time.monotonic()
        host = handler.headers["Host"]
        if handler.path == "/robots.txt":
            status, body = 404, b""
        else:
            links = [f"/{number}" for number in range(PAGES)] if handler.path == "/" else []
            status, body = 200, page(f"{host}{handler.path}", *links).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(body)))
        with self.lock:  # before it is sent: whoever is asked has answered no sooner
            self.log.setdefault(host, []).append((began, time.monotonic()))
            if "Authorization" in handler.headers:
                self.logins.add(handler.headers["Authorization"])
            if status == 200:
                self.pages[f"http://{host}{handler.path}"] += 1
        handler.end_headers()
        handler.wfile.write(body)

    def asked(self, host):
        return len(self.log.get(host, ()))


@contextmanager
def running_sites():
    sites = Sites()
    hosts = [f"127.0.0.{11 + number}" for number in range(SITES)]
    with servers(hosts, sites.answer) as sites.addresses:
        yield sites


def settings_text(place, sites, budget="1000000/1d"):
    text = (
        f'agent = "{AGENT}"\nbudget = "{budget}"\n[storage]\nstore = "{place}"\nslots = 8\n'
        f'[politeness]\ndelay = "{DELAY}s"\n'
    )
    for address in sites.addresses:
        text += f'[[site]]\naddress = "{address}/"\nlocal = true\nlinks = 1\nmaximum = "5s"\n'
    return text


@contextmanager
def worker(folder, name, *more, ahead=False, lease=LEASE):
    """A worker that is killed in the end; with its visit log and what it says."""
    words = ("worker", "--lease", f"{lease}s", "--visit-log", f"{name}.jsonl", *more)
    with (folder / f"{name}.txt").open("w") as said:
        how = {"cwd": folder, "stdout": said, "stderr": subprocess.STDOUT}
        fresh = [sys.executable, "-c", AHEAD, *words]
        with ending(subprocess.Popen(fresh, **how) if ahead else start(*words, **how)) as process:
            yield process


def logged(folder, name):
    file = folder / f"{name}.jsonl"
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def seen(folder, names):
    """Pages whose visits are on disk."""
    return {each["address"] for name in names for each in logged(folder, name)}


def said(folder, name):
    return (folder / f"{name}.txt").read_text()


def slots_of(folder, name):
    """Slots that a worker holds, by what it said."""
    held: set[int] = set()
    for line in said(folder, name).splitlines():
        verb, _, rest = line.partition(" slot ")
        if verb in {"Took", "Lost", "Gave"}:
            (held.add if verb == "Took" else held.discard)(int(rest.split()[0].rstrip(".")))
    return held


def assert_polite(sites):
    """No host was asked again before its delay had passed since it had answered."""
    for host, log in sites.log.items():
        for (_, answered), (asked, _) in pairwise(sorted(log)):
            assert asked - answered >= DELAY, host


def test_workers_survive_what_may_happen_to_them(tmp_path):
    server = postgres.own_server()
    with postgres.place() as place, running_sites() as sites, ExitStack() as stack:
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites))
        made = run("init", cwd=tmp_path)
        assert made.code == 0, made.err
        names = ("killed", "paused", "lost", "ahead")
        workers = {
            name: stack.enter_context(worker(tmp_path, name, ahead=name == "ahead"))
            for name in names
        }
        wait_until(lambda: all(logged(tmp_path, name) for name in names))

        workers["killed"].kill()
        held = slots_of(tmp_path, "paused")
        assert held
        os.kill(workers["paused"].pid, signal.SIGSTOP)
        others = ("lost", "ahead")
        wait_until(lambda: held <= set().union(*(slots_of(tmp_path, name) for name in others)))
        os.kill(workers["paused"].pid, signal.SIGCONT)
        wait_until(lambda: "Lost slot" in said(tmp_path, "paused"))

        before = {name: len(logged(tmp_path, name)) for name in ("lost", "ahead", "paused")}
        server.stop()
        server.begin_again()
        wait_until(lambda: all(len(logged(tmp_path, name)) > before[name] + 3 for name in before))

        workers["lost"].kill()
        hosts = {host: sites.asked(host) for host in sites.log}
        wait_until(lambda: all(sites.asked(host) > hosts[host] + 2 for host in hosts))
        # Also those that only a worker knew of that was killed.
        wait_until(lambda: len(seen(tmp_path, names)) == SITES * (PAGES + 1))
        for name in ("paused", "ahead"):
            workers[name].terminate()
        for name in ("paused", "ahead"):
            assert workers[name].wait(60) == 0, said(tmp_path, name)

        assert_polite(sites)
        acknowledged = [each for name in names for each in logged(tmp_path, name)]
        with postgres.reading(place) as reader:
            assert [each for each in reader.check() if each.found] == []
            visits = list(reader.visits())
            numbers = [int(number) for some in visits for number in some.page]
            times = [
                int(at.astype("datetime64[ms]").astype(int)) for some in visits for at in some.at
            ]
            addresses = reader.addresses(sorted(set(numbers)))
            assert len(addresses) == SITES * (PAGES + 1)
            named = dict(zip(sorted(set(numbers)), addresses, strict=True))
            written = Counter(zip((named[each] for each in numbers), times, strict=True))
            assert max(written.values()) == 1
            assert max(times) / 1000 < time.time() + 1  # whatever a worker's own clock said
            known = Counter(named[each] for each in numbers)
            assert all(sites.pages[address] >= count for address, count in known.items())
            by_number = dict(enumerate((named[each] for each in numbers), start=1))
            for each in acknowledged:
                assert by_number[each["visit"]] == each["address"]


def test_the_budget_is_kept_whoever_crawls(tmp_path):
    budget = 450  # more than is spent before the second worker has begun
    with postgres.place() as place, running_sites() as sites, ExitStack() as stack:
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites, f"{budget}/1d"))
        made = run("init", cwd=tmp_path)
        assert made.code == 0, made.err
        first = stack.enter_context(worker(tmp_path, "first"))
        wait_until(lambda: len(logged(tmp_path, "first")) > 40)
        stack.enter_context(worker(tmp_path, "second"))
        wait_until(lambda: len(logged(tmp_path, "second")) > 5)
        first.kill()

        def count():
            with postgres.reading(place) as reader:
                return reader.last_visit()

        # Looks for new pages are paid for, too: each site has one at first, and some later.
        wait_until(lambda: count() >= 0.85 * budget)
        time.sleep(3 * LEASE)  # in which everything is spent that may be
        assert count() <= 1.02 * budget


def test_a_store_in_a_file_is_for_one_process(tmp_path):
    made = run("init", "--agent", AGENT, cwd=tmp_path)
    assert made.code == 0, made.err

    ended = run("worker", cwd=tmp_path)

    assert ended.code == 1
    assert "workers need a store in PostgreSQL" in ended.err


@pytest.fixture
def crawl_of_workers(tmp_path):
    with postgres.place() as place, running_sites() as sites:
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites))
        run("init", cwd=tmp_path)
        with worker(tmp_path, "one") as process:
            wait_until(lambda: len(logged(tmp_path, "one")) > 5)
            yield tmp_path, process, place


def test_nobody_else_writes_while_workers_do(crawl_of_workers):
    folder, _, _ = crawl_of_workers

    ended = run("prune", "--yes", cwd=folder)

    assert ended.code == 1
    assert "is in use by 1 worker; stop them first" in ended.err


def test_another_crawl_is_one_of_the_workers(crawl_of_workers):
    folder, _, _ = crawl_of_workers

    with (
        (folder / "two.txt").open("w") as told,
        ending(start("crawl", cwd=folder, stderr=told)) as process,
    ):
        wait_until(lambda: "Took slot" in said(folder, "two"))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, said(folder, "two")
    assert "this crawl is one of them" in said(folder, "two")
    assert sentence(run("crawl", "--serve", "0", cwd=folder)) == (
        "workers crawl this store and have no --serve; `recrawl serve` shows it beside them"
    )


def test_workers_agree_on_the_number_of_slots(crawl_of_workers):
    folder, _, _ = crawl_of_workers
    text = (folder / "recrawl.toml").read_text()
    (folder / "recrawl.toml").write_text(text.replace("slots = 8", "slots = 4"))

    ended = run("worker", cwd=folder)

    assert ended.code == 1
    assert "other workers run with 8 slots; stop them before you set slots = 4" in ended.err


def test_a_worker_that_is_stopped_leaves_its_slots_at_once(crawl_of_workers):
    folder, process, _ = crawl_of_workers
    held = slots_of(folder, "one")
    process.terminate()
    assert process.wait(60) == 0, said(folder, "one")

    began = time.monotonic()
    with worker(folder, "two", lease=60.0):
        wait_until(lambda: slots_of(folder, "two") == held)
    assert time.monotonic() - began < 60.0


def test_a_crawl_goes_to_workers_and_comes_back(tmp_path):
    with postgres.place() as place, running_sites() as sites, ExitStack() as stack:
        file = tmp_path / "recrawl.db"
        (tmp_path / "recrawl.toml").write_text(settings_text("recrawl.db", sites))
        for words in (("init",), ("crawl", "--for", "3s"), ("move", file, place)):
            ended = run(*words, cwd=tmp_path)
            assert ended.code == 0, ended.err
        with open_store(file) as reader:
            before = addresses_of_visits(reader)
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites))
        names = [f"worker {number}" for number in range(4)]
        workers = [stack.enter_context(worker(tmp_path, name)) for name in names]
        wait_until(lambda: len({*seen(tmp_path, names), *before}) == SITES * (PAGES + 1))
        wait_until(lambda: all(logged(tmp_path, name) for name in names))
        for process, name in zip(workers, names, strict=True):
            process.terminate()
            assert process.wait(60) == 0, said(tmp_path, name)
        back = run("move", place, tmp_path / "back.db", cwd=tmp_path)
        assert back.code == 0, back.err
        assert_polite(sites)

        asked = load_settings(tmp_path / "recrawl.toml")
        now = time.time() / 86_400
        with postgres.reading(place) as there, open_store(tmp_path / "back.db") as here:
            visits = addresses_of_visits(here)
            assert visits[: len(before)] == before
            assert visits == addresses_of_visits(there)
            told = Counter(each["address"] for name in names for each in logged(tmp_path, name))
            assert told == Counter(visits[len(before) :])
            assert_equal(there.pages(), here.pages())
            assert_equal(load_snapshot(asked, there, now), load_snapshot(asked, here, now))
        (tmp_path / "recrawl.toml").write_text(settings_text("back.db", sites))
        again = run("crawl", "--for", "2s", cwd=tmp_path)
        assert again.code == 0, again.err


def addresses_of_visits(reader):
    pages = [int(page) for some in reader.visits() for page in some.page]
    names = dict(zip(sorted(set(pages)), reader.addresses(sorted(set(pages))), strict=True))
    return [names[page] for page in pages]
