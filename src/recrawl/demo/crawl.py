"""The demo: start its site, crawl it for real, and sample the crawl's beliefs.

The crawl is an ordinary one, with settings and a store in a folder. Only its clock is scaled: a day
passes in a second.

Touches: the network, the clock, files.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.crawl.running import running
from recrawl.demo.feed import read_feed
from recrawl.demo.site import ExampleSite
from recrawl.demo.truth import Belief, ExampleVisits
from recrawl.parse.addresses import origin_of
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.settings import FILE_NAME, STORE_NAME, read_settings
from recrawl.store import create_store, open_store
from recrawl.units import epoch_days, instant_after_epoch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Floats, Ints
    from recrawl.clock import Clock
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.tally import Tally
    from recrawl.demo.feed import ExampleFeed
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.site import Requests
    from recrawl.demo.world import ExampleWorld
    from recrawl.entries.listings import Sync
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

SAMPLES_A_DAY = 4
_SETTINGS = """\
# The settings of `recrawl demo`. Its site is there only while it runs.
agent = "recrawl-demo (demo@example.org)"
budget = "BUDGET"
objective = "freshness"

[politeness]
together = 4

[[site]]
address = "FIRST/"
local = true

[[site]]
address = "SECOND/"
local = true

[[listing]]
name = "jobs"
address = "FIRST/board"
items = "li.job"
key = "@id"
attributes = { title = "h3", city = ".city" }
next = "a.next"
recall = RECALL
local = true
"""
RECALL = 0.85


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Parameters of a demo.

    Args:
        folder: Empty folder for settings and store.
        budget: Budget as text.
        days: Duration on the clock of the crawl.
        seconds_a_day: Real seconds per day of that clock.
    """

    folder: Path
    budget: str
    days: float
    seconds_a_day: float = 1.0

    @property
    def store(self) -> Path:
        """File of the store."""
        return self.folder / STORE_NAME


@dataclass(frozen=True, slots=True, eq=False)
class ExampleRun:
    """Outcome of a demo.

    Args:
        requests: Requests that the site got.
        tally: Counts of the crawl.
        beliefs: Samples of the crawl's beliefs.
        visits: All visits, from the store.
        end: When it ended, in days after 1970.
        rates: Estimated rates in the end: low, rate and high, one column per page of the world;
            nan if unknown.
        syncs: Every sync of the job board.
        feed: What its change feed tells in the end.
    """

    requests: Requests
    tally: Tally
    beliefs: list[Belief]
    visits: ExampleVisits
    end: float
    rates: Floats
    syncs: list[Sync]
    feed: ExampleFeed


async def crawl_example(
    world: ExampleWorld,
    jobs: ExampleJobs,
    clock: Clock,
    plan: DemoPlan,
    *,
    on_start: Callable[[str, Crawler], object],
    watch: Callable[[Crawler, float], object],
) -> ExampleRun:
    """Start the site and crawl it.

    Args:
        world: Content of the site.
        jobs: Its job board.
        clock: Source of the current time for both; it starts at the world's start.
        plan: What to do.
        on_start: Called with the address of the site and the crawler, which it may stop.
        watch: Called with the crawler and the days passed, several times a day.
    """
    site = ExampleSite(world, clock, jobs)
    await site.start()
    try:
        settings = _write_settings(plan, site.origins)
        create_store(plan.store).close()
        async with running(settings, plan.store, clock, seed=world.seed) as crawler:
            on_start(site.origins[0], crawler)
            for number in range(len(site.origins)):
                await crawler.discover(number)
            with open_store(plan.store) as reader:
                sampler = _Sampler(world, crawler, _rows(world, reader))
            await _run_watched(crawler, clock, sampler, watch, until=world.start + plan.days)
            end = min(clock.now(), world.start + plan.days)
            rates = sampler.rates(end)
        visits = read_visits(world, plan.store, plan.seconds_a_day)
        with open_store(plan.store) as reader:
            syncs = reader.syncs("jobs")
            feed = read_feed(settings, reader, end)
    finally:
        await site.close()
    beliefs, tally = sampler.beliefs, crawler.tally
    return ExampleRun(site.requests, tally, beliefs, visits, end, rates, syncs, feed)


def _write_settings(plan: DemoPlan, origins: Sequence[str]) -> Settings:
    text = _SETTINGS.replace("BUDGET", plan.budget).replace("RECALL", str(RECALL))
    text = text.replace("FIRST", origins[0]).replace("SECOND", origins[1])
    (plan.folder / FILE_NAME).write_text(text, encoding="utf-8")
    return read_settings(text)


async def _run_watched(
    crawler: Crawler,
    clock: Clock,
    sampler: _Sampler,
    watch: Callable[[Crawler, float], object],
    *,
    until: float,
) -> None:
    """Run a crawl until an instant, and sample its beliefs several times a day."""

    async def keep_sampling() -> None:
        while True:
            await clock.sleep(1 / SAMPLES_A_DAY)
            watch(crawler, sampler.sample(clock.now()))

    sampling = asyncio.create_task(keep_sampling())
    try:
        await crawler.run(until=until, found=lambda *_: None)
    finally:
        sampling.cancel()
        with suppress(asyncio.CancelledError):
            await sampling


class _Sampler:
    """Samples the beliefs of a crawl.

    Args:
        world: What is crawled.
        crawler: The crawl.
        row: Row in the world of each page of the crawl.
    """

    def __init__(self, world: ExampleWorld, crawler: Crawler, row: Ints) -> None:
        self.beliefs: list[Belief] = []
        self._world = world
        self._crawl = crawler.crawl
        self._row = row

    def sample(self, now: float) -> float:
        """Sample the beliefs, and return the days passed."""
        agenda = self._crawl.agenda
        frontier = agenda.frontier(0)
        if len(frontier):
            state: Any = frontier.state
            instant = instant_after_epoch(now)
            policy = self._crawl.policy
            assert isinstance(policy, Recrawl)  # noqa: S101 - the demonstration is of ours
            chance = policy.fresh(state, np.arange(len(state.last)), instant)
            # Every page with a copy is one of the world: the others are gone or moved.
            self.beliefs.append(Belief(now, self._row[agenda.pages(0)], chance))
        return now - self._world.start

    def rates(self, now: float) -> Floats:
        """Low end, estimate and high end of the rate of each page of the world."""
        agenda = self._crawl.agenda
        frontier = agenda.frontier(0)
        found = np.full((3, len(self._world)), np.nan)
        if len(frontier):
            state: Any = frontier.state
            beliefs = Beliefs.of(state, np.arange(len(state.last)), now)
            low, high = beliefs.rate_band()
            found[:, self._row[agenda.pages(0)]] = low, beliefs.rate, high
        return found


def read_visits(world: ExampleWorld, store: Path, seconds_a_day: float) -> ExampleVisits:
    """All visits of a store; requests are dated on the crawl's clock."""
    with open_store(store) as reader:
        row = _rows(world, reader)
        found = list(reader.visits())
    page, at, outcome, age, size, took, audit = (
        np.concatenate([np.asarray(getattr(each, name)) for each in found])
        for name in ("page", "at", "outcome", "age", "size", "took_seconds", "audit")
    )
    days = epoch_days(at)
    asked = days - np.nan_to_num(took) / seconds_a_day
    return ExampleVisits(row[page], asked, days, outcome, age, size, audit)


def _rows(world: ExampleWorld, reader: ReadStore) -> Ints:
    """Row in the world of each page of a store; -1 if it is not in the world."""
    row = {path: page for page, path in enumerate(world.path)}
    addresses = [each for some in reader.all_addresses() for each in some]
    return np.array([row.get(each.removeprefix(origin_of(each)), -1) for each in addresses])
