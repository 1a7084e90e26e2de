"""Tables of rates: what `recrawl estimate` writes, or anything with a page and a rate a row.

Touches: files.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables import Reading, shown
from recrawl.errors import InvalidTable, MissingExtra, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.visits.arrays import Floats, Ints

NEEDED = ("page", "rate_per_day")
FIGURES = ("rate_per_day", "low", "shape", "exposure_days", "weight")
OPTIONAL = (*FIGURES[1:], "host")
_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class RateReading(Reading):
    """How to read a table of rates."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Our columns that must be there."""
        return NEEDED

    @property
    def optional(self) -> tuple[str, ...]:
        """Our columns that may be there."""
        return OPTIONAL


@dataclass(frozen=True, slots=True, eq=False)
class RateTable:
    """Rates as a file has them, a row a page; nan where a cell is empty.

    Args:
        pages: Names of the pages.
        figures: Columns of figures that the file has: those of `FIGURES`.
        host: Host of each page, where the file has such a column.
    """

    pages: list[str]
    figures: dict[str, Floats]
    host: list[str] | None = None


@dataclass(slots=True)
class _Rows:
    """Cells read so far, as text, a list a column; and how to name a row in an error."""

    unit: str
    numbers: Sequence[int] = ()
    columns: dict[str, list[str]] = field(default_factory=dict)


def read_rates(path: Path, columns: Mapping[str, str] | None = None) -> RateTable:
    """Rates of a CSV, JSON lines or Parquet file; one sentence says what is wrong with it."""
    reading = RateReading(path, columns or {})
    rows = _reader(reading)(reading)
    pages = rows.columns["page"]
    if not pages:
        reading.refuse("must hold rates (got no rows)")
    _check_pages(reading, rows, pages)
    figures = {name: _figures(reading, rows, name) for name in FIGURES if name in rows.columns}
    return RateTable(pages, figures, rows.columns.get("host"))


def hosts_of(path: Path, pages: Sequence[str]) -> list[str]:
    """Host of each address: what stands between `://` and the path."""
    hosts = []
    for number, page in enumerate(pages):
        authority = page.partition("://")[2]
        for mark in "/?#":
            authority = authority.partition(mark)[0]
        host = authority.rpartition("@")[2].lower()
        if not host:
            message = (
                f"{path}: page must be an address, or a column 'host' must be present, for a cap a "
                f"host (got {shown(page)} in row {number + 1})"
            )
            raise InvalidTable(message)
        hosts.append(host)
    return hosts


def numbered(names: Sequence[str]) -> tuple[Ints, list[str]]:
    """Number of each name, in order of appearance, and the distinct names."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(codes, np.int64), list(numbers)


def _reader(reading: Reading) -> Callable[[Reading], _Rows]:
    path = reading.path
    try:
        with path.open("rb") as file:
            first = file.read(64)
    except OSError as error:
        message = f"{path}: must be a readable file ({reason(error)})"
        raise InvalidTable(message) from None
    if not first:
        reading.refuse("must hold a header and rows (got an empty file)")
    if first.startswith(_GZIP):
        reading.refuse("must be plain text or Parquet (got a gzip file: unpack it first)")
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq") or first.startswith(b"PAR1"):
        return _from_parquet
    if suffix in (".jsonl", ".ndjson", ".json") or first.lstrip().startswith(b"{"):
        return _from_json
    return _from_csv


def _from_csv(reading: Reading) -> _Rows:
    rows = _Rows("line")
    numbers: list[int] = []
    try:
        with reading.path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = [name.strip() for name in next(lines, [])]
            present = reading.present(header)
            cells: list[list[str]] = []
            for row in lines:
                if not row:
                    continue
                if len(row) != len(header):
                    message = (
                        f"{reading.path}, line {lines.line_num}: must have as many cells as the "
                        f"header, {len(header)} (got {len(row)})"
                    )
                    raise InvalidTable(message)
                cells.append(row)
                numbers.append(lines.line_num)
    except UnicodeDecodeError:
        reading.refuse("must be UTF-8 text (got other bytes)")
    except csv.Error as error:
        reading.refuse(f"must be CSV ({error})")
    rows.numbers = numbers
    for ours, theirs in present.items():
        place = header.index(theirs)
        rows.columns[ours] = [row[place] for row in cells]
    return rows


def _from_json(reading: Reading) -> _Rows:
    rows, numbers, found = _Rows("line"), [], []
    with reading.path.open("rb") as file:
        for number, line in _filled(file):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                got = line[:40].decode(errors="replace").strip()
                message = f"{reading.path}, line {number}: must be a JSON object (got {got!r})"
                raise InvalidTable(message)
            found.append(row)
            numbers.append(number)
    present = reading.present(list(dict.fromkeys(name for row in found for name in row)))
    rows.numbers = numbers
    for ours, theirs in present.items():
        rows.columns[ours] = [_text(row.get(theirs)) for row in found]
    return rows


def _filled(lines: Any) -> Iterator[tuple[int, bytes]]:  # noqa: ANN401 - an open file
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line


def _text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _from_parquet(reading: Reading) -> _Rows:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    rows = _Rows("row")
    try:
        with pq.ParquetFile(reading.path) as file:
            present = reading.present(file.schema_arrow.names)
            table = file.read(columns=list(present.values()))
        for ours, theirs in present.items():
            cells = table.column(theirs).to_pylist()
            rows.columns[ours] = ["" if cell is None else str(cell) for cell in cells]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        sentence = str(error).partition("\n")[0].rstrip(".")
        message = f"{reading.path}: must be a whole Parquet file ({sentence})"
        raise InvalidTable(message) from None
    rows.numbers = range(1, table.num_rows + 1)
    return rows


def _check_pages(reading: Reading, rows: _Rows, pages: list[str]) -> None:
    """Refuse pages without a name, and pages that are there twice."""
    column = reading.theirs("page")
    seen: dict[str, int] = {}
    for number, page in enumerate(pages):
        where = f"{reading.path}, {rows.unit} {rows.numbers[number]}, column {column!r}"
        if not page.strip():
            message = f"{where}: must name a page (got {page!r})"
            raise InvalidTable(message)
        if seen.setdefault(page, number) != number:
            message = f"{where}: must name each page once (got {shown(page)} again)"
            raise InvalidTable(message)


def _figures(reading: Reading, rows: _Rows, name: str) -> Floats:
    """A column of figures, 0 or more; nan where a cell is empty and may be."""
    texts = rows.columns[name]
    try:
        figures = np.array([text or "nan" for text in texts], np.float64)
    except ValueError:
        figures = np.array([_figure(text) for text in texts])
    empty = np.array([not text.strip() for text in texts], np.bool_)
    if name == "weight":
        empty[:] = False
    wrong = ~(empty | ((figures >= 0) & (figures < np.inf)))
    if wrong.any():
        row = int(np.argmax(wrong))
        message = (
            f"{reading.path}, {rows.unit} {rows.numbers[row]}, column {reading.theirs(name)!r}: "
            f"must be a number, at least 0 (got {shown(texts[row])})"
        )
        raise InvalidTable(message)
    return figures


def _figure(text: str) -> float:
    try:
        return float(text) if text.strip() else np.nan
    except ValueError:
        return -1.0
