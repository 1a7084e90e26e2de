"""Retention of old page versions: which ones to delete.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.errors import InvalidParameter
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Ints


@dataclass(frozen=True, slots=True)
class Retention:
    """How many versions to keep; the newest of each page is always kept.

    Args:
        versions: Most versions of one page; None for any number.
        age: Days after which a version goes; None for never.
        total_bytes: Room for all bodies together, as they lie on disk; None for any.
    """

    versions: int | None = None
    age: float | None = None
    total_bytes: int | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        for name, least in (("versions", 1), ("age", 0), ("total_bytes", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise InvalidParameter(f"{name} must be at least {least} (got {value})")


@dataclass(frozen=True, slots=True, eq=False)
class Versions:
    """Versions of pages, one row each, in any order.

    Args:
        page: Whose.
        at: When it was first seen, in epoch milliseconds.
        body: Which body; several versions may share one.
        size: Bytes of the body on disk.
    """

    page: Ints
    at: Ints
    body: Ints
    size: Ints


def surplus(versions: Versions, retention: Retention, now_seconds: float) -> Bools:
    """Rows to delete: surplus versions of a page, old ones, then the oldest until the rest fits.

    Examples:
        Of three versions of a page two are kept, and a page's only version never goes:

        >>> rows = Versions(*np.array([[1, 1, 1, 2], [10, 20, 30, 5], [1, 2, 3, 4], [9, 9, 9, 9]]))
        >>> surplus(rows, Retention(versions=2), now_seconds=1.0)
        array([ True, False, False, False])
        >>> surplus(rows, Retention(total_bytes=20), now_seconds=1.0)
        array([ True,  True, False, False])
    """
    rank = _rank(versions)
    drop = np.zeros(len(rank), np.bool_)
    if retention.versions is not None:
        drop |= rank >= retention.versions
    if retention.age is not None:
        drop |= versions.at < (now_seconds - retention.age * SECONDS_A_DAY) * 1000
    drop &= rank > 0
    if retention.total_bytes is not None:
        drop |= _beyond_room(versions, drop, rank > 0, retention.total_bytes)
    return drop


def _rank(versions: Versions) -> Ints:
    """How many newer versions of its page each has."""
    order = np.lexsort((-versions.at, versions.page))
    page = versions.page[order]
    place = np.arange(len(page))
    rank = np.empty(len(page), np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(begins(page), place, 0))
    return rank


def _beyond_room(versions: Versions, dropped: Bools, may_go: Bools, room: int) -> Bools:
    """The oldest rows to delete for lack of room; a body goes with its last version."""
    kept = np.flatnonzero(~dropped)
    kept = kept[np.argsort(versions.at[kept], kind="stable")]
    going = kept[may_go[kept]]
    bodies, first, body = np.unique(versions.body[kept], return_index=True, return_inverse=True)
    size = versions.size[kept][first]
    excess = int(size.sum()) - room
    drop = np.zeros(len(dropped), np.bool_)
    if excess <= 0 or not len(going):
        return drop

    # After how many of the oldest versions each body is free; never if a newest one has it.
    step = np.where(may_go[kept], np.cumsum(may_go[kept]), len(going) + 1)
    free_after = np.zeros(len(bodies), np.int64)
    np.maximum.at(free_after, body, step)
    freed = np.cumsum(np.bincount(free_after, size, len(going) + 2))[: len(going) + 1]
    enough = int(np.searchsorted(freed, excess))
    drop[going[:enough]] = True
    return drop
