"""One transaction: entries in, rows out.

Rows are collected by table, in the order of the entries, and inserted together: one statement for a
hundred rows costs little more than for one.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed, Redelivered
from recrawl.entries.entries import (
    Checkpoint,
    DetailsTaken,
    DetailsWritten,
    Erased,
    HintsGiven,
    HintsTaken,
    HostBelieved,
    HostSeen,
    PagesChanged,
    PagesErased,
    PagesFound,
    PagesRemoved,
    Prune,
    RobotsRead,
    SettingsUsed,
    SitesDiscovered,
    VisitMade,
    VisitsImported,
)
from recrawl.entries.filtering import AddressesRefused, ShapeJudged
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.listings import ListingSynced
from recrawl.entries.pushes import SubscriptionsKnown
from recrawl.entries.records import digest_of
from recrawl.entries.reports import VisitsReported
from recrawl.entries.sources import SourceLooked, SourcesKnown
from recrawl.errors import InvalidParameter
from recrawl.store.rows import (
    checkpoints,
    copies,
    deliveries,
    details,
    erasure,
    feed,
    filtering,
    freshness,
    hints,
    hosts,
    listings,
    manifests,
    meta,
    pages,
    reports,
    sources,
    subscriptions,
    versions,
)
from recrawl.store.rows.columns import SHARES, largest_id, maybe_milliseconds, milliseconds
from recrawl.store.rows.database import upsert
from recrawl.store.rows.visited_pages import VisitedPages, has_news
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from recrawl.entries.entries import DetailPages, Entry, Found, PageChange, PageEvent, Receipt
    from recrawl.store.retention import Retention
    from recrawl.store.rows.database import Database
    from recrawl.store.rows.latest_visits import NewestVisits

_VISITS = "id, page, before, at, outcome, http, age_seconds, size, took_milliseconds, share, audit"
_MOVE = upsert("moves", "page, target", "page")
_MASKS = upsert("masks", "page, data", "page")
_STATUS = "update pages set status = ?, failures = ?, next_at = ? where id = ?"
_DAY = """
    insert into days values (?, ?, ?)
    on conflict (day, outcome) do update set visits = days.visits + excluded.visits
"""
_DISCOVERED = upsert("discovered", "address, at", "address")
_RULE = "update pages set rule = ? where id = ?"
_IMPORTED_AT_A_TIME = 10_000
_MOST_WAITING, _PARTS = 1 << 22, 64  # bytes of bodies, and as a part of the budget
_DAY_MILLISECONDS = round(SECONDS_A_DAY * 1000)


class Transaction:
    """A transaction in progress.

    Args:
        connection: Inside of its transaction.
        before: Latest visit of each page before it.
        seed: Of the keys of addresses.
        pages: How many pages there are, with those added so far.
        visit: Number of the last visit, with those added so far.
        taken_out: Pages that were removed or erased.
        latest: Latest visit of each page that was visited in it.
        is_ours: Whether a page lies in the slot that is written; in a whole store all do.
    """

    def __init__(
        self,
        connection: Database,
        before: NewestVisits,
        *,
        seed: int,
        pages: int,
        visit: int,
        taken_out: frozenset[int],
    ) -> None:
        self.connection = connection
        self._before = before
        self.seed = seed
        self.pages = pages
        self.visit = visit
        self.taken_out = taken_out
        self.is_ours: Callable[[int], bool] = lambda _: True
        self.latest: dict[int, int] = {}
        self._visits: list[tuple[Any, ...]] = []
        self._events: list[tuple[Any, ...]] = []
        self._days: Counter[tuple[int, int]] = Counter()
        self._rows: dict[str, list[tuple[Any, ...]]] = {
            copies.PUT: [],
            _MOVE: [],
            _MASKS: [],
            _STATUS: [],
            _RULE: [],
            filtering.DUPLICATE: [],
            feed.LIST: [],
        }
        self._pages_seen = VisitedPages(connection)
        self._erased: dict[int, str] = {}

    def look_ahead(self, entries: Sequence[Entry]) -> None:
        """Read at once what the visits among entries will ask for."""
        self._pages_seen.look_ahead(entries)

    def _look_anew(self) -> None:
        """Write what was collected, and read anew what it may have changed."""
        self._insert_rows()
        self._pages_seen.forget()

    def add(self, entry: Entry, retention: Retention) -> Receipt:  # noqa: C901, PLR0911, PLR0912 - one per kind
        """Add an entry, and return its receipt."""
        match entry:
            case VisitMade():
                return self._visit(entry, retention)
            case VisitsReported():
                return self._take_report(entry, retention)
            case PagesFound():
                return self._found(entry)
            case VisitsImported():
                return self._import(entry, retention)
            case PagesChanged():
                self._change(entry)
                return None
            case PagesRemoved() | PagesErased():
                return self._take_out(entry)
            case HostSeen():
                return hosts.put_host(self.connection, entry)
            case HostBelieved():
                return hosts.put_beliefs(self.connection, entry)
            case RobotsRead():
                return hosts.put_robots(self.connection, entry)
            case AddressesRefused():
                filtering.put_refused(self.connection, entry)
                return None
            case ShapeJudged():
                filtering.put_shape(self.connection, entry)
                return None
            case FreshnessNoted():
                freshness.put(self.connection, entry)
                return None
            case SitesDiscovered():
                rows = ((each, milliseconds(entry.at_seconds)) for each in entry.addresses)
                self.connection.executemany(_DISCOVERED, rows)
                return None
            case HintsGiven():
                hints.put_hints(self.connection, entry.addresses, entry.at_seconds)
                return None
            case SubscriptionsKnown():
                subscriptions.drop(self.connection, entry.dropped)
                subscriptions.put(self.connection, entry.subscriptions)
                return None
            case HintsTaken():
                hints.take_hints(self.connection, entry.last)
                return None
            case SourceLooked():
                return self._look(entry)
            case SourcesKnown():
                sources.drop(self.connection, entry.dropped)
                sources.put(self.connection, entry.sources)
                return None
            case DetailsTaken():
                return self._take(entry)
            case SettingsUsed():
                meta.put(self.connection, "settings", entry.text)
                return None
            case Checkpoint():
                visit = self.visit if entry.visit is None else entry.visit
                checkpoints.save(self.connection, entry.parts, visit, entry.owner)
                return None
            case ListingSynced():
                return self._sync(entry)
            case DestinationsNamed() | DestinationMoved() | Redelivered():
                self._deliver(entry)
                return None
            case Prune():
                return self._prune(entry, retention)
            case _:
                assert_never(entry)

    def finish(self, retention: Retention) -> None:
        """Insert the collected rows, and keep the store within its budget."""
        days = ((day, outcome, visits) for (day, outcome), visits in self._days.items())
        self._rows[_DAY] = list(days)
        self._insert_rows()
        if retention.versions is not None and self._pages_seen.crowded:
            versions.prune_pages(self.connection, self._pages_seen.crowded, retention.versions)
        if self._erased:
            feed.forget(self.connection, self._erased.keys(), self._erased.values())
        self._make_room(retention)

    def _insert_rows(self) -> None:
        self._pages_seen.versions.write()
        if self._visits:
            self.connection.append("visits", _VISITS, self._visits)
            self._visits.clear()
        if self._events:
            feed.put(self.connection, self._events)
            self._events.clear()
        for statement, rows in self._rows.items():
            if rows:
                self.connection.executemany(statement, rows)
                rows.clear()

    def _make_room(self, retention: Retention) -> None:
        if retention.total_bytes is not None:
            self.connection.make_room(retention.total_bytes)

    def _visit(self, made: VisitMade, retention: Retention) -> int:
        page = self._visited(made.page)
        self.visit += 1
        before = self.latest.get(page)
        if before is None:
            before = self._before.of(page)
        self.latest[page] = self.visit
        at = milliseconds(made.at_seconds)
        took = maybe_milliseconds(made.took_seconds)
        age = None if made.age is None else age_seconds(at, made.age)
        self._visits.append(
            (
                *(self.visit, page + 1, before, at, made.outcome, made.http, age, made.size, took),
                None if made.share is None else round(made.share * SHARES),
                made.audit or None,
            )
        )
        self._days[at // _DAY_MILLISECONDS, int(made.outcome)] += 1
        if self._lost_its_rule(made):
            return self.visit
        if made.copy is not None:
            self._rows[copies.PUT].append(copies.row_of(page, made.copy))
        self._note(page, made)
        digest: bytes | None = None
        event = made.event
        if made.copy is not None and RobotsTag.NOARCHIVE in made.copy.robots:
            self._pages_seen.versions.forget()
            versions.drop(self.connection, page)
            manifests.drop(self.connection, page)
            event = None if event is None else replace(event, manifest=None)
            digest = None if made.body is None else digest_of(made.body)
        elif made.body is not None:
            digest = self._pages_seen.keep(page, at, made, retention.versions)
            if self._pages_seen.versions.waiting_bytes > _most_waiting(retention):
                self._pages_seen.versions.forget()
                self._make_room(retention)
        if event is not None:
            row = feed.row_of(event, page, at, self.visit)
            row[feed.SHARE_AT] = None if made.share is None else round(made.share * SHARES)
            self._tell(event, page, row, digest)
        return self.visit

    def _take_report(self, entry: VisitsReported, retention: Retention) -> int:
        for made in entry.visits:
            self._visit(made, retention)
        if entry.report is not None:
            reports.put(self.connection, entry.report, entry.at_seconds)
        return self.visit

    def _note(self, page: int, made: VisitMade) -> None:
        """Write down what a visit says of a page beside its content."""
        if made.target is not None:
            self._rows[_MOVE].append((page + 1, made.target))
        if made.masks is not None:
            self._rows[_MASKS].append((page + 1, made.masks))
        if made.change is not None:
            self._set_status(page, made.change)
        if made.original is not None:
            original = self._known(made.original.page)
            sign = int(made.original.sign)
            self._rows[filtering.DUPLICATE].append((page + 1, original + 1, sign))

    def _lost_its_rule(self, made: VisitMade) -> bool:
        """Whether a visit has news of a page that lost its rule while the visit was under way.

        Readers were told that the page is none of the crawl's any more, so that is the last word.
        """
        return has_news(made) and self._pages_seen.rule(made.page) == pages.NO_RULE

    def _import(self, entry: VisitsImported, retention: Retention) -> Found:
        """Add visits that others made, without having all of their rows in memory."""
        found = self._found(entry.found)
        numbers = np.array(found.pages, np.int64)
        for rows in entry.rows:
            columns = (numbers[rows.page], rows.at_seconds, rows.outcome, rows.age)
            for start in range(0, len(rows.page), _IMPORTED_AT_A_TIME):
                some = slice(start, start + _IMPORTED_AT_A_TIME)
                cells = (column[some].tolist() for column in columns)
                for page, at, outcome, age in zip(*cells, strict=True):
                    known = None if math.isnan(age) else age
                    self._visit(VisitMade(page, at, VisitOutcome(outcome), age=known), retention)
                self._insert_rows()
        return found

    def _change(self, changed: PagesChanged) -> None:
        numbers = [self._visited(page) for page in changed.pages]
        for column in (changed.changes, changed.rules):
            if column is not None and len(column) != len(numbers):
                message = f"pages changed: {len(numbers)} pages, but {len(column)} changes or rules"
                raise InvalidParameter(message)
        for page, change in zip(numbers, changed.changes or (), strict=False):
            self._set_status(page, change)
        ids = (page + 1 for page in numbers)
        self._rows[_RULE].extend(zip(changed.rules or (), ids, strict=False))
        if changed.rules:
            self._look_anew()  # visits that follow are asked for their pages' rules
        self._tell_all(numbers, changed.events)

    def _take_out(self, entry: PagesRemoved | PagesErased) -> Erased:
        self._look_anew()  # what came before must not come back
        at, found = milliseconds(entry.at_seconds), Erased()
        if isinstance(entry, PagesErased):
            checkpoints.forget_slots(self.connection)  # they may name addresses
        for page in map(self._known, entry.pages):
            if isinstance(entry, PagesErased):
                self._erased[page] = pages.address_of(self.connection, page)
                self._pages_seen.tell(page, feed.ToldCopy())
                where = (self.connection, page, at, self.visit, self.seed)
                found += erasure.erase(*where, forgotten=entry.forgotten)
            else:
                erasure.remove(self.connection, page, at, self.visit)
        self.taken_out |= set(entry.pages)
        self._tell_all(entry.pages, entry.events)
        return found

    def _found(self, entry: PagesFound) -> Found:
        found = pages.add_pages(self.connection, entry, self.seed, self.pages)
        self.pages = max(self.pages, max(found.pages, default=-1) + 1)
        if entry.again:
            self._look_anew()
            for each in zip(found.pages, entry.addresses, entry.rules, strict=True):
                erasure.bring_back(self.connection, *each, self.seed)
            self.taken_out -= set(found.pages)
        self._tell_all(found.pages, entry.events)
        return found

    def _look(self, entry: SourceLooked) -> Found:
        found = self._found(entry.found)
        before = sources.source_at(self.connection, entry.source.address)
        sources.put(self.connection, [entry.learned(before, len(found.new))])
        return found

    def _sync(self, entry: ListingSynced) -> int | DetailsWritten:
        if entry.details is None:
            return listings.put_sync(self.connection, entry)
        self._look_anew()  # what came before decides on what the pages stand for
        wanted = entry.details
        before = details.linked_pages(self.connection, entry)
        found = self._found(wanted.found)
        numbers = dict(zip(wanted.found.addresses, found.pages, strict=True))
        numbers |= details.known_elsewhere(self.connection, wanted, self.seed)
        linked = {key: numbers.get(address) for key, address in wanted.addresses.items()}
        last = largest_id(self.connection, "events")
        sync = listings.put_sync(self.connection, entry, linked)
        others = [page for page in before if not self.is_ours(page)]
        handed = details.HandedOver(wanted, linked, others, self.taken_out)
        details.hand_over(self.connection, entry.listing, handed, last)
        ours = [page for page in before if self.is_ours(page)]
        return self._settle(sync, found, wanted, ours, (wanted.rule,))

    def _take(self, entry: DetailsTaken) -> DetailsWritten:
        self._look_anew()
        found = self._found(entry.found)
        details.give(self.connection, dict(zip(entry.found.addresses, found.pages, strict=True)))
        return self._settle(0, found, entry, found.pages, entry.rules)

    def _settle(
        self,
        sync: int,
        found: Found,
        wanted: DetailPages | DetailsTaken,
        before: Sequence[int],
        rules: Collection[int],
    ) -> DetailsWritten:
        """Give pages the rules that they have by what is listed, and tell readers of it.

        Args:
            sync: Number of the sync.
            found: Pages that objects have.
            wanted: What was asked for.
            before: Pages that objects had.
            rules: Those of listings, which pages lose with the last object.
        """
        back, told = details.relist(self.connection, found, wanted.found.rules, self.taken_out)
        self._tell_all(told, [wanted.back] * len(told))
        unlisted = details.unlist(self.connection, before, rules)
        listed = details.listed_of(self.connection, unlisted)
        self._tell_all(unlisted, [wanted.unlisted if each else None for each in listed])
        return DetailsWritten(sync, found, back, told, unlisted)

    def _tell_all(self, numbers: Sequence[int], events: Sequence[PageEvent | None]) -> None:
        """Write the events of pages that no visit was made to."""
        if events and len(events) != len(numbers):
            raise InvalidParameter(f"events: {len(numbers)} pages, but {len(events)} events")
        for page, event in zip(numbers, events, strict=False):
            if event is not None:
                row = feed.row_of(event, page, milliseconds(event.latest_seconds), None)
                self._tell(event, page, row)

    def _tell(
        self, event: PageEvent, page: int, row: list[Any], digest: bytes | None = None
    ) -> None:
        """Write an event, and what readers have from then on.

        Args:
            event: The event.
            page: Its page.
            row: Its row, but for versions and manifests.
            digest: Of the body that came with it.
        """
        before = self._pages_seen.told(page)
        # Without a body it is a page that is back as it was, or that is gone.
        now, version, ends = before, digest or event.version, event.kind.ends
        if version is not None:
            now = feed.ToldCopy(version, before.manifest if ends else self._list(event, page, row))
        self._pages_seen.tell(page, now)
        row[feed.VERSION_AT], row[feed.BEFORE_AT] = None if ends else now.version, before.version
        row[feed.MANIFEST_AT] = None if ends else now.manifest
        row[feed.MANIFEST_BEFORE_AT] = before.manifest
        self._events.append(tuple(row))
        self._rows[feed.LIST].append((not ends, *now, page + 1))

    def _list(self, event: PageEvent, page: int, row: Sequence[Any]) -> int | None:
        """Write the manifest of a new copy, and return its name; None where there is none."""
        visit: int | None = row[feed.VISIT_AT]
        if event.manifest is None or visit is None:
            return None
        manifests.keep(self.connection, page, visit, event.manifest)
        return visit

    def _deliver(self, entry: DestinationsNamed | DestinationMoved | Redelivered) -> None:
        match entry:
            case DestinationsNamed():
                self._insert_rows()  # events that came before are not its own
                deliveries.begin(self.connection, entry)
            case DestinationMoved():
                deliveries.move(self.connection, entry)
            case Redelivered():
                deliveries.strike(self.connection, entry)

    def _prune(self, entry: Prune, retention: Retention) -> int:
        self._look_anew()
        if retention.events is not None:
            kept = entry.now_seconds - retention.events * SECONDS_A_DAY
            feed.prune(self.connection, milliseconds(kept))
            deliveries.prune(self.connection)
        dropped = 0
        for page in versions.unavailable_pages(self.connection, entry.now_seconds):
            dropped += versions.drop(self.connection, page).versions
            manifests.drop(self.connection, page)
        return dropped + versions.prune(self.connection, retention, entry.now_seconds)

    def _set_status(self, page: int, change: PageChange) -> None:
        next_at = maybe_milliseconds(change.next_at_seconds)
        self._rows[_STATUS].append((change.status, change.failures, next_at, page + 1))

    def _visited(self, page: int) -> int:
        if page in self.taken_out:
            raise InvalidParameter(f"page {page} was taken out of the crawl")
        return self._known(page)

    def _known(self, page: int) -> int:
        if not 0 <= page < self.pages:
            raise InvalidParameter(f"page {page} is not in the store, which has {self.pages}")
        return page


def _most_waiting(retention: Retention) -> int:
    """Bytes of bodies that are collected before they are written, and room is made for them."""
    budget = retention.total_bytes
    return _MOST_WAITING if budget is None else min(_MOST_WAITING, budget // _PARTS)


def age_seconds(at: int, age: float) -> int:
    """Age in days at a visit as a store keeps it: from the change to the second of the visit.

    A host dates a change to the second, so the date comes back exactly as
    `at // 1000 - age_seconds`.

    >>> age_seconds(at=100_900, age=(100.9 - 40) / 86_400)
    60
    """
    modified = math.floor(at / 1000 - age * SECONDS_A_DAY + 0.5)
    return at // 1000 - modified
