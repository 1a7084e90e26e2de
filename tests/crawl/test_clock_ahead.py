"""Crawls on machines whose clock was ahead for a while."""

import asyncio
import json
import time

import numpy as np
import pytest

from recrawl.clock import RealClock, ScaledClock
from recrawl.store import open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from tests.cli.running import run
from tests.crawl.crawls import AGENT, SECOND, crawl_once, page_rule, settings, visits
from tests.servers import answers
from tests.servers.faults import FaultServer

PATHS = [f"/{number}" for number in range(6)]
PAGES = {path: answers.page(b"<p>a page</p>") for path in PATHS}
AHEAD = pytest.mark.parametrize(
    "ahead", [60 * SECOND, 1 / 24, 1.0, 30.0, 3650.0], ids=["minute", "hour", "day", "month", "10y"]
)


def ahead_by(days):
    """A clock on which a second is a second, and that is ahead."""
    return ScaledClock(SECONDS_A_DAY, time.time() / SECONDS_A_DAY + days)


def crawled(tmp_path, ahead, *, looks):
    """Visits of a crawl that was ahead, what looking says then, and visits of the next one."""

    async def crawl():
        async with FaultServer(PAGES) as server:
            rules = [page_rule(server, path, interval=0.5 * SECOND) for path in PATHS]
            asked = settings(*rules)
            blocks = "".join(
                f'[[page]]\naddress = "{rule.address}"\ninterval = "1m"\nlocal = true\n'
                for rule in rules
            )
            top = f'agent = "{AGENT}"\nbudget = "1000000/1d"\n'
            (tmp_path / "recrawl.toml").write_text(top + blocks)
            first = await crawl_once(tmp_path, asked, ahead_by(ahead))
            said = await asyncio.to_thread(look, tmp_path, rules[0].address) if looks else None
            requests = [seen.path for seen in server.requests]
            later = await visits(tmp_path, asked, len(PATHS), RealClock())
            again = [seen.path for seen in server.requests][len(requests) :]
            return first, said, later, again

    return asyncio.run(crawl())


def look(folder, address):
    return [
        run("status", "--json", cwd=folder),
        run("pages", "--json", cwd=folder),
        run("why", address, "--json", cwd=folder),
    ]


@AHEAD
def test_pages_seen_then_are_visited_and_robots_txt_is_asked_for(tmp_path, ahead):
    first, _, later, again = crawled(tmp_path, ahead, looks=False)

    assert len(first) >= len(PATHS)
    assert {visit.page for visit in later[: len(PATHS)]} == {visit.page for visit in first}
    assert "/robots.txt" in again
    with open_store(tmp_path / "recrawl.db") as reader:
        at = np.concatenate([part.at for part in reader.visits()])
        assert at.max() <= np.datetime64(round(time.time() * 1e6), "us")
        assert len(at) >= len(first) + len(later)


@AHEAD
def test_looking_at_it_says_what_is_the_matter(tmp_path, ahead):
    """Before the next crawl: no traceback, and an end."""
    first, said, _, _ = crawled(tmp_path, ahead, looks=True)

    for ended in said:
        assert ended.code == 0, ended.err
        assert "in the future; the next crawl corrects that" in ended.err
    assert json.loads(said[0].out)["pages"] == len(PATHS)
    assert len(first) >= len(PATHS)


def test_dating_back_keeps_the_order_and_is_done_once(tmp_path):
    crawled(tmp_path, 1.0, looks=False)
    path, now = tmp_path / "recrawl.db", time.time() - 3600  # all visits lie ahead of that

    with open_for_writing(path) as store:
        moved = [store.date_back(now), store.date_back(now)]
    with open_store(path) as reader:
        (part,) = reader.visits()
        assert reader.checkpoint() is None
        assert reader.newest_instant() == pytest.approx(now, abs=1)
        assert sum(visits for _, _, visits in reader.daily_visits()) == len(part.at)

    assert moved == [len(part.at), 0]
    assert (np.diff(part.at) > np.timedelta64(0)).all()
