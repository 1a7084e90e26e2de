"""Looking for new pages of all sites, at the pace at which each of their sources brings some.

Once a day a site is *surveyed*: which sitemaps and feeds does it have? Each of these is looked at
when `recrawl.frontier.sources` finds that a look pays, and so are hub pages, by a visit out of
their turn. An index of sitemaps is looked at together with those of its sitemaps whose date in it
has moved, and is credited with what they bring.

The first look at a source is part of taking in its site: it waits for its host, not for the budget.
All others are paid for as visits are.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf, isfinite
from typing import TYPE_CHECKING

from recrawl.crawl.look_times import SURVEY_DAYS, LookTimes
from recrawl.entries.entries import Found, SitesDiscovered
from recrawl.entries.sources import Source, SourceKind, SourceLooked, SourcesKnown
from recrawl.fetch.host_slots import PATIENCE
from recrawl.frontier.sources import next_look
from recrawl.parse.addresses import host_of, origin_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from recrawl.clock import Clock
    from recrawl.crawl.discovery import Discovery, SourceRead
    from recrawl.crawl.new_pages import NewPages
    from recrawl.entries.entries import Entry, PagesFound
    from recrawl.parse.sitemaps import DatedAddress
    from recrawl.state.opening import Crawl
    from recrawl.state.refusals import Refusals

_WHOLE = 1.0  # days after which a source is read whole again, whatever its host says of it
_LEAST = 10 / SECONDS_A_DAY  # days from one round of looks at an origin to the next
_RETRY = 1 / 24  # days, where a host could not be asked
_AT_ONCE = 32  # origins that are looked at: visits must not wait for thousands of them
_ADDED_AT_ONCE = 5_000
_MOST_SOURCES = 1_000  # of an origin
_DEEPEST = 3  # indexes of sitemaps in each other
_MOST_PAGES = 2_000_000  # of one round at an origin
_MOST_LETTERS = 200_000_000  # of all their addresses


@dataclass(slots=True)
class Discovered:
    """What one round of looks found of a site.

    Attributes:
        addresses: Its pages, in the order in which they were found.
        new: How many of them were not known before.
        sitemaps: How many sitemaps were seen.
        feeds: How many feeds were seen.
        remarks: What went wrong, a sentence each.
        reached: Whether its host could be asked at all.
    """

    addresses: dict[str, None] = field(default_factory=dict)
    new: int = 0
    sitemaps: int = 0
    feeds: int = 0
    remarks: list[str] = field(default_factory=list)
    reached: bool = True


@dataclass(slots=True)
class _Round:
    """One round of looks at an origin.

    Attributes:
        patience: Days to wait for a turn at its host at most.
        whole: Whether all sources are read whole, due or not.
        found: What it has found so far.
        looked: Sources that were looked at.
        named: Sources of which a failure is told.
        letters: Letters of all addresses found.
    """

    patience: float
    whole: bool
    found: Discovered = field(default_factory=Discovered)
    looked: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    letters: int = 0

    def take_in(self, read: SourceRead) -> None:
        """Count what a source names."""
        self.found.sitemaps += read.source.kind is SourceKind.SITEMAP
        self.found.feeds += read.source.kind is SourceKind.FEED
        self.found.addresses |= dict.fromkeys(read.addresses)
        self.letters += sum(map(len, read.addresses))

    @property
    def is_full(self) -> bool:
        """Whether a site has named more than anybody wants to know at once."""
        return len(self.found.addresses) > _MOST_PAGES or self.letters > _MOST_LETTERS


class SiteFinder:
    """Looks for pages, site by site.

    Args:
        discovery: Asks sites.
        crawl: The crawl as it stands.
        clock: Source of the current time.
        new_pages: Adds pages that were found.
        hear: Takes in a source, and when pages changed last by its word; see `SourceRead.dates`.
        write: Writes down what was looked at.
        visit: Visits a page out of its turn, if it may be now; None where nobody ever will.
        hint: Notes hints that pages have changed; returns how much news to expect of them.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with, and whom it calls back
        self,
        discovery: Discovery,
        crawl: Crawl,
        clock: Clock,
        new_pages: NewPages,
        hear: Callable[[Source, Mapping[str, float] | None], Awaitable[object]],
        write: Callable[[Entry], object],
        visit: Callable[[str], bool | None],
        hint: Callable[[Sequence[str]], Awaitable[int]],
    ) -> None:
        self._discovery = discovery
        self._crawl = crawl
        self._sources = crawl.sources
        self._rules = crawl.settings.rules
        self._clock = clock
        self._new_pages = new_pages
        self._hear = hear
        self._write = write
        self._visit = visit
        self._hint = hint
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._times = LookTimes(crawl)

    async def find(self, numbers: Sequence[int], patience: float = inf) -> Discovered:
        """Look for the pages of some rules of one origin now, in all its sources.

        Args:
            numbers: The rules.
            patience: Days to wait for a turn at its host at most.
        """
        at = _Round(patience, whole=True)
        await self._survey(numbers, at)
        if not all(self._rules[number].exact for number in numbers):
            await self._look_around(origin_of(self._rules[numbers[0]].address), at)
        self._surveyed(numbers, at)
        return at.found

    async def find_all(
        self, numbers: Iterable[int], on_found: Callable[[int, Discovered], object]
    ) -> None:
        """Look for the pages of some rules now, some origins beside each other.

        Args:
            numbers: The rules.
            on_found: Called for each origin, with the first of its rules.
        """
        origins: dict[str, list[int]] = {}
        for number in numbers:
            origins.setdefault(origin_of(self._rules[number].address), []).append(number)

        async def find(some: Sequence[int]) -> None:
            async with self._turns:
                on_found(some[0], await self.find(some, PATIENCE))

        async with asyncio.TaskGroup() as group:
            for some in origins.values():
                group.create_task(find(some))

    async def find_due(
        self, on_found: Callable[[str, Discovered], object], patience: float = PATIENCE
    ) -> None:
        """Look at all sites at which it is time to, some beside each other.

        Args:
            on_found: Called for each site that was surveyed, by its address.
            patience: Days to wait for a turn at a host at most.
        """
        now = self._clock.now()
        async with asyncio.TaskGroup() as group:
            for origin in self._times.origins:
                if self._times.due(origin, now) <= now:
                    group.create_task(self._go_round(origin, on_found, patience))

    async def keep_finding(self, on_found: Callable[[str, Discovered], object]) -> None:
        """Look at each site whenever it is time to; `on_found` as in `find_due`."""
        ended: asyncio.Queue[str] = asyncio.Queue()
        order = count()  # of equal instants
        times = [(-inf, next(order), origin) for origin in self._times.origins]
        async with asyncio.TaskGroup() as group:
            while True:
                now = self._clock.now()
                while times and times[0][0] <= now:
                    _, _, origin = heappop(times)
                    wait = self._times.due(origin, now) - now
                    if wait <= 0:
                        group.create_task(self._go_on(origin, on_found, ended))
                        continue
                    # Looked at again halfway: prices fall, and hubs turn up.
                    again = now + max(wait / 2, min(wait, _LEAST))
                    heappush(times, (again, next(order), origin))
                wait = (times[0][0] if times else inf) - now
                try:
                    async with asyncio.timeout(self._clock.seconds(min(wait, SURVEY_DAYS))):
                        origin = await ended.get()
                except TimeoutError:
                    continue
                heappush(times, (self._clock.now() + _LEAST, next(order), origin))

    # One origin.

    async def _go_on(
        self,
        origin: str,
        on_found: Callable[[str, Discovered], object],
        ended: asyncio.Queue[str],
    ) -> None:
        await self._go_round(origin, on_found, inf)
        ended.put_nowait(origin)

    async def _go_round(
        self, origin: str, on_found: Callable[[str, Discovered], object], patience: float
    ) -> None:
        """Survey an origin if it is time to, and look at its sources that are due."""
        numbers = self._times.origins[origin]
        async with self._turns:
            survey = self._times.survey_due(origin) <= self._clock.now()
            # A source that has not changed since may name what has a rule only now.
            new = any(self._rules[each].address not in self._crawl.discovered for each in numbers)
            at = _Round(patience, whole=new)
            if survey:
                await self._survey(numbers, at)
            if at.found.reached:
                await self._look_around(origin, at)
            if survey:
                self._surveyed(numbers, at)
        if survey:
            sites = [number for number in numbers if not self._rules[number].exact]
            on_found(self._rules[(sites or numbers)[0]].address, at.found)

    async def _survey(self, numbers: Sequence[int], at: _Round) -> None:
        """Find out which sources an origin has, and forget those that it has no longer."""
        found, origin = at.found, origin_of(self._rules[numbers[0]].address)
        off = self._times.fixed(origin) == inf
        survey = await self._discovery.survey(numbers, at.patience, sources=not off)
        found.reached = survey.reached
        found.remarks += survey.remarks
        at.named |= survey.named
        found.new += await self._add(survey.addresses, self._clock.now())
        self._count_refused(origin, survey.refused)
        found.addresses |= dict.fromkeys(survey.addresses)
        for address, kind in survey.sources.items():
            if self._sources.get(origin, address) is None:
                self._sources.put(Source(address, origin, kind))
        if survey.complete and len(numbers) == len(self._times.origins[origin]) and not off:
            self._forget(
                each
                for each in self._sources.of(origin)
                if each.kind not in (SourceKind.HUB, SourceKind.LIST)
                and not each.parent
                and each.address not in survey.sources
            )

    def _surveyed(self, numbers: Sequence[int], at: _Round) -> None:
        """Note that some rules were surveyed, and their sources looked at."""
        now = self._clock.now()
        when = now if at.found.reached else now - SURVEY_DAYS + _RETRY
        addresses = [self._rules[number].address for number in numbers]
        self._crawl.discovered.update(dict.fromkeys(addresses, when))
        self._write(SitesDiscovered(addresses, when * SECONDS_A_DAY))

    async def _look_around(self, origin: str, at: _Round) -> None:
        """Look at the sources of an origin that are due, or at all of them."""
        while not at.is_full:
            source = self._next_source(origin, at)
            if source is None:
                return
            at.looked.add(source.address)
            if source.kind is not SourceKind.HUB:
                await self._look(source, at)
                continue
            visited = self._visit(source.address)
            if visited:
                self._times.pool(origin).looks.spend(self._clock.now(), first=False)
            elif visited is None:
                self._forget([source])

    def _next_source(self, origin: str, at: _Round) -> Source | None:
        """The source to look at now, most overdue first, each once in a round; None for none."""
        now = self._clock.now()
        measure = self._times.measure(origin, now)
        if measure.terms.fixed == inf:
            return None
        left = [each for each in self._sources.of(origin) if each.address not in at.looked]
        if at.whole and (named := [each for each in left if each.kind is not SourceKind.HUB]):
            return named[0]
        soonest = min(left, key=lambda each: next_look(each, measure.terms), default=None)
        return soonest if soonest is not None and measure.due(soonest) <= now else None

    async def _look(self, source: Source, at: _Round, *, announced: bool = False) -> int:
        """Look at a source, and at sitemaps that it announces; returns how many pages are new."""
        at.looked.add(source.address)
        began, looked, read_at = (
            self._clock.now(),
            source.looked_at_seconds,
            source.read_at_seconds,
        )
        if looked is not None:
            self._times.pool(source.origin).look(began)
        whole = at.whole or read_at is None or began - read_at / SECONDS_A_DAY >= _WHOLE
        read = await self._discovery.read(source, at.patience, whole=whole)
        now = self._clock.now()
        if read.broken:
            at.found.remarks.append(f"{source.address}: {read.broken}")
        if read.problem:
            is_named = source.address in at.named or source.kind is SourceKind.LIST
            if is_named or not read.missing:
                at.found.remarks.append(f"{source.address}: {read.problem}")
            self._failed(source, now)
            return 0
        at.take_in(read)
        self._count_refused(source.origin, read.refused)
        others = await self._look_into(read, at)
        if read.hints:  # noted before the look: twice rather than never
            others += await self._hint(read.hints)
        seen = _as_read(read, now * SECONDS_A_DAY, whole=whole)
        # Many pages are added bit by bit, so that others have their turn, the last with the look.
        *parts, last = _parts(read.addresses)
        new = sum([await self._add(some, now) for some in parts])
        look = partial(SourceLooked, seen, others=others + new, announced=announced)
        new += await self._add(last, now, look)
        await self._hear(seen, read.dates)
        at.found.new += new
        return new + others

    async def _add(
        self,
        addresses: Sequence[str],
        now: float,
        look: Callable[[PagesFound], SourceLooked] | None = None,
    ) -> int:
        """Add pages, and return how many are new."""
        found = await self._new_pages.add(addresses, now, look=look)
        assert isinstance(found, Found)  # noqa: S101 - the receipt of either
        return len(found.new)

    def _count_refused(self, origin: str, refused: Refusals) -> None:
        """Write down which addresses are not taken in; none of them is a new page of a source."""
        if refused:
            self._write(refused.entry(host_of(origin + "/")))

    def _failed(self, source: Source, now: float) -> None:
        """Note that a look told nothing; what its index said of it is still to be seen."""
        before = self._sources.get(source.origin, source.address) or source
        failed = before.after_failure(now * SECONDS_A_DAY)
        self._sources.put(failed)
        self._write(SourcesKnown([failed]))

    async def _look_into(self, index: SourceRead, at: _Round) -> int:
        """Look at sitemaps of an index that are new or dated anew; returns how many pages are."""
        origin, parent = index.source.origin, index.source.address
        if not index.sitemaps or self._depth(index.source) >= _DEEPEST:
            return 0
        new = 0
        for named in index.sitemaps:
            child = self._sources.get(origin, named.address)
            if child is None and self._sources.count(origin) < _MOST_SOURCES:
                child = Source(named.address, origin, SourceKind.SITEMAP, parent)
                self._sources.put(child)
            if child is None or child.parent != parent or child.address in at.looked or at.is_full:
                continue
            child, announced = _as_listed(child, named)
            if announced or at.whole:
                new += await self._look(child, at, announced=announced)
        if not index.broken:
            listed = {each.address for each in index.sitemaps}
            children = (each for each in self._sources.of(origin) if each.parent == parent)
            self._forget(each for each in children if each.address not in listed)
        return new

    def _forget(self, sources: Iterable[Source]) -> None:
        """Forget sources that are none any more."""
        dropped = list(sources)
        for source in dropped:
            self._sources.drop(source)
            self._crawl.announcements.forget(source.address)
        if dropped:
            self._write(SourcesKnown(dropped=[source.address for source in dropped]))

    def _depth(self, source: Source) -> int:
        """How many indexes a sitemap is in, one in the other."""
        depth, parent = 0, self._sources.get(source.origin, source.parent)
        while parent is not None and depth < _DEEPEST:
            depth, parent = depth + 1, self._sources.get(parent.origin, parent.parent)
        return depth


def _as_read(read: SourceRead, now_seconds: float, *, whole: bool) -> Source:
    """A source with what its body has told, but for its pages."""
    source = read.source
    if source.kind is SourceKind.FEED and source.looked_at_seconds is None:
        source = source.with_dates(list((read.dates or {}).values()), now_seconds)
    if any(isfinite(each.modified) for each in read.sitemaps):
        source = replace(source, dated=True)
    return replace(source, read_at_seconds=now_seconds) if whole else source


def _parts(addresses: Sequence[str]) -> list[Sequence[str]]:
    """Addresses, some at a time; once nothing where there are none."""
    starts = range(0, max(len(addresses), 1), _ADDED_AT_ONCE)
    return [addresses[start : start + _ADDED_AT_ONCE] for start in starts]


def _as_listed(source: Source, named: DatedAddress) -> tuple[Source, bool]:
    """A sitemap with its date in the index, and whether that says that it is to be looked at."""
    never = source.looked_at_seconds is None
    if not isfinite(named.modified):
        return replace(source, follows_index=False), never and not source.failures
    before = source.listed_at_seconds
    moved = before is None or named.modified > before
    source = replace(
        source, listed_at_seconds=named.modified, follows_index=never or source.follows_index
    )
    return source, (never and not source.failures) or moved
