"""The world that the visits of a store have seen, to replay policies on.

A page is known from its first copy; `simulate.observed` says where the changes are put that its
visits found.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidHistory
from recrawl.simulate.observed import place_changes
from recrawl.simulate.world import World
from recrawl.units import days_between
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from pathlib import Path


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
            raise InvalidHistory(f"{path}: no visits yet; run `recrawl crawl` first")
        page, at, changed, modified = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        pages = np.unique(page)
        address = reader.addresses(pages.tolist())
    if not len(pages):
        raise InvalidHistory(f"{path}: no copies yet; run `recrawl crawl` first")
    order = np.argsort(page, kind="stable")  # visits of a page stay in the order of time
    page, at, changed, modified = page[order], at[order], changed[order], modified[order]
    first = np.flatnonzero(np.diff(page, prepend=-1))
    changed[first] = False
    rows = np.searchsorted(pages, page[changed])
    found = np.flatnonzero(changed)
    happened = place_changes(at[found - 1], at[found], modified[found], random)
    first_age = days_between(modified[first], at[first])
    return World.of(address, at[first], (rows, happened), end=at.max(), first_age=first_age)
