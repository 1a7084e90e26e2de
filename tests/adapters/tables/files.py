"""Visit logs as files, and what is read from them, as plain rows."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.visits import VisitReading, read_batches
from recrawl.visits.rows import UNKNOWN_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

HEADER = ("page", "visited_at", "changed", "last_modified", "status")


def write_csv(path: Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = HEADER) -> Path:
    """Write rows as CSV; None is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([_cell(value) for value in row] for row in rows)
    return path


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def write_json_lines(
    path: Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = HEADER
) -> Path:
    """Write rows as JSON lines."""
    lines = [json.dumps(dict(zip(header, row, strict=False))) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_parquet(path: Path, columns: Mapping[str, Any], **options: Any) -> Path:
    """Write columns, lists or Arrow arrays, as Parquet."""
    pq.write_table(pa.table(dict(columns)), path, **options)
    return path


def visits_in(path: Path, columns: Mapping[str, str] | None = None, **options: Any) -> VisitReading:
    """How to read a visit log; `options` are those of the table."""
    return VisitReading(TableInput(path, columns or {}, **options))


def rows_in(reading: VisitReading | Path) -> list[tuple[Any, ...]]:
    """(page, at, changed, last_modified, answer, site) of each row, in the order of the file."""
    reading = reading if isinstance(reading, VisitReading) else visits_in(reading)
    rows: list[tuple[Any, ...]] = []
    for batch in read_batches(reading):
        count, lengths = len(batch.at), batch.run_lengths()
        sites = [None] * len(batch.names) if batch.site is None else batch.site.tolist()
        dates = np.full(count, UNKNOWN_TIME) if batch.last_modified is None else batch.last_modified
        answers = np.zeros(count, np.uint8) if batch.answer is None else batch.answer
        rows += zip(
            np.repeat(np.array(batch.names.tolist(), object), lengths).tolist(),
            batch.at.tolist(),
            batch.changed.tolist(),
            dates.tolist(),
            answers.tolist(),
            np.repeat(np.array(sites, object), lengths).tolist(),
            strict=True,
        )
    return rows


def plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """(page, epoch seconds, changed) of rows that have no more."""
    return [(page, at / 1e6, changed) for page, at, changed, *_ in rows]
