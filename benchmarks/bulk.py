"""Bulk work on partitions: what a million pages cost, in CPU, time and bytes.

    python benchmarks/bulk.py                     a million pages of 20 visits, 16 partitions
    python benchmarks/bulk.py --pages 250000 --engine local
    python benchmarks/bulk.py --engine ray

Makes visits of pages of many sites, in Parquet, all visits of a page in one partition. Then runs
`recrawl estimate --engine`, which makes two passes, and `recrawl plan --engine`, which makes a
few over the rates. CPU is that of all processes of this machine together, start-up and imports
among it, so that it hardly depends on who else is at work; time does.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.adapters.engines import open_engine
from recrawl.analysis.bulk.estimate import EstimateJob, estimate_partitions
from recrawl.analysis.bulk.plan import PlanJob, plan_partitions
from recrawl.analysis.plan import PlanQuestion

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES_A_SITE = 50


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took."""

    seconds: float
    cpu: float

    def line(self, name: str, pages: int, size: int) -> str:
        """The same per million pages."""
        million = pages / 1e6
        return (
            f"{name:10} {self.seconds / million:8.1f} s {self.cpu / million:8.1f} s CPU "
            f"{size / pages:8.1f} bytes/page written"
        )


def write_log(folder: Path, pages: int, visits: int, partitions: int) -> None:
    """Visits at random instants, rates from one in a year to several a day."""
    folder.mkdir()
    for part in range(partitions):
        random = np.random.default_rng(part)
        number = np.arange(part, pages, partitions)
        names = np.array(
            [f"https://site{each // PAGES_A_SITE}.example/page/{each}" for each in number.tolist()]
        )
        gaps = random.exponential(3.0, (len(number), visits))
        rate = np.exp(random.normal(-3.5, 1.5, (len(number), 1)))
        changed = random.random(gaps.shape) < -np.expm1(-rate * gaps)
        at = np.datetime64("2026-01-01", "us") + (np.cumsum(gaps, axis=1) * 86400e6).astype(int)
        table = {
            "page": pa.array(np.repeat(names, visits)).dictionary_encode(),
            "visited_at": pa.array(at.ravel(), pa.timestamp("us", "UTC")),
            "changed": changed.ravel(),
        }
        pq.write_table(pa.table(table), folder / f"part-{part:03}.parquet", compression="zstd")


def measured(work: Callable[[], object]) -> Cost:
    begun, cpu = time.perf_counter(), _cpu()
    work()
    return Cost(time.perf_counter() - begun, _cpu() - cpu)


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--pages", type=int, default=1_000_000)
    asked.add_argument("--visits", type=int, default=20, help="of each page")
    asked.add_argument("--partitions", type=int, default=16)
    asked.add_argument("--engine", default="local")
    asked.add_argument("--jobs", type=int, default=0)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="recrawl-bulk-") as name:
        folder = Path(name)
        write_log(folder / "log", given.pages, given.visits, given.partitions)
        print(
            f"{given.pages:,} pages, {given.pages * given.visits:,} visits, {given.partitions} "
            f"partitions, engine {given.engine}; per million pages:"
        )
        print(f"{'log':10} {size_of(folder / 'log') / given.pages:40.1f} bytes/page")

        def estimate() -> None:
            with open_engine(given.engine, jobs=given.jobs) as engine:
                job = EstimateJob(now="2026-06-01")
                into = str(folder / "rates")
                estimate_partitions([f"{folder}/log/*.parquet"], into, job, engine=engine)

        print(measured(estimate).line("estimate", given.pages, size_of(folder / "rates")))
        found = []

        def plan() -> None:
            with open_engine(given.engine, jobs=given.jobs) as engine:
                question = PlanQuestion.of("0.1/page/1d", "harmonic", "", ("", ""), "periodic")
                rates, into = f"{folder}/rates/*.parquet", str(folder / "plan")
                found.append(plan_partitions([rates], into, PlanJob(question), engine=engine))

        print(measured(plan).line("plan", given.pages, size_of(folder / "plan")))
        spent = found[0].totals.spent / found[0].budget
        print(f"price found in {found[0].passes} passes; {spent:.9f} of the budget is planned")
        assert abs(spent - 1) < 1e-9


if __name__ == "__main__":
    main()
