"""A crawl that is killed at any instant loses nothing that it has told, and stays polite."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from recrawl.store import create_store, open_for_writing, open_store
from tests.crawl import killed
from tests.crawl.crawls import START
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import started, wait_for_count, wait_until

KILLS = 50
MOST_REQUESTS = 12  # between two kills
PAGES = [f"/s{number % 3}/{number}" for number in range(12)]
EARLY = 0.004


@pytest.fixture
def launcher():
    """A process that starts a crawl for every line it is given."""
    command, pipe = [sys.executable, killed.__file__], subprocess.PIPE
    with started(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process


@contextmanager
def crawling(launcher, tmp_path, server, began):
    """A crawl whose clock goes on where that of the last one was, until it is killed."""
    day = START + (time.monotonic() - began) / killed.SECONDS_A_DAY
    launcher.stdin.write(f"{tmp_path} {server.address('')} {day}\n")
    launcher.stdin.flush()
    ready, child = sorted((launcher.stdout.readline() for _ in range(2)), reverse=True)
    assert ready == "ready\n"
    try:
        yield
    finally:
        os.kill(int(child.split()[1]), signal.SIGKILL)
        assert launcher.stdout.readline() == "dead\n"


def told(tmp_path):
    """Visits of the log; the last line may be cut by the kill."""
    lines = (tmp_path / "visits.jsonl").read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def check_store(tmp_path):
    """The store opens and is whole, and every visit that was told is there exactly once."""
    with open_for_writing(tmp_path / "recrawl.db") as store:
        assert store.check() == []
    with open_store(tmp_path / "recrawl.db") as reader:
        address = [each for some in reader.all_addresses() for each in some]
        kept = Counter(
            (int(number), address[page])
            for visits in reader.visits()
            for number, page in zip(visits.visit, visits.page, strict=True)
        )
    lines = Counter((line["visit"], line["address"]) for line in told(tmp_path))
    assert max(kept.values(), default=1) == 1
    assert max(lines.values(), default=1) == 1
    assert lines <= kept


@pytest.mark.slow
def test_fifty_kills_lose_nothing_that_was_told(tmp_path, launcher):
    create_store(tmp_path / "recrawl.db").close()
    chance = random.Random(3)  # noqa: S311 - instants, no secrets
    changing = [answers.page(b"<p>%d</p>" % number) for number in range(3000)]
    site = {path: answers.in_turn(*changing) for path in PAGES}
    began = time.monotonic()
    with FaultServer(site).in_thread() as server:
        body = "\n".join(map(server.address, PAGES)).encode()
        server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
        for _ in range(KILLS):
            enough = len(server.requests) + chance.randrange(MOST_REQUESTS)
            with crawling(launcher, tmp_path, server, began):
                wait_for_count(server.requests, enough)
                time.sleep(chance.random() * killed.DELAY_SECONDS)
            check_store(tmp_path)
        count = len(server.requests)
        with crawling(launcher, tmp_path, server, began):
            # No page is lost, or leased for ever.
            wait_until(lambda: {seen.path for seen in list(server.requests)[count:]} >= set(PAGES))
        check_store(tmp_path)

        assert min(server.gaps()) >= killed.DELAY_SECONDS - EARLY
        assert len(told(tmp_path)) > KILLS
