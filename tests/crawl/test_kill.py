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
from urllib.parse import urlsplit

import numpy as np
import pytest

from recrawl.state.snapshot import load_snapshot
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import VisitOutcome
from tests.crawl import killed
from tests.crawl.crawls import START
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import started, wait_for_count, wait_until

KILLS = 50
MOST_REQUESTS = 8  # between two kills: whoever begins again learns from all visits so far
PAGES = [f"/s{number % 3}/{number}" for number in range(12)]
EARLY = 0.004
DAY_SECONDS = 86_400


@pytest.fixture
def launcher():
    """A process that starts a crawl for every line it is given."""
    command, pipe = [sys.executable, killed.__file__], subprocess.PIPE
    with started(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process


@contextmanager
def crawling(launcher, tmp_path, server, began, policy="recrawl"):
    """A crawl whose clock goes on where that of the last one was, until it is killed."""
    day = START + (time.monotonic() - began) / killed.SECONDS_A_DAY
    launcher.stdin.write(f"{tmp_path} {server.address('')} {day} {policy}\n")
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
        # A look that is remembered has left all that it found.
        looked = [each for each in reader.sources() if each.looked_at_seconds is not None]
        assert not looked or {urlsplit(each).path for each in address} >= set(PAGES)
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


def test_a_crawl_by_nutch_is_killed_and_goes_on(tmp_path, launcher):
    """Its intervals are those of all visits: the mean gap first, times 1.4 or 0.8 at each."""
    create_store(tmp_path / "recrawl.db").close()
    changing = [answers.page(b"<p>%d</p>" % number) for number in range(3000)]
    site = {
        path: answers.in_turn(*changing) if number % 2 else answers.page(b"<p>the same</p>")
        for number, path in enumerate(PAGES)
    }
    began = time.monotonic()
    with FaultServer(site).in_thread() as server:
        body = "\n".join(map(server.address, PAGES)).encode()
        server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
        for _ in range(3):
            with crawling(launcher, tmp_path, server, began, "nutch"):
                wait_for_count(server.requests, len(server.requests) + 25)
            check_store(tmp_path)
        asked = killed.settings_of(server.address(""), "nutch")
    with open_store(tmp_path / "recrawl.db") as reader:
        (pool, *_) = load_snapshot(asked, reader, START + 100).pools
        page, outcomes = (
            np.concatenate([getattr(each, name) for each in reader.visits()])
            for name in ("page", "outcome")
        )
    first = round(len(PAGES) / 100 * DAY_SECONDS)  # mean gap: pages over visits a day
    for row, number in enumerate(pool.pages.tolist()):
        seconds = float(first)
        for outcome in filter(lambda each: VisitOutcome(each).compared, outcomes[page == number]):
            factor = 0.8 if outcome == VisitOutcome.CHANGED else 1.4
            seconds = max(float(np.floor(seconds * factor + 0.5)), 60.0)
        if (page == number).sum() > 1:
            assert pool.learned.interval[row] * DAY_SECONDS == pytest.approx(seconds)
    assert len(page) > 2 * len(PAGES)
