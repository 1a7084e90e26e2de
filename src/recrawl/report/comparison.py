"""Several methods on the same pages: side by side for people, in long form for files.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.rates import Named
from recrawl.report.table import printable, shortened
from recrawl.report.words import every
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.rates.estimates import Estimates
    from recrawl.report.rates import Column

FALLBACK_MARK = "*"
FALLBACK_REMARK = f"{FALLBACK_MARK} the method has no estimate; this is that of gamma."

_APART = 2  # letters between columns
_NAMES = 0.4  # of a line, at most, for the names of pages


def side_by_side(
    names: Sequence[str], estimates: Sequence[Estimates], *, width: int
) -> list[tuple[list[str], list[list[str]]]]:
    """Tables of mean intervals: one row per page, one column per method, as many as fit.

    Args:
        names: Pages.
        estimates: By each method, one row per page.
        width: Letters that fit on a line.
    """
    pages = [shortened(printable(name), int(_NAMES * width)) for name in names]
    room = width - max(map(len, ["page", *pages]))
    columns = [
        [some.method, *(_cell(some, row) for row in range(len(names)))] for some in estimates
    ]
    return [
        (["page", *heads], [list(row) for row in zip(pages, *cells, strict=True)])
        for heads, cells in _fitting(columns, room)
    ]


def _fitting(
    columns: Sequence[list[str]], room: int
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Heads and cells of as many columns at a time as have room, at least one."""
    block: list[list[str]] = []
    left = room
    for column in columns:
        wide = _APART + max(map(len, column))
        if block and wide > left:
            yield [each[0] for each in block], [each[1:] for each in block]
            block, left = [], room
        block.append(column)
        left -= wide
    if block:
        yield [each[0] for each in block], [each[1:] for each in block]


def _cell(estimates: Estimates, row: int) -> str:
    rate = float(estimates.rate[row])
    word = "always" if rate == np.inf else every(float(estimates.mean_interval[row]))
    fell_back = int(estimates.flags[row]) & Flag.FALLBACK
    return word + (FALLBACK_MARK if fell_back else "")


def marked(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some cell is an answer that its method does not have."""
    return any(cell.endswith(FALLBACK_MARK) for row in rows for cell in row)


def long_form(parts: Sequence[dict[str, Column]]) -> dict[str, Column]:
    """Columns with one row per page and method, all methods of a page together.

    >>> found = long_form([{"rate_per_day": np.array([1.0, 2.0])}, {"rate_per_day": np.ones(2)}])
    >>> found["rate_per_day"]
    array([1., 1., 2., 1.])
    """
    return {name: _interleaved([part[name] for part in parts]) for name in parts[0]}


def _interleaved(columns: Sequence[Any]) -> Column:
    if not isinstance(columns[0], Named):
        return np.stack(columns, axis=1).ravel()
    words = list(dict.fromkeys(word for column in columns for word in column.words))
    number = {word: code for code, word in enumerate(words)}
    codes = [np.array([number[word] for word in some.words])[some.codes] for some in columns]
    return Named(np.stack(codes, axis=1).ravel(), words)
