"""Worlds in files: one of pages, one of their changes.

    pages    page, first_seen[, url, removed_at, weight]
    changes  page, changed_at[, bulk, revert]

Touches: files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.columns import TableInput, listed
from recrawl.adapters.tables.inputs import open_table
from recrawl.adapters.tables.whole import WholeTable
from recrawl.errors import InvalidParameter
from recrawl.simulate.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Ints

IGNORABLE = ("bulk", "revert")


def read_world(
    pages: str | Path, changes: str | Path, *, ignore: Sequence[str] = (), reverts: bool = False
) -> World:
    """A world from two tables, each in a file, or in all files of a pattern or a folder.

    Changes before their page is found or after it is gone are left out.

    Args:
        pages: One row per page: `page`, `first_seen` and, optionally, `url`, `removed_at` and
            `weight`.
        changes: One row per change, in any order: `page`, `changed_at` and, optionally, `bulk`
            and `revert`.
        ignore: Kinds of changes to leave out, `bulk` or `revert`.
        reverts: Whether changes that are marked as `revert` lead back to the version before.
    """
    with open_table([pages]) as known, open_table([changes]) as happened:
        return read_world_and_count(known, happened, ignore=ignore, reverts=reverts)[0]


def read_world_and_count(
    pages: str | Path | TableInput,
    changes: str | Path | TableInput,
    *,
    ignore: Sequence[str] = (),
    reverts: bool = False,
) -> tuple[World, int]:
    """A world, and how many changes lay outside of the lives of their pages."""
    for kind in ignore:
        if kind not in IGNORABLE:
            raise InvalidParameter(f"ignore must name {' or '.join(IGNORABLE)} (got {kind!r})")
    known, happened = (
        WholeTable(each if isinstance(each, TableInput) else Path(each))
        for each in (pages, changes)
    )
    known.need("page", "first_seen")
    if reverts and "revert" in ignore:
        raise InvalidParameter("reverts cannot be counted and ignored at once")
    happened.need("page", "changed_at", *ignore)
    if reverts and "revert" not in happened:
        header = listed(happened.names)
        happened.table.refuse(f"column 'revert' not found (got {header}); --reverts needs it")
    if not len(known):
        known.table.refuse("no pages found")
    rows = _rows_of(happened, known)
    first_seen, changed_at = known.times("first_seen"), happened.times("changed_at")
    removed_at = known.times("removed_at", optional=True) if "removed_at" in known else None
    if removed_at is not None:
        rule = "must not be before the page is first seen"
        known.refuse_any(removed_at < first_seen, "removed_at", rule)
    kept = _kept(happened, ignore)
    world = World.of(
        known.texts("url" if "url" in known else "page"),
        first_seen,
        (rows[kept], changed_at[kept]),
        removed_at=removed_at,
        weight=_weights(known) if "weight" in known else None,
        reverts=happened.flags("revert")[kept] if reverts else None,
    )
    if len(ignore):  # what is left out is still part of the time
        whole = World.of(known.texts("page"), first_seen, (rows, changed_at), removed_at=removed_at)
        world = replace(world, end=whole.end)
    return world, int(np.count_nonzero(kept)) - len(world.changes)


def _rows_of(happened: WholeTable, known: WholeTable) -> Ints:
    """Row of each change's page; refuse pages without a name, or named twice."""
    pages = known.coded("page")
    known.refuse_any(pages.blank(), "page", "must name a page")
    known.refuse_any(pages.repeated(), "page", "must appear once")
    rows = happened.coded("page").places_in(pages)
    happened.refuse_any(rows < 0, "page", f"must be a page of {known.name}")
    return rows


def _kept(happened: WholeTable, ignore: Sequence[str]) -> Bools:
    kept = np.ones(len(happened), np.bool_)
    for kind in ignore:
        kept &= ~happened.flags(kind)
    return kept


def _weights(known: WholeTable) -> Floats:
    """Weight of each page; 1 where a cell is empty."""
    weights = known.numbers("weight")
    weights[np.isnan(weights)] = 1.0
    wrong = ~((weights > 0) & (weights < np.inf))
    known.refuse_any(wrong, "weight", "must be a positive, finite number or empty")
    return weights
