"""One visit from its lease to what is written down.

    lease -> visit (slot, robots.txt, request, redirects, verdict) -> learn -> commit

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from math import inf, isnan
from typing import TYPE_CHECKING

from recrawl.crawl.page_visit import LeasedPage
from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.entries.entries import PageChange, VisitMade
from recrawl.fetch.host_slots import HostBusy
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.clock import Clock
    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.new_pages import NewPages
    from recrawl.crawl.page_visit import PageVisit, PageVisitor
    from recrawl.entries.entries import Copy
    from recrawl.frontier.agenda import Lease
    from recrawl.state.opening import Crawl


class VisitCycle:
    """Makes visits, each from its lease to what is written down.

    Args:
        crawl: The crawl as it stands.
        visitor: Visits pages.
        ledger: Writes down what happens.
        new_pages: Takes in pages that are found.
        clock: Source of the current time.
    """

    def __init__(
        self, crawl: Crawl, visitor: PageVisitor, ledger: Ledger, new_pages: NewPages, clock: Clock
    ) -> None:
        self._crawl = crawl
        self._visitor = visitor
        self._ledger = ledger
        self._new_pages = new_pages
        self._clock = clock

    async def make(self, lease: Lease, address: str, copy: Copy | None, masks: str) -> None:
        """Make one visit, learn from it and write it down.

        Args:
            lease: Permission to make it.
            address: Address of the page.
            copy: What is known of the copy; None where there is none.
            masks: What is known to differ by itself on the page, as text.
        """
        crawl, agenda, page = self._crawl, self._crawl.agenda, lease.page
        number = agenda.term(page)
        rule = crawl.settings.rules[number]
        try:
            leased = LeasedPage(lease, address, copy, read_masks(masks), rule)
            visit = await self._visitor.visit(leased)
        except HostBusy as busy:
            agenda.release_lease(page, busy.until)
            return
        except asyncio.CancelledError:
            agenda.release_lease(page, self._clock.now())
            raise
        # From here to the end nothing waits: what is learned is what is written, in one order.
        had = agenda.status(page), agenda.failures(page)
        self._learn(lease, visit)
        stands, after = (agenda.status(page), agenda.failures(page)), agenda.set_time(page)
        change = None
        if stands != had or after < inf:
            change = PageChange(*stands, after * SECONDS_A_DAY if after < inf else None)
        self._ledger.put_visit(self._entry(visit, change), visit)
        if visit.moved_to:
            self._new_pages.moved(page, visit.moved_to, rule.links, visit.at)
        if rule.links and visit.verdict.body is not None:
            await self._new_pages.follow(page, visit.response, number, visit.at)

    def _learn(self, lease: Lease, visit: PageVisit) -> None:
        """Tell the agenda, and with it the policy, what a visit found."""
        agenda, page, now = self._crawl.agenda, lease.page, visit.at
        match visit.outcome:
            case VisitOutcome.FAILED | VisitOutcome.WALLED:
                agenda.failed(page, now)
            case VisitOutcome.GONE:
                agenda.gone(page, now)
            case VisitOutcome.REFUSED:
                agenda.refused(page, now)
            case VisitOutcome.MOVED:
                agenda.moved(page, now)
            case VisitOutcome.FIRST:
                agenda.copied(page, visit.address, now)
                self._crawl.last[page] = now
            case _:
                self._hear(lease, visit)
                agenda.seen(
                    page,
                    now,
                    changed=visit.outcome is VisitOutcome.CHANGED,
                    age=visit.verdict.age,
                    false_changes=visit.false_changes,
                )
                self._crawl.last[page] = now

    def _hear(self, lease: Lease, visit: PageVisit) -> None:
        """Compare what a visit found with what its host had announced."""
        crawl, page = self._crawl, lease.page
        changed = visit.outcome is VisitOutcome.CHANGED
        at = visit.at * SECONDS_A_DAY
        kind, counts = crawl.announcements.visited(page, at, changed=changed)
        if not kind:
            return
        if not changed:
            counts["quiet_days"] = max(visit.at - float(crawl.last[page]), 0.0)
        crawl.trust.count_signal(lease.host, kind, **counts)

    def _entry(self, visit: PageVisit, change: PageChange | None) -> VisitMade:
        """A visit as it is written down."""
        response, verdict = visit.response, visit.verdict
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
            body=verdict.body if self._crawl.settings.versions else None,
            masks=None if visit.masks is None else as_json(visit.masks),
            change=change,
        )
