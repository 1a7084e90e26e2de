"""Tables of rates: what `recrawl estimate` writes, or anything with one page and its rate per row.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.columns import TableInput, quoted
from recrawl.adapters.tables.whole import WholeTable
from recrawl.errors import InvalidTable
from recrawl.store import is_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Floats

NEEDED = ("page", "rate_per_day")
FIGURES = ("rate_per_day", "low", "shape", "exposure_days", "weight")
OPTIONAL = (*FIGURES[1:], "host")


@dataclass(frozen=True, slots=True, eq=False)
class RateTable:
    """Rates as a file has them, one row per page; nan where a cell is empty.

    Args:
        pages: Names of the pages.
        figures: Columns of figures that the file has: those of `FIGURES`.
        host: Host of each page, where the file has such a column.
    """

    pages: list[str]
    figures: dict[str, Floats]
    host: list[str] | None = None


def read_rates(path: Path | TableInput, columns: Mapping[str, str] | None = None) -> RateTable:
    """Rates of a file, a table or a store; one sentence says what is wrong.

    A store has visits, of which the rates are worked out; its columns have the names they have.
    """
    table = path if isinstance(path, TableInput) else TableInput(path, columns or {})
    if table.reader is None and is_store(table.path):
        from recrawl.adapters.stores.rates import rates_of_store

        return rates_of_store(table.path)
    whole = WholeTable(table)
    present = whole.table.match(whole.names, NEEDED, OPTIONAL)
    if not len(whole):
        whole.table.refuse("must hold rates (got no rows)")
    pages = whole.coded(present["page"])
    whole.refuse_any(pages.blank(), present["page"], "must name a page")
    whole.refuse_any(pages.repeated(), present["page"], "must name each page once")
    figures = {
        name: _figures(whole, present[name], may_be_empty=name != "weight")
        for name in FIGURES
        if name in present
    }
    host = whole.texts(present["host"]) if "host" in present else None
    return RateTable(whole.texts(present["page"]), figures, host)


def hosts_of(path: Path | str, pages: Sequence[str]) -> list[str]:
    """Host of each address: what stands between `://` and the path."""
    hosts = []
    for number, page in enumerate(pages):
        authority = page.partition("://")[2]
        for mark in "/?#":
            authority = authority.partition(mark)[0]
        host = authority.rpartition("@")[2].lower()
        if not host:
            raise InvalidTable(
                f"{path}: a limit per host needs pages that are addresses, or a column 'host' (got "
                f"{quoted(page)} in row {number + 1})"
            )
        hosts.append(host)
    return hosts


def _figures(whole: WholeTable, column: str, *, may_be_empty: bool) -> Floats:
    """A column of figures, 0 or more; nan where a cell is empty and may be."""
    figures = whole.numbers(column)
    right = (figures >= 0) & (figures < np.inf)
    wrong = ~(right | np.isnan(figures) & may_be_empty)
    whole.refuse_any(wrong, column, "must be a number, at least 0")
    return figures
