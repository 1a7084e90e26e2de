"""Results of a log's pieces, brought back into the order of the log.

Pieces of a log that was split by a hash come in no order. Their results are laid down as plain
arrays in a temporary file, then read again from first to last, a window of rows at a time, so that
results may be larger than memory, too. The file has no name: nothing is left behind, whatever ends
the process.

Touches: files.
"""

from __future__ import annotations

import mmap
import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np

from recrawl.arrays.ranges import expand_ranges
from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, reason
from recrawl.rates.estimates import Estimates
from recrawl.report.rates import Group, Named

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Instants, Ints
    from recrawl.report.rates import Column

_WINDOW = 1 << 20  # rows
_MARKS = 256  # by which the pieces tell where a window ends
_ALIGNED = 64  # bytes between whose multiples arrays begin


class PieceResult(Protocol):
    """Results for some pages of a log, one row per page or several."""

    @property
    def position(self) -> Ints:
        """Where in the log each page first stands."""

    @property
    def offsets(self) -> Ints:
        """Where the rows of each page begin, and where the last ones end."""

    def take(self, pages: Ints) -> Self:
        """Only the named pages, in the order named."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Pages of several results, one after the other."""

    def arrays(self) -> dict[str, Any]:
        """All that it consists of, by names."""

    def with_arrays(self, arrays: Mapping[str, Any]) -> Self:
        """The same result with these arrays for its own."""


Result = TypeVar("Result", bound=PieceResult)


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

    @property
    def offsets(self) -> Ints:
        """One row per page."""
        return np.arange(len(self.position) + 1)

    def take(self, pages: Ints) -> PieceEstimates:
        """Only the named pages, in the order named."""
        return PieceEstimates(
            self.names.take(pages),
            self.position[pages],
            self.last_visit[pages],
            tuple(estimates.take(pages) for estimates in self.estimates),
        )

    @classmethod
    def joined(cls, parts: Sequence[PieceEstimates]) -> PieceEstimates:
        """Pages of several results, one after the other."""
        return cls(
            Texts.joined([part.names for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.last_visit for part in parts]),
            tuple(map(Estimates.joined, zip(*(part.estimates for part in parts), strict=True))),
        )

    def arrays(self) -> dict[str, Any]:
        """All columns of all methods."""
        own = {**_text_arrays(self.names), "position": self.position, "last_visit": self.last_visit}
        columns = {
            f"{estimates.method}.{name}": column
            for estimates in self.estimates
            for name, column in estimates.columns().items()
        }
        return own | columns

    def with_arrays(self, arrays: Mapping[str, Any]) -> PieceEstimates:
        """The same estimates with these arrays for their own."""
        estimates = tuple(
            replace(each, **{name: arrays[f"{each.method}.{name}"] for name in each.columns()})
            for each in self.estimates
        )
        names = Texts(arrays["data"], arrays["texts"])
        return PieceEstimates(names, arrays["position"], arrays["last_visit"], estimates)


@dataclass(frozen=True, slots=True, eq=False)
class PieceRows:
    """Rows of some pages, as they are written.

    Args:
        names: Name of each page.
        position: Where in the log each page first stands.
        offsets: Where the rows of each page begin, and where the last ones end.
        columns: All columns but the page's name.
    """

    names: Texts
    position: Ints
    offsets: Ints
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.offsets[-1])

    @property
    def page(self) -> Ints:
        """Page of each row."""
        return np.repeat(np.arange(len(self.position)), np.diff(self.offsets))

    def take(self, pages: Ints) -> PieceRows:
        """Only the named pages, in the order named."""
        counts = np.diff(self.offsets)[pages]
        rows = expand_ranges(self.offsets[:-1][pages], counts)
        return PieceRows(
            self.names.take(pages),
            self.position[pages],
            np.concatenate([[0], np.cumsum(counts)]),
            {name: column[rows] for name, column in self.columns.items()},
        )

    @classmethod
    def joined(cls, parts: Sequence[PieceRows]) -> PieceRows:
        """Pages of several results, one after the other."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            Texts.joined([part.names for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([[0], np.cumsum(counts)]),
            {
                name: _joined_column([part.columns[name] for part in parts])
                for name in parts[0].columns
            },
        )

    def arrays(self) -> dict[str, Any]:
        """All columns, with the names of the pages."""
        own = {**_text_arrays(self.names), "position": self.position, "offsets": self.offsets}
        columns = {
            f"column.{number}.{part}": array
            for number, column in enumerate(self.columns.values())
            for part, array in _column_arrays(column).items()
        }
        return own | columns

    def with_arrays(self, arrays: Mapping[str, Any]) -> PieceRows:
        """The same columns with these arrays for their own."""
        columns = {}
        for number, (name, column) in enumerate(self.columns.items()):
            parts = {part: arrays[f"column.{number}.{part}"] for part in _column_arrays(column)}
            columns[name] = _with_arrays(column, parts)
        names = Texts(arrays["data"], arrays["texts"])
        return PieceRows(names, arrays["position"], arrays["offsets"], columns)


def ordered(
    results: Iterable[Result], *, in_order: bool, scratch: Path
) -> Generator[Result, None, None]:
    """All pages in the order of the log; `in_order` says that the pieces are already."""
    if in_order:
        for result in results:
            yield _by_position(result)
        return
    with tempfile.TemporaryFile(dir=scratch) as file:
        try:
            laid = [_LaidDown.of(result, file) for result in results]
            file.flush()
        except OSError as error:
            message = f"{scratch}: temporary files could not be written ({reason(error)})"
            raise CannotWrite(message) from None
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        parts = [part.read(whole) for part in laid]
        for start, end in pairwise(_edges(parts)):
            some = [_between(part, start, end) for part in parts]
            yield _by_position(type(some[0]).joined(some))
            whole.madvise(mmap.MADV_DONTNEED)  # else what was read counts as memory in use


@dataclass(frozen=True, slots=True)
class _LaidDown(Generic[Result]):
    """A result in a file.

    Args:
        empty: What it is without any pages.
        places: Where each of its arrays begins, its type and its shape.
    """

    empty: Result
    places: Mapping[str, tuple[int, Any, tuple[int, ...]]]

    @classmethod
    def of(cls, result: Result, file: IO[bytes]) -> _LaidDown[Result]:
        """Write a result, its pages in the order of the log."""
        places = {}
        for name, array in _by_position(result).arrays().items():
            places[name] = (file.tell(), array.dtype, array.shape)
            file.write(np.ascontiguousarray(array).tobytes())
            file.write(bytes(-array.nbytes % _ALIGNED or _ALIGNED))  # a file must not be empty
        return cls(result.take(np.empty(0, np.int64)), places)

    def read(self, whole: mmap.mmap) -> Result:
        """The result, read from disk when used."""
        return self.empty.with_arrays(
            {
                name: np.ndarray(shape, kind, whole, start)
                for name, (start, kind, shape) in self.places.items()
            }
        )


def _by_position(result: Result) -> Result:
    rising = bool((np.diff(result.position) > 0).all())
    return result if rising else result.take(np.argsort(result.position))


def _edges(parts: Sequence[PieceResult]) -> list[int]:
    """Positions between which about as many rows lie as a window holds.

    Pages of a log in order of time first stand near its beginning: equal stretches would not do.
    """
    step = max(_WINDOW // _MARKS, 1)
    marks = [np.empty(0, np.int64)]
    for part in parts:
        some = np.searchsorted(part.offsets, np.arange(0, part.offsets[-1], step), side="right") - 1
        marks.append(part.position[some])
    inner = np.sort(np.concatenate(marks))[:: -(-_WINDOW // step)][1:]
    last = max((int(part.position[-1]) for part in parts if len(part.position)), default=0)
    return [0, *np.unique(inner[inner > 0]).tolist(), last + 1]


def _between(result: Result, start: int, end: int) -> Result:
    first, last = np.searchsorted(result.position, [start, end])
    return result.take(np.arange(first, last))


def _text_arrays(names: Texts) -> dict[str, Any]:
    return {"data": names.data, "texts": names.offsets}


def _column_arrays(column: Column) -> dict[str, Any]:
    if isinstance(column, Named):
        return {"codes": column.codes}
    if isinstance(column, Group):
        return {str(number): part for number, part in enumerate(column.columns.values())}
    return {"cells": column}


def _with_arrays(column: Column, arrays: Mapping[str, Any]) -> Column:
    if isinstance(column, Named):
        return Named(arrays["codes"], column.words)
    if isinstance(column, Group):
        return Group(dict(zip(column.columns, arrays.values(), strict=True)))
    cells: np.ndarray[Any, Any] = arrays["cells"]
    return cells


def _joined_column(parts: Sequence[Any]) -> Column:
    """Columns of one kind, one after the other; their words in one list."""
    if isinstance(parts[0], Named):
        known: dict[str, int] = {}
        codes = [
            np.array([known.setdefault(word, len(known)) for word in part.words], np.int64)[
                part.codes
            ]
            for part in parts
        ]
        return Named(np.concatenate(codes), list(known))
    if isinstance(parts[0], Group):
        names = parts[0].columns
        return Group(
            {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
        )
    return np.concatenate(parts)
