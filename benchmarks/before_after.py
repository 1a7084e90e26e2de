"""A benchmark on an earlier version of recrawl and on this one, in one run, as ratios.

    .venv/bin/python benchmarks/before_after.py v0.2.0 rates.py kernels
    .venv/bin/python benchmarks/before_after.py HEAD~3 plan.py 1000000 --rounds 5

The benchmark of this tree is run on both, in turn: before, after, before, after. Both run with what
is installed here, so a change of what recrawl needs is not measured. Of every figure that the
benchmark gives to `record`, the least of all rounds counts, and the ratio of the two is printed. On
a machine shared with others compare processor time: wall time says what the others did.

Touches: a temporary folder, git, processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
_FIGURES = "RECRAWL_BENCHMARK_FIGURES"  # file that a benchmark writes its figures to


class Cost(NamedTuple):
    """Seconds that some work took: on the clock, and of all processors together."""

    wall: float
    processor: float

    def least(self, other: Cost) -> Cost:
        """The lesser of each."""
        return Cost(min(self.wall, other.wall), min(self.processor, other.processor))


def cost_of(work: Callable[[], object], runs: int = 3) -> Cost:
    """Least cost of some work in this process, of a few runs."""
    least = Cost(float("inf"), float("inf"))
    for _ in range(runs):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        least = least.least(Cost(time.perf_counter() - wall, time.process_time() - processor))
    return least


def record(name: str, figure: float) -> None:
    """Note a figure of a benchmark, if somebody compares; of equal names the least counts."""
    path = os.environ.get(_FIGURES)
    if path:
        with Path(path).open("a") as file:
            file.write(json.dumps([name, float(figure)]) + "\n")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("before", help="a revision, e.g. v0.2.0, or a folder with an earlier tree")
    options.add_argument("benchmark", help="its file in this folder, e.g. rates.py")
    options.add_argument("--rounds", type=int, default=2)
    given, arguments = options.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        before = Path(given.before)
        if not before.is_dir():
            before = Path(scratch)
            _unpack(given.before, before)
        sources = {"before": before / "src", "after": HERE.parent / "src"}
        figures: dict[str, dict[str, float]] = {}
        for _ in range(given.rounds):
            for side, source in sources.items():
                for name, figure in _run(source, given.benchmark, arguments):
                    row = figures.setdefault(name, {})
                    row[side] = min(figure, row.get(side, figure))
    print(f"{'':<66} {'before':>10} {'after':>10} {'ratio':>7}")
    for name, row in figures.items():
        if row.keys() == sources.keys():
            ratio = row["after"] / row["before"]
            print(f"{name:<66} {row['before']:10.4g} {row['after']:10.4g} {ratio:7.2f}")


def _unpack(revision: str, folder: Path) -> None:
    """Write the sources of a revision into a folder."""
    archive = subprocess.run(
        ["git", "archive", revision, "src"], cwd=HERE.parent, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)


def _run(source: Path, benchmark: str, arguments: list[str]) -> list[tuple[str, float]]:
    """Figures of one run of a benchmark on the sources of one version."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "figures"
        path.touch()
        subprocess.run(
            [sys.executable, HERE / benchmark, *arguments],
            env={**os.environ, "PYTHONPATH": str(source.resolve()), _FIGURES: str(path)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return [tuple(json.loads(line)) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    main()
