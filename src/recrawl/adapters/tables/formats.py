"""The formats of tables in files, each told by its name or its first bytes.

`FORMATS` is the only list of them: whatever reads a table reads each of these.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.adapters.tables.arrow_files import read_parquet
from recrawl.adapters.tables.text_files import read_csv, read_json_lines
from recrawl.errors import reason
from recrawl.store import begins_as_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recrawl.adapters.tables.columns import Choose, ColumnBatch, TableInput

_FIRST_BYTES = 100  # tell what a file is
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a table to a file.

    Args:
        suffixes: How names of such files end.
        first_bytes: How such files begin after spaces, if they all begin alike.
        read: Gives the columns that were chosen, batch by batch, so that memory is bounded.
        by_column: Whether one column can be read without reading the others.
    """

    suffixes: tuple[str, ...]
    first_bytes: bytes
    read: Callable[[TableInput, Choose], Iterator[ColumnBatch]]
    by_column: bool = False

    def claims(self, path: Path, first: bytes) -> bool:
        """Whether a file of this name that begins with these bytes is one."""
        begins_so = self.first_bytes and first.lstrip().startswith(self.first_bytes)
        return bool(begins_so) or path.suffix.lower() in self.suffixes


def suffixes() -> tuple[str, ...]:
    """How names of files that hold tables end."""
    return tuple(suffix for known in FORMATS for suffix in known.suffixes)


# The first that claims a file reads it; CSV is the last, and takes what no other one claims.
FORMATS = [
    Format((".parquet", ".pq"), b"PAR1", read_parquet, by_column=True),
    Format((".jsonl", ".ndjson", ".json"), b"{", read_json_lines),
    Format((".csv",), b"", read_csv),
]


def format_of(table: TableInput) -> Format:
    """The format of a table: its own reader, else by its file; CSV where nothing tells another."""
    if table.reader is not None:
        return Format((), b"", table.reader, by_column=True)
    first = _first_bytes(table)
    if not first:
        table.refuse("must hold a header and rows (got an empty file)")
    if first.startswith(_GZIP):
        table.refuse("must be plain text or Parquet (got a gzip file: unpack it first)")
    if begins_as_store(first):
        table.refuse("must be a table (got a store; recrawl export writes tables of it)")
    return next((known for known in FORMATS if known.claims(table.path, first)), FORMATS[-1])


def _first_bytes(table: TableInput) -> bytes:
    try:
        with table.open() as file:
            return file.read(_FIRST_BYTES)
    except OSError as error:
        table.refuse(f"must be a readable file ({reason(error)})")


def read_columns(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a table in the order of its rows, batch by batch.

    Args:
        table: What to read.
        choose: Called with the names of the columns; returns those that are wanted.
    """
    return format_of(table).read(table, choose)
