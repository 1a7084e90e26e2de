"""Visit logs in files: CSV, JSON lines, Parquet or a store, by their names or first bytes.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable, reason
from recrawl.parse import cells
from recrawl.store import begins_as_store
from recrawl.visits.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Bools

    Wrong: TypeAlias = dict[str, tuple[Bools, str]]

_Column = TypeVar("_Column")

NEEDED = ("page", "visited_at", "changed")
OPTIONAL = ("last_modified", "status")
CHANGE_TIME = "changed_at"  # instead of visits, where all changes are known

_LONGEST = 100  # letters that an error quotes
_FIRST_BYTES = 100  # tell what a file is
_GZIP = b"\x1f\x8b"
_OTHER_SEPARATORS = ";\t|"
_RULES = {
    "visited_at": cells.TIME_RULE,
    "changed": cells.CHANGED_RULE,
    "last_modified": cells.TIME_RULE,
    "status": cells.STATUS_RULE,
}


@dataclass(slots=True)
class Reading:
    """How to read a log, and how far it has been read.

    Args:
        path: The file.
        columns: Their name of each of our columns, where it differs.
        site_column: Their column that names a page's site, if any.
        skip_bad_rows: Count malformed rows instead of refusing the file.
        progress: Called with the share read so far, from 0 to 1.
        change_times: Take a file of all changes (`changed_at`), too, as visits just after each.
        skipped: Malformed rows so far.
        complete: Whether the file turned out to be one of all changes.
    """

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    site_column: str | None = None
    skip_bad_rows: bool = False
    progress: Callable[[float], None] | None = None
    change_times: bool = False
    skipped: int = 0
    complete: bool = False

    def theirs(self, ours: str) -> str:
        """Their name of one of our columns."""
        return self.columns.get(ours, ours)

    def present(self, header: Sequence[str]) -> dict[str, str]:
        """Our columns that the file has, with their names; refuse it if one is missing."""
        if len(header) == 1 and any(mark in header[0] for mark in _OTHER_SEPARATORS):
            self.refuse(f"columns must be separated by commas (got the header {shown(header[0])})")
        self._look_for_change_times(header)
        for ours in (*self.needed, *self.columns):
            if self.theirs(ours) not in header:
                self.refuse(f"column {self.theirs(ours)!r} must be present (got {_list(header)})")
        twice = {name for name in header if header.count(name) > 1}
        wanted = {ours: self.theirs(ours) for ours in (*self.needed, *self.optional)}
        if self.site_column is not None:
            wanted["site"] = self.site_column
            if self.site_column not in header:
                self.refuse(f"column {self.site_column!r} must be present (got {_list(header)})")
        for name in wanted.values():
            if name in twice:
                self.refuse(f"column {name!r} must be there once (got {_list(header)})")
        return {ours: name for ours, name in wanted.items() if name in header}

    @property
    def needed(self) -> tuple[str, ...]:
        """Our columns that must be there."""
        return NEEDED[:2] if self.complete else NEEDED

    @property
    def optional(self) -> tuple[str, ...]:
        """Our columns that may be there."""
        return () if self.complete else OPTIONAL

    def _look_for_change_times(self, header: Sequence[str]) -> None:
        """Take `changed_at` for the time of visits that all found a change."""
        theirs = self.theirs(CHANGE_TIME)
        if self.change_times and self.theirs("visited_at") not in header and theirs in header:
            self.complete = True
            kept = {ours: name for ours, name in self.columns.items() if ours != CHANGE_TIME}
            self.columns = {**kept, "visited_at": theirs}

    def refuse(self, sentence: str) -> None:
        """Raise for the file as a whole."""
        message = f"{self.path}: {sentence}"
        raise InvalidTable(message)

    def sift(self, wrong: Wrong, where: Where) -> Bools | None:
        """Rows to keep, None for all; raise for the first wrong cell unless they are skipped."""
        bad = np.zeros(where.rows, np.bool_)
        for cells_wrong, _ in wrong.values():
            bad |= cells_wrong
        if not bad.any():
            return None
        if not self.skip_bad_rows:
            row = int(np.argmax(bad))
            ours, rule = next(
                (ours, rule) for ours, (cells_wrong, rule) in wrong.items() if cells_wrong[row]
            )
            got = where.cell(ours, row)
            message = (
                f"{self.path}, {where.unit} {where.number(row)}, column {self.theirs(ours)!r}: "
                f"{rule} (got {shown(got)})"
            )
            raise InvalidTable(message)
        self.skipped += int(bad.sum())
        return ~bad


@dataclass(frozen=True, slots=True)
class Where:
    """How to name a row and a cell of a batch in an error."""

    rows: int
    unit: str
    number: Callable[[int], int]
    cell: Callable[[str, int], str]


def shown(text: str) -> str:
    """A cell as an error quotes it: on one line, and not too long."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")


def _list(header: Sequence[str]) -> str:
    names = [name if name.isprintable() else repr(name) for name in header]
    text = ", ".join(names)
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST] + "..."


def read_batches(reading: Reading) -> Iterator[Batch]:
    """Rows of a log in the order of the file, a batch at a time."""
    return _reader(reading)(reading)


def _reader(reading: Reading) -> Callable[[Reading], Iterator[Batch]]:
    from recrawl.adapters.stores import visits as store_visits
    from recrawl.adapters.tables import csv_rows, json_lines, parquet

    readers = {
        "csv": csv_rows.read,
        "json": json_lines.read,
        "parquet": parquet.read,
        "store": store_visits.read,
    }
    return readers[format_of(reading.path)]


def format_of(path: Path) -> str:
    """What a file is, by its name or its first bytes: "csv", "json", "parquet" or "store"."""
    try:
        with path.open("rb") as file:
            first = file.read(_FIRST_BYTES)
    except OSError as error:
        message = f"{path}: must be a readable file ({reason(error)})"
        raise InvalidTable(message) from None
    if not first:
        message = f"{path}: must hold a header and rows (got an empty file)"
        raise InvalidTable(message)
    if first.startswith(_GZIP):
        message = f"{path}: must be plain text or Parquet (got a gzip file: unpack it first)"
        raise InvalidTable(message)
    if begins_as_store(first):
        return "store"
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq") or first.startswith(b"PAR1"):
        return "parquet"
    if suffix in (".jsonl", ".ndjson", ".json") or first.lstrip().startswith(b"{"):
        return "json"
    return "csv"


def read_cells(
    columns: Mapping[str, _Column], ways: Mapping[str, Callable[[_Column], tuple[Any, Bools]]]
) -> tuple[dict[str, Any], Wrong]:
    """Values of the cells of each of our columns that the file has, and which cells are wrong.

    Args:
        columns: Cells of each.
        ways: How to read each column.
    """
    values: dict[str, Any] = {}
    wrong: Wrong = {}
    for ours, rule in _RULES.items():
        if ours in columns:
            values[ours], bad = ways[ours](columns[ours])
            wrong[ours] = bad, rule
    return values, wrong


_WAYS: dict[str, Callable[[Sequence[str]], tuple[Any, Bools]]] = {
    "visited_at": partial(cells.times, optional=False),
    "changed": cells.changes,
    "last_modified": partial(cells.times, optional=True),
    "status": cells.answers,
}


def batch_of_texts(
    reading: Reading,
    columns: Mapping[str, Sequence[str]],
    lines: Sequence[int],
    position: int,
    nameless: Sequence[bool] = (),
) -> Batch:
    """Turn cells of text into a batch.

    Args:
        reading: How to read the file.
        columns: Cells of each of our columns that the file has.
        lines: Line of each row.
        position: Where in the log the first row stands.
        nameless: Rows whose page was no single value, where a format has such.
    """
    pages = np.array(columns["page"], object)
    unnamed = cells.unnamed(columns["page"])
    if nameless:
        unnamed |= np.array(nameless, np.bool_)
    values, wrong = read_cells(columns, _WAYS)
    where = Where(
        rows=len(pages),
        unit="line",
        number=lambda row: lines[row],
        cell=lambda ours, row: columns[ours][row],
    )
    keep = reading.sift({"page": (unnamed, cells.PAGE_RULE), **wrong}, where)

    pages[unnamed] = "-"  # what cannot be a name must not become one, even for a moment
    starts = np.flatnonzero(begins(pages))
    single = len(starts) == len(pages)
    site = None
    if "site" in columns:
        site = Texts.of([columns["site"][row] for row in starts.tolist()])
    batch = Batch(
        names=Texts.of(pages[starts].tolist()),
        at=values["visited_at"],
        # In a file of changes each row is one.
        changed=values.get("changed", np.ones(len(pages), np.int8)),
        lengths=None if single else np.diff(starts, append=len(pages)),
        position=position,
        last_modified=values.get("last_modified"),
        answer=values.get("status"),
        site=site,
    )
    return batch if keep is None else batch.rows(keep)
