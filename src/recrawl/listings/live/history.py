"""The history of a listing in a store, as the models of listings read it.

Only syncs that were accepted count as crawls. An object that was missing for less than the grace
time was there all the time: it had slipped from one page of the list to another while they were
read, or was taken down and put up again.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.entries.listings import EventKind
from recrawl.listings.data.attributes import Labels
from recrawl.listings.data.snapshots import GRACE
from recrawl.listings.data.spells import Listing, Updates, spells_of_events
from recrawl.units import SECONDS_A_DAY, days_between, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Instants, Ints
    from recrawl.entries.listings import Event, ListingHistory
    from recrawl.listings.data.spells import Spells


def listing_of_history(history: ListingHistory, *, grace: float = GRACE) -> Listing:
    """A listing from all that a store knows of it; objects have the attributes they came with.

    Args:
        history: What the store knows.
        grace: Absences shorter than this, in days, are closed.
    """
    accepted = [sync for sync in history.syncs if sync.outcome.accepted]
    at = np.array([sync.at_seconds for sync in accepted], np.float64)
    crawls = instants_after_epoch(at / SECONDS_A_DAY)
    crawl = {sync.number: row for row, sync in enumerate(accepted)}
    row = {number: place for place, number in enumerate(history.keys)}
    moved = [each for each in history.events if each.kind is not EventKind.UPDATE]
    found = spells_of_events(
        np.array([row[each.object] for each in moved], np.int64),
        np.array([crawl[each.sync] for each in moved], np.int64),
        np.array([each.kind is EventKind.DELETE for each in moved], np.bool_),
        objects=len(row),
        crawls=len(crawls),
    )
    attributes, updates = _attributes(history.events, row, crawl)
    return Listing(
        Texts.of(list(history.keys.values())),
        attributes,
        crawls,
        *_closed(found, crawls, grace),
        updates,
    )


def _closed(found: Spells, crawls: Instants, grace: float) -> tuple[Ints, Ints, Ints]:
    """Spells whose short absences are closed."""
    row, first, gone = found.object, found.first, found.gone
    begins = np.ones(len(row), np.bool_)
    last = max(len(crawls) - 1, 0)
    if len(row):
        absence = days_between(crawls[np.minimum(gone[:-1], last)], crawls[first[1:]])
        begins[1:] = (row[1:] != row[:-1]) | (absence >= grace)
    return row[begins], first[begins], gone[np.roll(begins, -1)]


def _attributes(
    events: list[Event], row: dict[int, int], crawl: dict[int, int]
) -> tuple[dict[str, Labels], Updates]:
    """What objects were like when they came, and every change of that."""
    names = dict.fromkeys(name for each in events for name in each.attributes or ())
    number = {name: place for place, name in enumerate(names)}
    first: dict[int, dict[str, str]] = {}
    newest: dict[int, dict[str, str]] = {}
    changes: list[tuple[int, int, int]] = []
    for each in events:
        if each.attributes is None:
            continue
        first.setdefault(each.object, each.attributes)
        before = newest.setdefault(each.object, {})
        changes += [
            (row[each.object], crawl[each.sync], number[name])
            for name, text in each.attributes.items()
            if text and before.get(name, text) != text
        ]
        before.update({name: text for name, text in each.attributes.items() if text})
    columns = {
        name: Labels.of([first.get(each, {}).get(name, "") for each in row]) for name in names
    }
    table = np.array(changes, np.int64).reshape(-1, 3)
    return columns, Updates(table[:, 0], table[:, 1], table[:, 2])
