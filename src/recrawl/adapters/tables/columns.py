"""Tables in files as batches of columns: what every format gives, and every use of one takes.

    format (text_files, arrow_files)     use (visits, whole)
    read(table, choose)  ->  ColumnBatch of Cells  ->  times, changes, names, ...

A format knows how a file is laid out and nothing of what its columns mean. A use names the columns
it wants and asks their cells for values, whatever they are stored as. What is wrong with a file is
said here, in one way: the file, the line or row, the column, the rule, what came.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NoReturn, Protocol, TypeAlias

import numpy as np

from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Answers, Bools, Changes, Ints, Words
    from recrawl.listings.data.attributes import Attribute

    # Names of a file's columns in, those of the wanted ones out. Called again where later rows
    # bring further names.
    Choose: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
    TableReader: TypeAlias = Callable[["TableInput", Choose], Iterator["ColumnBatch"]]

_LONGEST = 100  # letters that an error quotes
_OTHER_SEPARATORS = ";\t|"


@dataclass(slots=True)
class TableInput:
    """A table to read, and how far it has been read.

    Args:
        path: The file; of what is in no file, the name that errors give it.
        columns: Their name of each of our columns, where it differs.
        skip_bad_rows: Count malformed rows instead of refusing the file.
        progress: Called with the share read so far, from 0 to 1.
        skipped: Malformed rows so far.
        reader: Reads what is in no file, such as a frame; None for a file.
    """

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    skip_bad_rows: bool = False
    progress: Callable[[float], None] | None = None
    skipped: int = 0
    reader: TableReader | None = None

    def open(self) -> IO[bytes]:
        """The bytes of the file."""
        return self.path.open("rb")

    def report_progress(self, done: int, whole: int) -> None:
        """Tell how much of the whole has been read."""
        if self.progress is not None:
            self.progress(done / max(whole, 1))

    def theirs(self, ours: str) -> str:
        """Their name of one of our columns."""
        return self.columns.get(ours, ours)

    def match(
        self, header: Sequence[str], needed: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, str]:
        """Our columns that the file has, with their names; refuse it if a needed one is missing."""
        if len(header) == 1 and any(mark in header[0] for mark in _OTHER_SEPARATORS):
            got = quoted(header[0])
            self.refuse(f"columns must be separated by commas (got the header {got})")
        for ours in (*needed, *self.columns):
            if self.theirs(ours) not in header:
                self.refuse(f"column {self.theirs(ours)!r} must be present (got {listed(header)})")
        wanted = {ours: self.theirs(ours) for ours in (*needed, *optional)}
        found = {ours: name for ours, name in wanted.items() if name in header}
        self.refuse_repeated(header, found.values())
        return found

    def refuse_repeated(self, header: Sequence[str], wanted: Iterable[str]) -> None:
        """Refuse a file that has one of the wanted columns twice."""
        if len(set(header)) == len(header):
            return
        for name in wanted:
            if header.count(name) > 1:
                self.refuse(f"column {name!r} must appear once (got {listed(header)})")

    def refuse(self, sentence: str, where: str = "") -> NoReturn:
        """Raise for the file as a whole, or for a place in it such as "line 3"."""
        raise InvalidTable(f"{self.path}{', ' if where else ''}{where}: {sentence}")

    def refuse_row(self, sentence: str, where: str) -> None:
        """Raise for a row that is none, or count it."""
        if not self.skip_bad_rows:
            self.refuse(sentence, where)
        self.skipped += 1

    def refuse_cell(self, batch: ColumnBatch, row: int, name: str, rule: str) -> NoReturn:
        """Raise for one cell."""
        where = f"{batch.unit} {batch.numbers[row]}, column {name!r}"
        self.refuse(f"{rule} (got {quoted(batch.columns[name].text(row))})", where)


class Cells(Protocol):
    """Cells of one column, however they are stored.

    Values come with a column that says which cells are wrong; nothing is guessed.
    """

    def __len__(self) -> int:
        """Count them."""

    def text(self, row: int) -> str:
        """One cell, as an error quotes it."""

    def times(self, *, optional: bool) -> tuple[Ints, Bools]:
        """Microseconds since 1970; the smallest integer where a cell is empty and may be."""

    def changes(self) -> tuple[Changes, Bools]:
        """1, 0 or -1 for true, false and empty."""

    def answers(self) -> tuple[Answers, Bools]:
        """Numbers of `AnswerKind`."""

    def digests(self) -> Words | None:
        """One number per digest, 0 where a cell is blank; None where all are."""

    def runs(self) -> tuple[Texts, Ints, Bools]:
        """Name of each run of equal cells, the row where it begins, and rows that name nothing."""

    def names(self, rows: Ints | None = None) -> Texts:
        """Texts of all cells, or of the named rows; empty where there is none."""

    def coded(self) -> CodedTexts:
        """Texts of all cells, each different one once."""

    def is_unique(self) -> bool:
        """Whether every cell holds something, never twice the same."""

    def places_in(self, known: Cells) -> Ints:
        """Row of the column `known` with the same cell; -1 where there is none."""

    def attribute(self) -> Attribute:
        """Labels or numbers, for a listing."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBatch:
    """Some rows of a table.

    Args:
        columns: Cells by the names of their columns.
        numbers: Number of each row in the file.
        unit: What is numbered: "line" or "row".
    """

    columns: Mapping[str, Cells]
    numbers: Sequence[int]
    unit: str

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True, eq=False)
class CodedTexts:
    """Texts of many cells, each different one once.

    Args:
        codes: Which of the words each cell is.
        words: The different texts.
    """

    codes: Ints
    words: list[str]

    def blank(self) -> Bools:
        """Which cells are blank."""
        blank: Bools = np.array([not word.strip() for word in self.words], np.bool_)[self.codes]
        return blank

    def repeated(self) -> Bools:
        """Which cells are the same as one before."""
        repeated = np.ones(len(self.codes), np.bool_)
        repeated[np.unique(self.codes, return_index=True)[1]] = False
        return repeated

    def places_in(self, known: CodedTexts) -> Ints:
        """First row of `known` with the same text; -1 where there is none."""
        first = np.full(len(known.words), -1, np.int64)
        first[known.codes[::-1]] = np.arange(len(known.codes))[::-1]
        row_of = dict(zip(known.words, first.tolist(), strict=True))
        return np.array([row_of.get(word, -1) for word in self.words], np.int64)[self.codes]


def quoted(text: str) -> str:
    """A cell as an error quotes it: on one line, and not too long."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")


def listed(header: Sequence[str]) -> str:
    """Names of columns as an error lists them: on one line, and not too many."""
    text = ", ".join(name if name.isprintable() else repr(name) for name in header)
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST] + "..."


def cell_text(value: object) -> str:
    """A value as a CSV file would have it.

    >>> [cell_text(value) for value in (None, True, 2.0, "a", [1])]
    ['', 'true', '2', 'a', '[1]']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
