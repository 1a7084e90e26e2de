"""Estimates of a log's pieces, brought back into the order of the log.

Pieces of a log that was split by a hash come in no order. Their results are laid down as plain
arrays in a temporary folder, then read again from first to last, a window of pages at a time, so
that results may be larger than memory, too.

Touches: files.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, reason
from recrawl.rates.estimates import Estimates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.arrays.types import Instants, Ints

_WINDOW = 1 << 20  # pages


@dataclass(frozen=True, slots=True, eq=False)
class PieceEstimates:
    """Estimates of some pages.

    Args:
        names: Name of each page.
        position: Where in the log each page first stands.
        last_visit: Instant of each page's last visit.
        estimates: One row per page, by each method.
    """

    names: Texts
    position: Ints
    last_visit: Instants
    estimates: tuple[Estimates, ...]

    def take(self, rows: Ints) -> PieceEstimates:
        """Only the named rows, in the order named."""
        return PieceEstimates(
            self.names.take(rows),
            self.position[rows],
            self.last_visit[rows],
            tuple(estimates.take(rows) for estimates in self.estimates),
        )

    def in_order(self) -> PieceEstimates:
        """The same rows by position."""
        rising = bool((np.diff(self.position) > 0).all())
        return self if rising else self.take(np.argsort(self.position))


def ordered(
    results: Iterable[PieceEstimates], *, in_order: bool, scratch: Path
) -> Iterator[PieceEstimates]:
    """All rows in the order of the log; `in_order` says that the pieces are already."""
    if in_order:
        for result in results:
            yield result.in_order()
        return
    with tempfile.TemporaryDirectory(prefix=".recrawl-", dir=scratch) as folder:
        try:
            parts = [_save(Path(folder) / str(number), part) for number, part in enumerate(results)]
        except OSError as error:
            message = f"{scratch}: temporary files could not be written ({reason(error)})"
            raise CannotWrite(message) from None
        pages = sum(len(part.position) for part in parts)
        windows = max(1, -(-pages // _WINDOW))
        last = max((int(part.position[-1]) for part in parts if len(part.position)), default=0)
        edges = np.linspace(0, last + 1, windows + 1).astype(np.int64)
        for start, end in pairwise(edges.tolist()):
            yield joined([_between(part, start, end) for part in parts]).in_order()


def _save(folder: Path, result: PieceEstimates) -> PieceEstimates:
    """Lay a result down and come back with the same one, read from disk when used."""
    folder.mkdir()
    result = result.in_order()

    def laid(name: str, array: Any) -> Any:  # noqa: ANN401 - any column
        np.save(folder / name, array, allow_pickle=False)
        empty = not array.size  # an empty file cannot be mapped
        return array if empty else np.load(folder / f"{name}.npy", mmap_mode="r")

    def laid_down(estimates: Estimates) -> Estimates:
        columns = estimates.columns()
        arrays = {name: laid(f"{estimates.method}.{name}", columns[name]) for name in columns}
        return replace(estimates, **arrays)

    return PieceEstimates(
        Texts(laid("data", result.names.data), laid("offsets", result.names.offsets)),
        laid("position", result.position),
        laid("last_visit", result.last_visit),
        tuple(laid_down(estimates) for estimates in result.estimates),
    )


def _between(result: PieceEstimates, start: int, end: int) -> PieceEstimates:
    first, last = np.searchsorted(result.position, [start, end])
    return result.take(np.arange(first, last))


def joined(parts: list[PieceEstimates]) -> PieceEstimates:
    """Rows of several results, one after the other."""
    return PieceEstimates(
        Texts.joined([part.names for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.last_visit for part in parts]),
        tuple(
            map(Estimates.joined, zip(*(part.estimates for part in parts), strict=True)),
        ),
    )
