"""What changed between versions of a page, for scripts.

Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.diff.differences import GISTS, Kind, gist
from recrawl.report.diff.lines import share_words
from recrawl.report.rates import Named
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.diff.differences import Difference, Part
    from recrawl.inspect.versions import Comparison, Side
    from recrawl.report.rates import Column

# What `recrawl diff --json` holds, each of its two versions, and each of its parts.
DIFFERENCE_KEYS = ("page", "from", "to", "words_changed", "gist", "parts")
SIDE_KEYS = ("kept_at", "size_bytes")
PART_KEYS = ("kind", "from", "to", "lines")
# What `recrawl diff --list` writes.
VERSION_COLUMNS = ("page", "kept_at", "size_bytes", "words_changed", "gist")
HEADER = ("kept", "bytes", "words changed", "gist")

_DIGITS = 6


def difference_object(comparison: Comparison) -> dict[str, Any]:
    """The values of `DIFFERENCE_KEYS`."""
    difference, share = comparison.difference, comparison.share
    parts = [part for part in difference.parts if part.kind is not Kind.MOVED_AWAY]
    values = (
        comparison.page,
        _side(comparison.old),
        _side(comparison.new),
        round(share, _DIGITS),
        gist(difference, share),
        [_part(part, difference) for part in parts],
    )
    return dict(zip(DIFFERENCE_KEYS, values, strict=True))


def version_columns(
    versions: Sequence[Side], shares: Sequence[float], gists: Sequence[str]
) -> dict[str, Column]:
    """Columns of `VERSION_COLUMNS` but the first.

    Args:
        versions: Versions of a page, oldest first.
        shares: Share of words changed since the version before; nan where there is none.
        gists: What changed, each in one of `GISTS`; empty where there is no version before.
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


def _part(part: Part, difference: Difference) -> dict[str, Any]:
    values = (part.kind, list(part.old), list(part.new), _lines(part, difference))
    found = dict(zip(PART_KEYS, values, strict=True))
    if part.kind is Kind.SAME:
        del found["lines"]
    return found


def _lines(part: Part, difference: Difference) -> list[Any]:
    """Texts of lines that came or went; of others, what became of their words."""
    if part.kind is Kind.REMOVED:
        return list(difference.old[slice(*part.old)])
    if part.kind is Kind.ADDED:
        return list(difference.new[slice(*part.new)])
    return [[[run.fate, run.text] for run in runs] for runs in part.edits]
