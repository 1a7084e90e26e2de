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
    from collections.abc import Sequence

    from recrawl.rates.estimates import Estimates
    from recrawl.report.rates import Column

FALLBACK_MARK = "*"
FALLBACK_REMARK = f"{FALLBACK_MARK} the method has no answer: this is gamma's."

_WIDEST = 16  # letters of a page's name
_NARROWEST = 10
_APART = 2


def side_by_side(
    names: Sequence[str], estimates: Sequence[Estimates], *, width: int
) -> list[tuple[list[str], list[list[str]]]]:
    """Tables of mean intervals, one row per method and one column per page, as many as fit.

    Args:
        names: Pages.
        estimates: By each method, one row per page.
        width: Letters that fit on a line.
    """
    first = max(len("method"), *(len(some.method) for some in estimates))
    columns = [
        [shortened(printable(name), _WIDEST), *(_cell(some, row) for some in estimates)]
        for row, name in enumerate(names)
    ]
    tables = []
    while columns:
        room, taken = width - first, 0
        while taken < len(columns):
            room -= _APART + max(_NARROWEST, *map(len, columns[taken]))
            if room < 0 and taken > 0:
                break
            taken += 1
        shown, columns = columns[:taken], columns[taken:]
        rows = [
            [some.method, *(column[1 + number] for column in shown)]
            for number, some in enumerate(estimates)
        ]
        tables.append((["method", *(column[0] for column in shown)], rows))
    return tables


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
