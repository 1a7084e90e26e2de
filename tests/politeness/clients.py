"""Scripts played through a polite client: its host table and robots.txt files, and no crawl.

What a crawl writes down is kept in dictionaries; a restart begins with those alone.

Touches: the modules that are checked.
"""

from __future__ import annotations

import asyncio
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from recrawl.entries.records import Host
from recrawl.parse.messages import Request
from recrawl.units import SECONDS_A_DAY
from tests.politeness.code import module
from tests.politeness.model import Model
from tests.politeness.network import ScriptedNetwork
from tests.politeness.script import ClockStep, Get, Restart
from tests.politeness.virtual_loop import run

if TYPE_CHECKING:
    from recrawl.entries.entries import HostSeen, RobotsRead
    from tests.politeness.script import ClientScript
    from tests.politeness.virtual_loop import VirtualLoop

OURS = frozenset({"a.org", "b.org", "a.org:81"})
_TRIES = 3  # of a request whose host is busy
_LONGEST = 3 * SECONDS_A_DAY  # after the last step


def play_client(script: ClientScript) -> ScriptedNetwork:
    """Play a script to its end, or to the first request that should not have been sent."""
    return run(partial(_play, script))


async def _play(script: ClientScript, loop: VirtualLoop) -> ScriptedNetwork:
    loop.step = script.ahead
    model = Model(script.delay, script.together, OURS)
    network = ScriptedNetwork(script.network, model, loop)
    written, as_it_was = _Written(), loop.step
    session = _Session(script, network, written, loop)
    for step in sorted(script.steps, key=lambda step: step.at):
        await _until(network, step.at - loop.now)
        match step:
            case _ if network.impolite:
                break
            case Get():
                session.begin(step)
            case ClockStep():
                loop.step += step.step
            case Restart():
                await session.end()
                loop.step += step.step
                await asyncio.sleep(step.pause)
                model.restart(loop.now, lost=loop.now, step=loop.step - as_it_was)
                as_it_was = loop.step
                network.live()
                session = _Session(script, network, written, loop)
    ended = asyncio.ensure_future(session.finish())
    await asyncio.wait([ended, asyncio.ensure_future(network.over.wait())], **_FIRST)
    ended.cancel()
    await session.end()
    return network


_FIRST: Any = {"timeout": _LONGEST, "return_when": asyncio.FIRST_COMPLETED}


async def _until(network: ScriptedNetwork, seconds: float) -> None:
    """Wait so long, or until something was found."""
    if seconds > 0 and not network.impolite:
        found = asyncio.ensure_future(network.over.wait())
        await asyncio.wait([found], timeout=seconds)
        found.cancel()


class _Written:
    """What one crawl leaves to the next."""

    def __init__(self) -> None:
        self.hosts: dict[str, HostSeen] = {}
        self.robots: dict[str, RobotsRead] = {}

    def write(self, entry: Any) -> None:
        if type(entry).__name__ == "HostSeen":
            self.hosts[entry.name] = entry
        else:
            self.robots[entry.origin] = entry

    def records(self) -> list[Host]:
        return [
            Host(seen.name, row, seen.delay, seen.blocked_until_seconds, seen.latency_seconds, 0)
            for row, seen in enumerate(self.hosts.values())
        ]


class _Session:
    """A client from a start to an end."""

    def __init__(
        self,
        script: ClientScript,
        network: ScriptedNetwork,
        written: _Written,
        loop: VirtualLoop,
    ) -> None:
        self._released = asyncio.Event()
        self._clock = module("recrawl.clock").RealClock(loop.wall, loop.time)
        day = SECONDS_A_DAY
        self._hosts = module("recrawl.frontier.host_table").HostTable(
            delay=script.delay / day, together=script.together, began=self._clock.now()
        )
        self._hosts.resume(written.records())
        robots = module("recrawl.fetch.robots_cache").RobotsCache(
            self._hosts,
            self._clock,
            "recrawl",
            load=written.robots.get,
            write=written.write,
            is_ours=lambda address: address.split("/")[2] in OURS,
            run=_at_once,
        )
        robots.resume(list(written.robots.values()))
        self._client = module("recrawl.fetch.polite").PoliteClient(
            network,
            self._hosts,
            robots,
            self._clock,
            is_local=lambda _: False,
            write=written.write,
            on_release=lambda _: self._released.set(),
        )
        self._limit = asyncio.Semaphore(script.limit)
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, step: Get) -> None:
        """Begin a request."""
        self._tasks.append(asyncio.create_task(self._get(step)))

    async def finish(self) -> None:
        """Wait for all requests."""
        await asyncio.gather(*self._tasks)

    async def end(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _get(self, step: Get) -> None:
        slots = module("recrawl.fetch.host_slots")
        host_of = module("recrawl.parse.addresses").host_of
        for _ in range(_TRIES):
            slot = None
            if step.leased:
                slot = slots.HostSlot(await self._lease(self._hosts.row(host_of(step.address))))
            try:
                await self._client.get(
                    Request(step.address),
                    slot=slot,
                    patience=step.patience / SECONDS_A_DAY,
                    limit=self._limit if step.limited else None,
                )
            except slots.HostBusy as busy:
                await self._clock.sleep(max(busy.until - self._clock.now(), 0.0))
            else:
                return

    async def _lease(self, host: int) -> int:
        """Take a slot when a host is free, as an agenda does."""
        hosts, clock = self._hosts, self._clock
        while not hosts.free(host, now := clock.now()):
            ready = hosts.ready(host)
            if ready < inf:
                await clock.sleep(ready - now)
                continue
            self._released.clear()
            await self._released.wait()
        hosts.begin(host, now)
        return host


async def _at_once(work: Any, size: int, owner: str) -> Any:
    del size, owner
    return work()
