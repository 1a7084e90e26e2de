"""What small sites cost: a visit of a simulation, and `recrawl why` of a page.

    python benchmarks/small_sites.py
    python benchmarks/small_sites.py --store FOLDER

Our policy visits made worlds of 200 and 900 pages, and each run is timed, per visit. Then a
demonstration is crawled, or one is taken that `recrawl demo --folder FOLDER` has left, and verbs
are asked of it, each in a process of its own, whose processor time counts, with that of starting
Python. They find the code compiled, as it is where the program is installed. The least of three
runs counts. Simulations say how stale they were, too: figures of two versions of the code can be
compared to the last digit.

Touches: a temporary folder, processes; the loopback network, where the demonstration is crawled.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from before_after import record

from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.made import log_normal_rates, make_world
from recrawl.simulate.run import simulate
from recrawl.store import open_store

RUNS = 3
SIZES = (200, 900)
MOST_MICROSECONDS, MOST_SECONDS = 20.0, 0.5
PAGES_ASKED = 5


def verdict(*, held: bool) -> str:
    return f"{'holds' if held else 'FALLS SHORT':<13}"


def simulations() -> None:
    """Cost of a visit of a simulation."""
    for pages in SIZES:
        random = np.random.default_rng(0)
        rates = log_normal_rates(pages, every=20.0, spread=1.5, random=random)
        world = make_world("sections", rates, days=180, random=random)
        least = np.inf
        for _ in range(RUNS):
            began = time.process_time()
            run = simulate(
                world,
                Recrawl(Freshness()),
                Budget(2.0, "change"),
                random=np.random.default_rng(1),
            )
            least = min(least, (time.process_time() - began) / run.visits * 1e6)
        record(f"simulate, {pages} pages: µs per visit", least)
        record(f"simulate, {pages} pages: staleness", run.staleness)
        print(
            f"{verdict(held=least <= MOST_MICROSECONDS)}simulate, {pages} pages: {least:.1f} µs "
            f"per visit (at most {MOST_MICROSECONDS:g}); staleness {run.staleness!r}"
        )


def seconds(words: list[str], folder: Path, compiled: Path) -> float:
    """Least processor time of a command, of several runs, the first of which compiles the code."""
    found = []
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(RUNS):
        before = os.times()
        command = [sys.executable, "-m", "recrawl", *words]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=environment)
        after = os.times()
        found.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return min(found)


def verbs(folder: Path, compiled: Path) -> None:
    """Processor time of verbs that look at a small crawl."""
    with open_store(folder / "recrawl.db") as reader:
        numbers = np.linspace(0, reader.page_count() - 1, PAGES_ASKED).astype(int).tolist()
        addresses = reader.addresses(numbers)
    for words in (["--version"], ["--help"], ["status"], ["pages"], ["history", addresses[0]]):
        least = seconds(words, folder, compiled)
        record(f"recrawl {words[0]}: s", least)
        print(f"{'':<13}recrawl {words[0]}: {least:.2f} s")
    each = [seconds(["why", address], folder, compiled) for address in addresses]
    middle = float(np.median(each))
    record("recrawl why: s", middle)
    print(
        f"{verdict(held=middle <= MOST_SECONDS)}recrawl why: {middle:.2f} s in the middle of "
        f"{PAGES_ASKED} pages, {min(each):.2f} to {max(each):.2f} (at most {MOST_SECONDS:g})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, help="folder that `recrawl demo --folder` has made")
    asked = parser.parse_args()
    simulations()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.store or Path(scratch) / "demo"
        if not folder.exists():
            words = [sys.executable, "-m", "recrawl", "demo", "--folder", str(folder)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        verbs(folder, Path(scratch) / "compiled")


if __name__ == "__main__":
    main()
