"""What our policy gains from the ages of pages at their first visit, and what wrong dates cost.

    python benchmarks/first_ages.py
    python benchmarks/first_ages.py --pages 150 --days 60 --seeds 2

Staleness in synthetic worlds under Last-Modified dates at 1 and 4 visits per change, with and
without first ages. In `build` all pages are dated at one moment, some hours before the crawl, and
have not changed then: what a site says that is written anew as a whole.

Touches: the terminal.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.made import log_normal_rates, make_world
from recrawl.simulate.observation import Observation
from recrawl.simulate.run import simulate

if TYPE_CHECKING:
    from recrawl.simulate.world import World

BUILD = "build"
KINDS = ("poisson", "renewal", "weekly", "bursty", "sections", "turnover", BUILD)


def world_of(kind: str, pages: int, days: float, seed: int) -> World:
    """A synthetic world; that of `build` is Poisson, with one date for all pages."""
    random = np.random.default_rng(seed)
    rates = log_normal_rates(pages, every=20.0, spread=1.5, random=random)
    world = make_world("poisson" if kind == BUILD else kind, rates, days=days, random=random)
    return replace(world, first_age=np.full(len(world), 0.3)) if kind == BUILD else world


def main() -> None:
    """Print a row per kind of world, budget and share of sections that lie."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--days", type=float, default=120.0)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'world':10} {'budget':9} {'lying':>6} {'without':>8} {'with':>8} {'ratio':>6}")
    for kind in KINDS:
        for budget in ("1/change", "4/change"):
            for lying in (0.0,) if kind == BUILD else (0.0, 0.5):
                without, used = (
                    np.mean(
                        [
                            simulate(
                                world_of(kind, asked.pages, asked.days, seed),
                                Recrawl(Freshness(), use_first_age=use),
                                Budget.read(budget),
                                random=np.random.default_rng(seed),
                                observation=Observation(dated=True, lying=lying),
                            ).staleness
                            for seed in range(asked.seeds)
                        ]
                    )
                    for use in (False, True)
                )
                ratio = used / without
                print(f"{kind:10} {budget:9} {lying:6.0%} {without:8.4f} {used:8.4f} {ratio:6.3f}")


if __name__ == "__main__":
    main()
