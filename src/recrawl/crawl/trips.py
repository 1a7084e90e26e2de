"""One visit's way to its page: robots.txt, the request, redirects.

Robots.txt and politeness are asked at every hop. A page that has moved for good to an address that
the crawl knows rules for is reported as moved and not followed: it is a page of its own there.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.crawl.asking import wait_of
from recrawl.crawl.gate import TooFar, Turn
from recrawl.crawl.robots import MOST_HOPS
from recrawl.fetch.fetcher import Answer, Request
from recrawl.parse.addresses import host_of, origin_of
from recrawl.units import http_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.crawl.asking import Asker
    from recrawl.crawl.gate import Gate
    from recrawl.crawl.permissions import Permissions
    from recrawl.entries.entries import Copy
    from recrawl.frontier.host_table import HostBook
    from recrawl.settings.rules import Rule

_FOR_GOOD = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Trip:
    """What came of a visit.

    Args:
        answer: The last answer.
        refused: Whether robots.txt forbids the page, or where it leads.
        moved: Where the page is now, if it has moved for good.
        later: Instant before which the page cannot be had, a host on the way being left alone
            until then: no visit was made. None where one was.
    """

    answer: Answer
    refused: bool = False
    moved: str = ""
    later: float | None = None


class Trips:
    """Makes trips.

    Args:
        asker: Makes requests.
        gate: Turns at hosts.
        permissions: What hosts allow.
        book: Hosts by name.
        rule_of: Gives the rule of an address; None where the crawl has none.
    """

    def __init__(
        self,
        asker: Asker,
        gate: Gate,
        permissions: Permissions,
        book: HostBook,
        rule_of: Callable[[str], Rule | None],
    ) -> None:
        self._asker = asker
        self._gate = gate
        self._permissions = permissions
        self._book = book
        self._rule_of = rule_of

    async def make(self, host: int, address: str, copy: Copy | None, rule: Rule) -> Trip:
        """Visit a page whose host's turn it is; the turn is over afterwards."""
        return await self._make(Turn(host), Request(address, *_conditions(copy), local=rule.local))

    async def once_more(
        self, host: int, address: str, rule: Rule, copy: Copy | None = None
    ) -> Trip:
        """Visit a page as soon as it is its host's turn again; without a copy, fetch it whole."""
        try:
            turn = await self._gate.enter(host)
        except TooFar as far:
            return Trip(Answer(address), later=far.until)
        return await self._make(turn, Request(address, *_conditions(copy), local=rule.local))

    async def _make(self, turn: Turn, request: Request) -> Trip:
        """Go where a request leads; the turn is over afterwards."""
        first, address, wait = request, request.address, None
        seen, for_good = {address}, True
        try:
            while True:
                trip = await self._hop(turn, request, stranger=request is not first)
                answer, target = trip.answer, trip.answer.target
                wait = wait_of(answer)
                if trip.refused or not (answer.ok and target):
                    return trip
                for_good = for_good and answer.status in _FOR_GOOD
                if for_good and target not in seen and self._rule_of(target) is not None:
                    return Trip(answer, moved=target)
                if target in seen or len(seen) > MOST_HOPS:
                    detail = f"must end after {MOST_HOPS} redirects (went on to {target})"
                    return Trip(Answer(address, problem="bad-answer", detail=detail))
                seen.add(target)
                # What is known of a copy holds for its own address alone.
                request = Request(target, local=self._is_local(first, target))
                turn = await self._next(turn, wait, self._book.row(host_of(target)))
        except TooFar as far:
            return Trip(Answer(address), later=far.until)
        finally:
            self._gate.leave(turn, wait)

    async def _hop(self, turn: Turn, request: Request, *, stranger: bool) -> Trip:
        """One request, after robots.txt has allowed it."""
        address = request.address
        permission = await self._permissions.of(
            turn, origin_of(address), local=request.local, stranger=stranger
        )
        if permission.trouble:
            return Trip(Answer(address, problem="unreachable", detail=permission.trouble))
        if not self._permissions.allows(permission, address):
            return Trip(Answer(address), refused=True)
        return Trip(await self._asker.ask(turn.host, request))

    def _is_local(self, first: Request, target: str) -> bool:
        """Whether a redirect may lead to this machine: to its own host, or where a rule says so."""
        if host_of(target) == host_of(first.address):
            return first.local
        rule = self._rule_of(target)
        return rule is not None and rule.local

    async def _next(self, turn: Turn, wait: float | None, host: int) -> Turn:
        """The turn after one, at the same host or at another."""
        if host == turn.host:
            await self._gate.again(turn, wait)
            return turn
        self._gate.leave(turn, wait)
        return await self._gate.enter(host)


def _conditions(copy: Copy | None) -> tuple[str, str]:
    """Validators to send, an entity tag before a date."""
    if copy is None:
        return "", ""
    modified = copy.modified_seconds
    return copy.etag or "", "" if modified is None else http_text(modified)
