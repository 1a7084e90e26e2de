"""What the hosts of a crawl allow, each asked for its robots.txt once a day.

The file may be some hops away, and is kept in the store, so that a restart asks for none again. A
host whose robots.txt cannot be had is left alone for an hour.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from recrawl.crawl.asking import wait_of
from recrawl.crawl.robots import MOST_HOPS, Permission
from recrawl.entries.entries import RobotsRead
from recrawl.fetch.fetcher import Request
from recrawl.parse.addresses import host_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.crawl.asking import Asker
    from recrawl.crawl.gate import Gate, Turn
    from recrawl.fetch.fetcher import Answer
    from recrawl.frontier.host_table import HostBook
    from recrawl.settings.settings import Settings


_NOT_OURS = "private"  # an address that a stranger may not lead to: no trouble of its host


class Permissions:
    """What each host allows.

    Args:
        asker: Makes requests.
        gate: Turns at hosts.
        book: Hosts by name.
        clock: What time it is.
        settings: Who asks, and which hosts are on this machine or on a private network.
        put: Writes down what was read.
    """

    def __init__(
        self,
        asker: Asker,
        gate: Gate,
        book: HostBook,
        clock: Clock,
        settings: Settings,
        put: Callable[[RobotsRead], object],
    ) -> None:
        self._asker = asker
        self._gate = gate
        self._book = book
        self._clock = clock
        self._agent = settings.agent.split()[0].partition("/")[0]
        self._is_local = settings.is_local
        self._put = put
        self._known: dict[int, Permission] = {}
        self._asking: dict[int, asyncio.Event] = {}

    def resume(self, host: int, read: RobotsRead) -> None:
        """Take in what was read of a host before."""
        self._remember(host, Permission.of(read.http, read.body, read.at_seconds / SECONDS_A_DAY))
        self._book.wait_again(host)

    def known(self, host: int) -> Permission | None:
        """What a host allows, if that was asked within a day."""
        permission = self._known.get(host)
        if permission is None or permission.until <= self._clock.now():
            return None
        return permission

    def allows(self, permission: Permission, address: str) -> bool:
        """Whether this crawler may ask for an address."""
        return permission.robots.allows(address, self._agent)

    async def of(
        self, turn: Turn, origin: str, *, local: bool, stranger: bool = False
    ) -> Permission:
        """What a host allows whose turn it is; it is, or is again, its turn afterwards.

        Where that is not known it is asked for, once for all who want to know. `TooFar` where the
        host wants so much time between requests that the next must come later.

        Args:
            turn: The host's turn.
            origin: The host's address.
            local: Whether it may be on this machine or on a private network.
            stranger: Whether another host has led here: what may not be asked for its sake is no
                trouble of this one.
        """
        asked, wait = False, None
        while (permission := self.known(turn.host)) is None:
            asked = True
            others = self._asking.get(turn.host)
            if others is not None:
                # Nobody keeps a host while waiting for another: they might wait for each other.
                self._gate.leave(turn)
                await others.wait()
                continue
            done = self._asking[turn.host] = asyncio.Event()
            try:
                answer = await self._fetch(turn, origin, local=local)
            finally:
                del self._asking[turn.host]
                done.set()
            wait = wait_of(answer)
            keep = not (stranger and answer.problem == _NOT_OURS)
            permission = self._read(turn.host, answer, keep=keep)
            if not keep:
                break
        if asked and not permission.trouble:
            await self._gate.again(turn, wait if turn.held else None)
        return permission

    def _read(self, host: int, answer: Answer, *, keep: bool) -> Permission:
        """What an answer allows."""
        now = self._clock.now()
        status, body = (answer.status, answer.body) if answer.ok else (None, None)
        permission = Permission.of(status, body, now, answer.detail)
        if keep:
            self._remember(host, permission)
        if answer.problem != _NOT_OURS:  # other settings may allow what these do not
            kept = permission.robots.body if body else body
            self._put(RobotsRead(self._book.names[host], now * SECONDS_A_DAY, status, kept))
        return permission

    def _remember(self, host: int, permission: Permission) -> None:
        self._known[host] = permission
        hosts = self._book.hosts
        if permission.trouble:
            hosts.leave_alone(host, permission.until)
        delay = permission.robots.delay(self._agent)
        if delay is not None:
            hosts.slow_down(host, delay)

    async def _fetch(self, turn: Turn, origin: str, *, local: bool) -> Answer:
        """The answer to a request for robots.txt, wherever it leads."""
        answer = await self._asker.ask(turn.host, Request(f"{origin}/robots.txt", local=local))
        for _ in range(MOST_HOPS):
            if not (answer.ok and answer.target):
                break
            other = self._book.row(host_of(answer.target))
            # A host of ours may lead nowhere else on this machine or network, unless that is ours.
            near = local if other == turn.host else self._is_local(answer.target)
            request = Request(answer.target, local=near)
            if other == turn.host:
                await self._gate.again(turn, wait_of(answer) if turn.held else None)
                answer = await self._asker.ask(other, request)
                continue
            self._gate.leave(turn, wait_of(answer))
            elsewhere = await self._gate.enter(other)
            wait = None
            try:
                answer = await self._asker.ask(other, request)
                wait = wait_of(answer)
            finally:
                self._gate.leave(elsewhere, wait)
        return answer
