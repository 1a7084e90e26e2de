"""Visit logs in partitions, and an engine that is this process."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.adapters.engines.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NOW = "2026-06-01"


def here(work: Callable[[Any], Outcome], tasks: Sequence[Any]) -> Iterator[tuple[int, Outcome]]:
    """An engine of one process, the last task first."""
    for number in reversed(range(len(tasks))):
        yield number, work(tasks[number])


def losing(lost: int) -> Callable[..., Iterator[tuple[int, Outcome]]]:
    """An engine whose first so many tasks are lost with their worker."""
    left = [lost]

    def run(work: Callable[[Any], Outcome], tasks: Sequence[Any]) -> Iterator[tuple[int, Outcome]]:
        for number, task in enumerate(tasks):
            if left[0]:
                left[0] -= 1
                yield number, Outcome(error="the worker was lost")
            else:
                yield number, work(task)

    return run


def visits(pages: int = 60, sites: int = 5, *, seed: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    """Visits in order of time: sites with rates of their own, some pages seen once."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 9, pages)
    page = np.repeat(np.arange(pages), counts)
    at = np.datetime64("2026-01-01", "s") + random.integers(0, 10_000_000, len(page))
    changed = random.random(len(page)) < (page % sites + 1) / (sites + 2)
    names = np.array([f"https://s{number % sites}.org/{number}" for number in range(pages)])
    order = np.argsort(at, kind="stable")
    return {"page": names[page][order], "visited_at": at[order], "changed": changed[order]}


def write(path: Path, columns: dict[str, np.ndarray[Any, Any]]) -> Path:
    """Write a table of visits."""
    pq.write_table(pa.table(columns), path)
    return path


def divide(
    folder: Path, columns: dict[str, np.ndarray[Any, Any]], part: np.ndarray[Any, Any]
) -> list[str]:
    """Write rows to the partitions of these numbers."""
    folder.mkdir(exist_ok=True)
    return [
        str(
            write(
                folder / f"part-{number}.parquet",
                {name: column[part == number] for name, column in columns.items()},
            )
        )
        for number in np.unique(part).tolist()
    ]


def by_page(columns: dict[str, np.ndarray[Any, Any]], parts: int, seed: int = 0) -> Any:
    """Number of the partition of each row: all rows of a page in one."""
    pages, page = np.unique(columns["page"], return_inverse=True)
    number = np.random.default_rng(seed).integers(0, parts, len(pages))[page]
    return np.unique(number, return_inverse=True)[1]


def rows(*files: Path | str) -> list[dict[str, Any]]:
    """Rows of Parquet files, by page."""
    every = [row for file in files for row in pq.read_table(file).to_pylist()]
    return sorted(every, key=lambda row: str(row["page"]))


def write_index(folder: Path) -> Path:
    """A ZipNum index of two shards, each of one block of lines."""
    lines = []
    for shard in range(2):
        captures = [
            f"org,example)/{shard}{page} 20260{month}01000000 http://example.org/{shard}{page} "
            f"text/html 200 DIGEST{(page + 1) * month // 4} - - 100 {month} a.warc.gz\n"
            for page in range(5)
            for month in range(1, 8)
        ]
        packed = gzip.compress("".join(captures).encode(), mtime=0)
        (folder / f"shard-{shard}.cdx.gz").write_bytes(packed)
        first = " ".join(captures[0].split()[:2])
        lines.append(f"{first}\tshard-{shard}\t0\t{len(packed)}\t{shard + 1}\n")
    (folder / "index.idx").write_text("".join(lines), encoding="utf-8")
    return folder / "index.idx"
