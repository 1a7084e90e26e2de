"""One look at a page: a request, what it says, and a second request where that must be checked.

A host that says "not modified" may be wrong, and a page that differs may differ by itself. Both
are found out by fetching the page once more, at once, on a sample of visits:

    304   -- fetched all the same -->  it had changed, and is denied again: the host denies changes
    200   -- fetched again        -->  what differs between the two is no change

Requests wait their turn at the host like all others, and each counts as a visit of the budget.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, TypeVar

from recrawl.crawl.trips import Trip
from recrawl.detect.masks.masks import learnt, masked
from recrawl.detect.reliability import ETAG, MODIFIED, NOT_MODIFIED
from recrawl.detect.returns import Returns
from recrawl.detect.text.words import share_changed
from recrawl.detect.verdict import (
    Judgement,
    Known,
    dated_by_answer,
    judged,
    read_answer,
    unmoved,
    unread,
)
from recrawl.detect.walls.repeats import Repeats
from recrawl.fetch.fetcher import Answer
from recrawl.parse.headers import validators
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Audit, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.crawl.trips import Trips
    from recrawl.crawl.worker_threads import Aside
    from recrawl.detect.masks.masks import Masks
    from recrawl.detect.verdict import Read
    from recrawl.entries.entries import Copy
    from recrawl.frontier.agenda import Lease
    from recrawl.settings.rules import Rule
    from recrawl.state.opening import Crawl

    Made = TypeVar("Made")

# Bytes of a body above which it is read in a thread, so that others need not wait.
LARGE = 1 << 16
_OK, _NOT_MODIFIED = 200, 304
# A difference no larger than so many times that between two fetches at once says nothing.
_AS_BY_ITSELF = 1.5
_SAME = (Outcome.SAME, Outcome.COSMETIC)
_DENIED = (Outcome.CHANGED, Outcome.GONE)
_SAYS_NOTHING = (Outcome.FAILED, Outcome.WALLED)
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is looked at.

    Args:
        lease: Leave to visit it.
        address: Its address.
        copy: What is known of the copy; None where there is none.
        masks: What is known to differ by itself on it.
        rule: What is asked for it.
    """

    lease: Lease
    address: str
    copy: Copy | None
    masks: Masks
    rule: Rule


@dataclass(frozen=True, slots=True)
class Look:
    """What a look showed.

    Args:
        trip: The request, or the last of them.
        judgement: What it says of the page.
        at: When it was made, in days after 1970.
        audit: What a second request was made for.
        masks: What differs by itself on the page; None where nothing new is known.
        false_changes: Chance that a change is reported of the unchanged page.
    """

    trip: Trip
    judgement: Judgement
    at: float
    audit: Audit = Audit.NONE
    masks: Masks | None = None
    false_changes: float = 0.0


class Looks:
    """Looks at pages.

    Args:
        crawl: The crawl as it stands.
        trips: Goes to pages.
        version: Gives the newest version of a page; None where none is kept.
        clock: What time it is.
        aside: Reads large pages.
        stopping: Whether the crawl was asked to stop: no second request begins then.
    """

    def __init__(
        self,
        crawl: Crawl,
        trips: Trips,
        version: Callable[[int], bytes | None],
        clock: Clock,
        aside: Aside,
        stopping: Callable[[], bool],
    ) -> None:
        self._crawl = crawl
        self._trust = crawl.trust
        self._trips = trips
        self._version = version
        self._clock = clock
        self._aside = aside
        self._stopping = stopping
        self._repeats = Repeats()
        self._returns = Returns()

    async def at(self, page: Page) -> Look:
        """Look at a page, twice where that is to be checked."""
        host, trust = page.lease.host, self._trust
        asked = page.copy if trust.asks(host) else None
        trip = await self._trips.make(host, page.address, asked, page.rule)
        now = self._clock.now()
        if trip.later is not None:
            return Look(trip, Judgement(Outcome.FAILED), now)
        if trip.refused or trip.moved:
            outcome = Outcome.REFUSED if trip.refused else Outcome.MOVED
            return Look(trip, Judgement(outcome), now)
        try:
            look = await self._judge(page, trip, now)
            if look.judgement.outcome is Outcome.NOT_MODIFIED:
                if trust.audits(host):
                    look = await self._check_word(page, look)
            else:
                look = await self._check(page, look)
                conditional = asked is not None and (asked.etag or asked.modified_seconds)
                if conditional and look.judgement.outcome is Outcome.CHANGED:
                    trust.heard(host, NOT_MODIFIED, right=1)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - no page, whatever it holds, may end a crawl
            detail = f"page must be one that can be read ({error!r:.200})"
            answer = replace(trip.answer, body=b"", problem="bad-answer", detail=detail)
            return Look(replace(trip, answer=answer), Judgement(Outcome.FAILED), now)
        return self._weighed(page, look)

    async def _judge(self, page: Page, trip: Trip, now: float, masks: Masks | None = None) -> Look:
        """Judge one answer."""
        answer = trip.answer
        settled = unread(page.address, answer, page.copy)
        if settled is not None:
            return Look(trip, settled, now)
        known = self._known(page, masks)
        read = await self._work(answer, partial(read_answer, answer, page.rule))
        work = partial(unmoved, page.address, answer, read, known)
        settled = await self._work(answer, work)
        if settled is not None:
            return Look(trip, settled, now)
        old = await self._old(page, answer) if page.copy is not None else None
        judge = partial(
            judged,
            page.address,
            answer,
            read,
            known,
            page.rule,
            old=old,
            at=now * SECONDS_A_DAY,
        )
        return Look(trip, await self._work(answer, judge), now)

    def _known(self, page: Page, masks: Masks | None) -> Known:
        host, number = page.lease.host, page.lease.page
        before = float(self._crawl.last[number])
        known = page.masks if masks is None else masks
        # What its neighbours have learnt holds for a page until it has shown itself.
        if masks is None and not page.masks and not self._trust.checked[number]:
            known = known.joined(self._trust.masks(host))
        return Known(
            page.copy,
            known,
            None if isnan(before) else before * SECONDS_A_DAY,
            self._trust.dates(host),
            self._crawl.settings.versions > 0,
        )

    async def _old(self, page: Page, answer: Answer) -> Read | None:
        """What a reader saw of the version that is kept; None where none is."""
        keeps = self._crawl.settings.versions > 0
        body = self._version(page.lease.page) if keeps else None
        if body is None:
            return None
        return await self._work(answer, partial(read_answer, answer, page.rule, body))

    # Second requests.

    async def _check_word(self, page: Page, look: Look) -> Look:
        """Fetch a page that its host calls unmodified."""
        second = await self._again(page, gone=True)
        if second is None:
            return look
        found = await self._judge(page, second, self._clock.now())
        if found.judgement.outcome in _SAYS_NOTHING:  # of the page; its host has said something
            return replace(look, audit=Audit.WORD)
        if found.judgement.outcome is Outcome.CHANGED:
            found = await self._check_noise(page, found, sampled=False)
        if found.judgement.outcome in _DENIED and await self._denies(page):
            self._trust.heard(page.lease.host, NOT_MODIFIED, wrong=1)
        if found.judgement.outcome in _SAME:
            self._trust.heard(page.lease.host, NOT_MODIFIED, silent=1)
            copy = found.judgement.copy or look.judgement.copy
            judgement = replace(look.judgement, copy=copy)
            found = replace(look, judgement=judgement, masks=found.masks)
        return replace(found, audit=Audit.WORD)

    async def _denies(self, page: Page) -> bool:
        """Whether a host still denies a change; if not, it came between two requests, or might."""
        trip = await self._once_more(page, page.copy)
        made = trip.later is None and trip.answer.ok
        return made and trip.answer.status == _NOT_MODIFIED

    async def _check(self, page: Page, look: Look) -> Look:
        """Fetch a page again where it seems to have changed, or where the lot falls on it."""
        outcome, trust = look.judgement.outcome, self._trust
        # The sample is drawn first: what is left over by other checks would be too quiet.
        whole = outcome in (Outcome.SAME, Outcome.COSMETIC, Outcome.CHANGED)
        if whole and trust.samples(page.lease.host):
            look = await self._check_noise(page, look, sampled=True)
        elif outcome is Outcome.CHANGED and self._checks(page, look.judgement):
            look = await self._check_noise(page, look, sampled=False)
        if look.judgement.outcome is Outcome.CHANGED and look.audit is Audit.NONE:
            doubt = trust.false_changes(page.lease.host, page.lease.page)
            return replace(look, false_changes=doubt)
        return look

    def _checks(self, page: Page, judgement: Judgement) -> bool:
        """Whether to fetch a page that seems to have changed twice, by lot or for what it shows.

        A change that undoes another may be one of two texts by chance, and one that takes the place
        of a mask away leaves noise unmasked.
        """
        new = judgement.copy.text_signature if judgement.copy else None
        old = page.copy.text_signature if page.copy else None
        returned = bool(new and old and self._returns.seen(page.lease.page, new, old))
        doubtful = judgement.displaced or returned
        return self._trust.checks(page.lease.host, page.lease.page, doubtful=doubtful)

    async def _check_noise(self, page: Page, look: Look, *, sampled: bool) -> Look:
        """Fetch a page again at once, and leave out what differs by itself."""
        second = await self._again(page)
        if second is None:
            return look
        host, number, answer = page.lease.host, page.lease.page, look.trip.answer
        known = self._known(page, None)
        work = partial(_compared, answer, second.answer, page, known.masks)
        pair = await self._work(answer, work)
        self._trust.pair(
            host, number, differed=pair.differed, taught=pair.masks is not None, sampled=sampled
        )
        look = replace(look, audit=Audit.NOISE)
        if pair.masks is not None:
            self._trust.masked(host, page.address, pair.masks)
            look = await self._judge(page, look.trip, look.at, pair.masks)
            look = replace(look, audit=Audit.NOISE, masks=pair.masks)
        judgement = look.judgement
        if judgement.outcome is Outcome.CHANGED and judgement.share <= _AS_BY_ITSELF * pair.left:
            judgement = replace(judgement, outcome=Outcome.COSMETIC, age=nan, body=None)
            look = replace(look, judgement=judgement)
        return look

    async def _again(self, page: Page, *, gone: bool = False) -> Trip | None:
        """Fetch a page once more, whole; None where that cannot be, or says nothing of it."""
        trip = await self._once_more(page)
        answer = trip.answer
        if trip.later is not None or trip.refused or trip.moved or not answer.ok:
            return None
        if gone and answer.status in _GONE:
            return trip
        return trip if answer.status == _OK and answer.body else None

    async def _once_more(self, page: Page, copy: Copy | None = None) -> Trip:
        """Make one more request, and pay for it if it was made: later visits wait for that."""
        number, now = page.lease.page, self._clock.now()
        agenda = self._crawl.agenda
        if self._stopping():
            return Trip(Answer(page.address), later=now)
        try:
            trip = await self._trips.once_more(page.lease.host, page.address, page.rule, copy)
        except asyncio.CancelledError:
            if not self._stopping():
                raise
            return Trip(Answer(page.address), later=now)  # what was found first is not lost
        if trip.later is None:
            agenda.audited(number, self._clock.now())
        return trip

    # What is learnt.

    def _weighed(self, page: Page, look: Look) -> Look:
        """Take a page that several addresses answer with for a wall, and hear what hosts say."""
        judgement, host = look.judgement, page.lease.host
        parts = bool(page.rule.watch or page.rule.ignore)  # alike on pages that are different
        if judgement.outcome is Outcome.CHANGED and judgement.copy and page.copy and not parts:
            signature = judgement.copy.text_signature
            old = page.copy.text_signature
            name = self._crawl.book.names[host]
            if signature and self._repeats.seen(name, page.address, signature, old):
                return replace(look, judgement=Judgement(Outcome.WALLED, wall="repeated"))
        self._hear_validators(page, look)
        return look

    def _hear_validators(self, page: Page, look: Look) -> None:
        copy, judgement, answer = page.copy, look.judgement, look.trip.answer
        whole = judgement.outcome in _SAME or judgement.outcome is Outcome.CHANGED
        if copy is None or not whole or answer.address != page.address:
            return
        host, trust, now = page.lease.host, self._trust, validators(answer.headers)
        same = judgement.outcome in _SAME and not judgement.share
        if same and copy.etag and now.etag:
            moved = copy.etag.removeprefix("W/") != now.etag.removeprefix("W/")
            trust.heard(host, ETAG, **{"wrong" if moved else "right": 1.0})
        if isnan(now.modified):
            return
        at = look.at * SECONDS_A_DAY
        if dated_by_answer(answer, at):
            trust.heard(host, MODIFIED, wrong=1)
        elif same and copy.modified_seconds is not None:
            if int(now.modified) != copy.modified_seconds:
                trust.heard(host, MODIFIED, wrong=1)
        elif judgement.outcome is Outcome.CHANGED:
            before = float(self._crawl.last[page.lease.page]) * SECONDS_A_DAY
            inside = before <= now.modified + 1 <= at + 1
            trust.heard(host, MODIFIED, **{"right" if inside else "wrong": 1.0})

    async def _work(self, answer: Answer, work: Callable[[], Made]) -> Made:
        return await self._aside.do(work) if len(answer.body) > LARGE else work()


@dataclass(frozen=True, slots=True)
class _Pair:
    """What two fetches at once showed.

    Args:
        differed: Whether they differed, though what was known to differ was left out.
        masks: What differs by itself; None where nothing is new.
        left: Share of the words that differ all the same.
    """

    differed: bool
    masks: Masks | None
    left: float


def _compared(first: Answer, second: Answer, page: Page, known: Masks) -> _Pair:
    if first.body == second.body and not page.masks:
        return _Pair(differed=False, masks=None, left=0.0)
    one, two = (read_answer(each, page.rule).lines for each in (first, second))
    if one is None or two is None:
        return _Pair(differed=True, masks=None, left=1.0)
    masks = learnt(one, two, known)
    left = share_changed(masked(one, masks), masked(two, masks))
    differed = masked(one, known) != masked(two, known)
    return _Pair(differed=differed, masks=None if masks == page.masks else masks, left=left)
