"""Tables of rates: what `recrawl estimate` writes, or anything with a page and a rate a row.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.columns import read_columns
from recrawl.adapters.tables.visits import Reading, shown
from recrawl.errors import InvalidTable
from recrawl.store import is_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.tables.columns import Columns
    from recrawl.arrays.types import Floats, Ints

NEEDED = ("page", "rate_per_day")
FIGURES = ("rate_per_day", "low", "shape", "exposure_days", "weight")
OPTIONAL = (*FIGURES[1:], "host")


@dataclass(slots=True)
class RateReading(Reading):
    """How to read a table of rates."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Our columns that must be there."""
        return NEEDED

    @property
    def optional(self) -> tuple[str, ...]:
        """Our columns that may be there."""
        return OPTIONAL


@dataclass(frozen=True, slots=True, eq=False)
class RateTable:
    """Rates as a file has them, a row a page; nan where a cell is empty.

    Args:
        pages: Names of the pages.
        figures: Columns of figures that the file has: those of `FIGURES`.
        host: Host of each page, where the file has such a column.
    """

    pages: list[str]
    figures: dict[str, Floats]
    host: list[str] | None = None


def read_rates(path: Path, columns: Mapping[str, str] | None = None) -> RateTable:
    """Rates of a CSV, JSON lines or Parquet file, or of a store; one sentence says what is wrong.

    A store has visits, of which the rates are worked out; its columns have the names they have.
    """
    if is_store(path):
        from recrawl.adapters.stores.rates import rates_of_store

        return rates_of_store(path)
    reading, table = RateReading(path, columns or {}), read_columns(path)
    present = reading.present(list(table.columns))
    if not len(table):
        reading.refuse("must hold rates (got no rows)")
    pages = table.texts(present["page"])
    _check_pages(table, present["page"], pages)
    figures = {
        name: _figures(table, present[name], may_be_empty=name != "weight")
        for name in FIGURES
        if name in present
    }
    return RateTable(pages, figures, table.texts(present["host"]) if "host" in present else None)


def hosts_of(path: Path, pages: Sequence[str]) -> list[str]:
    """Host of each address: what stands between `://` and the path."""
    hosts = []
    for number, page in enumerate(pages):
        authority = page.partition("://")[2]
        for mark in "/?#":
            authority = authority.partition(mark)[0]
        host = authority.rpartition("@")[2].lower()
        if not host:
            message = (
                f"{path}: page must be an address, or a column 'host' must be present, for a cap a "
                f"host (got {shown(page)} in row {number + 1})"
            )
            raise InvalidTable(message)
        hosts.append(host)
    return hosts


def numbered(names: Sequence[str]) -> tuple[Ints, list[str]]:
    """Number of each name, in order of appearance, and the distinct names."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(codes, np.int64), list(numbers)


def _check_pages(table: Columns, column: str, pages: list[str]) -> None:
    """Refuse pages without a name, and pages that are there twice."""
    seen: dict[str, int] = {}
    for number, page in enumerate(pages):
        if not page.strip():
            table.refuse(number, column, "must name a page")
        if seen.setdefault(page, number) != number:
            table.refuse(number, column, "must name each page once")


def _figures(table: Columns, column: str, *, may_be_empty: bool) -> Floats:
    """A column of figures, 0 or more; nan where a cell is empty and may be."""
    found = table.words(column)
    figures = np.array([_figure(word) for word in found.words], np.float64)[found.codes]
    right = (figures >= 0) & (figures < np.inf)
    wrong = ~(right | np.isnan(figures) & may_be_empty)
    if wrong.any():
        table.refuse(int(np.argmax(wrong)), column, "must be a number, at least 0")
    return figures


def _figure(text: str) -> float:
    try:
        figure = float(text) if text.strip() else np.nan
    except ValueError:
        return -1.0
    return -1.0 if np.isnan(figure) and text.strip() else figure
