"""`recrawl crawl`, as people run it."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from recrawl.store import open_store
from recrawl.store.settings_file import load_settings
from tests.cli.crawls import AGENT, crawl_in, start
from tests.cli.running import run, sentence
from tests.noise import noise
from tests.preloaded import environment
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS, started, wait_until

PAGES = {f"/{number}": answers.page(b"<p>%d</p>" % number) for number in range(5)}


@contextmanager
def site():
    with FaultServer({"/": answers.page(b"home")} | PAGES).in_thread() as server:
        body = "\n".join(map(server.address, PAGES)).encode()
        server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
        yield server


def test_everything_that_is_found_is_visited_once(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", "--visit-log", "visits.jsonl", cwd=tmp_path)

    assert ended.code == 0
    assert ended.out == ""
    assert ended.err.splitlines()[0].endswith(": Found 6 pages, all new (1 sitemap, no feeds).")
    assert ended.err.splitlines()[-1].startswith("Stopped. ")
    lines = [json.loads(line) for line in (tmp_path / "visits.jsonl").read_text().splitlines()]
    assert len(lines) == 6
    assert {line["outcome"] for line in lines} == {"first"}
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == 6


def test_what_it_says_can_be_logged_with_every_visit(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", "-v", "--log", "crawl.log", cwd=tmp_path)

    said = [line.partition(" ") for line in (tmp_path / "crawl.log").read_text().splitlines()]
    assert [text for _, _, text in said] == ended.err.splitlines()
    assert sum(text.startswith("first 200 http://") for _, _, text in said) == 6
    times = [datetime.fromisoformat(time) for time, _, _ in said]
    assert times == sorted(times)
    assert all(time.tzinfo is not None for time in times)


def test_a_quiet_crawl_still_logs(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", "-q", "--log", "crawl.log", cwd=tmp_path)

    assert ended == (0, "", "")
    assert "Stopped. " in (tmp_path / "crawl.log").read_text()


def test_a_file_of_weights_decides_what_is_copied_first(tmp_path):
    """One that cannot be read is one sentence, and the store stays as it is.

    The home page is known before the sitemap is read, and may be visited meanwhile.
    """
    with site() as server:
        crawl_in(tmp_path, server)
        settings = tmp_path / "recrawl.toml"
        settings.write_text('weights = "views.csv"\n' + settings.read_text())
        before = (tmp_path / "recrawl.db").read_bytes()
        assert "views.csv: cannot be read" in sentence(run("crawl", cwd=tmp_path))
        assert (tmp_path / "recrawl.db").read_bytes() == before
        views = {server.address("/3"): 7, server.address("/1"): 2}
        rows = "".join(f"{page},{count}\n" for page, count in views.items())
        (tmp_path / "views.csv").write_text("page,weight\n" + rows)
        ended = run("crawl", "--once", "--visit-log", "visits.jsonl", cwd=tmp_path)

    lines = [json.loads(line) for line in (tmp_path / "visits.jsonl").read_text().splitlines()]
    named = [line["address"] for line in lines if line["address"] != server.address("/")]
    assert ended.err.startswith("views.csv has weights for 2 pages.")
    assert (len(named), named[0]) == (len(PAGES), server.address("/3"))


def test_it_stops_when_its_time_is_over(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server, more='interval = "1s"')
        with start(tmp_path, "--for", "1s") as process:
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 0
    assert err.splitlines()[-1].startswith("Stopped. ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_and_nothing_is_lost(tmp_path, number):
    with site() as server:
        crawl_in(tmp_path, server)
        with start(tmp_path, "--visit-log", "visits.jsonl") as process:
            wait_until(lambda: len(server.requests) > 5)
            process.send_signal(number)
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 0
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("Stopped. ")
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == len((tmp_path / "visits.jsonl").read_text().splitlines())


# A crawl that waits a day for an answer, before a signal and after it.
PATIENT = """
from recrawl.cli.main import main
from recrawl.crawl import crawler
from recrawl.fetch import http
from recrawl.fetch.fetcher import RequestLimits

crawler.GRACE_SECONDS = 86_400.0
http.RequestLimits = lambda: RequestLimits(86_400.0, 86_400.0, 86_400.0)
main()
"""


def test_a_second_signal_ends_it_at_once(tmp_path):
    """Not the same twice: of two that come before the first is heard, the system keeps one."""
    silent = dict.fromkeys(["/", *PAGES], answers.never())
    command, there = [sys.executable, "-c", PATIENT, "crawl"], subprocess.PIPE
    with site() as server:
        crawl_in(tmp_path, server)
        server.pages |= silent
        with started(command, cwd=tmp_path, env=environment(), stderr=there, text=True) as process:
            wait_until(lambda: any(seen.path in silent for seen in list(server.requests)))
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 0
    assert "Traceback" not in err


def figures(port):
    """What Prometheus reads, by name."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_prometheus_reads_its_figures(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with site() as server:
        crawl_in(tmp_path, server)
        with start(tmp_path, "--metrics", port, "--visit-log", "visits.jsonl") as process:
            log = tmp_path / "visits.jsonl"
            wait_until(lambda: log.exists() and log.read_text().count("\n") >= 6)
            wait_until(lambda: figures(port)["recrawl_copies"].samples[0].value >= 6)
            for _ in range(20):
                families = figures(port)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=HANGS_SECONDS)

    visits = {each.labels["outcome"]: each.value for each in families["recrawl_visits"].samples}
    assert visits["first"] == 6
    assert families["recrawl_copies"].samples[0].value == 6
    assert 0 < families["recrawl_expected_fresh"].samples[0].value <= 1


def test_a_port_that_is_taken_is_said(tmp_path):
    with site() as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        crawl_in(tmp_path, server)
        said = sentence(run("crawl", "--metrics", taken.getsockname()[1], cwd=tmp_path))

    assert "metrics: cannot listen on port " in said


def test_a_store_that_another_crawl_has_is_said(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        with start(tmp_path) as process:
            wait_until(lambda: len(server.requests) > 1)
            said = sentence(run("crawl", cwd=tmp_path))

    assert f"(process {process.pid})" in said


def test_a_damaged_store_is_said(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        run("crawl", "--once", cwd=tmp_path)
        place = tmp_path / "recrawl.db"
        size = place.stat().st_size
        with place.open("r+b") as file:
            file.seek(4096)
            file.write(noise(size - 4096))
        said = sentence(run("crawl", "--once", cwd=tmp_path))

    assert "recrawl.db is damaged" in said


def test_a_store_that_is_missing_is_said(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        (tmp_path / "recrawl.db").unlink()

        assert "not found" in sentence(run("crawl", cwd=tmp_path))


@pytest.mark.parametrize("words", [["crawl"], ["add", "https://example.org/"]])
def test_a_mistake_in_the_settings_is_said_with_its_line(tmp_path, words):
    run("init", tmp_path, "--agent", AGENT)
    (tmp_path / "recrawl.toml").write_text(f'agent = "{AGENT}"\nbudget = "lots"\n')

    assert sentence(run(*words, cwd=tmp_path)).startswith("recrawl.toml, line 2: budget must be ")


def test_without_settings_it_says_how_to_begin(tmp_path):
    assert "No recrawl.toml here. Run `recrawl init` first." in sentence(run("crawl", cwd=tmp_path))
    named = run("crawl", "-c", "nofile.toml", cwd=tmp_path)
    assert sentence(named) == "nofile.toml not found"


def test_where_nobody_answers_that_is_said(tmp_path):
    """As without a network: nothing listens at the port of a server that has ended."""
    with site() as server:
        crawl_in(tmp_path, server)
    ended = run("crawl", "--once", cwd=tmp_path)

    assert ended.code == 1
    assert "Traceback" not in ended.err
    last = ended.err.splitlines()[-1]
    assert last.startswith("Error: no site answered (")
    assert "connection refused" in last


def test_a_host_that_is_left_alone_is_no_answer_either(tmp_path):
    """Its robots.txt could not be had, so it is not asked for an hour: nothing can be visited."""
    with site() as server:
        crawl_in(tmp_path, server)
    run("crawl", "--once", cwd=tmp_path)
    again = run("crawl", "--once", cwd=tmp_path)

    assert again.code == 1
    assert again.err.splitlines()[-1] == "Error: no site answered (all hosts are on hold)"
    assert "Hosts on hold: 1 of 1 (" in again.err


def test_a_host_that_is_dead_beside_a_live_one_is_counted(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        settings = tmp_path / "recrawl.toml"
        dead = '[[site]]\naddress = "http://127.0.0.9:2/"\nlocal = true\n'
        settings.write_text(settings.read_text() + dead)
        ended = run("crawl", "--once", cwd=tmp_path)

    assert ended.code == 0
    assert "Hosts on hold: 1 of 2 (" in ended.err


def test_visits_that_fail_are_counted_with_their_hosts(tmp_path):
    with site() as server:
        server.pages["/3"] = answers.status(500)
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", cwd=tmp_path)

    assert ended.code == 0
    assert ended.err.splitlines()[-1] == "1 of 6 visits failed, at 1 host."


def test_a_log_that_nobody_reads_any_more_ends_no_crawl(tmp_path):
    """As with `--visit-log /dev/stdout | head -1`, if the reader has gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    with site() as server:
        crawl_in(tmp_path, server)
        with start(tmp_path, "--once", "--visit-log", "/dev/stdout", stdout=writing) as process:
            os.close(writing)
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 0
    said = "/dev/stdout: the log is no longer read; the crawl goes on without it."
    assert err.splitlines().count(said) == 1
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == 6


def test_a_log_without_room_is_said(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", "--visit-log", "/dev/full", cwd=tmp_path)

    assert ended.code == 1
    assert "Traceback" not in ended.err
    last = ended.err.splitlines()[-1]
    assert last == "Error: /dev/full: the visit log cannot be written (no space left on device)"


def test_a_crawl_of_nothing_says_what_to_do(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    ended = run("crawl", "--once", "-q", cwd=tmp_path)

    assert ended.code == 0
    assert ended.err == (
        "Warning: recrawl.toml names no site yet; `recrawl add https://...` adds one, also while "
        "this runs.\n"
    )


def test_a_crawl_begins_with_the_rates_of_another(tmp_path):
    """They are written to the settings once, and are what everybody who looks assumes."""
    rows = [
        f"http://a.org/{page},2026-01-{day:02},{'true' if (page + day) % 4 == 0 else 'false'}"
        for page in range(20)
        for day in range(1, 31)
    ]
    (tmp_path / "visits.csv").write_text("page,visited_at,changed\n" + "\n".join(rows) + "\n")
    with site() as server:
        crawl_in(tmp_path, server, top='policy = "recrawl:fade=0.3"')
        first = run("crawl", "--once", "--prior-from", "visits.csv", cwd=tmp_path)
        text = (tmp_path / "recrawl.toml").read_text()
        again = run("crawl", "--once", "--prior-from", "visits.csv", cwd=tmp_path)

    policy = load_settings(tmp_path / "recrawl.toml").policy
    assert policy.startswith("recrawl:fade=0.3:prior_rate=0.3")  # one change in four days
    assert f"policy = {policy}" in first.err
    assert "has rates to assume already" in again.err
    assert (tmp_path / "recrawl.toml").read_text() == text
    assert run("status", cwd=tmp_path).code == 0


def test_a_crawl_begins_with_the_rates_of_public_sources_unless_a_file_has_that_name(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        first = run("crawl", "--once", "--prior-from", "public", cwd=tmp_path)
        policy = load_settings(tmp_path / "recrawl.toml").policy
        (tmp_path / "public").write_text("")
        ended = run("crawl", "--once", "--prior-from", "public", cwd=tmp_path)

    assert policy == "recrawl:prior_rate=0.00873:prior_shape=0.745"
    assert "as on six public sources" in first.err
    assert "public" in sentence(ended)


def test_a_policy_that_assumes_no_rates_is_refused_one(tmp_path):
    (tmp_path / "visits.csv").write_text(
        "page,visited_at,changed\n/a,2026-01-01,\n/a,2026-01-02,true\n"
    )
    with site() as server:
        crawl_in(tmp_path, server, top='policy = "nutch"')
        ended = run("crawl", "--once", "--prior-from", "visits.csv", cwd=tmp_path)

    assert "nutch assumes no rates; recrawl and bank do" in sentence(ended)
