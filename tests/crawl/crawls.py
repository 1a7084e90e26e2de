"""Crawls of servers on loopback, on clocks that run fast."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.fetch.fetcher import RequestLimits
from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.store import create_store
from recrawl.units import SECONDS_A_DAY
from tests.waiting import HANGS_SECONDS, PatientClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from recrawl.clock import Clock
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.page_visit import PageVisit
    from tests.servers.faults import FaultServer

AGENT = "test-bot (me@example.org)"
START = 20_000.0
SECOND = 1 / SECONDS_A_DAY
# As short as a silent server is waited for in some tests, as long as a busy machine may take.
LIMITS = RequestLimits(connect_seconds=20.0, idle_seconds=5.0, total_seconds=30.0)


def real_time() -> ScaledClock:
    """A clock on which a second is a second."""
    return ScaledClock(SECONDS_A_DAY, START)


def site(server: FaultServer, path: str = "/", **more: Any) -> Rule:
    """A rule for what is under a path of a server."""
    return Rule(server.address(path), **{"local": True} | more)


def page_rule(server: FaultServer, path: str = "/", **more: Any) -> Rule:
    """A rule for one page, which is visited again and again."""
    return Rule(server.address(path), **{"local": True, "exact": True, "interval": 0.02} | more)


def settings(*rules: Rule, **more: Any) -> Settings:
    """Settings that ask for little politeness and have a large budget."""
    wanted: dict[str, Any] = {"rules": rules, "budget": Budget(1e6), "delay": 0.01 * SECOND}
    return Settings(AGENT, **wanted | more)


def store_in(folder: Path) -> Path:
    """A store in a folder, made if there is none."""
    path = folder / "recrawl.db"
    if not path.exists():
        create_store(path).close()
    return path


@asynccontextmanager
async def crawling(
    folder: Path, asked: Settings, clock: Clock | None = None, told: Any = bool
) -> AsyncIterator[Crawler]:
    """A crawler on the store of a folder."""
    clock = clock or PatientClock(1.0, START)
    async with running(
        asked, store_in(folder), clock, on_visit=told, limits=LIMITS, seed=1
    ) as crawler:
        yield crawler


async def crawl_until(
    folder: Path, asked: Settings, done: Callable[[list[PageVisit]], bool], clock: Clock | None
) -> list[PageVisit]:
    """Crawl, looking for pages too, until the visits on disk are what is waited for."""
    told: list[PageVisit] = []

    def tell(visit: PageVisit) -> None:
        told.append(visit)
        if done(told):
            crawler.stop()

    async with crawling(folder, asked, clock, tell) as crawler, asyncio.timeout(HANGS_SECONDS):
        await crawler.run(found=lambda *_: None)
    return told


async def visits(
    folder: Path, asked: Settings, count: int, clock: Clock | None = None
) -> list[PageVisit]:
    """Crawl, looking for pages too, until so many visits are on disk."""
    return await crawl_until(folder, asked, lambda told: len(told) == count, clock)


async def crawl_once(folder: Path, asked: Settings, clock: Clock | None = None) -> list[PageVisit]:
    """Crawl, looking for pages too, until nothing more may be done for now."""
    told: list[PageVisit] = []
    async with crawling(folder, asked, clock or real_time(), told.append) as crawler:
        async with asyncio.timeout(HANGS_SECONDS):
            await crawler.run(once=True, found=lambda *_: None)
    return told


def outcomes(told: list[PageVisit]) -> list[str]:
    """What visits found, in one word each."""
    return [visit.outcome.label for visit in told]
