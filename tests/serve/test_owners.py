"""The schedule has one owner: a crawl that serves, or a server that schedules; real processes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from contextlib import contextmanager

from recrawl.clock import RealClock
from recrawl.crawl.running import running as crawl_running
from recrawl.scheduler.reports import Report
from recrawl.serve.lending import CrawlOwner, Lending
from recrawl.store import open_store
from recrawl.store.settings_file import load_settings
from recrawl.visits.status import VisitOutcome
from tests.cli import crawls, running
from tests.preloaded import environment
from tests.serve.api_server import PAGES, TOKEN, Client, write_settings
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS, ending, wait_until

ENVIRONMENT = {**environment(), "RECRAWL_TOKEN": TOKEN}


@contextmanager
def process_of(folder, *words, stream="stdout"):
    """A process that serves, and a client of it."""
    more = {stream: subprocess.PIPE, "text": True, "cwd": folder, "env": ENVIRONMENT}
    with ending(running.start(*words, **more)) as process:
        lines = getattr(process, stream)
        port = None
        while port is None:
            line = lines.readline()
            assert line, "the server has ended"
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            port = found and int(found[1])
        client = Client(port)
        wait_until(lambda: answers_at(client))
        yield process, client


def answers_at(client):
    try:
        return client.get("/api/v1/openapi.json").status == 200
    except ConnectionError:
        return False


def test_a_report_counts_once_though_the_server_is_killed(tmp_path):
    running.run("init", tmp_path, "--agent", crawls.AGENT)
    write_settings(tmp_path)
    batch = None
    for turn in range(2):
        with process_of(tmp_path, "serve", "--schedule", "--port", 0) as (process, client):
            if batch is None:
                client.post("/api/v1/hints", {"urls": PAGES})
                (page, *_) = client.post("/api/v1/due?limit=1&wait=20").json()["pages"]
                visit = {"lease": page["lease"], "body": "<p>once"}
                batch = {"visits": [visit]}
            answer = client.post("/api/v1/visits", batch, Idempotency_Key="k").json()
            assert answer["visits"][0]["outcome"] == "first"
            if turn == 0:
                process.kill()
            else:
                beside = running.run("serve", "--schedule", "--port", 0, cwd=tmp_path)
                assert beside.code == 1
                assert "in use by another crawl" in beside.err
                process.send_signal(signal.SIGINT)
                assert process.wait() == 0
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == 1


def test_a_crawl_serves_and_lends_pages(tmp_path):
    paths = [f"/p/{number}" for number in range(40)]
    with FaultServer({path: answers.page(path.encode()) for path in paths}).in_thread() as server:
        crawls.crawl_in(tmp_path, server, top='budget = "100000/1d"', delay="0.2s")
        file = tmp_path / "recrawl.toml"
        pages = "".join(
            f'[[page]]\naddress = "{server.address(path)}"\nlocal = true\n' for path in paths
        )
        file.write_text(file.read_text() + pages)
        with process_of(tmp_path, "crawl", "--serve", 0, stream="stderr") as (process, client):
            lent: list[str] = []
            while len(lent) < 3:
                due = client.post("/api/v1/due?limit=1&wait=20").json()["pages"]
                for page in due:
                    lent.append(page["address"])
                    visit = {"lease": page["lease"], "body": "<p>from outside"}
                    answer = client.post(
                        "/api/v1/visits", {"visits": [visit]}, Idempotency_Key=page["lease"]
                    )
                    assert answer.json()["visits"][0]["outcome"] in ("first", "same", "changed")
            copy = client.get(f"/api/v1/copies?url={lent[0]}&as=text").json()
            assert "from outside" in copy["text"]
            assert client.get("/api/v1/status").status == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0
    with open_store(tmp_path / "recrawl.db") as reader:
        outcomes = [reader.history(page).outcome.tolist() for page in range(reader.page_count())]
        numbers = dict.fromkeys(reader.find_pages(lent))
    assert all(each.count(VisitOutcome.FIRST) <= 1 for each in outcomes)
    assert all(outcomes[number] for number in numbers if number is not None)


def test_a_fresh_copy_is_fetched_by_a_crawl_that_serves(tmp_path):
    with FaultServer({"/": answers.page(b"<p>first")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server, top='budget = "100000/1d"')
        with process_of(tmp_path, "crawl", "--serve", 0, stream="stderr") as (process, client):
            path = f"/api/v1/copies?url={server.address('/')}&fresh=0.9999999"
            wait_until(lambda: client.get(path.partition("&")[0]).status == 200)
            server.pages["/"] = answers.page(b"<p>second")

            answer = client.get(path)

            assert answer.status in (200, 409), answer.body
            if answer.status == 200:
                assert answer.json()["visited"]
            client.token = ""
            refused = client.get(path.replace("0.9999999", "1"))
            assert refused.status == 409
            assert "token" in refused.json()["detail"]
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0


def test_the_pages_of_a_crawl_are_lent_once(tmp_path):
    """In the crawl's own loop, where nothing else takes them."""
    write_settings(tmp_path)
    running.run("init", tmp_path / "other", "--agent", crawls.AGENT)
    store = tmp_path / "other" / "recrawl.db"

    async def lend():
        settings = load_settings(tmp_path / "recrawl.toml")
        async with crawl_running(settings, store, RealClock()) as crawler:
            await crawler.add(PAGES)
            lending = Lending(CrawlOwner(crawler))
            first = await lending.due(10, 60.0)
            assert {each.page.address for each in first} <= set(PAGES)
            assert await lending.due(10, 60.0) == []
            reports = [(each.lease, Report(outcome=VisitOutcome.GONE)) for each in first[:1]]
            assert await lending.seen_all(reports, ("k", b"d")) == [VisitOutcome.GONE]
            assert await lending.seen_all(reports, ("k", b"d")) == [VisitOutcome.GONE]
            assert await lending.seen_all(reports, None) == [None]
            assert await lending.release([first[1].lease]) == 1
            assert crawler.tally.visits == 1
            await asyncio.sleep(0.05)
            again = await lending.due(10, 60.0)
            assert first[1].page.address in {each.page.address for each in again}

    asyncio.run(lend())
    with open_store(store) as reader:
        assert reader.last_visit() == 1


def test_a_token_that_is_guessed_easily_is_refused(tmp_path):
    running.run("init", tmp_path, "--agent", crawls.AGENT)
    more = {"stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
    for token in ("", "short", 16 * "\xe4"):
        environment_of = {**ENVIRONMENT, "RECRAWL_TOKEN": token}
        with ending(running.start("serve", "--port", 0, env=environment_of, **more)) as process:
            _, said = process.communicate()
            assert process.returncode == 1
            assert "RECRAWL_TOKEN must have 16 letters" in said


def test_what_only_shows_a_crawl_lets_it_go_first(tmp_path):
    """What lends pages is a part of the crawl."""
    running.run("init", tmp_path, "--agent", crawls.AGENT)
    write_settings(tmp_path)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for words, lower in (((), 10), (("--schedule",), 0)):
        with process_of(tmp_path, "serve", *words, "--port", 0) as (process, _):
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(own + lower, 19)
            # Killed, it would leave who makes the script of charts, with as low a priority.
            process.send_signal(signal.SIGINT)
            process.wait(HANGS_SECONDS)
