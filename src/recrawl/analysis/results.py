"""What all results share: rows with names, as Python values, frames, text or HTML.

A result holds the columns that a file of it would hold. Frames go out by the Arrow PyCapsule
interface, without a copy where numbers are all there; pyarrow is only loaded when asked for.

Touches: nothing but frames of others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from recrawl.adapters.tables.outputs import arrow_table
from recrawl.errors import InvalidParameter, MissingExtra, MissingPackage, UnknownPage
from recrawl.report.rates import Group, Named, Nullable
from recrawl.report.table import table_html, table_lines
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pandas as pd
    import polars as pl

    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Ints
    from recrawl.report.rates import Column

_SHOWN = 10  # rows that a result shows of itself
_WIDE = 160  # characters of a line of it, as of a file that the command line writes to


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable:
    """Rows with names: what `estimate`, `plan`, `trends` and `simulate` return.

    Columns are those that the command line writes to files. Take one row by its name or its
    number, several by a slice, one column by `column`, or all of it as a frame. Whatever reads the
    Arrow PyCapsule interface, as polars, DuckDB and pyarrow do, takes a result itself.

    Args:
        texts: Name of each row.
        columns: All other columns, by name.
        first: What the names are: "page" or "policy".

    Examples:
        >>> import recrawl
        >>> rates = recrawl.estimate({
        ...     "page": ["/a", "/a"], "visited_at": ["2026-01-01", "2026-01-08"],
        ...     "changed": [None, True],
        ... })
        >>> len(rates), rates["/a"]["changes"], rates.column("visits")
        (1, 1, array([2]))
        >>> [row["page"] for row in rates[:10]]
        ['/a']
    """

    texts: Texts
    columns: Mapping[str, Column]
    first: str

    @cached_property
    def names(self) -> list[str]:
        """Name of each row."""
        return self.texts.tolist()

    @cached_property
    def _rows(self) -> dict[str, int]:
        """First row of each name."""
        return dict(zip(reversed(self.names), range(len(self) - 1, -1, -1), strict=True))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.texts)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Go through the rows."""
        return (self._row(row) for row in range(len(self)))

    def __contains__(self, name: object) -> bool:
        """Whether a row has this name."""
        return name in self._rows

    @overload
    def __getitem__(self, name: str | int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, name: slice) -> Self: ...

    def __getitem__(self, name: str | int | slice) -> dict[str, Any] | Self:
        """One row by its name or its number, what is not known None; several rows by a slice."""
        if isinstance(name, slice):
            return self.take(np.arange(len(self))[name])
        if isinstance(name, str):
            if name not in self._rows:
                hint = f"; column({name!r}) gives that column" if name in self.columns else ""
                raise UnknownPage(f"no {self.first} {name!r} among {len(self):,}{hint}")
            if len(self._rows) < len(self) and (count := self.names.count(name)) > 1:
                message = f"{self.first} {name!r} has {count:,} rows; only({name!r}) gives them"
                raise InvalidParameter(message)
            return self._row(self._rows[name])
        return self._row(range(len(self))[name])

    def _row(self, row: int) -> dict[str, Any]:
        cells = {name: _value(column, row) for name, column in self.columns.items()}
        return {self.first: self.names[row], **cells}

    def only(self, name: str) -> Self:
        """The rows of one name."""
        return self.take(np.flatnonzero([each == name for each in self.names]))

    def head(self, rows: int = 5) -> Self:
        """The first rows."""
        return self[: max(rows, 0)]

    def take(self, rows: Ints) -> Self:
        """Only the rows with these numbers, in the order given."""
        columns = {key: column[rows] for key, column in self.columns.items()}
        return replace(self, texts=self.texts.take(rows), columns=columns, **self._of_rows(rows))

    def _of_rows(self, rows: Ints) -> dict[str, Any]:
        """What a result holds of these rows besides, by the names of its fields."""
        del rows
        return {}

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """A column as an array: nan, NaT or None for what is not known."""
        if name == self.first:
            return np.array(self.names)
        if name not in self.columns:
            known = ", ".join([self.first, *self.columns])
            raise InvalidParameter(f"column must be one of {known} (got {name!r})")
        column = self.columns[name]
        if isinstance(column, Group | Nullable):
            return np.array(column.tolist(), object)
        array = np.array(column.tolist()) if isinstance(column, Named) else column.view()
        array.setflags(write=False)
        return array

    def to_arrow(self) -> Any:  # noqa: ANN401 - no types
        """All columns as a pyarrow table, as `-o FILE.parquet` would write them."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("an Arrow table", "parquet") from None
        return arrow_table(self.first, self.texts, self.columns, pa)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All columns by the Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """All columns as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackage("to_pandas()", "pandas") from None
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        assert isinstance(frame, pd.DataFrame)  # noqa: S101 - pyarrow has no types
        return frame

    def to_polars(self) -> pl.DataFrame:
        """All columns as a polars frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingPackage("to_polars()", "polars") from None
        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - not a series
        return frame

    def __repr__(self) -> str:
        """The first rows as the command line shows them."""
        header, rows, left = self._words(_SHOWN)
        lines = table_lines(header, rows, width=_WIDE, left=left)
        return "\n".join([*lines, self._caption()])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        header, rows, left = self._words(_SHOWN)
        return table_html(header, rows, caption=self._caption(), left=left)

    def _words(self, most: int) -> tuple[Sequence[str], list[list[str]], Collection[int]]:
        """Header and first rows for people, and which columns are text."""
        from recrawl.report.trends import Table, shown  # here: `estimate` needs no trends

        header, rows = shown(Table(np.arange(len(self)), dict(self.columns)).first(most))
        named = [[name, *row] for name, row in zip(self.names, rows, strict=False)]
        return [self.first, *header], named, (0,)

    def _caption(self) -> str:
        """Number of rows, and how many are shown."""
        more = f"the first {_SHOWN} of " if len(self) > _SHOWN else ""
        return f"{more}{self._said()}"

    def _said(self) -> str:
        """What the rows are."""
        return counted(len(self), "row")


def _value(column: Column, row: int) -> Any:  # noqa: ANN401 - any cell
    """One cell as a Python value; None for what is not known."""
    if isinstance(column, Named):
        return column.words[int(column.codes[row])]
    if isinstance(column, Group):
        return {name: _known(part[row].item()) for name, part in column.columns.items()}
    if isinstance(column, Nullable):
        return column.cells[row].item() if column.known[row] else None
    cell = column[row]
    if column.dtype.kind == "M":
        return None if np.isnat(cell) else cell.astype("datetime64[us]").item().replace(tzinfo=UTC)
    return _known(cell.item())


def _known(value: Any) -> Any:  # noqa: ANN401 - any cell
    return None if isinstance(value, float) and not isfinite(value) else value
