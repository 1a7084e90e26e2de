"""A benchmark on an earlier version of recrawl and on this one, in one run, as ratios.

    .venv/bin/python benchmarks/before_after.py v0.2.0 rates.py kernels
    .venv/bin/python benchmarks/before_after.py HEAD~3 plan.py 1000000 --rounds 5
    .venv/bin/python benchmarks/before_after.py HEAD~3 crawl.py --beside --rounds 5

The benchmark of this tree is run on both, in turn: before, after, before, after. Both run with what
is installed here, so a change of what recrawl needs is not measured. Of every figure that the
benchmark gives to `record`, the least of all rounds counts, and the ratio of the two is printed. On
a machine shared with others compare processor time: wall time says what the others did. Processor
time rises, too, while others use the caches, by a third or more; `--beside` runs both at once on
one processor, so that both meet the same, and prints the median ratio of the rounds.

Touches: a temporary folder, git, processes, and with `--beside` the processor that it runs on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
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
    options.add_argument("--beside", action="store_true", help="run both at once")
    given, arguments = options.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        before = Path(given.before)
        if not before.is_dir():
            before = Path(scratch)
            _unpack(given.before, before)
        sources = {"before": before / "src", "after": HERE.parent / "src"}
        rounds = [
            _round(sources, [given.benchmark, *arguments], beside=given.beside)
            for _ in range(given.rounds)
        ]
    print(f"{'':<66} {'before':>10} {'after':>10} {'ratio':>7}")
    for name in rounds[0]["before"]:
        pairs = [
            (each["before"][name], each["after"][name]) for each in rounds if name in each["after"]
        ]
        if pairs:
            least = [min(column) for column in zip(*pairs, strict=True)]
            ratio = median(b / a for a, b in pairs) if given.beside else least[1] / least[0]
            print(f"{name:<66} {least[0]:10.4g} {least[1]:10.4g} {ratio:7.2f}")


def _round(
    sources: dict[str, Path], command: list[str], *, beside: bool
) -> dict[str, dict[str, float]]:
    """Figures of one run of a benchmark on each version."""
    if beside:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # what is begun here stays there
        with ThreadPoolExecutor() as both:
            runs = {side: both.submit(_run, each, command) for side, each in sources.items()}
            return {side: run.result() for side, run in runs.items()}
    return {side: _run(each, command) for side, each in sources.items()}


def _unpack(revision: str, folder: Path) -> None:
    """Write the sources of a revision into a folder."""
    archive = subprocess.run(
        ["git", "archive", revision, "src"], cwd=HERE.parent, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)


def _run(source: Path, command: list[str]) -> dict[str, float]:
    """Figures of one run of a benchmark on the sources of one version."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "figures"
        path.touch()
        subprocess.run(
            [sys.executable, HERE / command[0], *command[1:]],
            env={**os.environ, "PYTHONPATH": str(source.resolve()), _FIGURES: str(path)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        figures: dict[str, float] = {}
        for name, figure in map(json.loads, path.read_text().splitlines()):
            figures[name] = min(figure, figures.get(name, figure))
        return figures


if __name__ == "__main__":
    main()
