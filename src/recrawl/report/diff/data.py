"""Diffs and version lists of a page as JSON and columns, for scripts.

Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.diff.gist import GISTS
from recrawl.detect.diff.line_diff import BlockKind, gist
from recrawl.report.diff.lines import share_words
from recrawl.report.rates import Named
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.diff.line_diff import Block, PageDiff
    from recrawl.inspect.versions import Comparison, Side
    from recrawl.report.rates import Column

# Keys of `recrawl diff --json`, of each of its two versions and of each block.
DIFF_KEYS = ("page", "from", "to", "words_changed", "gist", "blocks")
SIDE_KEYS = ("kept_at", "size_bytes")
BLOCK_KEYS = ("kind", "from", "to", "lines")
# Columns of `recrawl diff --list`.
VERSION_COLUMNS = ("page", "kept_at", "size_bytes", "words_changed", "gist")
HEADER = ("kept", "bytes", "words changed", "gist")

_DIGITS = 6


def diff_object(comparison: Comparison) -> dict[str, Any]:
    """One diff as a JSON object with `DIFF_KEYS`."""
    diff, share = comparison.diff, comparison.share
    blocks = [block for block in diff.blocks if block.kind is not BlockKind.MOVED_AWAY]
    values = (
        comparison.page,
        _side(comparison.old),
        _side(comparison.new),
        round(share, _DIGITS),
        gist(diff, share),
        [_block(block, diff) for block in blocks],
    )
    return dict(zip(DIFF_KEYS, values, strict=True))


def version_columns(
    versions: Sequence[Side], shares: Sequence[float], gists: Sequence[str]
) -> dict[str, Column]:
    """The columns `VERSION_COLUMNS`, without the first.

    Args:
        versions: Versions of a page, oldest first.
        shares: Share of words changed since the version before; nan where there is none.
        gists: BlockKind of each change, one of `GISTS`; empty where there is no version before.
    """
    names = ["", *GISTS]
    milliseconds = [round(side.at_seconds * 1000) for side in versions]
    columns: tuple[Column, ...] = (
        np.array(milliseconds, "datetime64[ms]").astype("datetime64[us]"),
        np.array([side.size for side in versions], np.int64),
        np.array(shares, np.float64).round(_DIGITS),
        Named(np.array([names.index(each) for each in gists], np.int64), names),
    )
    return dict(zip(VERSION_COLUMNS[1:], columns, strict=True))


def version_words(
    versions: Sequence[Side], shares: Sequence[float], gists: Sequence[str]
) -> list[list[str]]:
    """The same for people, under `HEADER`, newest first."""
    rows = [
        [utc_text(side.at_seconds), f"{side.size:,}", share_words(share), each or "-"]
        for side, share, each in zip(versions, shares, gists, strict=True)
    ]
    return rows[::-1]


def _side(side: Side) -> dict[str, Any]:
    at = datetime.fromtimestamp(round(side.at_seconds, 3), UTC).isoformat()
    values = (at.replace("+00:00", "Z"), side.size)
    return dict(zip(SIDE_KEYS, values, strict=True))


def _block(block: Block, diff: PageDiff) -> dict[str, Any]:
    values = (block.kind, list(block.old), list(block.new), _lines(block, diff))
    found = dict(zip(BLOCK_KEYS, values, strict=True))
    if block.kind is BlockKind.SAME:
        del found["lines"]
    return found


def _lines(block: Block, diff: PageDiff) -> list[Any]:
    """Texts of added or removed lines; of other lines their word diffs."""
    if block.kind is BlockKind.REMOVED:
        return list(diff.old[slice(*block.old)])
    if block.kind is BlockKind.ADDED:
        return list(diff.new[slice(*block.new)])
    return [[[edit.kind, edit.text] for edit in edits] for edits in block.edits]
