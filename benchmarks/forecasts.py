"""How many copies are fresh in each tenth of a demo's crawl, as forecast and as it was.

    python benchmarks/forecasts.py [--crawls 12] [--pages 300] [--days 60]
    python benchmarks/forecasts.py --live --days 20     a day a second, as `recrawl demo` crawls

Each crawl is of a world of its own and has two visits every five days for each page. Printed is the
forecast less the truth in each tenth, crawl by crawl, and the mean and the standard error of all of
them. In a world of a few hundred pages, part of which change together, the truth itself differs
from what the best forecast says. A virtual crawl makes all first visits at once, and hears of no
dates; a *live* one makes them for days, reads what the site says of changes, and is never the same
twice.

Touches: processes, the terminal; with `--live` the loopback network, the clock, temporary folders.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from recrawl.clock import ScaledClock
from recrawl.demo.crawl import DemoPlan, crawl_example
from recrawl.demo.jobs import ExampleJobs
from recrawl.demo.truth import tenths, truly_fresh
from recrawl.demo.virtual import virtual_crawl
from recrawl.demo.world import draw_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.recrawl.policy import Recrawl

START, LOOKS_A_DAY = 20_000.0, 4


def errors(seed: int, *, pages: int, days: float) -> list[float]:
    world = draw_world(pages, start=START, days=days, seed=seed)
    looks = START + np.arange(1 / LOOKS_A_DAY, days + 0.01, 1 / LOOKS_A_DAY)
    policy = Recrawl(objective=OBJECTIVES["freshness"])
    visits, beliefs = virtual_crawl(
        world, policy, Budget(0.4 * pages), looks=looks, random=np.random.default_rng(seed)
    )
    fresh = truly_fresh(world, visits, beliefs)
    share = tenths(beliefs, fresh, start=START, end=START + days)
    return (share.expected - share.true).tolist()


def live_errors(seed: int, *, pages: int, days: float) -> list[float]:
    """The same of a live demo."""
    world = draw_world(pages, start=START, days=days + 30, seed=seed)
    jobs = ExampleJobs.made(START, days=days + 30, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        plan = DemoPlan(Path(folder), f"{0.4 * pages:g}/1d", days)
        clock = ScaledClock(plan.seconds_a_day, START)
        crawl = crawl_example(world, jobs, clock, plan, on_start=_ignore, watch=_ignore)
        run = asyncio.run(crawl)
    fresh = truly_fresh(world, run.visits.of_copies, run.beliefs)
    share = tenths(run.beliefs, fresh, start=START, end=START + days)
    return (share.expected - share.true).tolist()


def _ignore(*_: object) -> None:
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crawls", type=int, default=12)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--days", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--live", action="store_true")
    args = parser.parse_args()
    seeds = range(1, args.crawls + 1)
    with ProcessPoolExecutor(args.jobs) as pool:
        run = partial(live_errors if args.live else errors, pages=args.pages, days=args.days)
        rows = np.array(list(pool.map(run, seeds)))
    for seed, row in zip(seeds, rows, strict=True):
        print(f"{seed:5d} " + " ".join(f"{each:+.3f}" for each in row), flush=True)
    print(" mean " + " ".join(f"{each:+.3f}" for each in rows.mean(axis=0)))
    print("error " + " ".join(f"{each:6.3f}" for each in rows.std(axis=0) / len(rows) ** 0.5))
    print(f"beyond .03: {np.count_nonzero(np.abs(rows) > 0.03)} of {rows.size} tenths")


if __name__ == "__main__":
    main()
