"""Finding the pages of a site: what its robots.txt, sitemaps and feeds name.

A site's own address is always one of its pages. Its *sources* are the sitemaps that robots.txt
names, else `/sitemap.xml`, the sitemaps that these name, and the feeds that the page at the site's
address links to. Nothing counts that has no rule or that robots.txt forbids, and every request
waits its turn.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from recrawl.entries.sources import SourceKind, entry_key
from recrawl.errors import InvalidInput
from recrawl.fetch.host_slots import HostBusy
from recrawl.parse.addresses import host_of, origin_of, site_of
from recrawl.parse.encodings import decoded
from recrawl.parse.feeds import looks_like_feed, read_feed
from recrawl.parse.headers import content_type
from recrawl.parse.links import feeds_of
from recrawl.parse.messages import Request, Response
from recrawl.parse.robots_tags import read_robots_tags
from recrawl.parse.site_lists import read_site_list
from recrawl.parse.sitemaps import read_sitemap
from recrawl.parse.websub import push_links
from recrawl.settings.rules import NO_RULE
from recrawl.state.refusals import Refusals
from recrawl.visits.status import Refusal, RobotsTag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.entries.sources import Source
    from recrawl.fetch.polite import PoliteClient
    from recrawl.parse.feeds import Feed
    from recrawl.parse.robots import Permission
    from recrawl.parse.sitemaps import DatedAddress
    from recrawl.settings.settings import Settings

Made = TypeVar("Made")

_OK, _NOT_MODIFIED = 200, 304
_MISSING = (404, 410)
_MOST_SITEMAPS = 1_000  # that robots.txt may name
_MOST_FEEDS = 10
_LONGEST_VALIDATOR = 1_000
_AT_ONCE = 20  # requests of all sites together, so that visits go on beside


@dataclass(slots=True)
class SiteSurvey:
    """Where the pages of a site may be found.

    Attributes:
        addresses: Addresses of its rules, as far as they are allowed.
        sources: Its sources by address; without sitemaps of an index.
        complete: Whether these are all: the page that names feeds could be read.
        named: Sources of which a failure is told: somebody says that they are there.
        remarks: What went wrong, a sentence each.
        reached: Whether its host could be asked at all.
        refused: Addresses of its rules that are not taken in.
    """

    addresses: list[str] = field(default_factory=list)
    sources: dict[str, SourceKind] = field(default_factory=dict)
    complete: bool = True
    named: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    reached: bool = True
    refused: Refusals = field(default_factory=Refusals)


@dataclass(slots=True)
class SourceRead:
    """What a look at a source showed.

    Attributes:
        source: The source, with the validators of the response.
        addresses: Pages that it names.
        dates: When pages changed last by its word, in epoch seconds; None if it is as it was.
        sitemaps: Sitemaps that it names, if it is an index.
        problem: Why nothing is known of it, in one sentence; empty if something is.
        missing: Whether that is because there is none.
        broken: Why this is not all; empty if it is.
        refused: Addresses that it names and that are not taken in.
        hints: Pages of a list of changed pages that it did not name when it was last read, or not
            with this date.
    """

    source: Source
    addresses: list[str] = field(default_factory=list)
    dates: dict[str, float] | None = field(default_factory=dict)
    sitemaps: Sequence[DatedAddress] = ()
    problem: str = ""
    missing: bool = False
    broken: str = ""
    refused: Refusals = field(default_factory=Refusals)
    hints: list[str] = field(default_factory=list)


class Discovery:
    """Surveys sites, and reads their sources.

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
        self._local = {origin_of(rule.address) for rule in settings.rules if rule.local}

    async def survey(
        self, numbers: Sequence[int], patience: float, *, sources: bool = True
    ) -> SiteSurvey:
        """Where the pages of the sites and pages of some rules may be found, all of one origin.

        Args:
            numbers: The rules.
            patience: Days to wait for a turn at most.
            sources: Whether sitemaps and feeds are wanted.
        """
        rules = [self._settings.rules[number] for number in numbers]
        found, origin = SiteSurvey(), origin_of(rules[0].address)
        permission = await self._permission(origin, patience)
        if isinstance(permission, str):
            # They are tried when their host can be asked.
            found.addresses = [rule.address for rule in rules]
            found.remarks.append(f"{origin}: {permission}")
            found.reached = False
            return found
        named = (rule.address for rule in rules)
        found.addresses = list(self._ours(named, origin, permission, found.refused).values())
        sites = [rule.address for rule in rules if sources and not rule.exact]
        if sites:
            sitemaps = list(islice(permission.robots.sitemaps, _MOST_SITEMAPS))
            found.named.update(sitemaps)
            sitemaps = sitemaps or [f"{origin}/sitemap.xml"]
            found.sources |= dict.fromkeys(sitemaps, SourceKind.SITEMAP)
        for address in sites:
            feeds = await self._feeds(found, origin, address, patience)
            found.sources |= dict.fromkeys(feeds, SourceKind.FEED)
        return found

    async def read(self, source: Source, patience: float, *, whole: bool) -> SourceRead:
        """Look at a sitemap, a feed or a list of changed pages.

        Args:
            source: The source.
            patience: Days to wait for a turn at most.
            whole: Whether to ask for all of it, though it may be as it was.
        """
        permission = await self._permission(source.origin, patience)
        if isinstance(permission, str):
            return SourceRead(source, problem=permission)
        etag, modified = ("", "") if whole else (source.etag, source.modified)
        response = await self._get(source.address, source.origin, patience, etag, modified)
        if response.status == _NOT_MODIFIED and (etag or modified):
            return SourceRead(source, dates=None)
        if not _is_page(response):
            return SourceRead(source, problem=_why(response), missing=response.status in _MISSING)
        signature = blake2b(response.body, digest_size=16).digest()
        is_same = signature == source.signature
        source = replace(
            _with_validators(source, response), signature=signature, size=len(response.body)
        )
        if is_same and not whole:
            return SourceRead(source, dates=None)
        work = partial(self._parse, source, response, permission)
        read, problem = await self._done(response, work)
        return read or SourceRead(source, problem=problem)

    def _parse(self, source: Source, response: Response, permission: Permission) -> SourceRead:
        """Read the body of a source; in a thread, for it may take a second."""
        read, dates = SourceRead(source), dict[str, float]()
        if source.kind is SourceKind.LIST:
            return self._parse_list(source, response, permission)
        if source.kind is SourceKind.SITEMAP:
            sitemap = read_sitemap(response.body, source.address)
            entries, read.broken, read.sitemaps = sitemap.pages, sitemap.broken, sitemap.sitemaps
        else:
            feed = read_feed(response.body, response.address)
            entries, read.broken = feed.entries, feed.broken
            source = _with_hub(source, response, feed)
        addresses = (entry.address for entry in entries)
        ours = self._ours(addresses, source.origin, permission, read.refused)
        read.addresses = list(dict.fromkeys(ours.values()))
        for entry in entries:
            if isfinite(entry.modified) and (page := ours.get(entry.address)) is not None:
                dates.setdefault(page, entry.modified)
        read.dates, read.source = dates, replace(source, dated=bool(dates))
        return read

    def _parse_list(self, source: Source, response: Response, permission: Permission) -> SourceRead:
        """Read a list of changed pages; in a thread, as above."""
        read = SourceRead(source)
        try:
            named = read_site_list(response.body).entries
        except InvalidInput as error:
            return SourceRead(source, problem=str(error))
        entries = {each.address: each.modified for each in named}
        ours = self._ours(entries, source.origin, permission, read.refused)
        read.addresses = list(dict.fromkeys(ours.values()))
        if source.read_at_seconds is not None:
            before = source.listed_keys
            news = (each for each in ours if entry_key(each, entries[each]) not in before)
            read.hints = list(dict.fromkeys(ours[each] for each in news))
        listed = source.with_entries((each, entries[each]) for each in ours)
        read.source = replace(listed, dated=True)
        return read

    def _ours(
        self, addresses: Iterable[str], origin: str, permission: Permission, refused: Refusals
    ) -> dict[str, str]:
        """Addresses of pages that are taken in and allowed, by those that they were found under.

        Others of the same host are counted as refused.
        """
        host, found = host_of(origin + "/"), dict[str, str]()
        for address in dict.fromkeys(addresses):
            if host_of(address) != host:
                continue
            admission = self._settings.admit(address)
            refused.note_admission(address, admission)
            if admission.rule == NO_RULE:
                continue
            if permission.robots.allows(admission.address):
                found[address] = admission.address
            else:
                refused.note(Refusal.ROBOTS, "", admission.address)
        return found

    async def _feeds(
        self, found: SiteSurvey, origin: str, address: str, patience: float
    ) -> list[str]:
        """Feeds that the page at a site's address names, or is itself."""
        home = await self._get(address, origin, patience)
        if not _is_page(home):
            found.remarks.append(f"{address}: {_why(home)}")
            found.complete = False
            return []
        header = home.headers.get("content-type", "")
        if self._settings.heeds_robots_tags(address):
            tags = read_robots_tags(home, self._settings.robots_agent).tags
            if RobotsTag.NOFOLLOW in tags:
                return []
        if looks_like_feed(content_type(header)[0], home.body):
            return [address]
        feeds, problem = await self._done(home, partial(_feeds_of, home, header))
        if problem:
            found.remarks.append(f"{address}: {problem}")
        return (feeds or [])[:_MOST_FEEDS]

    async def _done(self, response: Response, work: Callable[[], Made]) -> tuple[Made | None, str]:
        """What some work on a response makes, or why it takes too long or fails."""
        try:
            made = await self._threads.read(work, len(response.body), site_of(response.address))
        except Exception as error:  # noqa: BLE001 - nothing that a site says may end a crawl
            late = isinstance(error, TimeoutError)
            why = str(error) or "it takes longer than a minute" if late else repr(error)
            return None, f"cannot be read ({why:.200})"
        return made, ""

    async def _permission(self, origin: str, patience: float) -> Permission | str:
        """What a host allows, or why that cannot be had."""
        try:
            permission = await self._client.permission(
                origin, local=origin in self._local, patience=patience
            )
        except HostBusy as busy:
            return busy.why or _LEFT_ALONE
        return permission.trouble or permission

    async def _get(
        self, address: str, origin: str, patience: float, etag: str = "", modified: str = ""
    ) -> Response:
        """Response at an address, wherever it leads, robots.txt permitting."""
        ours = host_of(address) == host_of(origin + "/")
        local = origin in self._local if ours else self._settings.is_local(address)
        request = Request(address, etag, modified, local=local)
        try:
            return await self._client.get(request, patience=patience, limit=self._few)
        except HostBusy as busy:
            return Response(address, problem="timeout", detail=busy.why or _LEFT_ALONE)


_LEFT_ALONE = "its host wants to be left alone for now"


def _with_validators(source: Source, response: Response) -> Source:
    """A source with the validators of its own response, not of where a redirect has led."""
    headers = response.headers if response.address == source.address else {}
    etag, modified = (headers.get(name, "") for name in ("etag", "last-modified"))
    fit = [
        text if len(text) <= _LONGEST_VALIDATOR and text.isascii() else ""
        for text in (etag, modified)
    ]
    return replace(source, etag=fit[0], modified=fit[1])


def _with_hub(source: Source, response: Response, feed: Feed) -> Source:
    """A feed with the hub that it names, and with its entries if there is one."""
    links = push_links(response.headers.get("link", ""), feed.links, response.address)
    named = replace(source, push_hub=links.hub, push_topic=links.topic)
    entries = ((each.address, each.modified) for each in feed.entries) if links.hub else ()
    return named.with_entries(entries)


def _feeds_of(home: Response, header: str) -> list[str]:
    return list(feeds_of(decoded(home.body, header), home.address))


def _is_page(response: Response) -> bool:
    return response.ok and response.status == _OK and bool(response.body)


def _why(response: Response) -> str:
    if response.ok and response.status == _OK:
        return "empty"
    return response.detail or f"status {response.status}"
