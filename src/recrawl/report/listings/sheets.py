"""Tables of listings, for files and for people.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.rates import Named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.rates import Column


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A table for files and for people.

    Args:
        first: Name of the first column.
        names: What it holds.
        columns: All other columns.
        header: Names of the columns that people see.
        words: Rows that people see.
        left: Columns of these that are text.
    """

    first: str
    names: Sequence[str]
    columns: dict[str, Column]
    header: Sequence[str]
    words: Sequence[Sequence[str]]
    left: tuple[int, ...] = (0,)


def shown(sheet: Sheet, most: int) -> tuple[Sequence[str], list[Sequence[str]], tuple[int, ...]]:
    """Header, first rows and columns of text for people.

    The name of a single source is left out, and so are columns that hold nothing.

    >>> shown(Sheet("source", ["a"], {}, ("source", "value"), [["a", "x"]], (0, 1)), 9)
    (('value',), [['x']], (0,))
    """
    rows = list(sheet.words[:most])
    alone = sheet.first == "source" and len(set(sheet.names)) == 1
    kept = [
        place
        for place in range(len(sheet.header))
        if not (alone and place == 0) and (not rows or any(row[place] for row in rows))
    ]
    left = tuple(number for number, place in enumerate(kept) if place in sheet.left)
    header = tuple(sheet.header[place] for place in kept)
    return header, [[row[place] for place in kept] for row in rows], left


def joined(sheets: Sequence[Sheet]) -> Sheet:
    """Tables of several sources below each other."""
    one = sheets[0]
    columns = {name: below(*(sheet.columns[name] for sheet in sheets)) for name in one.columns}
    names = [name for sheet in sheets for name in sheet.names]
    words = [row for sheet in sheets for row in sheet.words]
    return Sheet(one.first, names, columns, one.header, words, one.left)


def below(*columns: Column) -> Column:
    """Columns of the same kind below each other."""
    if isinstance(columns[0], np.ndarray):
        return np.concatenate([column for column in columns if isinstance(column, np.ndarray)])
    return texts([str(word) for column in columns for word in column.tolist()])


def cells(columns: dict[str, Column], name: str) -> list[Any]:
    """What a column holds, row by row."""
    held: list[Any] = columns[name].tolist()
    return held


def texts(words: Sequence[str]) -> Named:
    """A column of words.

    >>> texts(["a", "b", "a"]).codes
    array([0, 1, 0])
    """
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(word, len(numbers)) for word in words]
    return Named(np.array(codes, np.int64), list(numbers))
