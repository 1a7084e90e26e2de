"""The formats of tables in files, each told by its name or its first bytes.

`FORMATS` is the only list of them: whatever reads a table reads each of these.

Touches: files.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from recrawl.adapters.tables.arrow_files import ARROW_MARKS, read_arrow, read_parquet
from recrawl.adapters.tables.plain_bytes import PACKED_SUFFIXES
from recrawl.adapters.tables.text_files import read_csv, read_json_array, read_json_lines
from recrawl.errors import reason
from recrawl.report.words import counted
from recrawl.store import begins_as_store, is_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recrawl.adapters.tables.columns import Choose, ColumnBatch, TableInput

_FIRST_BYTES = 100  # tell what a file is
_ZIP = b"PK\x03\x04"
_SPREADSHEET_MARKS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"mimetype")
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")  # in text at most between cells
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a table to a file.

    Args:
        suffixes: How names of such files end, before what a packed file adds.
        first_bytes: How such files begin after spaces, if they all begin alike; or several ways.
        read: Gives the columns that were chosen, batch by batch, so that memory is bounded.
        by_column: Whether one column can be read without reading the others.
    """

    suffixes: tuple[str, ...]
    first_bytes: bytes | tuple[bytes, ...]
    read: Callable[[TableInput, Choose], Iterator[ColumnBatch]]
    by_column: bool = False

    def claims(self, path: Path, first: bytes) -> bool:
        """Whether a file of this name that begins with these bytes is one."""
        begins_so = self.first_bytes and first.lstrip().startswith(self.first_bytes)
        return bool(begins_so) or _suffix(path.name) in self.suffixes


# The first that claims a file reads it; CSV is the last, and takes what no other one claims.
FORMATS = [
    Format((".parquet", ".pq"), b"PAR1", read_parquet, by_column=True),
    Format((".feather", ".arrow", ".ipc", ".arrows"), ARROW_MARKS, read_arrow),
    Format((), (b"[{", b"[]", b"[ ", b"[\n", b"[\r", b"[\t"), read_json_array),
    Format((".jsonl", ".ndjson", ".json"), b"{", read_json_lines),
    Format((".csv", ".tsv", ".tab", ".psv"), b"", read_csv),
]


_NO_ROWS = "the file is empty; expected a header and rows"


def is_table(name: str) -> bool:
    """Whether a file is a table by its name.

    >>> is_table("visits.csv.gz"), is_table("notes.txt"), is_table(".csv")
    (True, False, False)
    """
    return any(_suffix(name) in known.suffixes for known in FORMATS)


def table_stem(name: str) -> str:
    """Name of a table's file without what tells format and packing.

    >>> table_stem("objects.csv.gz")
    'objects'
    """
    return _unpacked(name).stem


def _suffix(name: str) -> str:
    return _unpacked(name).suffix.lower()


def _unpacked(name: str) -> PurePath:
    path = PurePath(name)
    return path.with_suffix("") if path.suffix.lower() in PACKED_SUFFIXES else path


def format_of(table: TableInput) -> Format:
    """The format of a table: its own reader, else by its file; CSV where nothing tells another."""
    if table.reader is not None:
        return Format((), b"", table.reader, by_column=True)
    first = _first_bytes(table)
    if not first:
        table.refuse(_NO_ROWS)
    if begins_as_store(first):
        table.refuse("this is a store, not a table; `recrawl export` writes tables from it")
    if is_sqlite(first):
        table.refuse("an SQLite database, but not a recrawl store; export its table as CSV")
    if first.startswith(_OLD_EXCEL) or (
        first.startswith(_ZIP) and any(mark in first for mark in _SPREADSHEET_MARKS)
    ):
        table.refuse("a spreadsheet; save its sheet as CSV")
    if first.startswith(_ZIP):
        table.refuse("a ZIP archive; unpack it first")
    known = next((known for known in FORMATS if known.claims(table.path, first)), None)
    if known is None and not _may_be_text(first, table.encoding):
        table.refuse("neither a recrawl store nor a table: it is not text")
    return known or FORMATS[-1]


def _may_be_text(first: bytes, encoding: str) -> bool:
    r"""Whether the first bytes of a file may be text; then it is read, and errors say where.

    >>> [_may_be_text(first, "utf-8") for first in (b"page;a\xc3", b"a\x01b", b"\x01\xff", b"\0")]
    [True, True, False, False]
    """
    if b"\0" in first:
        return False
    try:
        codecs.getincrementaldecoder(encoding)().decode(first)  # the last letter may be cut
    except UnicodeDecodeError:
        return not _CONTROL.search(first)
    return True


def _first_bytes(table: TableInput) -> bytes:
    try:
        with table.open() as file:
            return file.read(_FIRST_BYTES)
    except OSError as error:
        table.refuse(f"cannot be read ({reason(error)})")


def read_columns(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a table in the order of its rows, file after file, batch by batch.

    Args:
        table: What to read.
        choose: Called with the names of the columns; returns those that are wanted.
    """
    for part in filled_parts(table):
        for batch in format_of(part).read(part, choose):
            table.take_skipped(part)
            yield replace(batch, source=part.name)
        table.take_skipped(part)


def filled_parts(table: TableInput) -> Iterator[TableInput]:
    """A table per file, of several without those that are empty: of days without a row."""
    empty = 0
    for part in table.parts():
        if table.more and not _first_bytes(part):
            empty += 1
        else:
            yield part
    if empty > len(table.more):
        table.refuse(_NO_ROWS)
    if empty:
        table.remarks[f"{counted(empty, 'empty file')} skipped."] = None
