"""The polite client: every request of a crawl goes through here.

A request waits for a slot at its host (`recrawl.fetch.host_slots`), asks robots.txt first
(`recrawl.fetch.robots_cache`), follows redirects with both asked anew at every hop, and a host that
answers 429 or 503 is left alone for as long as it says (Retry-After). Where we lack what a request
needs, or its domain has used more than its share of CPU time, `HostBusy` says when to come again.

    get -> slot -> robots.txt -> request -> redirect? -> slot -> robots.txt -> request -> ...

A request that has its slot and its permission may still wait for a connection. Both are looked at
again when it is sent, and had anew where they hold no longer.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from recrawl.entries.entries import HostSeen
from recrawl.fetch.cpu_shares import MUCH_CPU
from recrawl.fetch.host_slots import PATIENCE, HostBusy, HostSlots
from recrawl.fetch.permanent_redirects import PERMANENT, PermanentRedirects
from recrawl.parse.addresses import host_of, origin_of, site_of
from recrawl.parse.dates import http_date
from recrawl.parse.headers import retry_after
from recrawl.parse.messages import Request, Response
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.fetch.cpu_shares import CpuShares
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.fetch.host_slots import HostSlot
    from recrawl.fetch.robots_cache import RobotsCache
    from recrawl.frontier.host_table import HostTable
    from recrawl.parse.robots import Permission

MOST_HOPS = 5
_SAME_METHOD = frozenset({307, 308})  # redirects to which a form is sent again
_FAILS, _TOO_MANY, _UNAVAILABLE = 400, 429, 503
_BUSY = (_TOO_MANY, _UNAVAILABLE)
_MOST_HALTED = 10_000
_RETRY_AFTER = 10 / 1440  # days, where a host says that it is asked too often and not how long
_MOST_OF_DOMAIN = 32  # visits under way at once, of some hundred in all
# After which to try again: a domain with so many visits, and what we lacked memory or files for.
_FULL_SECONDS, _OVERLOADED_SECONDS = 5.0, 10.0
_MANY_VISITS = f"{_MOST_OF_DOMAIN} visits to it are under way; others go first"


@dataclass(slots=True)
class _Chain:
    """A request and the redirects that follow from it.

    Attributes:
        slot: The slot at the host that is asked now.
        patience: Days to wait for a slot at most.
        limit: Bounds how many requests of a kind are under way at once; None for no bound.
        latency: Days that the last response took to begin; None where there was none.
        allowed_until: Instant until which robots.txt allows what is asked now.
        skipped: Requests that were not made, since it is known where they lead.
    """

    slot: HostSlot
    patience: float
    limit: asyncio.Semaphore | None = None
    latency: float | None = None
    allowed_until: float = inf
    skipped: list[Request] = field(default_factory=list)


class _PermissionExpired(Exception):
    """A robots.txt that allowed a request is too old by now."""


class PoliteClient:
    """Makes requests politely.

    Args:
        fetcher: Makes one request.
        hosts: Hosts by name, and when each may be asked.
        robots: What hosts allow.
        clock: Source of the current time.
        is_local: Whether an address may be on this machine or on a private network.
        write: Writes down which hosts want to be left alone.
        on_release: Called with a host of which a request has ended.
        cpu: Shares of CPU time by domain; None for no bound.

    Attributes:
        is_elsewhere: Whether an address is of a site that another process asks: no redirect is
            followed there.
    """

    def __init__(  # noqa: PLR0913 - what it works with, and whom it calls back
        self,
        fetcher: Fetcher,
        hosts: HostTable,
        robots: RobotsCache,
        clock: Clock,
        *,
        is_local: Callable[[str], bool],
        write: Callable[[HostSeen], object],
        on_release: Callable[[int], object],
        cpu: CpuShares | None = None,
    ) -> None:
        self.robots = robots
        self._fetcher = fetcher
        self._hosts = hosts
        self._clock = clock
        self._is_local = is_local
        self._write = write
        self._slots = HostSlots(hosts, clock, on_release)
        # Chains, by the first address and the form that is sent there.
        self._halted: dict[tuple[str, str | None], tuple[Request, set[str], bool]] = {}
        self._redirects = PermanentRedirects()
        self._cpu = cpu
        self._visits: Counter[str] = Counter()  # under way, by domain
        self._reading: dict[str, asyncio.Event] = {}  # origins whose robots.txt is asked for
        self.is_elsewhere: Callable[[str], bool] = _nowhere

    async def get(
        self,
        request: Request,
        *,
        slot: HostSlot | None = None,
        patience: float = PATIENCE,
        stop_at: Callable[[str], bool] | None = None,
        limit: asyncio.Semaphore | None = None,
    ) -> Response:
        """Response to a request, wherever its redirects lead.

        `HostBusy` where a slot on the way is too far off. A response whose problem is "forbidden"
        was not asked for: robots.txt does not allow it.

        Args:
            request: What to ask for. Its validators hold for its own address alone.
            slot: A slot at its host, where one is held already; it is released in any case.
            patience: Days to wait for a slot at most.
            stop_at: Addresses to which a permanent redirect is not followed; `Response.target` of
                what comes back says where it leads. To what is elsewhere none is followed.
            limit: Bounds how many requests of a kind are under way at once.
        """
        domain = site_of(request.address)
        if slot is not None:
            self._check_share(domain, slot)
        else:
            slot = await self._acquire(request.address, patience)
        chain = _Chain(slot, patience, limit)
        self._visits[domain] += 1
        try:
            return await self._follow(chain, request, stop_at or _nowhere)
        finally:
            self._slots.release(chain.slot, chain.latency)
            self._visits[domain] -= 1
            if not self._visits[domain]:
                del self._visits[domain]

    async def permission(self, origin: str, *, local: bool, patience: float) -> Permission:
        """What an origin allows; `HostBusy` where it cannot be asked within `patience` days."""
        known = await self.robots.known(origin)
        if known is not None:
            return known
        slot = await self._acquire(origin + "/", patience)
        try:
            return await self._permission(slot, origin, local=local, stranger=False)
        finally:
            self._slots.release(slot)

    # Redirects.

    async def _follow(
        self, chain: _Chain, request: Request, stop_at: Callable[[str], bool]
    ) -> Response:
        """Response at the end of a chain of redirects, each hop asked of robots.txt.

        A chain whose next slot is too far off goes on from there the next time: begun anew it
        would ask the same host again and again, and never come to its end.
        """
        first, seen, permanent = request, {request.address}, True
        begun = first.address, first.form
        if begun in self._halted:
            request, seen, permanent = self._halted.pop(begun)
        try:
            if request is not first and host_of(request.address) != host_of(first.address):
                await self._move(chain, request.address)
            while True:
                stop = stop_at if permanent else _nowhere
                request = (  # nearly always nothing is known that might be skipped
                    await self._skip(chain, first, request, seen, stop)
                    if self._redirects
                    else request
                )
                response = await self._ask_if_allowed(chain, request, stranger=request is not first)
                target = response.target
                if not (response.ok and target):
                    if not response.ok or response.status >= _FAILS:
                        self._redirects.forget(chain.skipped)
                    return response
                self._redirects.learn(request, response, self._clock.now())
                permanent = permanent and response.status in PERMANENT
                stops = permanent and stop_at(target)
                if target not in seen and (stops or self.is_elsewhere(target)):
                    return response
                if target in seen or len(seen) > MOST_HOPS:
                    self._redirects.forget(chain.skipped)
                    detail = f"no end after {len(seen)} redirects (the last leads to {target})"
                    return Response(
                        first.address, response.status, problem="bad-answer", detail=detail
                    )
                seen.add(target)
                form = request.form if response.status in _SAME_METHOD else None
                request = self._redirected(first, target, form)
                await self._move(chain, target)
        except HostBusy:
            if request is not first and len(self._halted) < _MOST_HALTED:
                self._halted[begun] = request, seen, permanent
            raise

    async def _skip(
        self,
        chain: _Chain,
        first: Request,
        request: Request,
        seen: set[str],
        stop_at: Callable[[str], bool],
    ) -> Request:
        """The request that follows from one after the permanent redirects that are known."""
        now = self._clock.now()
        while target := self._redirects.target_of(request, now):
            if target in seen or len(seen) > MOST_HOPS:
                break
            if stop_at(target) or self.is_elsewhere(target):
                break
            seen.add(target)
            chain.skipped.append(request)
            request = self._redirected(first, target)
            if self._hosts.row(host_of(target)) != chain.slot.host:
                await self._move(chain, target)
        return request

    def _redirected(self, first: Request, target: str, form: str | None = None) -> Request:
        """The request that follows a redirect.

        It leads to this machine where the first did, for the same host, or where settings allow.
        Another origin than the first gets no credentials, not even those for itself: whoever has
        sent us there would choose what is asked in our name.
        """
        same_host = host_of(target) == host_of(first.address)
        return Request(
            target,
            local=first.local if same_host else self._is_local(target),
            form=form,
            credentials=origin_of(target) == origin_of(first.address),
        )

    async def _move(self, chain: _Chain, target: str) -> None:
        """Go on to the host of an address: the same one again, or another."""
        host, slot = self._hosts.row(host_of(target)), chain.slot
        if host == slot.host:
            await self._slots.reacquire(slot, chain.latency, chain.patience)
        else:
            self._slots.release(slot, chain.latency)
            chain.slot = await self._acquire(target, chain.patience)
        chain.latency = None

    # Shares of what all domains use together.

    def _check_share(self, domain: str, slot: HostSlot) -> None:
        """Release a slot, and raise `HostBusy`, where its domain has more than its share."""
        wait, why = self._cpu.wait(domain) if self._cpu else 0.0, MUCH_CPU
        if not wait and self._visits[domain] >= max(_MOST_OF_DOMAIN, self._hosts.together):
            wait, why = _FULL_SECONDS / self._clock.seconds(1.0), _MANY_VISITS
        if wait:
            until = self._clock.now() + wait
            self._hosts.block(slot.host, until)
            self._slots.release(slot)
            raise HostBusy(until, f"{domain}: {why}")

    async def _acquire(self, address: str, patience: float) -> HostSlot:
        """A slot at the host of an address, once its domain has used no more than its share."""
        host = self._hosts.row(host_of(address))
        wait = self._cpu.wait(site_of(address)) if self._cpu else 0.0
        if wait:
            self._hosts.block(host, self._clock.now() + wait)
            if patience < inf:  # nobody else's place is taken by waiting for it
                patience = 0.0
        return await self._slots.acquire(host, patience)

    # One request.

    async def _ask_if_allowed(self, chain: _Chain, request: Request, *, stranger: bool) -> Response:
        """Response to one request, after robots.txt has allowed it."""
        address, slot = request.address, chain.slot
        origin = origin_of(address)
        while True:
            permission = self.robots.at_hand(origin) if slot.held else None
            if permission is None:
                permission = await self._permission(
                    slot, origin, local=request.local, stranger=stranger
                )
            if permission.trouble:
                return Response(address, problem="unreachable", detail=permission.trouble)
            if not permission.robots.allows(address):
                return Response(address, problem="forbidden", detail="robots.txt forbids it")
            chain.allowed_until = permission.until
            try:
                return await self._ask(chain, request)
            except _PermissionExpired:
                continue

    async def _ask(self, chain: _Chain, request: Request) -> Response:
        """Response to one request; its host is left alone afterwards if it says so."""
        response = await self._fetch(chain, request)
        if response.stale:  # a kept connection had ended: one more request, and no sooner than any
            await self._slots.reacquire(chain.slot, None, chain.patience)
            response = await self._fetch(chain, request)
        if response.problem == "overloaded":
            wait = _OVERLOADED_SECONDS / self._clock.seconds(1.0)
            raise HostBusy(self._clock.now() + wait, response.detail)
        chain.latency = response.waited_seconds / SECONDS_A_DAY if response.ok else None
        if response.ok and response.status in _BUSY:
            self._leave_alone(chain.slot.host, response)
        return response

    async def _fetch(self, chain: _Chain, request: Request) -> Response:
        """Response to one request, sent when nothing is left to wait for."""
        while True:
            try:
                send = partial(self._send, chain)
                if chain.limit is None:
                    response = await self._fetcher.fetch(request, send)
                else:
                    async with chain.limit:
                        response = await self._fetcher.fetch(request, send)
                break
            except HostBusy:  # waited for without taking anybody's place
                await self._slots.reacquire(chain.slot, None, chain.patience)
        if self._cpu and response.cpu_seconds:
            self._cpu.charge(site_of(request.address), response.cpu_seconds)
        return response

    def _send(self, chain: _Chain) -> None:
        """Let a request go out, or raise what keeps it."""
        now = self._clock.now()
        if chain.allowed_until <= now:
            raise _PermissionExpired
        self._slots.send(chain.slot, now)

    def _leave_alone(self, host: int, response: Response) -> None:
        """Do as Retry-After says."""
        now = self._clock.now()
        days = asked_to_wait(response, now)
        if days is None:
            return
        self._hosts.block(host, now + days)
        self._write(
            HostSeen(
                self._hosts.names[host],
                delay=self._hosts.delay(host),
                blocked_until_seconds=(now + days) * SECONDS_A_DAY,
                latency_seconds=self._hosts.latency(host) * SECONDS_A_DAY,
            )
        )

    # robots.txt.

    async def _permission(
        self, slot: HostSlot, origin: str, *, local: bool, stranger: bool
    ) -> Permission:
        """What an origin of the slot's host allows; the slot is held, or held again, afterwards.

        Where that is not known robots.txt is asked for, once for all who want to know it.
        """
        used, latency = False, None
        # While somebody asks for it nobody knows it, and need not look.
        while (
            permission := None if origin in self._reading else await self.robots.known(origin)
        ) is None:
            others = self._reading.get(origin)
            if others is not None:
                # Nobody keeps a slot while waiting for another: they might wait for each other.
                self._slots.release(slot)
                await others.wait()
                continue
            if not slot.held:  # the others could not have it
                await self._slots.reacquire(slot, None)
                continue
            used = True
            done = self._reading[origin] = asyncio.Event()
            try:
                response, latency = await self._read_robots(slot, origin, local=local)
                permission = await self.robots.read(origin, response, stranger=stranger)
            finally:
                del self._reading[origin]
                done.set()
            if await self.robots.known(origin) is None:  # not remembered: nobody else may use it
                break
        if not permission.trouble and (used or not slot.held):
            # The next request to this host, the one for the page, comes a delay later.
            await self._slots.reacquire(slot, latency if slot.held else None)
        return permission

    async def _read_robots(
        self, slot: HostSlot, origin: str, *, local: bool
    ) -> tuple[Response, float | None]:
        """The robots.txt of an origin, wherever it is, and the latency if the slot is still held.

        RFC 9309 wants five redirects followed, also to other hosts; those are not asked for a
        robots.txt of their own.
        """
        chain = _Chain(slot, PATIENCE)
        first = Request(f"{origin}/robots.txt", local=local)
        response = await self._ask(chain, first)
        try:
            for _ in range(MOST_HOPS):
                if not (response.ok and response.target):
                    break
                target = response.target
                await self._move(chain, target)
                response = await self._ask(chain, self._redirected(first, target))
        finally:
            if chain.slot is not slot:
                self._slots.release(chain.slot, chain.latency)
        return response, chain.latency


def asked_to_wait(response: Response, now: float) -> float | None:
    """Days for which a host asks to be left alone; None where it asks for nothing.

    A 503 without Retry-After asks for nothing.

    Args:
        response: What it answered.
        now: When, in days after 1970.

    Examples:
        >>> later = Response("https://example.org/", 503, {"retry-after": "43200"})
        >>> asked_to_wait(later, now=20_000.0)
        0.5
    """
    if response.status not in _BUSY:
        return None
    # A date is one of the host's own clock, whatever ours was set to.
    today = http_date(response.headers.get("date", ""))
    asked_at = now * SECONDS_A_DAY if today is None else today
    days = retry_after(response.headers.get("retry-after", ""), asked_at)
    if days is None:
        if response.status != _TOO_MANY:
            return None
        days = _RETRY_AFTER
    return days


def _nowhere(address: str) -> bool:
    del address
    return False
