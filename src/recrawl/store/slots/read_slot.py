"""The reading side of a slot: what `ReadStore` says, of the pages and hosts of the slot alone.

Positions stay those of the whole store: numbers of visits, hints and events rise in a slot, too,
with gaps where others lie in between.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from recrawl.entries.store import VISITS_AT_A_TIME
from recrawl.errors import StoreCorrupt
from recrawl.parse.addresses import origin_of
from recrawl.settings.rules import ANYWHERE
from recrawl.store.rows import hosts as host_rows
from recrawl.store.rows.filtering import address_shapes
from recrawl.store.rows.sources import sources_at
from recrawl.store.slots import own_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns
    from recrawl.entries.entries import Copy, RobotsRead
    from recrawl.entries.filtering import DuplicateOf, ShapeJudged
    from recrawl.entries.pushes import Subscription
    from recrawl.entries.records import Host, SavedCheckpoint, Tombstone, Version, VersionLines
    from recrawl.entries.sources import Source
    from recrawl.store.rows.read_store import RowReadStore
    from recrawl.store.slots.numbers import SlotNumbers

_Waiting = TypeVar("_Waiting", bound=tuple[Any, ...])
_WAITING_AT_A_TIME = 1000
_HOSTS_AT_A_TIME = 10_000
_ADDRESSES_AT_A_TIME = 10_000
# What names neither a page nor a host, or is asked for by its own name.
AS_IS = frozenset(
    (
        *("name", "remarks", "remark_damage", "settings_used", "report", "close", "body"),
        *("newest_instant", "first_visit_since", "last_visit", "sampled_visits", "data_version"),
        *("robots", "listing_names", "syncs", "listed_objects", "objects"),
        *("detail_addresses", "listing_history", "feed_range", "object_feed_range", "manifest"),
        *("destinations", "undelivered", "freshness_noted", "disk_usage", "daily_visits"),
    )
)


class ReadSlot:
    """A slot of a store, open for reading; what it has not, nobody asks of a slot.

    Args:
        whole: The store.
        numbers: Which pages, hosts and rules the slot has.
    """

    def __init__(self, whole: RowReadStore, numbers: SlotNumbers) -> None:
        self._whole = whole
        self._numbers = numbers

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what the store has
        """What holds for a slot as for the whole store."""
        if name not in AS_IS:
            raise AttributeError(f"a slot of a store has no {name}")
        return getattr(self._whole, name)

    def clone(self) -> Self:
        """Open another reader of the same slot, for another thread; the caller closes it."""
        return type(self)(self._whole.clone(), self._numbers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._whole.close()

    # Pages.

    def page_count(self) -> int:
        """How many pages there are."""
        return len(self._numbers.pages)

    def pages(self) -> PageColumns:
        """All pages."""
        with self._whole.at_one_instant() as connection:
            found = own_rows.pages_of(connection, self._slot)
        numbers, own = self._numbers, slice(self._count(len(found.host)))
        return type(found)(
            host=numbers.own_hosts(found.host[own]),
            rule=numbers.own_rules(found.rule[own]),
            found_at=found.found_at[own],
            status=found.status[own],
            failures=found.failures[own],
            next_at=found.next_at[own],
            listed=found.listed[own],
        )

    @property
    def _slot(self) -> int:
        return self._numbers.scope.slot

    def _count(self, found: int) -> int:
        """How many pages there are; those that came meanwhile are for the next look.

        Raises:
            StoreCorrupt: Fewer were found.
        """
        count = len(self._numbers.pages)
        if found < count:
            raise StoreCorrupt(f"{self._whole.name} is damaged (slot {self._slot} has lost pages)")
        return count

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of pages, in the given order."""
        return self._whole.addresses(self._numbers.pages_of(pages).tolist())

    def all_addresses(self, first: int = 0) -> Iterator[list[str]]:
        """Addresses of all pages from number `first` on, many at a time."""
        for start in range(first, self.page_count(), _ADDRESSES_AT_A_TIME):
            some = self._numbers.pages[start : start + _ADDRESSES_AT_A_TIME]
            yield self._whole.addresses(some.tolist())

    def find_pages(self, addresses: Sequence[str]) -> list[int | None]:
        """Numbers of the pages with these addresses; None where there is no such page."""
        return [self._numbers.own_page(each) for each in self._whole.find_pages(addresses)]

    def depth(self, page: int) -> int:
        """Links between a page and the nearest address of a sitemap, a feed or the settings."""
        return self._whole.depth(self._numbers.page(page))

    def rules(self) -> Ints:
        """Number of the rule of every page."""
        with self._whole.at_one_instant() as connection:
            found = own_rows.rules_of(connection, self._slot)
        return self._numbers.own_rules(found[: self._count(len(found))])

    def rules_and_hosts(self, pages: Ints) -> tuple[Ints, Ints]:
        """Numbers of the rules and of the hosts of pages."""
        rules, hosts = self._whole.rules_and_hosts(self._numbers.pages_of(pages))
        return self._numbers.own_rules(rules), self._numbers.own_hosts(hosts)

    def tombstones(self, after: int = 0) -> list[Tombstone]:
        """Pages that were taken out after a visit, in the order in which that was done."""
        whole = self._whole.tombstones(after)
        found = ((self._numbers.own_page(each.page), each) for each in whole)
        return [replace(each, page=page) for page, each in found if page is not None]

    def waiting_pages(self, host: int) -> Sequence[tuple[int, str]]:
        """Pages of a host that links led to and that were not visited yet, with addresses."""
        if host >= len(self._numbers.hosts):
            return ()
        whole = self._whole.waiting_pages(int(self._numbers.hosts[host]))
        found = ((self._numbers.own_page(page), address) for page, address in whole)
        return [(page, address) for page, address in found if page is not None]

    def duplicates(self) -> dict[int, DuplicateOf]:
        """Which page each duplicate is a copy of, by its number."""
        found = {}
        for page, original in self._whole.duplicates().items():
            own, of = self._numbers.own_page(page), self._numbers.own_page(original.page)
            if own is not None and of is not None:
                found[own] = replace(original, page=of)
        return found

    def duplicates_of(self, page: int, most: int) -> list[int]:
        """Pages that are copies of a page, at most so many, ascending."""
        found: list[int] = self._own(
            self._whole.duplicates_of(self._numbers.page(page), most)
        ).tolist()
        return found

    def signatures(self) -> tuple[Ints, Ints]:
        """Pages that have a copy, ascending, and the signature of its text, or else its bytes."""
        with self._whole.at_one_instant() as connection:
            pages, signatures = own_rows.signatures_of(connection, self._slot)
        own = self._numbers.own_pages(pages)
        return own[own >= 0], signatures[own >= 0]

    def address_shapes(self) -> list[ShapeJudged]:
        """What is known of all shapes of addresses."""
        with self._whole.at_one_instant() as connection:
            return address_shapes(connection, self._numbers.hosts)

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """Copies of pages; None for a page without one."""
        return self._whole.copies(self._numbers.pages_of(pages).tolist())

    def masks(self, pages: Sequence[int]) -> list[str]:
        """Masks of some pages, as text; empty where there are none."""
        return self._whole.masks(self._numbers.pages_of(pages).tolist())

    def moves(self, pages: Sequence[int]) -> list[str]:
        """Address that each of some pages has moved to; empty where none is known."""
        return self._whole.moves(self._numbers.pages_of(pages).tolist())

    def versions(self, page: int) -> list[Version]:
        """Versions of a page that are kept, oldest first."""
        return self._whole.versions(self._numbers.page(page))

    def newest_body(self, page: int) -> bytes | None:
        """Body of the newest version of a page; None where none is kept."""
        return self._whole.newest_body(self._numbers.page(page))

    def newest_lines(self, page: int) -> VersionLines | None:
        """Lines of the newest version of a page; None where none are kept."""
        return self._whole.newest_lines(self._numbers.page(page))

    def hints(self, after: int, most: int) -> list[tuple[int, float, str]]:
        """Hints with numbers above `after`: number, epoch seconds, address of each, in order."""
        return self._waiting(self._whole.hints, after, most)

    def handed_details(self, after: int, most: int) -> list[tuple[int, str, str]]:
        """Detail pages handed over with numbers above `after`: number, listing, address of each."""
        return self._waiting(self._whole.handed_details, after, most)

    def _waiting(
        self, read: Callable[[int, int], list[_Waiting]], after: int, most: int
    ) -> list[_Waiting]:
        """Rows whose last value is an address of the slot."""
        found = list[_Waiting]()
        while some := read(after, _WAITING_AT_A_TIME):
            found += [each for each in some if self._numbers.scope.has(each[-1])]
            if len(found) >= most:
                break
            after = some[-1][0]
        return found[:most]

    # Visits.

    def visits(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""
        for start, end in self._ranges(after, rows):
            with self._whole.at_one_instant() as connection:
                some = own_rows.visits_of(connection, self._slot, start, end)
            own = self._numbers.own_pages(some.page)
            if (own >= 0).any():
                yield replace(some, page=own).take(own >= 0)

    def outcomes(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """Outcomes of visits with numbers above `after` up to now: half the work of `visits`."""
        for start, end in self._ranges(after, rows):
            with self._whole.at_one_instant() as connection:
                some = own_rows.outcomes_of(connection, self._slot, start, end)
            own = self._numbers.own_pages(some.page)
            if (own >= 0).any():
                yield replace(some, page=own).take(own >= 0)

    def _ranges(self, after: int, rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of visits of the whole store, of which about so many are the slot's."""
        step, last = rows * self._numbers.scope.slots, self._whole.last_visit()
        return ((start, min(start + step, last)) for start in range(after, last, step))

    def history(self, page: int, most: int | None = None) -> VisitColumns:
        """Visits of one page, oldest first; only the newest `most` where that is given."""
        found = self._whole.history(self._numbers.page(page), most)
        return replace(found, page=np.full(len(found.page), page))

    def latest_visits(self, pages: Ints) -> Floats:
        """Last visit of each of some distinct pages, in epoch seconds; nan if never."""
        return self._whole.latest_visits(self._numbers.pages_of(pages))

    def latest_responses(self, pages: Ints) -> tuple[Ints, Ints, Floats]:
        """Outcome, status code and epoch seconds of the last visit to each of distinct pages."""
        return self._whole.latest_responses(self._numbers.pages_of(pages))

    def recent_visit_counts(self, pages: Ints, since_seconds: float) -> Ints:
        """Number of visits to each of some distinct pages at or after an instant."""
        return self._whole.recent_visit_counts(self._numbers.pages_of(pages), since_seconds)

    # Hosts.

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""
        own = self._numbers.hosts
        for start in range(0, len(own), _HOSTS_AT_A_TIME):
            with self._whole.at_one_instant() as connection:
                some = host_rows.numbered_hosts(connection, own[start : start + _HOSTS_AT_A_TIME])
            yield from (replace(each, number=number) for number, each in enumerate(some, start))

    def host(self, name: str) -> Host | None:
        """A host by its name; None where it is unknown."""
        found = self._whole.host(name)
        if found is None:
            return None
        (own,) = self._numbers.own_hosts(np.array([found.number])).tolist()
        return replace(found, number=own) if own >= 0 else None

    def robots_read(self) -> list[RobotsRead]:
        """Every robots.txt, without its body."""
        with self._whole.at_one_instant() as connection:
            return host_rows.robots_read(connection, self._numbers.hosts)

    def sources(self) -> list[Source]:
        """Sources of new pages of its sites, in the order of their addresses."""
        sites = (rule.address for rule in self._numbers.scope.settings.rules)
        origins = {origin_of(each) for each in sites if each != ANYWHERE}
        with self._whole.at_one_instant() as connection:
            return sources_at(connection, origins)

    def discovered(self) -> dict[str, float]:
        """When new pages of its sites were last looked for, in epoch seconds, by address."""
        sites = [rule.address for rule in self._numbers.scope.settings.rules]
        with self._whole.at_one_instant() as connection:
            return host_rows.discovered(connection, sites)

    def subscriptions(self) -> list[Subscription]:
        """All subscriptions to feeds, in the order of their addresses."""
        has = self._numbers.scope.has
        return [each for each in self._whole.subscriptions() if has(each.feed)]

    def host_delays(self, hosts: Ints) -> tuple[Floats, Floats]:
        """Politeness delays in days and response times in seconds of hosts; 0 if unknown."""
        return self._whole.host_delays(self._numbers.hosts[hosts])

    def host_masks(self) -> dict[str, str]:
        """Masks of all pages of a host, as text, by the host's name."""
        with self._whole.at_one_instant() as connection:
            return host_rows.masks_of_hosts(connection, self._numbers.hosts)

    def signal_records(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """All signal records: host, kind of signal, counts."""
        with self._whole.at_one_instant() as connection:
            return host_rows.signal_records(connection, self._numbers.hosts)

    def signal_records_of(self, kind: str) -> dict[int, tuple[float, ...]]:
        """Counts of one kind of signal, by the number of the host."""
        with self._whole.at_one_instant() as connection:
            found = host_rows.signal_records_of(connection, kind, self._numbers.hosts)
        own = self._numbers.own_hosts(np.array(list(found), np.int64)).tolist()
        return {each: counts for each, counts in zip(own, found.values(), strict=True) if each >= 0}

    # What a crawl has learned, and its listings.

    def checkpoint(self, names: Collection[str] | None = None) -> SavedCheckpoint | None:
        """The last checkpoint of the slot, or some of its parts; None before the first."""
        return self._whole.checkpoint(names, owner=str(self._numbers.scope.slot))

    def detail_pages(self, listing: str) -> Ints:
        """Detail pages of the currently listed objects, ascending."""
        return self._own(self._whole.detail_pages(listing))

    def _own(self, pages: Sequence[int] | Ints) -> Ints:
        """Those of some pages of the store that are the slot's, in its own numbers."""
        own = self._numbers.own_pages(np.asarray(pages, np.int64))
        return own[own >= 0]
