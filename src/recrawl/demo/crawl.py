"""The demonstration: the example site is started, crawled for real, and looked at meanwhile.

The crawl is one like any other, with settings and a store in a folder. Only its clock is not the
one on the wall: a day passes in a second or whatever is wanted.

Touches: the network, the clock, files.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.crawl.running import running
from recrawl.demo.site import ExampleSite
from recrawl.demo.truth import Belief
from recrawl.demo.visits import ExampleVisits
from recrawl.detect.reliability import KINDS
from recrawl.parse.addresses import host_of, origin_of
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.settings.settings import FILE_NAME, STORE_NAME, read_settings
from recrawl.store import create_store, open_store
from recrawl.units import epoch_days, instant_after_epoch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Floats, Ints
    from recrawl.clock import Clock
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.discovery import Discovered
    from recrawl.crawl.tally import Tally
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.site import Requests
    from recrawl.demo.world import ExampleWorld
    from recrawl.detect.reliability import SignalRecord
    from recrawl.entries.listings import Sync
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

LOOKS_A_DAY = 4
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
    """What to do.

    Args:
        folder: Where settings and store are written; it is there, and empty.
        budget: Visits, as people write them.
        days: How long to crawl, on the clock of the crawl.
        seconds_a_day: Real seconds in which a day passes.
    """

    folder: Path
    budget: str
    days: float
    seconds_a_day: float = 1.0

    @property
    def store(self) -> Path:
        """Where the store is."""
        return self.folder / STORE_NAME


@dataclass(frozen=True, slots=True, eq=False)
class ExampleRun:
    """What came of it.

    Args:
        discovered: What was found of the site.
        requests: What the site was asked.
        tally: What the crawl counted.
        beliefs: What the crawl believed, whenever it was looked at.
        visits: All visits, from the store.
        end: When it ended, in days after 1970.
        rates: What the crawl believed of the rates of pages in the end: low, rate and high, a row a
            page of the world; nan where it knew nothing.
        syncs: Every look at the job board.
        words: What was learnt of the word of each host, by kind.
    """

    discovered: Discovered
    requests: Requests
    tally: Tally
    beliefs: list[Belief]
    visits: ExampleVisits
    end: float
    rates: Floats
    syncs: list[Sync]
    words: list[dict[str, SignalRecord]]


async def crawl_example(
    world: ExampleWorld,
    jobs: ExampleJobs,
    clock: Clock,
    plan: DemoPlan,
    *,
    begun: Callable[[str, Crawler], object],
    watch: Callable[[Crawler, float], object],
) -> ExampleRun:
    """Start the site, crawl it, and say what came of it.

    Args:
        world: What the site shows.
        jobs: Its job board.
        clock: What time it is, for both; it shows the world's start now.
        plan: What to do.
        begun: Told the address of the site and the crawler, which it may stop.
        watch: Told of the crawler and the days that are over, some times a day.
    """
    site = ExampleSite(world, clock, jobs)
    await site.start()
    try:
        settings = _write_settings(plan, site.origins)
        create_store(plan.store).close()
        async with running(settings, plan.store, clock, seed=world.seed) as crawler:
            begun(site.origins[0], crawler)
            discovered = await crawler.discover(0)
            await crawler.discover(1)
            with open_store(plan.store) as reader:
                look = _Look(world, crawler, _rows(world, reader))
            await _run_watched(crawler, clock, look, watch, until=world.start + plan.days)
            end = min(clock.now(), world.start + plan.days)
            rates = look.rates(end)
            words = _words(crawler, site.origins)
        visits = read_visits(world, plan.store, plan.seconds_a_day)
        with open_store(plan.store) as reader:
            syncs = reader.syncs("jobs")
    finally:
        await site.close()
    return ExampleRun(
        discovered, site.requests, crawler.tally, look.beliefs, visits, end, rates, syncs, words
    )


def _words(crawler: Crawler, origins: Sequence[str]) -> list[dict[str, SignalRecord]]:
    """What was learnt of the word of each host."""
    hosts, trust = crawler.crawl.hosts, crawler.crawl.trust
    rows = [hosts.row(host_of(f"{origin}/")) for origin in origins]
    return [{kind: trust.record(row, kind) for kind in KINDS} for row in rows]


def _write_settings(plan: DemoPlan, origins: Sequence[str]) -> Settings:
    text = _SETTINGS.replace("BUDGET", plan.budget).replace("RECALL", str(RECALL))
    text = text.replace("FIRST", origins[0]).replace("SECOND", origins[1])
    (plan.folder / FILE_NAME).write_text(text, encoding="utf-8")
    return read_settings(text)


async def _run_watched(
    crawler: Crawler,
    clock: Clock,
    look: _Look,
    watch: Callable[[Crawler, float], object],
    *,
    until: float,
) -> None:
    """Let a crawl run until an instant, and look at it some times a day."""

    async def keep_looking() -> None:
        while True:
            await clock.sleep(1 / LOOKS_A_DAY)
            watch(crawler, look.at(clock.now()))

    looking = asyncio.create_task(keep_looking())
    try:
        await crawler.run(until=until, found=lambda *_: None)
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


class _Look:
    """Looks at what a crawl believes.

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

    def at(self, now: float) -> float:
        """Note what is believed now; returns the days that are over."""
        agenda = self._crawl.agenda
        frontier = agenda.frontier(0)
        if len(frontier):
            state: Any = frontier.state
            instant = instant_after_epoch(now)
            chance = self._crawl.policy.fresh(state, np.arange(len(state.last)), instant)
            # Whatever has a copy is a page of the world: all else is gone or has moved.
            self.beliefs.append(Belief(now, self._row[agenda.pages(0)], chance))
        return now - self._world.start

    def rates(self, now: float) -> Floats:
        """Low end, rate and high end of what is believed of each page of the world."""
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
    """All visits of a store, with the beginnings of their requests on the crawl's clock."""
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
    """Row in the world of each page of a store; -1 where it has none."""
    row = {path: page for page, path in enumerate(world.path)}
    addresses = [each for some in reader.all_addresses() for each in some]
    return np.array([row.get(each.removeprefix(origin_of(each)), -1) for each in addresses])
