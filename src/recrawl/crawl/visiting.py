"""One visit from its lease to what is written down.

    lease -> trip (robots.txt, request, redirects) -> judgement -> agenda, store

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from math import inf, isnan
from typing import TYPE_CHECKING

from recrawl.crawl.judging import Judgement, judged
from recrawl.store.entries import PageChange, VisitMade
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from recrawl.crawl.clock import Clock
    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.newcomers import Newcomers
    from recrawl.crawl.opening import Crawl
    from recrawl.crawl.trips import Trip, Trips
    from recrawl.fetch.fetcher import Answer
    from recrawl.frontier.agenda import Lease
    from recrawl.frontier.rules import Rule
    from recrawl.store.entries import Copy

# Bytes of a body above which it is read in a thread, so that others need not wait.
LARGE = 1 << 16


class Visits:
    """Makes visits.

    Args:
        crawl: The crawl as it stands.
        trips: Goes to pages.
        ledger: Writes down what happens.
        newcomers: Takes in pages that are found.
        clock: What time it is.
    """

    def __init__(
        self, crawl: Crawl, trips: Trips, ledger: Ledger, newcomers: Newcomers, clock: Clock
    ) -> None:
        self._crawl = crawl
        self._trips = trips
        self._ledger = ledger
        self._newcomers = newcomers
        self._clock = clock

    async def make(self, lease: Lease, address: str, copy: Copy | None) -> None:
        """Make one visit, learn from it and write it down."""
        crawl, agenda, page = self._crawl, self._crawl.agenda, lease.page
        number = agenda.term(page)
        rule = crawl.settings.rules[number]
        try:
            trip = await self._trips.make(lease.host, address, copy, rule)
            now = self._clock.now()
            if trip.later is not None:
                agenda.given_back(page, trip.later)
                return
            trip, judgement = await self._judge(trip, address, copy, rule, page, now)
        except asyncio.CancelledError:
            agenda.given_back(page, self._clock.now())
            raise
        # From here to the end nothing waits: what is learnt is what is written, in one order.
        had = agenda.status(page), agenda.failures(page)
        self._learn(page, address, judgement, now)
        stands, after = (agenda.status(page), agenda.failures(page)), agenda.set_time(page)
        change = None
        if stands != had or after < inf:
            change = PageChange(*stands, after * SECONDS_A_DAY if after < inf else None)
        self._write(page, address, trip.answer, judgement, change, now)
        if trip.moved:
            self._newcomers.add([trip.moved], now)
        if rule.links and judgement.body is not None:
            await self._newcomers.follow(page, trip.answer, number, now)

    async def _judge(
        self, trip: Trip, address: str, copy: Copy | None, rule: Rule, page: int, now: float
    ) -> tuple[Trip, Judgement]:
        if trip.refused:
            return trip, Judgement(Outcome.REFUSED)
        if trip.moved:
            return trip, Judgement(Outcome.MOVED)
        before = float(self._crawl.last[page])
        judge = partial(
            judged,
            address,
            trip.answer,
            copy,
            rule,
            before=None if isnan(before) else before * SECONDS_A_DAY,
            now=now * SECONDS_A_DAY,
        )
        try:
            if len(trip.answer.body) > LARGE:
                return trip, await asyncio.to_thread(judge)
            return trip, judge()
        except Exception as error:  # noqa: BLE001 - no page, whatever it holds, may end a crawl
            detail = f"page must be one that can be read ({error!r:.200})"
            answer = replace(trip.answer, body=b"", problem="bad-answer", detail=detail)
            return replace(trip, answer=answer), Judgement(Outcome.FAILED)

    def _learn(self, page: int, address: str, judgement: Judgement, now: float) -> None:
        agenda, outcome = self._crawl.agenda, judgement.outcome
        match outcome:
            case Outcome.FAILED:
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
                changed = outcome is Outcome.CHANGED
                agenda.seen(page, now, changed=changed, age=judgement.age)
                self._crawl.last[page] = now

    def _write(
        self,
        page: int,
        address: str,
        answer: Answer,
        judgement: Judgement,
        change: PageChange | None,
        now: float,
    ) -> None:
        entry = VisitMade(
            page=page + 1,
            at_seconds=now * SECONDS_A_DAY,
            outcome=judgement.outcome,
            http=answer.status or None,
            age=None if isnan(judgement.age) else judgement.age,
            size=len(answer.body) if answer.body else None,
            took_seconds=answer.seconds,
            copy=judgement.copy,
            body=judgement.body if self._crawl.settings.versions else None,
            change=change,
        )
        self._ledger.put_visit(entry, address, now, answer)
