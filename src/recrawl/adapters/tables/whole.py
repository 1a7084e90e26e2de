"""Tables read whole: columns by name, for all that is no visit log.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from recrawl.adapters.tables.arrow_cells import ArrowCells
from recrawl.adapters.tables.columns import CodedTexts, ColumnBatch, TableInput
from recrawl.adapters.tables.formats import format_of, read_columns
from recrawl.adapters.tables.text_files import TextCells
from recrawl.errors import reason
from recrawl.parse import cells
from recrawl.parse.times import time_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.tables.columns import Cells, Choose
    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.listings.data.attributes import Attribute


class WholeTable:
    """Columns of a table by name, each of them whole.

    Where a format can read one column without the others, a column is read when it is asked for,
    and only the last one is kept.

    Args:
        path: The file, or a table to read.
        columns: Their name of each of our columns, where it differs.

    Attributes:
        table: What is read.
        names: Names of its columns.
    """

    def __init__(self, path: Path | TableInput, columns: Mapping[str, str] | None = None) -> None:
        self.table = path if isinstance(path, TableInput) else TableInput(path, columns or {})
        self.names: Sequence[str] = ()
        self._by_column = not self.table.more and format_of(self.table).by_column
        self._sources: dict[int, str] = {}  # where each file begins
        self._rows = self._gathered(self._batches(self._all_names))

    @property
    def name(self) -> str:
        """What errors call the file."""
        return self.table.name

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self.names

    def need(self, *names: str) -> None:
        """Refuse a file without one of these columns."""
        self.table.match(self.names, names)

    def times(self, name: str, *, optional: bool = False) -> Instants:
        """A column of instants; NaT where a cell is empty, which it may be if `optional`."""
        cells_of = self._column(name)
        values, wrong = cells_of.times(optional=optional, zone=self.table.zone)
        self.table.note_zone()
        if wrong.any():
            row = int(np.argmax(wrong))
            self.refuse(row, name, time_rule(cells_of.text(row), self.table.zone))
        return values.view("datetime64[us]")

    def flags(self, name: str) -> Bools:
        """A column of true and false; false where a cell is empty."""
        values, wrong = self._column(name).changes(self.table.change_words)
        self.refuse_any(wrong, name, cells.CHANGED_RULE)
        true: Bools = values == 1
        return true

    def numbers(self, name: str) -> Floats:
        """A column of numbers; nan where a cell is empty, -inf where it is no number."""
        return numbers_of(self._column(name))

    def coded(self, name: str) -> CodedTexts:
        """A column of texts, each different one once."""
        return self._column(name).coded()

    def texts(self, name: str) -> list[str]:
        """A column of texts, cell by cell."""
        coded = self.coded(name)
        return [coded.words[code] for code in coded.codes.tolist()]

    def keys(self, name: str) -> Texts:
        """A column of names."""
        return self._column(name).names()

    def is_unique(self, name: str) -> bool:
        """Whether a column has a value in each row, never twice the same."""
        return self._column(name).is_unique()

    def places(self, name: str, known: WholeTable) -> Ints:
        """Row of the table `known` that has the same key; -1 where there is none."""
        return self._column(name).places_in(known._column(name))

    def attribute(self, name: str) -> Attribute:
        """A column of labels or numbers."""
        return self._column(name).attribute()

    def refuse_any(self, wrong: Bools, name: str, rule: str) -> None:
        """Raise for the first wrong cell of a column, if there is one."""
        if wrong.any():
            self.refuse(int(np.argmax(wrong)), name, rule)

    def refuse(self, row: int, name: str, rule: str) -> NoReturn:
        """Raise for one cell."""
        source = next((said for start, said in reversed(self._sources.items()) if start <= row), "")
        rows = ColumnBatch({name: self._column(name)}, self._rows.numbers, self._rows.unit, source)
        self.table.refuse_cell(rows, row, name, rule)

    def _all_names(self, names: Sequence[str]) -> Sequence[str]:
        self.table.refuse_repeated(names, names)
        self.names = list(dict.fromkeys([*self.names, *names]))
        return () if self._by_column else names

    def _batches(self, choose: Choose) -> Iterator[ColumnBatch]:
        try:
            yield from read_columns(self.table, choose)
        except OSError as error:
            self.table.refuse(f"cannot be read ({reason(error)})")

    def _gathered(self, batches: Iterable[ColumnBatch]) -> ColumnBatch:
        """All rows in one batch; a column that comes late, or that a file lacks, is empty there."""
        lines: list[int] = []
        unit = ""
        words: dict[str, dict[str, int]] = {}
        codes: dict[str, list[Ints]] = {}
        for batch in batches:
            if batch.source not in self._sources.values():
                self._sources[len(lines)] = batch.source
            for name in (*batch.columns, *(words.keys() - batch.columns.keys())):
                if name not in words:
                    words[name] = {"": 0} if lines else {}
                    codes[name] = [np.zeros(len(lines), np.int64)]
                empty = CodedTexts(np.zeros(len(batch), np.int64), [""])
                coded = batch.columns[name].coded() if name in batch.columns else empty
                known = words[name]
                numbers = [known.setdefault(word, len(known)) for word in coded.words]
                codes[name].append(np.array(numbers, np.int64)[coded.codes])
            unit = batch.unit
            lines.extend(batch.numbers)
        columns = {
            name: TextCells(list(words[name]), np.concatenate(codes[name])) for name in words
        }
        return ColumnBatch(columns, lines, unit)

    def _column(self, name: str) -> Cells:
        if not len(self):
            return TextCells([])
        if name not in self._rows.columns and not self._by_column:  # of a file without rows
            return TextCells([""], np.zeros(len(self), np.int64))
        if name not in self._rows.columns:
            parts = [batch.columns[name] for batch in self._batches(lambda _: [name])]
            arrow = [part for part in parts if isinstance(part, ArrowCells)]
            rows = sum(len(part) for part in arrow)
            if rows != len(self):
                self.table.refuse(
                    f"column {name!r} has {rows:,} of {len(self):,} rows; it is damaged"
                )
            whole = ArrowCells.joined(arrow)
            self._rows = ColumnBatch({name: whole}, self._rows.numbers, self._rows.unit)
        return self._rows.columns[name]


def numbers_of(column: Cells) -> Floats:
    """Numbers of a column; nan where a cell is empty, -inf where it is no number."""
    coded = column.coded()
    return np.array([_number(word) for word in coded.words], np.float64)[coded.codes]


def _number(text: str) -> float:
    if not text.strip():
        return np.nan
    try:
        number = float(text)
    except ValueError:
        return -np.inf
    return -np.inf if np.isnan(number) else number
