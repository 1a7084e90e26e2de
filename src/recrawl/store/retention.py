"""Retention of old page versions and events: which ones to delete.

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
    from recrawl.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Retention:
    """How many versions, and how long events, to keep.

    The newest of each page stays, whatever its age. Only where a store would grow beyond its room
    without any older versions left does it go, too: pages and visits are never deleted.

    Args:
        versions: Most versions of one page; None for any number.
        age: Days after which a version goes; None for never.
        total_bytes: Room for the whole store on disk, with its log; None for any.
        events: Days after which an event of the change feed goes; None for never.
    """

    versions: int | None = None
    age: float | None = None
    total_bytes: int | None = None
    events: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """Retention that the settings of a crawl ask for."""
        return cls(max(settings.versions, 1), settings.keep, settings.size, settings.feed_keep)

    def __post_init__(self) -> None:
        """Check the limits."""
        for name, least in (("versions", 1), ("age", 0), ("total_bytes", 0), ("events", 0)):
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
    """Rows to delete: those beyond the number to keep of a page, and old ones.

    Examples:
        Of three versions of a page two are kept, and a page's only version never goes:

        >>> rows = Versions(*np.array([[1, 1, 1, 2], [10, 20, 30, 5], [1, 2, 3, 4], [9, 9, 9, 9]]))
        >>> surplus(rows, Retention(versions=2), now_seconds=1.0)
        array([ True, False, False, False])
    """
    rank = _rank(versions)
    drop = np.zeros(len(rank), np.bool_)
    if retention.versions is not None:
        drop |= rank >= retention.versions
    if retention.age is not None:
        drop |= versions.at < (now_seconds - retention.age * SECONDS_A_DAY) * 1000
    return drop & (rank > 0)


def oldest(versions: Versions, excess: int) -> Bools:
    """Rows to delete so that so many bytes are free: old versions first, then newest ones.

    A body goes with its last version.

    Examples:
        >>> rows = Versions(*np.array([[1, 1, 1, 2], [10, 20, 30, 5], [1, 2, 3, 4], [9, 9, 9, 9]]))
        >>> oldest(rows, excess=10)
        array([ True,  True, False, False])
        >>> oldest(rows, excess=20)
        array([ True,  True, False,  True])
    """
    order = np.lexsort((versions.at, _rank(versions) == 0))
    bodies, first, body = np.unique(versions.body[order], return_index=True, return_inverse=True)
    free_after = np.zeros(len(bodies), np.int64)  # how many rows have gone when a body is free
    np.maximum.at(free_after, body, np.arange(1, len(order) + 1))
    freed = np.cumsum(np.bincount(free_after, versions.size[order][first], len(order) + 1))
    drop = np.zeros(len(order), np.bool_)
    drop[order[: int(np.searchsorted(freed, excess))]] = True
    return drop


def _rank(versions: Versions) -> Ints:
    """How many newer versions of its page each has."""
    order = np.lexsort((-versions.at, versions.page))
    page = versions.page[order]
    place = np.arange(len(page))
    rank = np.empty(len(page), np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(begins(page), place, 0))
    return rank
