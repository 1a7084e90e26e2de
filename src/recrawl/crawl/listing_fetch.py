"""Reading a whole list: page after page, politely, until there is nothing new.

Every request waits its turn and is asked of robots.txt first. A list ends where no page follows,
where a page shows only what was shown before, or where a counted page is not there. It is read
whole or not at all: one page that fails spoils the sync, for what stood on it must not be taken for
gone.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.listings.live.pages import ListingSnapshot, read_page
from recrawl.parse.addresses import canonical, site_of
from recrawl.parse.items.item import Items
from recrawl.parse.items.paging import form_text, with_parameter
from recrawl.parse.messages import Request

if TYPE_CHECKING:
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.fetch.polite import PoliteClient
    from recrawl.listings.live.rules import ListingRule
    from recrawl.parse.messages import Response

_NOT_THERE = (404, 410)
_AT_ONCE = 20  # requests of all lists together, so that visits go on beside
_MOST_PAGES = 1_000
_MOST_OBJECTS = 200_000
# A link may lead through a page of items that others have shown; a counter never should.
_MOST_STALE = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """What to ask for one page of a list."""

    address: str
    form: tuple[tuple[str, str], ...] | None

    def with_parameter(self, name: str, value: str) -> _Place:
        """The same with a parameter: of the form where there is one, else of the address."""
        if self.form is None:
            return _Place(with_parameter(self.address, name, value), None)
        kept = tuple((each, said) for each, said in self.form if each != name)
        return _Place(self.address, (*kept, (name, value)))


class ListFetcher:
    """Reads lists.

    Args:
        client: Makes requests.
        threads: Reads pages.
    """

    def __init__(self, client: PoliteClient, threads: WorkerThreads) -> None:
        self._client = client
        self._threads = threads
        self._few = asyncio.Semaphore(_AT_ONCE)

    async def read(self, rule: ListingRule, patience: float) -> ListingSnapshot:
        """Read a list; `HostBusy` where a host must be left alone for longer than `patience`.

        Args:
            rule: Which list.
            patience: Days to wait for a turn at most.
        """
        read = ListingSnapshot()
        for address in rule.addresses:
            await self._read_part(rule, _Place(address, rule.form), read, patience)
            if read.problem:
                break
        return read

    async def _read_part(
        self, rule: ListingRule, first: _Place, read: ListingSnapshot, patience: float
    ) -> None:
        """Read the pages that follow from one address."""
        seen: set[str] = set()
        asked: set[_Place] = set()
        stale, number = 0, 0
        counts = rule.counted is not None and not rule.layout.following
        place: _Place | None = _first(rule, first)
        while place is not None and place not in asked and not read.problem:
            if read.pages >= _MOST_PAGES or len(read.objects) > _MOST_OBJECTS:
                read.problem = _too_long(first.address)
                return
            asked.add(place)
            response = await self._get(place, rule, patience)
            if number and counts and response.ok and response.status in _NOT_THERE:
                return
            items = await self._read_items(response, rule)
            if items.problem:
                read.problem = f"{response.address}: {items.problem}"
                return
            read.pages += 1
            number += 1
            fresh = items.objects.keys() - seen
            stale = 0 if fresh else stale + 1
            if stale >= (1 if counts else _MOST_STALE):
                return
            seen |= fresh
            for key in items.objects:
                read.objects.setdefault(key, dict(items.objects[key]))
            for key, detail in items.details.items():
                read.details.setdefault(key, detail)
            place = _next(rule, first, response.address, items, number)
            if place is not None and site_of(place.address) != site_of(first.address):
                read.problem = (
                    f"{response.address}: the next page is on another site: {place.address}"
                )

    async def _read_items(self, response: Response, rule: ListingRule) -> Items:
        """Items of one page of a list; a problem where that takes too long."""
        work = partial(read_page, response, rule.layout)
        try:
            return await self._threads.run(work, len(response.body), site_of(response.address))
        except TimeoutError as error:
            return Items({}, problem=str(error) or "it takes longer than a minute to read")

    async def _get(self, place: _Place, rule: ListingRule, patience: float) -> Response:
        """Response at a place, wherever it leads."""
        form = None if place.form is None else form_text(place.form)
        request = Request(place.address, local=rule.local, form=form)
        return await self._client.get(request, patience=patience, limit=self._few)


def _first(rule: ListingRule, first: _Place) -> _Place:
    """The first page; where pages follow each other by what each says, it is asked for as it is."""
    if rule.counted is None or rule.layout.following:
        return first
    return first.with_parameter(rule.counted.name, rule.counted.of(0))


def _next(
    rule: ListingRule, first: _Place, address: str, items: Items, number: int
) -> _Place | None:
    """The page after one; None where nothing follows."""
    said, counted = items.following, rule.counted
    if rule.layout.following:
        if not said or said == "false":
            return None
        if counted is not None:  # what the page says is the parameter of the next
            return first.with_parameter(counted.name, said)
        target = canonical(said, address)
        return None if target is None else _Place(target, None)
    if counted is None or not items.count:
        return None
    return first.with_parameter(counted.name, counted.of(number))


def _too_long(address: str) -> str:
    return f"{address}: the list has more than {_MOST_PAGES:,} pages or {_MOST_OBJECTS:,} objects"
