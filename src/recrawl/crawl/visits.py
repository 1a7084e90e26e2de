"""One visit from its lease to what is written down.

    lease -> look (robots.txt, requests, redirects, judgement) -> agenda, store

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from math import inf, isnan
from typing import TYPE_CHECKING

from recrawl.crawl.page_visit import Page
from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.entries.entries import PageChange, VisitMade
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from recrawl.clock import Clock
    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.new_pages import Newcomers
    from recrawl.crawl.page_visit import Look, Looks
    from recrawl.entries.entries import Copy
    from recrawl.frontier.agenda import Lease
    from recrawl.state.opening import Crawl


class Visits:
    """Makes visits.

    Args:
        crawl: The crawl as it stands.
        looks: Looks at pages.
        ledger: Writes down what happens.
        newcomers: Takes in pages that are found.
        clock: What time it is.
    """

    def __init__(
        self, crawl: Crawl, looks: Looks, ledger: Ledger, newcomers: Newcomers, clock: Clock
    ) -> None:
        self._crawl = crawl
        self._looks = looks
        self._ledger = ledger
        self._newcomers = newcomers
        self._clock = clock

    async def make(self, lease: Lease, address: str, copy: Copy | None, masks: str) -> None:
        """Make one visit, learn from it and write it down.

        Args:
            lease: Leave to make it.
            address: Address of the page.
            copy: What is known of the copy; None where there is none.
            masks: What is known to differ by itself on the page, as text.
        """
        crawl, agenda, page = self._crawl, self._crawl.agenda, lease.page
        number = agenda.term(page)
        rule = crawl.settings.rules[number]
        try:
            look = await self._looks.at(Page(lease, address, copy, read_masks(masks), rule))
            if look.trip.later is not None:
                agenda.given_back(page, look.trip.later)
                return
        except asyncio.CancelledError:
            agenda.given_back(page, self._clock.now())
            raise
        # From here to the end nothing waits: what is learnt is what is written, in one order.
        had = agenda.status(page), agenda.failures(page)
        self._learn(lease, address, look)
        stands, after = (agenda.status(page), agenda.failures(page)), agenda.set_time(page)
        change = None
        if stands != had or after < inf:
            change = PageChange(*stands, after * SECONDS_A_DAY if after < inf else None)
        self._write(page, address, look, change)
        if look.trip.moved:
            self._newcomers.moved(page, look.trip.moved, rule.links, look.at)
        if rule.links and look.judgement.body is not None:
            await self._newcomers.follow(page, look.trip.answer, number, look.at)

    def _learn(self, lease: Lease, address: str, look: Look) -> None:
        agenda, page, now = self._crawl.agenda, lease.page, look.at
        outcome = look.judgement.outcome
        match outcome:
            case Outcome.FAILED | Outcome.WALLED:
                agenda.failed(page, now)
            case Outcome.GONE:
                agenda.gone(page, now)
            case Outcome.REFUSED:
                agenda.refused(page, now)
            case Outcome.MOVED:
                agenda.moved(page, now)
            case Outcome.FIRST:
                agenda.copied(page, address, now)
                self._crawl.last[page] = now
            case _:
                self._hear(lease, look)
                agenda.seen(
                    page,
                    now,
                    changed=outcome is Outcome.CHANGED,
                    age=look.judgement.age,
                    false_changes=look.false_changes,
                )
                self._crawl.last[page] = now

    def _hear(self, lease: Lease, look: Look) -> None:
        """Compare what a visit found with what its host had announced."""
        crawl, page = self._crawl, lease.page
        changed = look.judgement.outcome is Outcome.CHANGED
        at = look.at * SECONDS_A_DAY
        kind, counts = crawl.announcements.visited(page, at, changed=changed)
        if not kind:
            return
        if not changed:
            counts["quiet_days"] = max(look.at - float(crawl.last[page]), 0.0)
        crawl.trust.heard(lease.host, kind, **counts)

    def _write(self, page: int, address: str, look: Look, change: PageChange | None) -> None:
        answer, judgement = look.trip.answer, look.judgement
        entry = VisitMade(
            page=page + 1,
            at_seconds=look.at * SECONDS_A_DAY,
            outcome=judgement.outcome,
            http=answer.status or None,
            age=None if isnan(judgement.age) else judgement.age,
            size=len(answer.body) if answer.body else None,
            took_seconds=answer.seconds,
            share=None if isnan(judgement.share) else judgement.share,
            audit=look.audit,
            copy=judgement.copy,
            body=judgement.body if self._crawl.settings.versions else None,
            masks=None if look.masks is None else as_json(look.masks),
            change=change,
        )
        self._ledger.put_visit(entry, address, look)
