"""Finding the pages of a site: what its robots.txt, sitemaps and feeds name.

A site's own address is always one of its pages. Sitemaps are those that robots.txt names, else
`/sitemap.xml`; feeds are those that the page at the site's address links to. Nothing counts that
has no rule or that robots.txt forbids, and every request waits its turn.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, TypeVar

from recrawl.crawl.asking import wait_of
from recrawl.crawl.gate import TooFar
from recrawl.crawl.robots import MOST_HOPS
from recrawl.detect.reliability import FEED, SITEMAP
from recrawl.fetch.fetcher import Answer, Request
from recrawl.parse.addresses import host_of, origin_of
from recrawl.parse.encodings import decoded
from recrawl.parse.feeds import looks_like_feed, read_feed
from recrawl.parse.headers import content_type
from recrawl.parse.links import feeds_of
from recrawl.parse.sitemaps import read_sitemap
from recrawl.settings.rules import NO_RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.crawl.asking import Asker
    from recrawl.crawl.gate import Gate
    from recrawl.crawl.permissions import Permissions
    from recrawl.crawl.robots import Permission
    from recrawl.crawl.worker_threads import Aside
    from recrawl.frontier.host_table import HostBook
    from recrawl.parse.sitemaps import Entry
    from recrawl.settings.settings import Settings

Made = TypeVar("Made")

_OK = 200
_MOST_SITEMAPS = 1_000
_MOST_FEEDS = 10
_DEEPEST = 3  # indexes of sitemaps in each other
_MOST_PAGES = 2_000_000
_MOST_LETTERS = 200_000_000  # of all their addresses
_AT_ONCE = 20  # requests of all sites together, so that visits go on beside


@dataclass(slots=True)
class Discovered:
    """What was found of a site.

    Attributes:
        addresses: Its pages, in the order in which they were found.
        dates: Where a page is dated, and when it changed last by its site's word, in epoch seconds.
        sitemaps: How many sitemaps were read.
        feeds: How many feeds were read.
        remarks: What went wrong, a sentence each.
        reached: Whether its host could be asked at all.
    """

    addresses: dict[str, None] = field(default_factory=dict)
    dates: dict[str, tuple[str, float]] = field(default_factory=dict)
    sitemaps: int = 0
    feeds: int = 0
    remarks: list[str] = field(default_factory=list)
    reached: bool = True


class Discovery:
    """Finds pages.

    Args:
        asker: Makes requests.
        gate: Turns at hosts.
        permissions: What hosts allow.
        book: Hosts by name.
        settings: Whose sites they are.
        aside: Reads sitemaps and feeds.
    """

    def __init__(
        self,
        asker: Asker,
        gate: Gate,
        permissions: Permissions,
        book: HostBook,
        settings: Settings,
        aside: Aside,
    ) -> None:
        self._asker = asker
        self._gate = gate
        self._permissions = permissions
        self._book = book
        self._settings = settings
        self._aside = aside
        self._few = asyncio.Semaphore(_AT_ONCE)

    async def of(self, numbers: Sequence[int], patience: float = inf) -> Discovered:
        """What is found of the sites and pages of some rules, all of one origin.

        Args:
            numbers: The rules.
            patience: Days to wait for a turn at most.
        """
        rules = [self._settings.rules[number] for number in numbers]
        search = _Search(origin_of(rules[0].address), any(rule.local for rule in rules), patience)
        permission = await self._permission(search)
        if permission is None:
            # They are tried when their host can be asked.
            search.found.addresses |= dict.fromkeys(rule.address for rule in rules)
            search.found.reached = False
            return search.found
        search.permission = permission
        self._add(search, [rule.address for rule in rules])
        sites = [rule.address for rule in rules if not rule.exact]
        if sites:
            await self._read_sitemaps(search, permission.robots.sitemaps)
        for address in sites:
            await self._read_feeds(search, address)
        return search.found

    def _add_dated(self, search: _Search, kind: str, entries: Sequence[Entry]) -> None:
        """Add what a sitemap or a feed names, with its dates."""
        self._add(search, (entry.address for entry in entries))
        found = search.found
        for entry in entries:
            if isfinite(entry.modified) and entry.address in found.addresses:
                found.dates.setdefault(entry.address, (kind, entry.modified))

    def _add(self, search: _Search, addresses: Iterable[str]) -> None:
        """Add what has a rule and is allowed."""
        found, permission = search.found, search.permission
        host = host_of(search.origin + "/")
        for address in addresses:
            if len(found.addresses) >= _MOST_PAGES or search.letters > _MOST_LETTERS:
                return
            ours = self._settings.rule_of(address) != NO_RULE and host_of(address) == host
            if ours and permission and self._permissions.allows(permission, address):
                search.letters += len(address)
                found.addresses[address] = None

    async def _read_sitemaps(self, search: _Search, named: Sequence[str]) -> None:
        found = search.found
        todo = deque((address, 0) for address in named or [f"{search.origin}/sitemap.xml"])
        seen = {address for address, _ in todo}
        while todo and len(seen) <= _MOST_SITEMAPS:
            address, depth = todo.popleft()
            answer = await self._get(address, search)
            if not _came(answer):
                if named:
                    found.remarks.append(f"{address}: {_why(answer)}")
                continue
            # Half a second and more for a large one, in which nothing else could be done.
            read = partial(self._read_sitemap, search, address, answer)
            further = await self._done(search, address, read) or []
            found.sitemaps += 1
            for each in further if depth < _DEEPEST else ():
                if each not in seen:
                    seen.add(each)
                    todo.append((each, depth + 1))

    def _read_sitemap(self, search: _Search, address: str, answer: Answer) -> list[str]:
        """Add the pages of a sitemap; returns further sitemaps."""
        sitemap = read_sitemap(answer.body, address)
        if sitemap.broken:
            search.found.remarks.append(f"{address}: {sitemap.broken}")
        self._add_dated(search, SITEMAP, sitemap.pages)
        return [entry.address for entry in sitemap.sitemaps]

    async def _read_feeds(self, search: _Search, address: str) -> None:
        home = await self._get(address, search)
        if not _came(home):
            search.found.remarks.append(f"{address}: {_why(home)}")
            return
        header = home.headers.get("content-type", "")
        if looks_like_feed(content_type(header)[0], home.body):
            await self._done(search, address, partial(self._read_feed, search, home))
            return
        find = partial(_feeds_of, home, header)
        for each in (await self._done(search, address, find) or [])[:_MOST_FEEDS]:
            answer = await self._get(each, search)
            if _came(answer):
                await self._done(search, each, partial(self._read_feed, search, answer))

    async def _done(self, search: _Search, address: str, work: Callable[[], Made]) -> Made | None:
        """What some work on an answer makes; None, and a remark, where it takes too long."""
        try:
            return await self._aside.do(work)
        except Exception as error:  # noqa: BLE001 - nothing that a site says may end a crawl
            late = isinstance(error, TimeoutError)
            why = str(error) or "it takes longer than a minute" if late else repr(error)
            search.found.remarks.append(f"{address}: must be one that can be read ({why:.200})")
            return None

    def _read_feed(self, search: _Search, answer: Answer) -> None:
        feed = read_feed(answer.body, answer.address)
        search.found.feeds += 1
        self._add_dated(search, FEED, feed.entries)

    async def _permission(self, search: _Search) -> Permission | None:
        """What the host allows; None, and a remark, where that cannot be had."""
        host = self._book.row(host_of(search.origin + "/"))
        permission = self._permissions.known(host)
        trouble = permission.trouble if permission else ""
        if permission is None:
            try:
                turn = await self._gate.enter(host, search.patience)
                try:
                    permission = await self._permissions.of(turn, search.origin, local=search.local)
                    trouble = permission.trouble
                finally:
                    self._gate.leave(turn)
            except TooFar:
                # Its robots.txt came, and asks for long pauses: the next turn is another's.
                permission = self._permissions.known(host)
                trouble = "" if permission else _LEFT_ALONE
        if trouble:
            search.found.remarks.append(f"{search.origin}: {trouble}")
            return None
        return permission

    async def _get(self, address: str, search: _Search) -> Answer:
        """An answer, wherever the address leads, robots.txt permitting."""
        for _ in range(MOST_HOPS + 1):
            try:
                answer = await self._ask(address, search)
            except TooFar:
                return Answer(address, problem="timeout", detail=_LEFT_ALONE)
            if not (answer.ok and answer.target):
                break
            address = answer.target
        return answer

    async def _ask(self, address: str, search: _Search) -> Answer:
        """One request, after robots.txt has allowed it."""
        host = self._book.row(host_of(address))
        ours = host_of(address) == host_of(search.origin + "/")
        local = search.local if ours else self._settings.is_local(address)
        turn = await self._gate.enter(host, search.patience)
        wait = None
        try:
            permission = await self._permissions.of(
                turn, origin_of(address), local=local, stranger=not ours
            )
            if permission.trouble:
                return Answer(address, problem="unreachable", detail=permission.trouble)
            if not self._permissions.allows(permission, address):
                return Answer(address, problem="refused", detail="robots.txt forbids it")
            async with self._few:
                answer = await self._asker.ask(host, Request(address, local=local))
            wait = wait_of(answer)
            return answer
        finally:
            self._gate.leave(turn, wait)


_LEFT_ALONE = "its host must be left alone for now"


@dataclass(slots=True)
class _Search:
    """One search: where, how long it may wait, what it has found so far, and how many letters."""

    origin: str
    local: bool
    patience: float
    permission: Permission | None = None
    letters: int = 0
    found: Discovered = field(default_factory=Discovered)


def _feeds_of(home: Answer, header: str) -> list[str]:
    return list(feeds_of(decoded(home.body, header), home.address))


def _came(answer: Answer) -> bool:
    return answer.ok and answer.status == _OK and bool(answer.body)


def _why(answer: Answer) -> str:
    if answer.ok and answer.status == _OK:
        return "must not be empty (it is)"
    return answer.detail or f"must answer 200 (got {answer.status})"
