"""One visit from its lease to what is written down.

    lease -> visit (slot, robots.txt, request, redirects, verdict) -> learn -> commit

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from recrawl.crawl.page_visit import LeasedPage
from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.entries.entries import VisitMade
from recrawl.entries.records import digest_of
from recrawl.fetch.host_slots import HostBusy
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.crawl.duplicates import DuplicateFinder
    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.new_pages import NewPages
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.page_visitor import PageVisitor
    from recrawl.entries.entries import Copy
    from recrawl.scheduler.crawl_schedule import CrawlSchedule, DuePage, Learned


class VisitCycle:
    """Makes visits, each from its lease to what is written down.

    Args:
        schedule: Learns from them.
        visitor: Visits pages.
        ledger: Writes down what happens.
        new_pages: Takes in pages that are found.
        duplicates: Finds pages that are copies of others.
        on_remark: Called with a sentence on why a page cannot be visited now.
    """

    def __init__(
        self,
        schedule: CrawlSchedule,
        visitor: PageVisitor,
        ledger: Ledger,
        new_pages: NewPages,
        duplicates: DuplicateFinder,
        on_remark: Callable[[str], object],
    ) -> None:
        self._on_remark = on_remark
        self._schedule = schedule
        self._settings = schedule.crawl.settings
        self._visitor = visitor
        self._ledger = ledger
        self._new_pages = new_pages
        self._duplicates = duplicates

    async def make(self, due: DuePage, copy: Copy | None, masks: str) -> None:
        """Make one visit, learn from it and write it down.

        Args:
            due: The page.
            copy: Facts about the copy; None where there is none.
            masks: What is known to differ by itself on the page, as text.
        """
        lease, page, agenda = due.lease, due.lease.page, self._schedule.crawl.agenda
        number = agenda.term(page)
        rule = self._settings.rules[number]
        try:
            known = self._duplicates.known_copy(page, copy)
            leased = LeasedPage(lease, due.address, known, read_masks(masks), rule)
            first = await self._visitor.visit(leased)
            visit = await self._duplicates.checked(leased, first)
            links = None
            if rule.links and first.follows_links:
                links = await self._new_pages.read_links(first, number, visit.original)
        except HostBusy as busy:
            agenda.release_lease(page, busy.until)
            if busy.why:
                self._on_remark(busy.why)
            return
        except asyncio.CancelledError:
            agenda.release_lease(page, self._schedule.clock.now())
            raise
        if agenda.is_withdrawn(page):  # meanwhile: nobody wants to know of it any more
            agenda.drop(page)
            return
        # From here to the end nothing waits: what is learned is what is written, in one order.
        learned = self._schedule.learn(
            lease,
            visit.address,
            visit.outcome,
            visit.at,
            age=visit.verdict.age,
            false_changes=visit.false_changes,
            gist=visit.verdict.gist,
        )
        if links is not None:
            # Before the visit: a crawl that is killed in between makes the visit again, while links
            # of a page that stays as it is would not be followed for long.
            self._new_pages.follow(first, number, links)
        self._ledger.put_visit(self._entry(visit, learned), visit)
        self._schedule.visited()
        self._duplicates.after(visit)
        if visit.moved_to:
            self._new_pages.moved(page, visit.moved_to, rule.links, visit.at)
        if rule.links and first.outcome.compared and not first.follows_links:
            self._new_pages.unchanged(first)

    def _entry(self, visit: PageVisit, learned: Learned) -> VisitMade:
        """A visit as it is written down."""
        response, verdict, keeps = visit.response, visit.verdict, self._settings.versions > 0
        event = learned.event
        target = self._settings.admit(visit.moved_to).address if visit.moved_to else None
        if event is not None and target is not None:
            event = replace(event, target=target)
        if event is not None and visit.original is not None:
            (original,) = self._schedule.reader.addresses([visit.original.page])
            event = replace(event, target=original)
        if event is not None and verdict.body is not None and not keeps:
            # A body that is kept is signed where it is written.
            event = replace(event, version=digest_of(verdict.body))
        if event is not None and visit.manifest is not None:
            event = replace(event, manifest=visit.manifest)
        return VisitMade(
            page=visit.page,
            at_seconds=visit.at * SECONDS_A_DAY,
            outcome=verdict.outcome,
            http=response.status or None,
            age=None if isnan(verdict.age) else verdict.age,
            size=len(response.body) if response.body else None,
            took_seconds=response.seconds,
            share=None if isnan(verdict.share) else verdict.share,
            audit=visit.audit,
            copy=verdict.copy,
            body=verdict.body if keeps else None,
            lines=verdict.lines if keeps else None,
            masks=None if visit.masks is None else as_json(visit.masks),
            change=learned.change,
            event=event,
            target=target,
            original=visit.original,
        )
