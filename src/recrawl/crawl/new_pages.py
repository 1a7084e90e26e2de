"""Pages that a crawl comes across: into the store first, then to the schedule.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.detect.reading import read_response
from recrawl.detect.simhash import simhash
from recrawl.entries.entries import DetailsWritten, Found, HintsGiven, PagesChanged, PagesFound
from recrawl.entries.sources import Source, SourceKind, SourceLooked, SourcesKnown
from recrawl.fetch.polite import MOST_HOPS
from recrawl.parse.address_shapes import repeats, shape_of
from recrawl.parse.addresses import host_of, origin_of, site_of
from recrawl.parse.encodings import decoded
from recrawl.parse.links import links
from recrawl.settings.filters import Refused
from recrawl.settings.rules import NO_RULE
from recrawl.state.refusals import Refusals
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import DuplicateSign, PageStatus, Refusal

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.entries.entries import DetailsTaken, Receipt
    from recrawl.entries.filtering import DuplicateOf
    from recrawl.entries.listings import ListingSynced
    from recrawl.fetch.robots_cache import RobotsCache
    from recrawl.parse.messages import Response
    from recrawl.parse.robots import Permission
    from recrawl.scheduler.crawl_schedule import CrawlSchedule
    from recrawl.settings.rules import Rule

# New pages of a budget that wait, in all and in days of the budget, before links are let be: a page
# may make up links for ever, and what is let be now is found again at the next change.
_MOST_WAITING, _MOST_DAYS = 10_000, 30.0
_MOST_HANDED_OVER = 10_000  # addresses of other parts of the crawl
_MOST_SOURCES = 1_000  # of an origin, beyond which no page becomes a hub


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page has brought.

    Args:
        addresses: Addresses of its rule that it links to.
        depth: How many links away it is itself.
        refusals: Links that are not followed.
        simhash: Simhash of its text; None where nobody asks for it.
        original: The page that it is a copy of; None if it is none.
    """

    addresses: Sequence[str]
    depth: int
    refusals: Refusals
    simhash: int | None
    original: DuplicateOf | None


class NewPages:
    """Takes in pages that were found.

    Args:
        schedule: Schedules them.
        ledger: Writes down what happens.
        robots: What hosts allow.
        on_new_pages: Called when there are new pages.
        threads: Reads large pages.
    """

    def __init__(
        self,
        schedule: CrawlSchedule,
        ledger: Ledger,
        robots: RobotsCache,
        on_new_pages: Callable[[], object],
        threads: WorkerThreads,
    ) -> None:
        self._schedule = schedule
        self._crawl = schedule.crawl
        self._reader = schedule.reader
        self._ledger = ledger
        self._robots = robots
        self._on_new_pages = on_new_pages
        self._threads = threads
        self._handed_over: set[str] = set()

    def add(
        self,
        addresses: Iterable[str],
        now: float,
        depth: int = 0,
        look: Callable[[PagesFound], SourceLooked] | None = None,
    ) -> asyncio.Future[Receipt]:
        """Add pages that were found; those already known stay as they are.

        Args:
            addresses: Canonical addresses.
            now: The instant.
            depth: How many links away they are from what a sitemap, a feed or a person named.
            look: The look at a source that found them, written together with them.
        """
        new = list(addresses)
        names = [host_of(address) for address in new]
        rules = self._crawl.settings.rules_of(new)
        found = PagesFound(new, names, rules, now * SECONDS_A_DAY, depth)
        entry = found if look is None else look(found)
        future = self._ledger.put(entry)
        future.add_done_callback(partial(self._added, entry))
        return future

    def synced(self, synced: ListingSynced) -> asyncio.Future[Receipt]:
        """Write a sync down; the detail pages that it found are pages of the crawl from then on."""
        future = self._ledger.put(synced)
        if synced.details is not None:
            future.add_done_callback(partial(self._detailed, synced.details.found))
        return future

    def taken(self, taken: DetailsTaken) -> asyncio.Future[Receipt]:
        """Write down what was handed over; the agenda knows of its pages from then on."""
        future = self._ledger.put(taken)
        future.add_done_callback(partial(self._detailed, taken.found))
        return future

    def _detailed(self, found: PagesFound, done: asyncio.Future[Receipt]) -> None:
        """Let the agenda know of detail pages that came and went."""
        if done.cancelled() or done.exception() is not None:
            return
        written = done.result()
        assert isinstance(written, DetailsWritten)  # noqa: S101 - the receipt of such a sync
        self._ledger.tally.found += self._schedule.take_in_details(written, found)
        self._on_new_pages()

    def moved(self, page: int, target: str, links: int, now: float) -> None:
        """Add the page that another has moved to, unless pages move on and on.

        Args:
            page: Number of the page that has moved.
            target: Where to.
            links: How many links deep its rule allows.
            now: The instant.
        """
        settings = self._crawl.settings
        if settings.whole is not None and settings.is_elsewhere(target):
            self._hand_over(settings.whole.admit(target).address, now)
            return
        admission = settings.admit(target)
        refusals = Refusals()
        refusals.note_admission(target, admission)
        self._write_refusals(host_of(target), refusals)
        depth = self._reader.depth(page) + 1
        if admission.rule != NO_RULE and depth <= links + MOST_HOPS:
            self.add([admission.address], now, depth)

    def _hand_over(self, address: str, now: float) -> None:
        """Tell whoever crawls the slot of an address of it, once: two may lead to each other."""
        if address not in self._handed_over and len(self._handed_over) < _MOST_HANDED_OVER:
            self._handed_over.add(address)
            self._ledger.put(HintsGiven([address], now * SECONDS_A_DAY))

    async def read_links(
        self, visit: PageVisit, number: int, original: DuplicateOf | None
    ) -> PageLinks | None:
        """Pages of the same rule that a page links to; None where no link is to be followed.

        What has the content of another page has its links, too, and where their addresses differ
        they lead ever deeper: those are left alone.

        Args:
            visit: A visit that brought new content.
            number: Number of the page's rule.
            original: The page that it is a copy of; None if it is none.
        """
        page, response, rule = visit.page, visit.response, self._crawl.settings.rules[number]
        depth = self._reader.depth(page)
        if depth >= rule.links or self._has_enough(page):
            return None
        found, refusals, simhash_now = list[str](), Refusals(), None
        if original is None or original.sign is not DuplicateSign.CONTENT:
            # All of one rule's pages are of one origin.
            permission = await self._robots.known(origin_of(rule.address))
            work = partial(self._links, response, number, permission)
            with suppress(Exception):  # no page, whatever it holds, may end a crawl
                owner = site_of(response.address)
                read = await self._threads.read(work, len(response.body), owner)
                found, refusals, simhash_now = read
        return PageLinks(found, depth, refusals, simhash_now, original)

    def follow(self, visit: PageVisit, number: int, links: PageLinks) -> None:
        """Add the pages that a page links to.

        A page that has a copy and leads to new pages again is a hub: a source of new pages.

        Args:
            visit: A visit that brought new content.
            number: Number of the page's rule.
            links: What it links to.
        """
        rule, original = self._crawl.settings.rules[number], links.original
        self._write_refusals(host_of(rule.address), links.refusals)
        hub = self._hub(visit.address)
        look = None if hub is None else partial(SourceLooked, hub)
        added = self.add(links.addresses, visit.at, links.depth + 1, look)
        if hub is None and links.addresses and original is None and visit.outcome.compared:
            added.add_done_callback(partial(self._note_hub, visit.address, visit.at))
        if rule.filters.traps and links.depth:
            added.add_done_callback(partial(self._judge, visit.address, links))

    def unchanged(self, visit: PageVisit) -> None:
        """Note that a page is as it was: if it is a hub, nothing is new."""
        hub = self._hub(visit.address)
        if hub is not None:
            self.add((), visit.at, look=partial(SourceLooked, hub))

    def _hub(self, address: str) -> Source | None:
        source = self._crawl.sources.get(origin_of(address), address)
        return source if source is not None and source.kind is SourceKind.HUB else None

    def _note_hub(self, address: str, now: float, done: asyncio.Future[Receipt]) -> None:
        """Take a page for a hub whose links have led to new pages."""
        if done.cancelled() or done.exception() is not None:
            return
        found = done.result()
        assert isinstance(found, Found)  # noqa: S101 - the receipt of `PagesFound`
        origin, sources = origin_of(address), self._crawl.sources
        if not found.new:
            return
        hub = self._hub(address)
        if hub is not None:  # by another visit, which was written meanwhile
            self.add((), now, look=partial(SourceLooked, hub, others=len(found.new)))
        elif sources.count(origin) < _MOST_SOURCES:
            hub = Source(address, origin, SourceKind.HUB).after_look(now * SECONDS_A_DAY, 0)
            sources.put(hub)
            self._ledger.put(SourcesKnown([hub]))

    def _judge(self, address: str, brought: PageLinks, added: asyncio.Future[Receipt]) -> None:
        """Learn from what a page has brought whether addresses of its shape lead anywhere."""
        if added.cancelled() or added.exception() is not None:
            return
        receipt = added.result()
        assert isinstance(receipt, Found)  # noqa: S101 - the receipt of `PagesFound`
        links = zip(brought.addresses, receipt.pages, strict=True)
        new = [each for each, page in links if page >= receipt.known]
        host, shape, shapes = host_of(address), shape_of(address), self._crawl.shapes
        was_trap = shapes.is_trap(host, shape)
        fruitful = any(shape_of(each) != shape for each in new)
        judged = shapes.judge(
            host, shape, brought.simhash, fruitful=fruitful, duplicate=brought.original is not None
        )
        if judged is None:
            return
        self._ledger.put(judged)
        if shapes.is_trap(host, shape) != was_trap:
            self._release(host, shape) if was_trap else self._spring(host, shape)

    def _spring(self, host: str, shape: str) -> None:
        """Leave out the pages of a trap that links led to and that were not visited yet."""
        refusals, pages, agenda = Refusals(), list[int](), self._crawl.agenda
        for page, address in self._reader.waiting_pages(self._crawl.hosts.row(host)):
            known = page < len(agenda) and agenda.status(page) is PageStatus.NEW
            if known and shape_of(address) == shape:
                pages.append(page)
                refusals.note(Refusal.TRAP, shape, address)
                agenda.withdraw(page)
        self._write_refusals(host, refusals)
        if pages:
            self._ledger.put(PagesChanged(pages, rules=[NO_RULE] * len(pages)))

    def _release(self, host: str, shape: str) -> None:
        """Take in again what was left out for a shape that has turned out to be no trap."""
        agenda, settings, now = self._crawl.agenda, self._crawl.settings, self._schedule.clock.now()
        found: dict[int, int] = {}
        for page, address in self._reader.waiting_pages(self._crawl.hosts.row(host)):
            if page < len(agenda) and shape_of(address) == shape:
                number = settings.rule_of(address)
                out = agenda.is_withdrawn(page) or agenda.term(page) == len(settings.rules)
                if number != NO_RULE and out:
                    found[page] = number
                    agenda.readmit(page, number, PageStatus.NEW, now, None)
        if found:
            self._ledger.put(PagesChanged(list(found), rules=list(found.values())))
            self._on_new_pages()

    def _write_refusals(self, host: str, refusals: Refusals) -> None:
        if refusals:
            self._ledger.put(refusals.entry(host))

    def _has_enough(self, page: int) -> bool:
        """Whether so many new pages wait already that the budget will not reach more for long."""
        waiting, visits_a_day = self._crawl.agenda.new_pages(page)
        return waiting > max(_MOST_WAITING, _MOST_DAYS * visits_a_day)

    def _links(
        self, response: Response, number: int, permission: Permission | None
    ) -> tuple[list[str], Refusals, int | None]:
        """Addresses of a rule that a page links to, those not taken in, and its simhash."""
        text = decoded(response.body, response.headers.get("content-type", ""))
        settings, refusals = self._crawl.settings, Refusals()
        rule, found = settings.rules[number], dict[str, None]()
        for each in links(text, response.address):
            if settings.rule_for(each) is not rule:
                continue
            admission = settings.admit(each)
            refusals.note_admission(each, admission)
            if admission.rule != number or admission.address in found:
                continue
            refused = self._refused(admission.address, rule, permission)
            if refused is None:
                found[admission.address] = None
            else:
                refusals.note(*refused, admission.address)
        if not rule.filters.traps:
            return list(found), refusals, None
        read = read_response(response, rule.criteria)
        lines = None if read.shell else read.lines  # shells are alike, and say nothing of pages
        return list(found), refusals, simhash(lines) if lines else None

    def _refused(self, address: str, rule: Rule, permission: Permission | None) -> Refused | None:
        """Why a link is not followed, though its address is in; None where it is."""
        if permission is not None and not permission.robots.allows(address):
            return Refused(Refusal.ROBOTS)
        if not rule.filters.traps:
            return None
        if folders := repeats(address):
            return Refused(Refusal.REPEATED, folders)
        shape = shape_of(address)
        if self._crawl.shapes.is_trap(host_of(address), shape):
            return Refused(Refusal.TRAP, shape)
        return None

    def _added(self, entry: PagesFound | SourceLooked, done: asyncio.Future[Receipt]) -> None:
        """Let the agenda know of pages that are new."""
        if done.cancelled() or done.exception() is not None:
            return
        found = done.result()
        assert isinstance(found, Found)  # noqa: S101 - the receipt of either
        if isinstance(entry, SourceLooked):
            sources, source = self._crawl.sources, entry.source
            before = sources.get(source.origin, source.address)
            sources.put(entry.learned(before, len(found.new)))
        pages = entry.found if isinstance(entry, SourceLooked) else entry
        new = self._schedule.take_in(found, pages)
        self._ledger.tally.found += new
        if new:
            self._on_new_pages()
