"""The schedule of a crawl: leases out, what visits found in, all of it written down; no network.

The crawler of this package is built on it, in its own thread. For other people's crawlers there is
`recrawl.scheduler.scheduler`, which is for any thread and takes what they know.

Touches: a store and the clock, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.detect.reliability import HINT
from recrawl.entries.entries import Checkpoint, HintsTaken, PageChange, Prune
from recrawl.entries.freshness import FreshnessNoted
from recrawl.settings.rules import NO_RULE
from recrawl.state.events import Gap, visit_event
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.entries.entries import DetailsWritten, Entry, Found, PageEvent, PagesFound
    from recrawl.entries.store import ReadStore
    from recrawl.frontier.agenda import Lease
    from recrawl.state.opening import Crawl

# A checkpoint is written after so many visits, or after a visit to one page in ten.
_FEWEST_TO_SAVE, _PART_TO_SAVE = 5_000, 10
_HOURS = 24  # in a day
_MOST_LOOKED_AT = 20_000  # copies, as in `recrawl status`


@dataclass(frozen=True, slots=True)
class DuePage:
    """A page to visit now.

    Args:
        address: Its address.
        lease: Permission to visit it.
        etag: `ETag` of the copy; empty where none is known.
        last_modified: `Last-Modified` of the copy; empty where none is known.
    """

    address: str
    lease: Lease
    etag: str = ""
    last_modified: str = ""

    @property
    def first(self) -> bool:
        """Whether there is no copy of it yet."""
        return self.lease.first

    @property
    def headers(self) -> dict[str, str]:
        """Headers of a conditional request for it; empty where nothing is known.

        >>> from recrawl.frontier.agenda import Lease
        >>> DuePage("https://example.org/", Lease(0, 0, first=False, at=0.0), '"a1"').headers
        {'If-None-Match': '"a1"'}
        """
        known = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in known.items() if value}


class Learned(NamedTuple):
    """What a visit has changed.

    Attributes:
        change: The new status of the page; None if it is unchanged.
        event: What readers of the change feed are told; None for nothing.
    """

    change: PageChange | None
    event: PageEvent | None


@dataclass(frozen=True, slots=True)
class SchedulerStatus:
    """How a crawl stands.

    Args:
        copies: How many copies there are.
        fresh: Share of them that are expected to be fresh; nan where there is none.
        new: How many pages have no copy yet.
        next_visit: When something may be visited next, as far as is known, in days after 1970;
            infinite where nothing is scheduled.
    """

    copies: int
    fresh: float
    new: int
    next_visit: float


class CrawlSchedule:
    """Says which pages to visit now, and learns what visits found; for one thread.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
        clock: Source of the current time.
        write: Writes an entry down, and gives its receipt, or a future of it.
    """

    def __init__(
        self, crawl: Crawl, reader: ReadStore, clock: Clock, write: Callable[[Entry], Any]
    ) -> None:
        self.crawl = crawl
        self.reader = reader
        self.clock = clock
        self.write = write
        self._unsaved = crawl.unsaved
        self._noted = 0  # hours after 1970

    # What to do next.

    def due(self, most: int = 1) -> list[DuePage]:
        """Pages that are most worth a visit now; fewer than asked for where no more may be made.

        The host of each counts as asked from now on, and is given again when its delay has passed
        after `seen`.
        """
        leases = self.crawl.agenda.take(self.clock.now(), most)
        if not leases:
            return []
        addresses = self.reader.addresses([lease.page for lease in leases])
        return [DuePage(*each) for each in zip(addresses, leases, strict=True)]

    def ready_for(self, page: int) -> float:
        """When a page may be visited out of its turn, in days after 1970; infinite for never."""
        return self.crawl.agenda.ready_for(page, self.clock.now())

    def lease(self, page: int) -> DuePage:
        """A page by its number, to be visited now, out of its turn.

        Its host and its budget must allow it: see `ready_for`.
        """
        (address,) = self.reader.addresses([page])
        return DuePage(address, self.crawl.agenda.lease(page, self.clock.now()))

    def release(self, page: DuePage, wait: float = 0.0) -> None:
        """Give back a page that was not visited; it is due again at once, or after some days."""
        now = self.clock.now()
        self.crawl.agenda.answered(page.lease, now)
        self.crawl.agenda.release_lease(page.lease.page, now + wait)

    # What became of it.

    def status(self) -> SchedulerStatus:
        """How the crawl stands now."""
        now, agenda = self.clock.now(), self.crawl.agenda
        fresh, copies = self.crawl.expected_fresh(now)
        share = fresh / copies if copies else nan
        next_visit = max(agenda.ready(now), now)
        return SchedulerStatus(copies, share, agenda.count(PageStatus.NEW), next_visit)

    def save(self) -> Any:  # noqa: ANN401 - what `write` gives: a receipt, or a future of one
        """Write a checkpoint, and let old versions go.

        Every visit is learned and written in one go, so what was learned by now is what the visits
        say that were written before this.
        """
        self._unsaved = 0
        for entry in self.crawl.trust.entries():
            self.write(entry)
        self.write(Prune(self.clock.now() * SECONDS_A_DAY))
        saved = self.write(Checkpoint(self.crawl.dump()))
        if self.crawl.hints.unsaved:  # those that taught nothing are not there any more
            self.crawl.hints.unsaved = 0
            self.write(HintsTaken(self.crawl.hints.taken))
        return saved

    # What a crawler is built of.

    def learn(  # noqa: PLR0913 - all that a visit found of its page
        self,
        lease: Lease,
        address: str,
        outcome: VisitOutcome,
        now: float,
        *,
        age: float = nan,
        false_changes: float = 0.0,
        gist: str = "",
    ) -> Learned:
        """Learn what a visit found; returns what it has changed.

        Args:
            lease: Permission that it was made with.
            address: Address of the page.
            outcome: What it found.
            now: When, in days after 1970.
            age: Days since the page changed; nan where that is unknown.
            false_changes: Chance that the visit would find the unchanged page changed.
            gist: Kind of the change in one word, for readers of the feed; empty if unknown.
        """
        crawl, agenda, page = self.crawl, self.crawl.agenda, lease.page
        had = agenda.standing(page)
        # What others found before there was a copy is nothing that readers of the feed know of.
        last = nan if had[0] is PageStatus.NEW else float(crawl.last[page])
        gap = Gap(last, now, age)
        rate = agenda.rate(page, now) if outcome is VisitOutcome.CHANGED and isnan(age) else nan
        match outcome:
            case VisitOutcome.FAILED | VisitOutcome.WALLED:
                agenda.failed(page, now)
            case VisitOutcome.GONE:
                agenda.gone(page, now)
            case VisitOutcome.REFUSED:
                agenda.refused(page, now)
            case VisitOutcome.MOVED:
                agenda.moved(page, now)
            case VisitOutcome.DUPLICATE:
                agenda.duplicate(page, now)
            case VisitOutcome.FIRST:
                agenda.copied(page, address, now, age=age)
                crawl.last[page] = now
            case _:
                changed = outcome is VisitOutcome.CHANGED
                self._check_announcement(lease, now, changed=changed)
                crawl.trust.validators.seen(page, whole=outcome is not VisitOutcome.NOT_MODIFIED)
                agenda.seen(page, now, changed=changed, age=age, false_changes=false_changes)
                crawl.last[page] = now
        has, set_time = agenda.standing(page), agenda.set_time(page)
        listed = bool(crawl.listed[page])
        event = visit_event(outcome, has[0], gap, listed=listed, rate=rate, gist=gist or None)
        if event is not None:
            crawl.listed[page] = not event.kind.ends
        if has == had and set_time == inf:
            return Learned(None, event)
        at = set_time * SECONDS_A_DAY if set_time < inf else None
        return Learned(PageChange(*has, at), event)

    def take_in(self, found: Found, written: PagesFound) -> int:
        """Let the agenda know of pages that were written down; returns how many are new.

        Args:
            found: The receipt.
            written: What was written.
        """
        crawl, new = self.crawl, found.new
        if new:
            row = {page: at for at, page in enumerate(found.pages)}
            rows = [row[page] for page in new]
            hosts = np.array([crawl.hosts.row(written.hosts[at]) for at in rows])
            numbers = np.array([written.rules[at] for at in rows])
            terms = np.where(numbers == NO_RULE, len(crawl.settings.rules), numbers)
            crawl.take_in([written.addresses[at] for at in rows], hosts, terms)
        return len(new)

    def take_in_details(self, written: DetailsWritten, found: PagesFound) -> int:
        """Let the agenda know of detail pages that came and went; returns how many are new.

        Args:
            written: The receipt.
            found: The pages that were written.
        """
        crawl, now = self.crawl, self.clock.now()
        new = self.take_in(written.found, found)
        for page in written.unlisted:
            crawl.agenda.withdraw(page)
            crawl.listed[page] = False
        rules = dict(zip(written.found.pages, found.rules, strict=True))
        pages = list(written.back)
        addresses, copies = self.reader.addresses(pages), self.reader.copies(pages)
        visited = self.reader.latest_visits(np.array(pages, np.int64)) / SECONDS_A_DAY
        for page, address, copy, last in zip(pages, addresses, copies, visited, strict=True):
            copied = None if copy is None or isnan(last) else (address, float(last))
            if copied is not None and isnan(crawl.last[page]):
                crawl.last[page] = last
            crawl.agenda.readmit(page, rules[page], written.back[page], now, copied)
        crawl.listed[list(written.listed)] = True
        return new

    def visited(self) -> None:
        """Count a visit that was written down, and save now and then."""
        self._unsaved += 1
        self._note_freshness()
        self.save_if_due()

    def save_if_due(self) -> None:
        """Save where so much was learned that it would take long to learn it again."""
        unsaved = self._unsaved + self.crawl.hints.unsaved
        if unsaved >= max(_FEWEST_TO_SAVE, len(self.crawl.agenda) // _PART_TO_SAVE):
            self.save()

    def _note_freshness(self) -> None:
        """Write down once an hour how fresh the copies are expected to be."""
        now = self.clock.now()
        if floor(now * _HOURS) == self._noted:
            return
        self._noted = floor(now * _HOURS)
        found = self.crawl.freshness(now, _MOST_LOOKED_AT)
        if found.copies:
            share, band = found.fresh / found.copies, found.band()
            self.write(FreshnessNoted(now * SECONDS_A_DAY, found.copies, share, *band))

    def _check_announcement(self, lease: Lease, now: float, *, changed: bool) -> None:
        """Compare what a visit found with what its host had announced."""
        crawl, page = self.crawl, lease.page
        if crawl.announcements.take_hints(page):
            crawl.trust.count_signal(
                lease.host, HINT, right=float(changed), wrong=float(not changed)
            )
        kind, counts = crawl.announcements.visited(page, now * SECONDS_A_DAY, changed=changed)
        if not kind:
            return
        if not changed:
            counts["quiet_days"] = max(now - float(crawl.last[page]), 0.0)
        crawl.trust.count_signal(lease.host, kind, **counts)
