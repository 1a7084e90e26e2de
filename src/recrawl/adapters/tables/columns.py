"""Tables in files as batches of columns: what every format gives, and every use of one takes.

    format (text_files, arrow_files)     use (visits, whole)
    read(table, choose)  ->  ColumnBatch of Cells  ->  times, changes, names, ...

A format knows how a file is laid out and nothing of what its columns mean. A use names the columns
it wants and asks their cells for values, whatever they are stored as. What is wrong with a file is
said here, in one way: the file, the line or row, the column, the rule, what came.

Touches: files.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, NoReturn, Protocol, TypeAlias

import numpy as np

from recrawl.adapters.tables.column_names import likely_name, looks_like_data, plain_name
from recrawl.adapters.tables.plain_bytes import LONGEST_MARK, packing_of, plain_bytes
from recrawl.errors import InvalidTable
from recrawl.parse.cells import CHANGE_WORDS
from recrawl.parse.time_zones import Zone

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
_ASSUMED_UTC = "Times without an offset were read as UTC; --tz names another time zone."
_BLOCK = 1 << 20
_PACKED_RATIO = 8  # bytes of a log for one of its packed file, more or less


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file that a table, or a part of it, lies in.

    Args:
        path: Where its bytes are.
        label: What errors call it.
    """

    path: Path
    label: str


@dataclass(slots=True)
class TableInput:
    """A table to read, and how far it has been read.

    Args:
        path: The file, of several the first; of what is in no file, the name that errors give it.
        columns: Their name of each of our columns, where it differs; empty where there is none.
        skip_bad_rows: Count malformed rows instead of refusing the file.
        progress: Called with the share read so far, from 0 to 1.
        skipped: Malformed rows so far.
        first_skipped: What is wrong with the first of them.
        merged: Visits so far that were of the same page and second as another one.
        silent: Visits so far that were left out, for nothing says whether the page had changed.
        reader: Reads what is in no file, such as a frame; None for a file.
        label: What errors call the file; its path if empty.
        more: Further files, whose rows follow.
        delimiter: What separates cells of CSV; empty for what the header tells.
        zone: How times are read.
        change_words: What words for true and false mean.
        remarks: What a reader of the result should know, once each.
        rename: How a caller names a column, with places for our name and theirs; empty for not.
        encoding: Codec of text in files.
    """

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    skip_bad_rows: bool = False
    progress: Callable[[float], None] | None = None
    skipped: int = 0
    first_skipped: str = ""
    merged: int = 0
    silent: int = 0
    reader: TableReader | None = None
    label: str = ""
    more: tuple[TableFile, ...] = ()
    delimiter: str = ""
    zone: Zone = field(default_factory=Zone)
    change_words: Mapping[str, int] = field(default_factory=lambda: CHANGE_WORDS)
    remarks: dict[str, None] = field(default_factory=dict)
    rename: str = ""
    encoding: str = "utf-8"
    _raw: IO[bytes] | None = None

    @property
    def name(self) -> str:
        """What errors call the file."""
        return self.label or str(self.path)

    @property
    def names(self) -> str:
        """What remarks call all files."""
        return f"{self.name} and {len(self.more):,} more" if self.more else self.name

    def parts(self) -> Iterator[TableInput]:
        """A table per file; malformed rows are counted in each."""
        if not self.more:
            yield self
            return
        files = [TableFile(self.path, self.name), *self.more]
        sizes = [_size(file.path) for file in files]
        done, whole = 0, max(sum(sizes), 1)
        for file, size in zip(files, sizes, strict=True):
            progress = self.progress and self._share(done / whole, size / whole)
            yield replace(
                self, path=file.path, label=file.label, more=(), progress=progress, skipped=0
            )
            done += size

    def _share(self, start: float, size: float) -> Callable[[float], None]:
        """Progress in one of several files."""
        return lambda share: self.progress(start + share * size) if self.progress else None

    @property
    def size(self) -> int:
        """Bytes of all files, as if none was packed: about as many as there will be."""
        return sum(
            _size(path) * (_PACKED_RATIO if _is_packed(path) else 1)
            for path in (self.path, *(file.path for file in self.more))
        )

    def open(self) -> IO[bytes]:
        """The bytes of the file, unpacked and, if they are text, in UTF-8."""
        raw = self.path.open("rb")
        self._raw = raw
        try:
            return plain_bytes(raw, self.refuse)
        except BaseException:
            raw.close()
            raise

    @contextmanager
    def seekable(self) -> Iterator[Path | IO[bytes]]:
        """The file, or what is in it where it is packed, for those who do not read in order."""
        if not _is_packed(self.path):
            yield self.path
            return
        with tempfile.TemporaryFile() as whole, self.open() as plain:
            room = shutil.disk_usage(tempfile.gettempdir()).free // 2
            while block := plain.read(_BLOCK):
                room -= len(block)
                if room < 0:
                    self.refuse("must fit in half of the space for temporary files when unpacked")
                whole.write(block)
            whole.seek(0)
            yield whole

    def note_zone(self) -> None:
        """Remark on times that were taken for UTC, if any were."""
        if self.zone.assumed:
            self.remarks[_ASSUMED_UTC] = None

    def report_progress(self, done: int, whole: int) -> None:
        """Tell how much of the whole has been read."""
        if self.progress is not None:
            self.progress(done / max(whole, 1))

    def report_read(self) -> None:
        """Tell how much has been read of the file that is open."""
        if self.progress is not None and self._raw is not None:
            self.report_progress(self._raw.tell(), _size(self.path))

    def theirs(self, ours: str) -> str:
        """Their name of one of our columns."""
        return self.columns.get(ours, ours)

    def nested(self, has: Callable[[Sequence[str]], bool]) -> list[str]:
        """Names that somebody gave to fields inside of columns, such as `page.url`.

        Args:
            has: Whether the table has a field, by the names from the outside in.
        """
        dotted = [name for name in self.columns.values() if "." in name]
        return [name for name in dotted if has(name.split("."))]

    def match(
        self,
        header: Sequence[str],
        needed: Sequence[str],
        optional: Sequence[str] = (),
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> dict[str, str]:
        """Our columns that the file has, with their names; refuse it if a needed one is missing.

        Args:
            header: Names of the file's columns.
            needed: Our columns that a file must have.
            optional: Our columns that it may have.
            aliases: Other usual names of our columns, taken where nobody names the column.
        """
        for ours in (*needed, *self.columns):
            theirs = self.theirs(ours)
            if (theirs or ours in needed) and theirs not in header:
                if ours not in self.columns and self.alias(header, ours, aliases or {}):
                    continue
                self.refuse_missing(header, ours, aliases or {})
        found: dict[str, str] = {}
        for ours in (*needed, *optional):
            theirs = self.theirs(ours)
            if theirs not in header and ours not in self.columns:
                theirs = self.alias(header, ours, aliases or {})
            if theirs in header:
                found[ours] = theirs
        self.refuse_repeated(header, found.values())
        said = [
            f"{theirs!r} as {ours}"
            for ours, theirs in found.items()
            if self._is_alias(ours, theirs)
        ]
        if said:
            self.remarks[f"Reading {', '.join(said)}."] = None
        return found

    def refuse_missing(
        self,
        header: Sequence[str],
        ours: str,
        aliases: Mapping[str, Sequence[str]],
        called: str = "",
    ) -> NoReturn:
        """Refuse a file without one of our columns, and say what to do.

        Args:
            header: Names of the file's columns.
            ours: Our column.
            aliases: Other usual names of our columns.
            called: What the error calls it; its name in quotes if empty.
        """
        said = called or repr(self.theirs(ours) or ours)
        remedy = ""
        if self.reader is None and looks_like_data(header):
            remedy = "; the first line looks like data: begin with a header of column names"
        elif self.rename and ours not in self.columns:
            others = aliases.keys() - {ours}
            taken = {self.alias(header, other, aliases) or self.theirs(other) for other in others}
            found = likely_name(header, (ours, *aliases.get(ours, ())), taken)
            remedy = f"; name it with {self.rename.format(ours, found or 'NAME')}"
        self.refuse(f"column {said} not found (got {listed(header)}){remedy}")

    def _is_alias(self, ours: str, theirs: str) -> bool:
        return ours != theirs and ours not in self.columns

    def alias(self, header: Sequence[str], ours: str, aliases: Mapping[str, Sequence[str]]) -> str:
        """The only column with a usual name of one of ours; empty for none, refused if several."""
        usual = (ours, *aliases.get(ours, ())) if aliases else ()
        taken = {*self.columns.values(), *aliases}
        found = [name for name in dict.fromkeys(header) if plain_name(name) in usual]
        found = [name for name in found if name not in taken]
        if len(found) > 1:
            both = " and ".join(repr(name) for name in found)
            remedy = f"choose one with {self.rename.format(ours, found[0])}"
            self.refuse(
                f"columns {both} could both be {ours}; {remedy if self.rename else 'rename one'}"
            )
        return found[0] if found else ""

    def refuse_repeated(self, header: Sequence[str], wanted: Iterable[str]) -> None:
        """Refuse a file that has one of the wanted columns twice."""
        if len(set(header)) == len(header):
            return
        for name in wanted:
            if header.count(name) > 1:
                self.refuse(f"column {name!r} appears more than once (got {listed(header)})")

    def refuse(self, sentence: str, where: str = "") -> NoReturn:
        """Raise for the file as a whole, or for a place in it such as "line 3"."""
        raise InvalidTable(f"{self.name}{', ' if where else ''}{where}: {sentence}")

    def refuse_row(self, sentence: str, where: str) -> None:
        """Raise for a row that is none, or count it."""
        if not self.skip_bad_rows:
            self.refuse(sentence, where)
        self.skip(1, f"{self.name}, {where}: {sentence}")

    def skip(self, count: int, first: str) -> None:
        """Count malformed rows, and keep what is wrong with the first of all."""
        self.skipped += count
        self.first_skipped = self.first_skipped or first

    def take_skipped(self, part: TableInput) -> None:
        """Count what was skipped in one of the files, if there are several."""
        if part is not self:
            self.skip(part.skipped, part.first_skipped)
            part.skipped = 0

    def fault(self, batch: ColumnBatch, row: int, name: str, rule: str) -> str:
        """Say what is wrong with one cell."""
        place = f"{batch.source or self.name}, {batch.unit} {batch.numbers[row]}, column {name!r}"
        return f"{place}: {rule} (got {quoted(batch.columns[name].text(row))})"

    def refuse_cell(self, batch: ColumnBatch, row: int, name: str, rule: str) -> NoReturn:
        """Raise for one cell."""
        raise InvalidTable(self.fault(batch, row, name, rule))


class Cells(Protocol):
    """Cells of one column, however they are stored.

    Values come with a column that says which cells are wrong; nothing is guessed.
    """

    def __len__(self) -> int:
        """Count them."""

    def text(self, row: int) -> str:
        """One cell, as an error quotes it."""

    def times(self, *, optional: bool, zone: Zone | None = None) -> tuple[Ints, Bools]:
        """Microseconds since 1970; the smallest integer where a cell is empty and may be."""

    def changes(self, words: Mapping[str, int]) -> tuple[Changes, Bools]:
        """1, 0 or -1 for true, false and empty, by what each word means."""

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
        source: The file that the rows are of, as errors call it; empty where the table tells.
    """

    columns: Mapping[str, Cells]
    numbers: Sequence[int]
    unit: str
    source: str = ""

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


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # said by whoever opens it
        return 0


def _is_packed(path: Path) -> bool:
    with path.open("rb") as raw:
        return packing_of(raw.read(LONGEST_MARK)) is not None


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
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
