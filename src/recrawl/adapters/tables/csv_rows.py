"""Visit logs as CSV: a header, then a row a visit.

Touches: files.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from recrawl.adapters.tables.text_lines import text_lines
from recrawl.adapters.tables.visits import batch_of_texts
from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.adapters.tables.visits import Reading
    from recrawl.visits.batch import Batch

_ROWS = 1 << 16


def read(reading: Reading) -> Iterator[Batch]:
    """Rows of a CSV file, a batch at a time."""
    size = reading.path.stat().st_size
    with reading.path.open("rb") as raw:
        rows = csv.reader(text_lines(reading.path, raw), strict=True)
        header = _next(rows, reading)
        if header is None:
            reading.refuse("must begin with a header (got an empty file)")
        assert header is not None  # noqa: S101 - refuse() raised
        names = [name.strip() for name in header]
        present = reading.present(names)
        place = {ours: names.index(theirs) for ours, theirs in present.items()}
        position = 0
        while True:
            cells, lines = _take(rows, reading, len(names))
            if not lines:
                return
            columns = {ours: [row[index] for row in cells] for ours, index in place.items()}
            yield batch_of_texts(reading, columns, lines, position)
            position += len(lines)
            if reading.progress is not None:
                reading.progress(raw.tell() / max(size, 1))


def _next(rows: Iterator[list[str]], reading: Reading) -> list[str] | None:
    """Next row that is not blank."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return None
        except csv.Error as error:
            line = getattr(rows, "line_num", 0)
            message = f"{reading.path}, line {line}: must be CSV ({error})"
            raise InvalidTable(message) from None
        if row:
            return row


def _take(
    rows: Iterator[list[str]], reading: Reading, width: int
) -> tuple[list[list[str]], list[int]]:
    """Up to a batch of rows, and the line on which each ends."""
    cells: list[list[str]] = []
    lines: list[int] = []
    while len(lines) < _ROWS:
        row = _next(rows, reading)
        if row is None:
            break
        line = rows.line_num  # type: ignore[attr-defined] # csv readers have it
        if len(row) != width:
            if reading.skip_bad_rows:
                reading.skipped += 1
                continue
            message = (
                f"{reading.path}, line {line}: must have as many cells as the header, {width} "
                f"(got {len(row)})"
            )
            raise InvalidTable(message)
        cells.append(row)
        lines.append(line)
    return cells, lines
