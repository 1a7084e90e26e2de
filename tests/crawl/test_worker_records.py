"""What workers record beside the store: metrics, WARC files, events, each worker its own."""

import json
import re
import signal
import socket
import sys
import urllib.request
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from tests.adapters.warc.warcs import left_open, of_kind, read_folder
from tests.cli.running import run, sentence, start
from tests.crawl.test_workers import (
    PAGES,
    SITES,
    logged,
    running_sites,
    said,
    settings_text,
    worker,
)
from tests.serve.servers import get
from tests.servers import postgres
from tests.waiting import ending, wait_until

NOTE = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read().strip() + '\\n')"


def free_port():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def visits_at(port):
    """Visits that a worker says it has made; 0 before it answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
    except OSError:
        return 0
    return sum(float(each) for each in re.findall(r"(?m)^recrawl_visits_total{.*} (\S+)$", text))


def has_visited(folder, name):
    return len(logged(folder, name)) > 10


@contextmanager
def crawl(folder, budget="1000000/1d"):
    with postgres.place() as place, running_sites() as sites:
        (folder / "recrawl.toml").write_text(settings_text(place, sites, budget))
        made = run("init", cwd=folder)
        assert made.code == 0, made.err
        yield sites


def stop(folder, processes):
    for process in processes.values():
        process.send_signal(signal.SIGTERM)
    for name, process in processes.items():
        assert process.wait(60) == 0, said(folder, name)


def test_the_metrics_of_all_workers_are_all_visits(tmp_path):
    """Also those of slots that a worker had and gave back."""
    ports = {name: free_port() for name in ("first", "second")}
    with crawl(tmp_path, budget="300/1d"), ExitStack() as stack:
        for name, port in ports.items():
            stack.enter_context(worker(tmp_path, name, "--metrics", str(port)))
            wait_until(partial(has_visited, tmp_path, name))
        wait_until(lambda: "Gave slot" in said(tmp_path, "first"))

        def told():
            return sum(visits_at(port) for port in ports.values())

        # Nothing more is visited once the budget of the day is spent.
        wait_until(lambda: told() == sum(len(logged(tmp_path, name)) for name in ports) > 200)
        assert all(visits_at(port) > 0 for port in ports.values())


def test_workers_record_what_they_fetch_each_in_its_folder(tmp_path):
    names = ("one", "two")
    with crawl(tmp_path) as sites, ExitStack() as stack:
        processes = {
            name: stack.enter_context(worker(tmp_path, name, "--warc", f"archive/{name}"))
            for name in names
        }
        wait_until(lambda: all(len(logged(tmp_path, name)) > 20 for name in names))
        other = run("worker", "--warc", "archive/one", cwd=tmp_path)
        assert "is in use by another crawl" in sentence(other)
        stop(tmp_path, processes)
        fetched = Counter(sites.pages)

    found = Counter[str]()
    for name in names:
        archive = tmp_path / "archive" / name
        assert left_open(archive) == []
        records = read_folder(archive)
        mine = Counter(
            each.address for kind in ("response", "revisit") for each in of_kind(records, kind)
        )
        acknowledged = Counter(each["address"] for each in logged(tmp_path, name))
        assert acknowledged
        assert acknowledged <= mine
        found += mine
    pages = Counter({each: count for each, count in found.items() if "robots.txt" not in each})
    assert {each: count for each, count in pages.items() if count > fetched[each] + 1} == {}


def test_one_worker_runs_the_program_for_every_event(tmp_path):
    names = ("one", "two")
    (tmp_path / "note.py").write_text(NOTE)
    program = f"{sys.executable} {tmp_path}/note.py {tmp_path}/events"
    with crawl(tmp_path), ExitStack() as stack:
        processes = {
            name: stack.enter_context(worker(tmp_path, name, "--on-change", program))
            for name in names
        }

        def events():
            file = tmp_path / "events"
            lines = file.read_text().split("\n")[:-1] if file.exists() else []
            return [json.loads(line) for line in lines]

        wait_until(lambda: len({each["subject"] for each in events()}) == SITES * (PAGES + 1))
        stop(tmp_path, processes)

    visits = [each["data"]["visit"] for each in events()]
    assert visits == sorted(visits)  # each at least once, in order


def test_the_dashboard_runs_beside_workers(tmp_path):
    with crawl(tmp_path), worker(tmp_path, "one"):
        wait_until(lambda: len(logged(tmp_path, "one")) > 20)
        with ending(start("serve", "--port", "0", cwd=tmp_path, stdout=-1, text=True)) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            status, _, rows = get(f"{address}api/v1/pages")
            before, _, overview = get(address)
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0

        assert (status, before) == (200, 200)
        assert '"status":"copied"' in rows
        assert "<h1>Overview</h1>" in overview
        lends = run("serve", "--schedule", "--port", "0", cwd=tmp_path)
        assert sentence(lends).endswith("is in use by 1 worker; stop them first")
