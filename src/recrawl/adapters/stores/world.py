"""The world that the visits of a store have seen, to replay policies on.

A page is known from its first copy. A visit that found a change says that there was one since the
visit before, so one is put there: where the host dates it, at its date, else anywhere in between by
lot. What changed more than once between two visits changes once here, so a replay flatters every
policy alike, and the crawl's own most where it looked least.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidHistory
from recrawl.simulate.world import World
from recrawl.units import days_between
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.arrays.types import Instants, Ints

_SEEN = [int(each) for each in VisitOutcome if each.compared or each is VisitOutcome.FIRST]


def world_of_store(path: Path, random: np.random.Generator) -> World:
    """Pages of a store that were copied, and the changes that visits to them found.

    Args:
        path: The store.
        random: Says when changes without a date happened.
    """
    from recrawl.store import open_store

    with open_store(path) as reader:
        parts = []
        for visits in reader.visits():
            seen = np.isin(visits.outcome, _SEEN)
            columns = (
                visits.page,
                visits.at,
                visits.outcome == VisitOutcome.CHANGED,
                visits.modified_at,
            )
            parts.append([column[seen] for column in columns])
        if not parts:
            raise InvalidHistory(f"{path}: must hold a visit (got none)")
        page, at, changed, modified = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        pages = np.unique(page)
        address = reader.addresses(pages.tolist())
    if not len(pages):
        raise InvalidHistory(f"{path}: must hold a copy of a page (got none)")
    order = np.argsort(page, kind="stable")  # visits of a page stay in the order of time
    page, at, changed, modified = page[order], at[order], changed[order], modified[order]
    first = np.flatnonzero(np.diff(page, prepend=-1))
    changed[first] = False
    rows = np.searchsorted(pages, page[changed])
    happened = _happened(np.flatnonzero(changed), at, modified, random)
    first_age = days_between(modified[first], at[first])
    return World.of(address, at[first], (rows, happened), end=at.max(), first_age=first_age)


def _happened(
    visits: Ints, at: Instants, modified: Instants, random: np.random.Generator
) -> Instants:
    """When the changes happened that some visits found."""
    before, found, told = at[visits - 1], at[visits], modified[visits]
    length = (found - before).astype(np.int64)
    drawn = before + (1 + (length - 1) * random.random(len(visits))).astype("timedelta64[us]")
    inside = (told > before) & (told <= found)  # an unknown date is neither
    return np.where(inside, told, drawn)
