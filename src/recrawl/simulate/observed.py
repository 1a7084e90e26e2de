"""The world that visits have seen: changes put back where they may have happened.

A visit that found a change says that there was one since the visit before, so one is put there:
where the host dates it, at its date, else anywhere in between at random. What changed more than
once between two visits changes once here, so a replay flatters every policy alike, and the crawl's
own most where it looked least.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.simulate.world import World
from recrawl.trends.visit_instants import microseconds, visit_instants
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Instants
    from recrawl.visits.histories import Histories


def place_changes(
    before: Instants, found: Instants, told: Instants, random: np.random.Generator
) -> Instants:
    """When changes happened that visits found.

    Args:
        before: When each page was visited before.
        found: When the change was found.
        told: When the host says that it happened; NaT where it does not.
        random: Says when changes without a date happened.
    """
    length = (found - before).astype(np.int64)
    drawn = before + (1 + (length - 1) * random.random(len(found))).astype("timedelta64[us]")
    inside = (told > before) & (told <= found)  # an unknown date is neither
    return np.where(inside, told, drawn)


def world_of_histories(
    pages: Sequence[str], histories: Histories, random: np.random.Generator
) -> World:
    """Pages of a visit log, and the changes that visits to them found.

    A page is known from its first visit, and gone at its last if that found it gone.

    Args:
        pages: Their names.
        histories: What visits showed.
        random: Says when changes without a date happened.

    Examples:
        >>> from recrawl import Histories
        >>> first = np.array(["2026-01-01"], "datetime64[us]")
        >>> seen = Histories([1.0, 1.0], [False, True], [0, 2], [np.nan, 0.5], first_visit=first)
        >>> world = world_of_histories(["/a"], seen, np.random.default_rng(0))
        >>> world.changes.astype("datetime64[h]"), world.days
        (array(['2026-01-02T12'], dtype='datetime64[h]'), 2.0)
    """
    seen = np.flatnonzero(~np.isnat(histories.first_visit))
    some = histories.take(seen)
    before, found = visit_instants(some)
    gone = (some.flags & np.uint32(Flag.GONE)) > 0
    removal = np.zeros(len(before), np.bool_)
    ended = gone & (some.gaps_of_page > 0)
    removal[some.offsets[1:][ended] - 1] = True
    changed = np.flatnonzero(some.changed & ~removal & ~np.isnat(found))
    age = some.age[changed]
    dated = ~np.isnan(age)
    told = found[changed] - microseconds(np.where(dated, age, 0.0)).astype("timedelta64[us]")
    told[~dated] = np.datetime64("NaT")
    page = np.repeat(np.arange(len(some)), some.gaps_of_page)
    last = some.last_visit
    return World.of(
        [pages[row] for row in seen.tolist()],
        some.first_visit,
        (page[changed], place_changes(before[changed], found[changed], told, random)),
        removed_at=np.where(gone, last, np.datetime64("NaT")),
        end=np.concatenate([last, found]).max() if len(last) else None,
        first_age=some.first_age,
    )
