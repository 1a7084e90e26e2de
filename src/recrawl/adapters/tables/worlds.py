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

from recrawl.adapters.tables.columns import read_columns
from recrawl.errors import InvalidParameter, InvalidTable
from recrawl.simulate.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.adapters.tables.columns import Columns
    from recrawl.arrays.types import Bools, Ints

IGNORABLE = ("bulk", "revert")


def read_world(pages: str | Path, changes: str | Path, *, ignore: Sequence[str] = ()) -> World:
    """A world from two files of CSV, JSON lines or Parquet.

    Changes before their page is found or after it is gone are left out.

    Args:
        pages: A row a page: `page`, `first_seen` and, optionally, `url`, `removed_at`, `weight`.
        changes: A row a change, in any order: `page`, `changed_at` and, optionally, `bulk`
            and `revert`.
        ignore: Kinds of changes to leave out, `bulk` or `revert`.
    """
    return read_world_and_count(pages, changes, ignore=ignore)[0]


def read_world_and_count(
    pages: str | Path, changes: str | Path, *, ignore: Sequence[str] = ()
) -> tuple[World, int]:
    """A world, and how many changes lay outside of the lives of their pages."""
    for kind in ignore:
        if kind not in IGNORABLE:
            message = f"ignore must name {' or '.join(IGNORABLE)} (got {kind!r})"
            raise InvalidParameter(message)
    known, happened = read_columns(Path(pages)), read_columns(Path(changes))
    known.need("page", "first_seen")
    happened.need("page", "changed_at", *ignore)
    if not len(known):
        message = f"{known.path}: must hold a page (got none)"
        raise InvalidTable(message)
    rows = _rows_of(happened, known)
    first_seen, changed_at = known.times("first_seen"), happened.times("changed_at")
    removed_at = known.times("removed_at", optional=True) if "removed_at" in known else None
    if removed_at is not None and (removed_at < first_seen).any():
        row = int(np.argmax(removed_at < first_seen))
        known.refuse(row, "removed_at", "must not be before the page is first seen")
    kept = _kept(happened, ignore)
    world = World.of(
        known.texts("url" if "url" in known else "page"),
        first_seen,
        (rows[kept], changed_at[kept]),
        removed_at=removed_at,
        weight=known.positive("weight") if "weight" in known else None,
    )
    if len(ignore):  # what is left out is still part of the time
        whole = World.of(known.texts("page"), first_seen, (rows, changed_at), removed_at=removed_at)
        world = replace(world, end=whole.end)
    return world, int(np.count_nonzero(kept)) - len(world.changes)


def _rows_of(happened: Columns, known: Columns) -> Ints:
    """Row of each change's page."""
    pages, changed = known.words("page"), happened.words("page")
    _check_pages(known)
    row_of = {pages.words[code]: row for row, code in enumerate(pages.codes.tolist())}
    found = np.array([row_of.get(word, -1) for word in changed.words], np.int64)[changed.codes]
    if (found < 0).any():
        happened.refuse(int(np.argmax(found < 0)), "page", f"must be a page of {known.path}")
    return found


def _check_pages(known: Columns) -> None:
    """Refuse pages without a name, or named twice."""
    pages = known.words("page")
    blank = np.array([not word.strip() for word in pages.words], np.bool_)[pages.codes]
    if blank.any():
        known.refuse(int(np.argmax(blank)), "page", "must name a page")
    again = np.ones(len(pages.codes), np.bool_)
    again[np.unique(pages.codes, return_index=True)[1]] = False
    if again.any():
        known.refuse(int(np.argmax(again)), "page", "must be there once")


def _kept(happened: Columns, ignore: Sequence[str]) -> Bools:
    kept = np.ones(len(happened), np.bool_)
    for kind in ignore:
        kept &= ~happened.flags(kind)
    return kept
