"""One visit log through every door: files, frames, columns, values, a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from recrawl import Visit
from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
AGE = 0.0625  # days since a change whose date the host tells
PAGES = [f"https://{host}/{page}" for host in ("a.example", "b.example") for page in "xyzé"]


pl.LazyFrame({"once": [0]}).collect()  # opens files of its own that stay open: not in a test


def made(count: int = 400, seed: int = 1) -> pa.Table:
    """A log in order of time, with dates and first visits."""
    random = np.random.default_rng(seed)
    page = random.integers(len(PAGES), size=count)
    page[: len(PAGES)] = np.arange(len(PAGES))
    seconds = np.sort(random.random(count)) * 40 * 86_400
    seen: set[int] = set()
    rows = []
    for number, (which, second) in enumerate(zip(page.tolist(), seconds.tolist(), strict=True)):
        at = START + timedelta(seconds=number + round(second))  # as a store keeps dates
        changed = bool(random.random() < 0.2 + 0.1 * (which % 4)) if which in seen else None
        dated = changed and which % 3 == 0
        seen.add(which)
        rows.append(
            {
                "page": PAGES[which],
                "visited_at": at,
                "changed": changed,
                "last_modified": at - timedelta(days=AGE) if dated else None,
            }
        )
    time = pa.timestamp("us", tz="UTC")
    fields = [("page", pa.string()), ("visited_at", time), ("changed", pa.bool_())]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("last_modified", time)]))


def _csv(log: pa.Table, folder: Path) -> Path:
    lines = ["page,visited_at,changed,last_modified"]
    for row in log.to_pylist():
        date = "" if row["last_modified"] is None else row["last_modified"].isoformat()
        changed = {None: "", True: "true", False: "false"}[row["changed"]]
        lines.append(f"{row['page']},{row['visited_at'].isoformat()},{changed},{date}")
    path = folder / "visits.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _parquet(log: pa.Table, folder: Path) -> Path:
    path = folder / "visits.parquet"
    pq.write_table(log, path)
    return path


def _dataset(log: pa.Table, folder: Path) -> Any:
    for part in range(3):
        pq.write_table(log.slice(part * 150, 150), folder / f"part-{part}.parquet")
    return ds.dataset(sorted(folder.glob("part-*.parquet")))


def _visits(log: pa.Table, _: Path) -> Any:
    return (
        Visit(row["page"], row["visited_at"], row["changed"], row["last_modified"])
        for row in log.to_pylist()
    )


def _store(log: pa.Table, folder: Path) -> Path:
    path = folder / "recrawl.db"
    first, same = VisitOutcome.FIRST, VisitOutcome.SAME
    kinds = {None: first, True: VisitOutcome.CHANGED, False: same}
    with create_store(path) as store:
        hosts = [page.split("/")[2] for page in PAGES]
        store.write([PagesFound(PAGES, hosts, [0] * len(PAGES), START.timestamp())])
        store.write(
            [
                VisitMade(
                    PAGES.index(row["page"]),
                    row["visited_at"].timestamp(),
                    kinds[row["changed"]],
                    200,
                    age=None if row["last_modified"] is None else AGE,
                )
                for row in log.to_pylist()
            ]
        )
    return path


def _duckdb(log: pa.Table, _: Path) -> Any:
    connection = duckdb.connect()
    connection.register("log", log)
    return connection.sql("select * from log")


def _chunked(log: pa.Table, _: Path) -> pa.Table:
    """Many small chunks, in the types that Arrow has for the same cells."""
    other = log.set_column(0, "page", log["page"].dictionary_encode())
    other = other.set_column(
        1, "visited_at", log["visited_at"].cast(pa.timestamp("us", "Asia/Kolkata"))
    )
    return pa.Table.from_batches(other.to_batches(max_chunksize=7))


DOORS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": _csv,
    "parquet": _parquet,
    "store": _store,
    "pyarrow table": lambda log, _: log,
    "pyarrow chunks": _chunked,
    "pyarrow string views": lambda log, _: log.set_column(
        0, "page", log["page"].cast(pa.string_view())
    ),
    "pyarrow large strings": lambda log, _: log.set_column(
        0, "page", log["page"].cast(pa.large_string())
    ),
    "pyarrow reader": lambda log, _: log.to_reader(max_chunksize=50),
    "pyarrow batch": lambda log, _: log.combine_chunks().to_batches()[0],
    "pyarrow dataset": _dataset,
    "pyarrow scanner": lambda log, folder: _dataset(log, folder).scanner(),
    "pandas": lambda log, _: log.to_pandas(),
    "pandas index": lambda log, _: log.to_pandas().set_index("page"),
    "pandas objects": lambda log, _: pd.DataFrame(log.to_pylist(), dtype=object),
    "pandas categories": lambda log, _: log.to_pandas().astype({"page": "category"}),
    "pandas naive": lambda log, _: log.to_pandas().assign(
        visited_at=lambda frame: frame["visited_at"].dt.tz_localize(None).astype("M8[ns]")
    ),
    "polars": lambda log, _: pl.DataFrame(log),
    "polars lazy": lambda log, _: pl.DataFrame(log).lazy(),
    "polars categories": lambda log, _: pl.DataFrame(log).with_columns(
        pl.col("page").cast(pl.Categorical)
    ),
    "polars texts": lambda log, _: pl.DataFrame(log).with_columns(
        pl.col("visited_at").dt.to_string("iso")
    ),
    "DuckDB": _duckdb,
    "columns": lambda log, _: {name: log[name].to_pylist() for name in log.column_names},
    "numpy": lambda log, _: {
        "page": np.array(log["page"].to_pylist()),
        "visited_at": np.array(
            [at.replace(tzinfo=None) for at in log["visited_at"].to_pylist()], "M8[us]"
        ),
        "changed": log["changed"].to_pylist(),
        "last_modified": pd.Series(log["last_modified"].to_pylist()),
    },
    "visits": _visits,
}
