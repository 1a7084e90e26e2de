"""A listing: its objects, when each was listed, and the crawls that say so.

A *spell* is a time in which an object was listed without a break. Crawls see whole lists, so a
spell is given by the numbers of two crawls: `first`, the first that saw it, and `gone`, the first
that no longer did:

    crawl     0    1    2    3    4
    object a  x    x                    first 0, gone 2: listed before the first crawl, age unknown
    object b            x    x    x     first 2, gone 5 = all crawls: still listed

Arrival lies between crawls first - 1 and first, removal between gone - 1 and gone.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Bools, Instants, Ints
    from recrawl.listings.data.attributes import Attribute

APPEAR, REMOVE, REAPPEAR, UPDATE = range(4)
EVENTS = ("appear", "remove", "reappear", "update")

_NEVER = np.datetime64("NaT", "us")


@dataclass(frozen=True, slots=True, eq=False)
class Updates:
    """Changes of objects' attributes, one row per attribute that changed.

    Args:
        object: Whose attribute changed.
        crawl: The crawl that saw it.
        attribute: Number of the attribute; -1 where only the object is known.
    """

    object: Ints
    crawl: Ints
    attribute: Ints

    @classmethod
    def none(cls) -> Updates:
        """No updates."""
        empty = np.empty(0, np.int64)
        return cls(empty, empty, empty)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.object)


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Objects and their spells, flat: spells lie in the order of objects, then of time.

    Args:
        keys: Name of each object.
        attributes: Attributes of the objects by name; one row per object.
        crawls: When the list was read, in order.
        object: Object of each spell.
        first: First crawl that saw it.
        gone: First crawl that no longer saw it; the number of crawls where it is still listed.
        updates: Changes of attributes.
        dropped: How many objects were left out, because their times contradict each other.

    Examples:
        >>> days = np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "datetime64[us]")
        >>> listing = Listing.of(["a", "b"], days, [(0, 0, 2), (1, 1, 3)])
        >>> listing.last_seen.astype("datetime64[D]").tolist()[1].isoformat()
        '2026-01-03'
        >>> listing.before.astype("datetime64[D]").astype(str).tolist()
        ['NaT', '2026-01-01']
    """

    keys: Texts
    attributes: Mapping[str, Attribute]
    crawls: Instants
    object: Ints
    first: Ints
    gone: Ints
    updates: Updates
    dropped: int = 0

    @classmethod
    def of(
        cls,
        keys: list[str],
        crawls: Instants,
        spells: list[tuple[int, int, int]],
        *,
        attributes: Mapping[str, Attribute] | None = None,
        updates: Updates | None = None,
    ) -> Listing:
        """Listing written by hand: spells as (object, first crawl, first crawl without it)."""
        rows = np.array(sorted(spells), np.int64).reshape(-1, 3)
        return cls(
            Texts.of(keys),
            attributes or {},
            np.asarray(crawls, "datetime64[us]"),
            rows[:, 0],
            rows[:, 1],
            rows[:, 2],
            updates or Updates.none(),
        )

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.keys)

    @property
    def status(self) -> str:
        """`empty` without objects, `one-snapshot` with a single crawl, else `ok`."""
        if not len(self.object):
            return "empty"
        return "ok" if len(self.crawls) > 1 else "one-snapshot"

    @property
    def first_seen(self) -> Instants:
        """When each spell was first seen."""
        return self.crawls[self.first]

    @property
    def before(self) -> Instants:
        """The crawl before that; NaT where the age is unknown."""
        return np.where(self.first > 0, self.crawls[np.maximum(self.first - 1, 0)], _NEVER)

    @property
    def last_seen(self) -> Instants:
        """When each spell was last seen."""
        return self.crawls[self.gone - 1]

    @property
    def listed(self) -> Bools:
        """Which spells the last crawl still saw."""
        listed: Bools = self.gone == len(self.crawls)
        return listed

    def only(self, wanted: Bools) -> Listing:
        """A listing of some objects alone, with all its crawls."""
        rows = np.flatnonzero(wanted)
        number = np.cumsum(wanted) - 1
        spells, changed = wanted[self.object], wanted[self.updates.object]
        updates = Updates(
            number[self.updates.object[changed]],
            self.updates.crawl[changed],
            self.updates.attribute[changed],
        )
        return replace(
            self,
            keys=self.keys.take(rows),
            attributes={name: column.rows(rows) for name, column in self.attributes.items()},
            object=number[self.object[spells]],
            first=self.first[spells],
            gone=self.gone[spells],
            updates=updates,
        )

    def events(self) -> tuple[Ints, Ints, Ints]:
        """All that happened, in order of time: object, crawl, and number of the event in `EVENTS`.

        >>> days = np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "datetime64[us]")
        >>> rows, crawls, kinds = Listing.of(["a"], days, [(0, 0, 1), (0, 2, 3)]).events()
        >>> [(crawl, EVENTS[kind]) for crawl, kind in zip(crawls.tolist(), kinds.tolist())]
        [(0, 'appear'), (1, 'remove'), (2, 'reappear')]
        """
        again = ~begins(self.object)
        ended = ~self.listed
        changed = np.unique(np.stack([self.updates.object, self.updates.crawl], 1), axis=0)
        rows = [self.object, self.object[ended], changed[:, 0]]
        crawls = [self.first, self.gone[ended], changed[:, 1]]
        kinds = [
            np.where(again, REAPPEAR, APPEAR),
            np.full(np.count_nonzero(ended), REMOVE),
            np.full(len(changed), UPDATE),
        ]
        row, crawl, kind = (np.concatenate(parts) for parts in (rows, crawls, kinds))
        order = np.lexsort((row, kind, crawl))
        return row[order], crawl[order], kind[order]


@dataclass(frozen=True, slots=True, eq=False)
class Spells:
    """Spells of a table's objects, and which objects contradict themselves.

    Args:
        object: Object of each spell.
        first: First crawl that saw it.
        gone: First crawl that no longer did.
        wrong: One row per object: whether its times contradict each other.
    """

    object: Ints
    first: Ints
    gone: Ints
    wrong: Bools


def spells_of_lifetimes(first: Ints, gone: Ints) -> Spells:
    """One spell per object; wrong where it is gone before it was seen.

    >>> spells_of_lifetimes(np.array([0, 3]), np.array([2, 1])).wrong
    array([False,  True])
    """
    wrong = gone <= first
    rows = np.flatnonzero(~wrong)
    return Spells(rows, first[rows], gone[rows], wrong)


def spells_of_events(
    rows: Ints, crawl: Ints, removal: Bools, *, objects: int, crawls: int
) -> Spells:
    """Spells from appearances and removals, in any order.

    Wrong is an object that is removed before it appears, appears twice without a removal
    between, twice at the same time, or never.

    Args:
        rows: Object of each event.
        crawl: The crawl at which it was seen.
        removal: Whether it is a removal.
        objects: How many objects there are.
        crawls: How many crawls there are.

    Examples:
        An object that appears, is removed at crawl 2 and comes back at crawl 4 has two spells:

        >>> events = np.array([0, 0, 0]), np.array([4, 0, 2]), np.array([False, False, True])
        >>> found = spells_of_events(*events, objects=1, crawls=6)
        >>> found.first, found.gone
        (array([0, 4]), array([2, 6]))
    """
    # One sort of one number per event is several times faster than sorting by two keys.
    code = np.sort((rows * (crawls + 1) + crawl) * 2 + removal)
    removed = (code & 1).astype(np.bool_)
    code >>= 1
    row, seen = np.divmod(code, crawls + 1)
    new = begins(row)

    odd = np.where(new, removed, removed == np.roll(removed, 1))
    odd |= ~new & (seen == np.roll(seen, 1))
    wrong = np.ones(objects, np.bool_)
    wrong[row] = False
    wrong[row[odd]] = True

    starts = np.flatnonzero(~removed)
    ends = starts + 1
    ended = (ends < len(row)) & (row[np.minimum(ends, len(row) - 1)] == row[starts])
    gone = np.where(ended, seen[np.minimum(ends, len(row) - 1)], crawls)
    kept = ~wrong[row[starts]]
    return Spells(row[starts][kept], seen[starts][kept], gone[kept], wrong)


def raise_wrong(wrong: Bools, keys: Texts, why: str) -> None:
    """Raise for the first object whose times contradict each other."""
    if wrong.any():
        row = int(np.argmax(wrong))
        name = keys.take(np.array([row])).tolist()[0]
        raise InvalidTable(f"object {name!r}: {why}")
