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

from recrawl.detect.reliability import FEED, SITEMAP
from recrawl.fetch.host_slots import HostBusy
from recrawl.parse.addresses import host_of, origin_of, site_of
from recrawl.parse.encodings import decoded
from recrawl.parse.feeds import looks_like_feed, read_feed
from recrawl.parse.headers import content_type
from recrawl.parse.links import feeds_of
from recrawl.parse.messages import Request, Response
from recrawl.parse.robots_tags import read_robots_tags
from recrawl.parse.sitemaps import read_sitemap
from recrawl.settings.rules import NO_RULE
from recrawl.visits.status import RobotsTag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.fetch.polite import PoliteClient
    from recrawl.parse.robots import Permission
    from recrawl.parse.sitemaps import DatedAddress
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
        client: Makes requests.
        settings: Whose sites they are.
        threads: Reads sitemaps and feeds.
    """

    def __init__(
        self,
        client: PoliteClient,
        settings: Settings,
        threads: WorkerThreads,
    ) -> None:
        self._client = client
        self._settings = settings
        self._threads = threads
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

    def _add_dated(self, search: _Search, kind: str, entries: Sequence[DatedAddress]) -> None:
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
            if ours and permission and permission.robots.allows(address):
                search.letters += len(address)
                found.addresses[address] = None

    async def _read_sitemaps(self, search: _Search, named: Sequence[str]) -> None:
        found = search.found
        todo = deque((address, 0) for address in named or [f"{search.origin}/sitemap.xml"])
        seen = {address for address, _ in todo}
        while todo and len(seen) <= _MOST_SITEMAPS:
            address, depth = todo.popleft()
            response = await self._get(address, search)
            if not _is_page(response):
                if named:
                    found.remarks.append(f"{address}: {_why(response)}")
                continue
            # Half a second and more for a large one, in which nothing else could be done.
            read = partial(self._read_sitemap, search, address, response)
            further = await self._done(search, response, read) or []
            found.sitemaps += 1
            for each in further if depth < _DEEPEST else ():
                if each not in seen:
                    seen.add(each)
                    todo.append((each, depth + 1))

    def _read_sitemap(self, search: _Search, address: str, response: Response) -> list[str]:
        """Add the pages of a sitemap; returns further sitemaps."""
        sitemap = read_sitemap(response.body, address)
        if sitemap.broken:
            search.found.remarks.append(f"{address}: {sitemap.broken}")
        self._add_dated(search, SITEMAP, sitemap.pages)
        return [entry.address for entry in sitemap.sitemaps]

    async def _read_feeds(self, search: _Search, address: str) -> None:
        home = await self._get(address, search)
        if not _is_page(home):
            search.found.remarks.append(f"{address}: {_why(home)}")
            return
        header = home.headers.get("content-type", "")
        if self._settings.heeds_robots_tags(address):
            tags = read_robots_tags(home, self._settings.robots_agent).tags
            if RobotsTag.NOFOLLOW in tags:
                return
        if looks_like_feed(content_type(header)[0], home.body):
            await self._done(search, home, partial(self._read_feed, search, home))
            return
        find = partial(_feeds_of, home, header)
        for each in (await self._done(search, home, find) or [])[:_MOST_FEEDS]:
            response = await self._get(each, search)
            if _is_page(response):
                await self._done(search, response, partial(self._read_feed, search, response))

    async def _done(
        self, search: _Search, response: Response, work: Callable[[], Made]
    ) -> Made | None:
        """What some work on a response makes; None, and a remark, where it takes too long."""
        address, size = response.address, len(response.body)
        try:
            return await self._threads.read(work, size, site_of(search.origin + "/"))
        except Exception as error:  # noqa: BLE001 - nothing that a site says may end a crawl
            late = isinstance(error, TimeoutError)
            why = str(error) or "it takes longer than a minute" if late else repr(error)
            search.found.remarks.append(f"{address}: cannot be read ({why:.200})")
            return None

    def _read_feed(self, search: _Search, response: Response) -> None:
        feed = read_feed(response.body, response.address)
        search.found.feeds += 1
        self._add_dated(search, FEED, feed.entries)

    async def _permission(self, search: _Search) -> Permission | None:
        """What the host allows; None, and a remark, where that cannot be had."""
        try:
            permission = await self._client.permission(
                search.origin, local=search.local, patience=search.patience
            )
        except HostBusy as busy:
            search.found.remarks.append(f"{search.origin}: {busy.why or _LEFT_ALONE}")
            return None
        if permission.trouble:
            search.found.remarks.append(f"{search.origin}: {permission.trouble}")
            return None
        return permission

    async def _get(self, address: str, search: _Search) -> Response:
        """Response at an address, wherever it leads, robots.txt permitting."""
        ours = host_of(address) == host_of(search.origin + "/")
        local = search.local if ours else self._settings.is_local(address)
        try:
            return await self._client.get(
                Request(address, local=local), patience=search.patience, limit=self._few
            )
        except HostBusy as busy:
            return Response(address, problem="timeout", detail=busy.why or _LEFT_ALONE)


_LEFT_ALONE = "its host wants to be left alone for now"


@dataclass(slots=True)
class _Search:
    """One search: where, how long it may wait, what it has found so far, and how many letters."""

    origin: str
    local: bool
    patience: float
    permission: Permission | None = None
    letters: int = 0
    found: Discovered = field(default_factory=Discovered)


def _feeds_of(home: Response, header: str) -> list[str]:
    return list(feeds_of(decoded(home.body, header), home.address))


def _is_page(response: Response) -> bool:
    return response.ok and response.status == _OK and bool(response.body)


def _why(response: Response) -> str:
    if response.ok and response.status == _OK:
        return "empty"
    return response.detail or f"status {response.status}"
