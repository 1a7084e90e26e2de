"""Pages that are copies of others: found when they are visited, and looked at again now and then.

A page is a copy of another of the same host, its *original*,

    by content      if it is new and its text is that of the other;
    by canonical    if it names the other by rel=canonical, and is much like it.

The original is a page of its own: it has a copy and is no duplicate, so there are no chains and no
circles, and nothing is taken for a copy of what is gone. What a page says of itself is believed as
far as its text bears it out: a site on which every page calls the home page its canonical one keeps
all of its pages. Empty JavaScript shells are alike though their pages are not, so none is a copy.

A duplicate is not lost. It is visited again after a day, then ever more rarely, and at once when
its original is gone or, the first times, has changed. As soon as it differs it is a page again.

Touches: a store and the clock, through what it is given.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from recrawl.detect.diff.share import share_changed
from recrawl.detect.reading import read_response
from recrawl.detect.verdict import Verdict
from recrawl.entries.filtering import DuplicateOf
from recrawl.parse.addresses import host_of, site_of
from recrawl.parse.canonical_links import canonical_link
from recrawl.settings.rules import NO_RULE
from recrawl.visits.status import DuplicateSign, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.crawl.page_visit import LeasedPage, PageVisit
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.detect.reading import Criteria
    from recrawl.entries.entries import Copy
    from recrawl.parse.messages import Response
    from recrawl.scheduler.crawl_schedule import CrawlSchedule

_Key = TypeVar("_Key")
# Share of the words in which a page may differ from what it calls its canonical address: another
# order of a list, a banner. A decision, not tuned on data.
_MUCH_LIKE = 0.3
_WHOLE = (VisitOutcome.FIRST, VisitOutcome.SAME, VisitOutcome.COSMETIC, VisitOutcome.CHANGED)
_UNSURE = 4  # times found a duplicate, before which a change of the original is news of it
_MOST_RECHECKED = 100
_MOST_REMEMBERED = 10_000


class DuplicateFinder:
    """Finds pages that are copies of others.

    Args:
        schedule: The crawl.
        threads: Reads large pages.
        version: Gives the newest version of a page; None where none is kept.
        add: Adds the address that a page calls its canonical one: page, address, links, instant.
    """

    def __init__(
        self,
        schedule: CrawlSchedule,
        threads: WorkerThreads,
        version: Callable[[int], bytes | None],
        add: Callable[[int, str, int, float], None],
    ) -> None:
        self._crawl = schedule.crawl
        self._reader = schedule.reader
        self._threads = threads
        self._version = version
        self._add = add
        # Pages that name another, which has no copy yet, by that one's address.
        self._claims: OrderedDict[str, set[int]] = OrderedDict()
        # Duplicates found of late, by their original: not all of them are on disk yet.
        self._found: OrderedDict[int, set[int]] = OrderedDict()
        self._to_be_whole: set[int] = set()

    def known_copy(self, page: int, copy: Copy | None) -> Copy | None:
        """What a visit is to know of the copy of a page.

        A duplicate has none: it is compared with its original. A page that may turn out to be one
        must be fetched whole, so its validators are not sent.
        """
        if self._crawl.agenda.status(page) is PageStatus.DUPLICATE:
            return None
        if copy is not None and page in self._to_be_whole:
            return replace(copy, etag=None, modified_seconds=None)
        return copy

    async def checked(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """A visit, or what it is if its page is a copy of another."""
        copy = visit.verdict.copy or page.copy
        if visit.outcome not in _WHOLE or copy is None:
            return visit
        self._to_be_whole.discard(visit.page)
        looks = page.rule.filters.duplicates and not copy.shell
        original = await self._original(page, visit, copy) if looks else None
        if original is None:
            self._crawl.contents.put(visit.page, host=page.lease.host, signature=copy.signature)
            return visit
        verdict = Verdict(VisitOutcome.DUPLICATE)
        return replace(visit, verdict=verdict, masks=None, manifest=None, original=original)

    def after(self, visit: PageVisit) -> None:
        """Look again at duplicates of a page, and at pages that name it, if a visit was news."""
        agenda, now, outcome = self._crawl.agenda, visit.at, visit.outcome
        if visit.original is not None:
            _remember(self._found, visit.original.page, visit.page)
        gone = agenda.status(visit.page) not in (PageStatus.COPIED, PageStatus.SUSPECTED)
        if gone or outcome is VisitOutcome.CHANGED:
            for each in self._duplicates_of(visit.page):
                if gone or agenda.failures(each) < _UNSURE:
                    agenda.recheck(each, now)
        elif outcome is VisitOutcome.FIRST:
            for each in self._claims.pop(visit.address, ()):
                self._to_be_whole.add(each)
                agenda.recheck(each, now)

    async def _original(self, page: LeasedPage, visit: PageVisit, copy: Copy) -> DuplicateOf | None:
        """The page that another is a copy of; None if it is none."""
        original = await self._named(page, visit, copy)
        if original is None and not page.rule.watch and not page.rule.ignore:
            original = self._with_same_content(page, visit.page, copy)
        return original

    async def _named(self, page: LeasedPage, visit: PageVisit, copy: Copy) -> DuplicateOf | None:
        """The page that another calls its canonical address, if that can be believed."""
        response, agenda = visit.response, self._crawl.agenda
        owner = site_of(response.address)
        work = partial(canonical_link, response)
        named = await self._threads.read(work, len(response.body), owner)
        if named is None:
            return None
        admission = self._crawl.settings.admit(named)
        target = admission.address
        ours = admission.rule != NO_RULE and host_of(target) == host_of(page.address)
        if not ours or target == page.address:
            return None
        (number,) = self._reader.find_pages([target])
        known = number is not None and number < len(agenda)
        if number is None or not known or agenda.status(number) is PageStatus.NEW:
            _remember(self._claims, target, visit.page)
            self._add(visit.page, target, page.rule.links, visit.at)
            return None
        if not self._is_page(number):
            return None
        (other,) = self._reader.copies([number])
        is_like = other is not None and copy.signature == other.signature
        if not is_like and (body := self._version(number)) is not None:
            work_on = partial(_is_much_like, response, page.rule.criteria, body)
            is_like = await self._threads.read(work_on, len(response.body) + len(body), owner)
        # It may have become a duplicate itself while the two were compared.
        still = is_like and self._is_page(number)
        return DuplicateOf(number, DuplicateSign.CANONICAL) if still else None

    def _with_same_content(self, page: LeasedPage, number: int, copy: Copy) -> DuplicateOf | None:
        """Another page with the content of a page that has no copy yet."""
        if not page.lease.first and page.copy is not None:
            return None
        crawl, host = self._crawl, page.lease.host
        for each in crawl.contents.same(copy.signature, host):
            if each != number and self._is_page(each):
                return DuplicateOf(each, DuplicateSign.CONTENT)
        return None

    def _is_page(self, number: int) -> bool:
        """Whether a page is one of the crawl's, with a copy, and no duplicate itself."""
        agenda = self._crawl.agenda
        return agenda.status(number) is PageStatus.COPIED and not agenda.is_withdrawn(number)

    def _duplicates_of(self, page: int) -> list[int]:
        """Duplicates of a page, on disk or about to be."""
        if not self._crawl.agenda.had_duplicates:  # no need to ask the store
            return []
        on_disk = self._reader.duplicates_of(page, _MOST_RECHECKED)
        of_late = self._found.get(page, set())
        agenda = self._crawl.agenda
        return [
            each
            for each in sorted(of_late.union(on_disk))
            if agenda.status(each) is PageStatus.DUPLICATE
        ]


def _remember(pages: OrderedDict[_Key, set[int]], key: _Key, page: int) -> None:
    """Add a page to those of a key, and forget the oldest key if there are too many."""
    pages.setdefault(key, set()).add(page)
    pages.move_to_end(key)
    if len(pages) > _MOST_REMEMBERED:
        pages.popitem(last=False)


def _is_much_like(response: Response, criteria: Criteria, body: bytes) -> bool:
    """Whether a response shows much the same as another body."""
    one, other = (read_response(response, criteria, each).lines for each in (None, body))
    return one is not None and other is not None and share_changed(one, other) <= _MUCH_LIKE
