"""Listings of a store, read as sources.

Only syncs that were accepted count as crawls. What is wrong with a listing goes with it.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter, InvalidTable
from recrawl.listings.data.attributes import attribute_of
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.snapshots import GRACE
from recrawl.listings.live.forecast import grid_of
from recrawl.listings.live.history import listing_of_history
from recrawl.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.entries.listings import ListingHistory, StoredObject, Sync
    from recrawl.entries.store import ReadStore
    from recrawl.listings.data.attributes import Attribute, Labels
    from recrawl.listings.data.spells import Listing


@dataclass(frozen=True, slots=True, eq=False)
class StoredListing:
    """A listing of a store.

    Args:
        name: Its name.
        listing: Its objects.
        grid: The same day by day.
        alarm: What is wrong with it; empty for nothing.
    """

    name: str
    listing: Listing
    grid: DayGrid
    alarm: str


def read_store_listings(path: Path, *, name: str = "", grace: float = GRACE) -> list[StoredListing]:
    """Listings of a store.

    Args:
        path: The store.
        name: Only the listing of this name; all where it is empty.
        grace: An object that is missing for fewer days than this was there.

    Raises:
        InvalidTable: The store has no listing.
        InvalidParameter: It has none of that name.
    """
    with open_store(path) as reader:
        histories = [reader.listing_history(each) for each in wanted_listings(reader, name)]
    return [stored_listing(history, grace=grace) for history in histories]


def stored_listing(history: ListingHistory, *, grace: float = GRACE) -> StoredListing:
    """A listing from its history.

    Args:
        history: All that happened.
        grace: An object that is missing for fewer days than this was there.
    """
    listing = listing_of_history(history, grace=grace)
    columns = {each: _typed(column) for each, column in listing.attributes.items()}
    listing = replace(listing, attributes=columns)
    grid = grid_of(listing) if len(listing.crawls) else DayGrid.of(listing)
    return StoredListing(history.name, listing, grid, history.alarm)


def read_store_syncs(path: Path, *, name: str = "") -> list[tuple[str, list[Sync]]]:
    """Every sync of the listings of a store, by name.

    Args:
        path: The store.
        name: Only the listing of this name; all where it is empty.

    Raises:
        InvalidTable: The store has no listing.
        InvalidParameter: It has none of that name.
    """
    with open_store(path) as reader:
        names = wanted_listings(reader, name)
        return [(each, reader.syncs(each)) for each in names]


def read_store_objects(
    path: Path, *, name: str = "", listed: bool = False
) -> list[tuple[str, StoredObject]]:
    """Every object of the listings of a store, with the name of its listing.

    Args:
        path: The store.
        name: Only the listing of this name; all where it is empty.
        listed: Whether to leave out those that are no longer listed.

    Raises:
        InvalidTable: The store has no listing.
        InvalidParameter: It has none of that name.
    """
    with open_store(path) as reader:
        found = [
            (each, one) for each in wanted_listings(reader, name) for one in reader.objects(each)
        ]
    return [(each, one) for each, one in found if not listed or one.removed_seconds is None]


def wanted_listings(reader: ReadStore, name: str) -> list[str]:
    """Names of the listings of a store, or the one that is asked for.

    Raises:
        InvalidTable: The store has no listing.
        InvalidParameter: It has none of that name.
    """
    names = reader.listing_names()
    if not names:
        message = f"{reader.name}: no listing found; add a [[listing]] to recrawl.toml and crawl"
        raise InvalidTable(message)
    if name and name not in names:
        message = f"{reader.name}: listing {name!r} not found; expected one of {', '.join(names)}"
        raise InvalidParameter(message)
    return [name] if name else names


def _typed(column: Attribute) -> Attribute:
    """Numbers where all texts are."""
    labels: Labels = column  # type: ignore[assignment] # a store keeps texts
    words = [*labels.words.tolist(), ""]
    return attribute_of(np.where(labels.codes < 0, len(words) - 1, labels.codes), words)
