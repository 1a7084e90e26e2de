"""One listing: how it stands, its syncs, its objects.

Touches: a store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.adapters.stores.listings import stored_listing
from recrawl.entries.listings import EventKind
from recrawl.errors import UnknownPage
from recrawl.inspect.status.listings import standing_of
from recrawl.listings.live.judging import live_forecast
from recrawl.report.listings.sizes import SyncSize
from recrawl.report.listings.syncs import syncs_sheet
from recrawl.units import utc_text

if TYPE_CHECKING:
    from recrawl.entries.listings import ListingHistory, StoredObject
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.listings import ListingStanding
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.live.forecast import LiveForecast
    from recrawl.settings.settings import Settings

_MOST_SYNCS = 14
_MOST_ATTRIBUTES = 6


@dataclass(frozen=True, slots=True, eq=False)
class ListingView:
    """One listing.

    Args:
        at: The instant that all this is of, in days after 1970.
        name: Its name.
        standing: How it stands; None where the settings have it no longer.
        objects: Every object, the newest first.
        attributes: Names of their attributes.
        sync_header: Heads of the table of syncs.
        syncs: The newest syncs, newest first.
        sizes: How large it was at each sync that was accepted.
        listing: Its objects as models take them.
        grid: The same day by day.
        forecast: What its copy is worth; None before the first sync that was accepted.
    """

    at: float
    name: str
    standing: ListingStanding | None
    objects: list[StoredObject]
    attributes: list[str]
    sync_header: tuple[str, ...]
    syncs: list[list[str]]
    sizes: list[SyncSize]
    listing: Listing
    grid: DayGrid
    forecast: LiveForecast | None


@dataclass(frozen=True, slots=True)
class ObjectsQuery:
    """Which objects to show.

    Args:
        search: What their keys or attributes hold.
        only_listed: Whether to leave out those that are gone.
        first: How many to skip.
        rows: How many to show.
    """

    search: str = ""
    only_listed: bool = False
    first: int = 0
    rows: int = 50


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """An object.

    Args:
        key: Its key.
        cells: Its attributes.
        appeared: When it was first seen.
        last_seen: When it was last seen.
        removed: When it was missed; empty while it is listed.
        page: Number of its detail page; None where it has none.
    """

    key: str
    cells: list[str]
    appeared: str
    last_seen: str
    removed: str
    page: int | None


def read_listing(settings: Settings, reader: ReadStore, name: str, now: float) -> ListingView:
    """All that is known of a listing; refused where there is none of that name."""
    rule = next((each for each in settings.listings if each.name == name), None)
    if rule is None and name not in reader.listing_names():
        raise UnknownPage(f"there is no listing {name!r} in this crawl")
    history = reader.listing_history(name)
    found = stored_listing(history)
    objects = sorted(reader.objects(name), key=lambda one: -one.appeared_seconds)
    counts = Counter(each for one in objects for each in one.attributes)
    sheet = syncs_sheet(name, history.syncs[-_MOST_SYNCS:])
    return ListingView(
        at=now,
        name=name,
        standing=None if rule is None else standing_of(rule, reader, now),
        objects=objects,
        attributes=[each for each, _ in counts.most_common(_MOST_ATTRIBUTES)],
        sync_header=tuple(sheet.header[1:]),
        syncs=[list(row[1:]) for row in reversed(sheet.words)],
        sizes=sizes_of(history),
        listing=found.listing,
        grid=found.grid,
        forecast=live_forecast(history),
    )


def sizes_of(history: ListingHistory) -> list[SyncSize]:
    """Size of a listing at each sync that was accepted, and what came and went."""
    moves: Counter[tuple[int, EventKind]] = Counter()
    for event in history.events:
        moves[event.sync, event.kind] += 1
    return [
        SyncSize(
            each.at_seconds,
            each.listed,
            moves[each.number, EventKind.INSERT],
            moves[each.number, EventKind.DELETE],
        )
        for each in history.syncs
        if each.outcome.accepted
    ]


def find_objects(view: ListingView, query: ObjectsQuery) -> tuple[list[ObjectRow], int]:
    """The objects to show, and how many there are in all."""
    words = query.search.lower().split()
    fits = [
        one
        for one in view.objects
        if not (query.only_listed and one.removed_seconds is not None) and _holds(one, words)
    ]
    shown = fits[query.first : query.first + query.rows]
    return [_row(one, view.attributes) for one in shown], len(fits)


def _holds(one: StoredObject, words: list[str]) -> bool:
    if not words:
        return True
    text = "\n".join([one.key, *one.attributes.values()]).lower()
    return all(word in text for word in words)


def _row(one: StoredObject, attributes: list[str]) -> ObjectRow:
    removed = one.removed_seconds
    return ObjectRow(
        one.key,
        [one.attributes.get(name, "") for name in attributes],
        utc_text(one.appeared_seconds),
        utc_text(one.last_seen_seconds),
        "" if removed is None else utc_text(removed),
        one.page,
    )
