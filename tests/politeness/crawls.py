"""Scripts played by crawls over a store on disk: all is real but the network and the time.

A crawl that is killed leaves its store as it is at that instant: a copy of the files is what the
next one finds.

Touches: a store in a folder, threads, the modules that are checked.
"""

from __future__ import annotations

import asyncio
import shutil
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.store import create_store
from recrawl.units import SECONDS_A_DAY
from tests.politeness.code import module
from tests.politeness.model import Model
from tests.politeness.network import ScriptedNetwork
from tests.politeness.virtual_loop import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.politeness.script import ClockStep, CrawlScript, Run
    from tests.politeness.virtual_loop import VirtualLoop

_AGENT = "recrawl-test (me@example.org)"
_BATCH_SECONDS = 0.06  # until what is put is on disk


def play_crawls(script: CrawlScript, folder: Path) -> ScriptedNetwork:
    """Play a script to its end, or to the first request that should not have been sent."""
    return run(partial(_play, script, folder))


async def _play(script: CrawlScript, folder: Path, loop: VirtualLoop) -> ScriptedNetwork:
    settings = _settings(script)
    ours = frozenset(rule.address.split("/")[2] for rule in settings.rules)
    model = Model(script.delay, script.together, ours)
    network = ScriptedNetwork(script.network, model, loop)
    store = folder / "0.db"
    create_store(store).close()
    for number, each in enumerate(script.runs, 1):
        as_it_was = loop.step
        crawl = _Crawl(settings, network, loop)
        lost = await crawl.go_on(each, store, folder / f"{number}.db")
        if each.killed:
            store = folder / f"{number}.db"
        if network.impolite:
            break
        loop.step += each.step
        await asyncio.sleep(each.pause)
        model.restart(loop.now, lost=lost, step=loop.step - as_it_was)
        network.live()
    return network


def _settings(script: CrawlScript) -> Settings:
    pages = [
        Rule(address, exact=True, interval=seconds / SECONDS_A_DAY)
        for address, seconds in script.pages.items()
    ]
    sites = [Rule(address) for address in script.sites]
    return Settings(
        _AGENT,
        Budget(1e6),
        delay=script.delay / SECONDS_A_DAY,
        together=script.together,
        rules=(*sites, *pages),
    )


class _Crawl:
    """One crawl."""

    def __init__(self, settings: Settings, network: ScriptedNetwork, loop: VirtualLoop) -> None:
        self._settings = settings
        self._network = network
        self._loop = loop

    async def go_on(self, run: Run, store: Path, killed: Path) -> float:
        """Crawl for as long as a run lasts; returns since when what was said may be lost.

        Args:
            run: How long, and how it ends.
            store: Where it is written down.
            killed: Where the store of a crawl that was killed is put.
        """
        running = module("recrawl.crawl.running")
        writer = running.Writer
        running.Writer = _waited(writer)
        try:
            return await self._go_on(running, run, store, killed)
        finally:
            running.Writer = writer

    async def _go_on(self, running: Any, run: Run, store: Path, killed: Path) -> float:
        loop, network = self._loop, self._network
        clock = module("recrawl.clock").RealClock(loop.wall, loop.time)
        lost = inf
        steps = [asyncio.create_task(self._set_clock(step)) for step in run.steps]
        async with running.running(
            self._settings, store, clock, record=lambda _: network, seed=1
        ) as crawler:
            crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
            over = asyncio.create_task(network.over.wait())
            await asyncio.wait([crawl, over], timeout=run.seconds, return_when=_FIRST)
            if run.killed and not crawl.done():
                lost = loop.now - _BATCH_SECONDS
                for end in ("", "-wal"):
                    if (file := store.with_name(store.name + end)).exists():
                        shutil.copy(file, killed.with_name(killed.name + end))
                network.die()
            crawler.stop()
            if run.killed or network.impolite:
                crawler.stop()
            await crawl
        for task in (over, *steps):
            task.cancel()
        await asyncio.wait([over, *steps])
        return lost

    async def _set_clock(self, step: ClockStep) -> None:
        await asyncio.sleep(step.at)
        self._loop.step += step.step


_FIRST = asyncio.FIRST_COMPLETED


def _waited(writer: Any) -> Any:
    """A writer for whose thread time stands still."""

    class WaitedWriter(writer):  # type: ignore[misc] # of the code that is checked
        def _hand_over(self) -> None:
            if self._batch:
                self._loop.expect_thread()
            super()._hand_over()

    return WaitedWriter
