"""Snapshots of a list turned into spells and updates of attributes.

A row is a sighting: one object in one snapshot. An object that is missing for a short time (a page
of the list failed, an advertisement was edited) was there all the time: an absence that is
shorter than the grace time is closed. It is measured from the first snapshot that missed the
object to the next that had it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.errors import InvalidTable
from recrawl.listings.data.attributes import Labels
from recrawl.listings.data.spells import Listing, Updates
from recrawl.units import days_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Bools, Instants, Ints
    from recrawl.listings.data.attributes import Attribute

# One missed daily snapshot is closed, two are not; the age beyond which a day is a gap, too.
GRACE = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Sightings:
    """Which object was in which snapshot, and what it was like then.

    Args:
        crawls: When each snapshot was made, in order.
        snapshot: Snapshot of each sighting.
        object: Object of each sighting.
        attributes: What the objects were like, by name; one row per sighting.
    """

    crawls: Instants
    snapshot: Ints
    object: Ints
    attributes: Mapping[str, Attribute]


def listing_of(sightings: Sightings, keys: Texts, *, grace: float = GRACE) -> Listing:
    """A listing from snapshots; each object keeps the attributes of its first sighting.

    Args:
        sightings: Objects in snapshots, in any order.
        keys: Name of each object.
        grace: Absences shorter than this, in days, are closed.

    Examples:
        Object a is missing on one day only, b for three:

        >>> from recrawl.arrays.texts import Texts
        >>> crawls = np.arange("2026-01-01", "2026-01-06", dtype="datetime64[D]")
        >>> seen = [(0, 0), (1, 0), (3, 0), (4, 0), (0, 1), (4, 1)]
        >>> snapshot, objects = np.array(seen).T
        >>> found = Sightings(crawls.astype("datetime64[us]"), snapshot, objects, {})
        >>> listing = listing_of(found, Texts.of(["a", "b"]))
        >>> listing.object, listing.first, listing.gone
        (array([0, 1, 1]), array([0, 0, 4]), array([5, 1, 5]))
    """
    count = len(sightings.crawls)
    order = np.argsort(sightings.object * count + sightings.snapshot, kind="stable")
    row, seen = sightings.object[order], sightings.snapshot[order]
    new = begins(row)
    _check_repeats(sightings, keys, row, seen)

    missed = np.minimum(np.roll(seen, 1) + 1, count - 1) if count else seen
    absence = days_between(sightings.crawls[missed], sightings.crawls[seen])
    comes = new | ((missed < seen) & (absence >= grace))
    ends = np.roll(comes, -1)
    first_rows = order[new]
    return Listing(
        keys,
        {name: column.rows(first_rows) for name, column in sightings.attributes.items()},
        sightings.crawls,
        row[comes],
        seen[comes],
        seen[ends] + 1,
        _updates(sightings.attributes, order, row, seen),
    )


def _check_repeats(sightings: Sightings, keys: Texts, row: Ints, seen: Ints) -> None:
    """Check that no key occurs twice in one snapshot."""
    again = (row[1:] == row[:-1]) & (seen[1:] == seen[:-1])
    if again.any():
        place = int(np.argmax(again))
        count = int(np.count_nonzero((row == row[place]) & (seen == seen[place])))
        name = keys.take(row[place : place + 1]).tolist()[0]
        when = np.datetime_as_string(sightings.crawls[seen[place]], unit="s")
        raise InvalidTable(f"snapshot {when}: key {name!r} occurs {count} times, expected once")


def _updates(attributes: Mapping[str, Attribute], order: Ints, row: Ints, seen: Ints) -> Updates:
    """Attributes that differ from what they were when last known."""
    found: list[tuple[Ints, Ints, Ints]] = []
    for number, column in enumerate(attributes.values()):
        known = np.flatnonzero(~column.missing[order])
        changed = known[1:][_differs(column, order[known]) & (row[known][1:] == row[known][:-1])]
        found.append((row[changed], seen[changed], np.full(len(changed), number)))
    if not found:
        return Updates.none()
    return Updates(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _differs(column: Attribute, rows: Ints) -> Bools:
    """Whether each of some sightings differs from the one before."""
    values = column.codes[rows] if isinstance(column, Labels) else column.numbers[rows]
    differs: Bools = values[1:] != values[:-1]
    return differs


def joined(words: Sequence[str], numbers: dict[str, int]) -> Ints:
    """Number of each word in `numbers`, which takes in those that are new."""
    found = (numbers.setdefault(word, len(numbers)) for word in words)
    return np.fromiter(found, np.int64, len(words))
