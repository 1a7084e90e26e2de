"""Who only looks doubts changes as a crawl does that is taken up."""

import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from recrawl.entries.entries import Checkpoint, HostBelieved, VisitMade
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.beliefs import Beliefs, let_clocks_run
from recrawl.policies.recrawl.state import RecrawlState
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.state.checkpoint import fitting, pool_parts
from recrawl.state.false_changes import FalseChangeModel
from recrawl.state.opening import open_crawl
from recrawl.state.sampled import SampledSnapshot, draw_samples
from recrawl.state.snapshot import load_snapshot
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import Audit, VisitOutcome
from tests.crawl import killed
from tests.crawl.crawls import AGENT, START
from tests.inspect.looked import BEGAN, DAY, made, opened
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import started, wait_until

NOW = BEGAN + 14


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def noisy(path, *, differing=(0, 1, 2)):
    """Save what was learned, of pages that differ by themselves, then go on visiting all."""
    settings = made(path)
    with open_for_writing(path) as store:
        store.write([HostBelieved("a.org", {"noise": (18.0, 2.0, 0.0, 0.0)})])
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, BEGAN + 10, random=np.random.default_rng(0))
        crawl.trust.false_changes.checked[list(differing)] = 5
        crawl.trust.false_changes.differed[list(differing)] = 5
        store.write([Checkpoint(crawl.dump())])
        at = BEGAN + 11 + np.arange(60) / 60
        store.write([changed(page, when) for page, when in enumerate(at)])
    return settings


def changed(page, at, audit=Audit.NONE):
    return VisitMade(page, at * DAY, VisitOutcome.CHANGED, http=200, size=9, audit=audit)


def rates(state, now=NOW):
    let_clocks_run(state, now)
    return Beliefs.of(state, np.arange(len(state.last)), now).rate


def test_a_page_that_differs_by_itself_is_doubted_most_and_one_looked_at_twice_never(path):
    """(5 + h / 5) / 5.2, h and 0, with h = (2 + 10 e) / 30, e = (2 + 0.1) / 30."""
    noisy(path)
    with open_for_writing(path) as store:
        store.write([changed(59, BEGAN + 12, Audit.NOISE)])
    with open_store(path) as reader:
        (visits,) = reader.outcomes(after=300)
        found = FalseChangeModel.load(reader).chances(visits, np.array([0, 3, 60]), np.zeros_like)

    host = (2 + 10 * 2.1 / 30) / 30
    assert found == pytest.approx([(5 + host / 5) / 5.2, host, 0.0])


def test_what_is_unchanged_is_not_in_doubt(path):
    made(path)
    with open_store(path) as reader:
        (visits,) = reader.outcomes()
        found = FalseChangeModel.load(reader).chances(
            visits, np.arange(len(visits.page)), np.zeros_like
        )

    assert set(found.round(6).tolist()) == {0.0, 0.01}
    assert ((found > 0) == (visits.outcome == VisitOutcome.CHANGED)).all()


def test_who_looks_believes_what_a_crawl_does_that_is_opened(path):
    settings = noisy(path)
    with open_store(path) as reader:
        sight = load_snapshot(settings, reader, NOW)
    taken_up = opened(settings, path, NOW).agenda.frontier(0).state

    assert rates(sight.pools[0].state) == pytest.approx(rates(taken_up), rel=1e-12)


def test_who_glances_believes_what_a_crawl_does_that_is_taken_up(path):
    settings = noisy(path)
    with open_store(path) as reader:
        learned = fitting(settings, reader)
        assert learned is not None
        pools = {0: pool_parts(learned[0], 0)}
        every = partial(np.ones_like, dtype=np.bool_)
        (drawn,) = draw_samples(settings, pools, every, np.zeros_like).values()
        glance = SampledSnapshot.load(settings, reader, drawn)
        for visits in reader.outcomes(after=learned[1]):
            glance.learn(visits, FalseChangeModel.load(reader))
    taken_up = opened(settings, path, NOW).agenda.frontier(0).state

    # A rate at the edge of a level may lie in the next one, with another factor.
    state = glance.state
    assert isinstance(state, RecrawlState)
    assert isinstance(taken_up, RecrawlState)
    off = state.corrections.level - taken_up.corrections.level
    alike = off == 0
    assert np.count_nonzero(~alike) <= 1
    assert np.abs(off).max() <= 1
    assert rates(state)[alike] == pytest.approx(rates(taken_up)[alike], rel=0.05)


def by_the_clock(seconds, began):
    """A page with a counter that differs at every request, and another text now and then."""
    count = iter(range(10**9))

    async def behave(wire):
        version = int((time.monotonic() - began) / seconds)
        body = b"<p>text number %d</p><p>visitor %d</p>" % (version, next(count))
        await answers.page(body)(wire)

    return behave


def test_a_killed_crawl_is_seen_as_it_goes_on(tmp_path):
    """Nothing was saved: all is learned again, here and there, with the same doubts."""
    create_store(tmp_path / "recrawl.db").close()
    names = [f"/s{number % 3}/{number}" for number in range(12)]
    began = time.monotonic()
    site = {name: by_the_clock(0.3 * (1 + row), began) for row, name in enumerate(names)}
    with FaultServer(site).in_thread() as server:
        body = "\n".join(map(server.address, names)).encode()
        server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
        command = [sys.executable, killed.__file__, tmp_path, server.address(""), START, "recrawl"]
        log = tmp_path / "visits.jsonl"
        with started(command, stdout=subprocess.DEVNULL):
            wait_until(lambda: log.exists() and log.read_bytes().count(b"\n") >= 40)
        rule = Rule(server.address("/"), local=True)
    settings = Settings(AGENT, budget=Budget(100.0), delay=killed.DELAY_SECONDS / 2, rules=(rule,))
    now = START + 10
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() >= 40
        sight = load_snapshot(settings, reader, now)
    taken_up = opened(settings, tmp_path / "recrawl.db", now).agenda.frontier(0).state

    assert rates(sight.pools[0].state, now) == pytest.approx(rates(taken_up, now), rel=1e-6)
