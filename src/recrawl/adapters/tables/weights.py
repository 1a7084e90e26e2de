"""Tables of weights: one page and its weight per row, as search logs and page views count them.

Rows of one page add up, so a log need not be aggregated. However long it is, only its different
pages take memory.

Touches: files.
"""

from __future__ import annotations

import secrets
import stat
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.formats import read_columns
from recrawl.adapters.tables.whole import numbers_of
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidParameter, InvalidTable, reason
from recrawl.parse import cells
from recrawl.settings.page_weights import PageWeights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.tables.columns import ColumnBatch

NEEDED = ("page", "weight")
# Usual names of columns, taken where a file has no column of our name and nobody names one.
ALIASES: dict[str, tuple[str, ...]] = {
    "page": ("url", "uri", "address"),
    "weight": ("views", "pageviews", "page_views", "hits", "clicks", "impressions", "count"),
}

# Nobody counts further, and what is computed with weights stays finite.
LEAST, MOST = 1e-15, 1e15
RULE = f"must be a number above 0, from {LEAST:g} to {MOST:g}"

_ROWS = 1 << 20  # that wait to be summed
_BLOCK = 1 << 20


def read_weights(table: TableInput) -> PageWeights:
    """Weights of a table; one sentence says what is wrong."""
    present: dict[str, str] = {}

    def choose(header: Sequence[str]) -> list[str]:
        present.update(table.match(header, NEEDED, aliases=ALIASES))
        return list(present.values())

    seed = _seed()
    waiting: list[PageWeights] = []
    try:
        for batch in read_columns(table, choose):
            waiting.append(_weights_of(table, batch, present, seed))
            if sum(map(len, waiting[1:])) > _ROWS + len(waiting[0]):
                waiting = [PageWeights.joined(waiting)]
    except OSError as error:
        table.refuse(f"cannot be read ({reason(error)})")
    if not sum(map(len, waiting)):
        table.refuse("must hold weights (got no rows)")
    return PageWeights.joined(waiting)


def weights_of(pages: Mapping[str, float]) -> PageWeights:
    """Weights of pages, by their names."""
    for page, weight in pages.items():
        if not LEAST <= weight <= MOST:
            raise InvalidParameter(f"weight of {page!r} {RULE} (got {weight:g})")
    if not pages:
        raise InvalidParameter("weights must name a page (got none)")
    figures = np.fromiter(pages.values(), np.float64, len(pages))
    return PageWeights.of(Texts.of(list(pages)), figures, seed=_seed())


def _seed() -> int:
    """A seed that nobody knows who names pages."""
    return secrets.randbits(64)


def _weights_of(
    table: TableInput, batch: ColumnBatch, present: dict[str, str], seed: int
) -> PageWeights:
    """Weights of some rows."""
    page, weight = (batch.columns[present[name]] for name in NEEDED)
    names, figures = page.names(), numbers_of(weight)
    wrong = {
        "page": (np.diff(names.offsets) == 0, cells.PAGE_RULE),
        "weight": (~((figures >= LEAST) & (figures <= MOST)), RULE),
    }
    for name, (which, rule) in wrong.items():
        if which.any():
            table.refuse_cell(batch, int(np.argmax(which)), present[name], rule)
    return PageWeights.of(names, figures, seed=seed)


class CrawlWeights:
    """The file of weights that the settings of a crawl name: a `WeightsFile`.

    Args:
        path: The file, a table in any format.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """What people are told of it as."""
        return str(self._path)

    @cached_property
    def digest(self) -> str:
        """Hash of its bytes."""
        return self._hashed()

    def read(self) -> PageWeights:
        """What it says, read once; some of its pages must be addresses."""
        return self._weights

    @cached_property
    def _weights(self) -> PageWeights:
        digest = self.digest
        table = TableInput(self._path)
        weights = read_weights(table)
        if self._hashed() != digest:
            table.refuse("changed while it was being read; try again")
        if not weights.addresses:
            table.refuse("page must be an address such as https://example.org/ (got none)")
        return weights

    def _hashed(self) -> str:
        hashed = xxhash.xxh3_128()
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):  # a pipe can be read only once
                raise InvalidTable(f"{self.name}: must be a file")
            with self._path.open("rb") as file:
                while block := file.read(_BLOCK):
                    hashed.update(block)
        except OSError as error:
            raise InvalidTable(f"{self.name}: cannot be read ({reason(error)})") from None
        return hashed.hexdigest()
