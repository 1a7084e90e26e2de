"""Draw the picture of the page on simulations.

    python docs/pictures/simulate.py [FOLDER]

`simulate-budget.svg` is freshness against budget in a made-up world whose sections change
together. The same numbers come out every time.

Touches: `simulate-*.svg` in FOLDER, or else beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.report.charts.simulation import BudgetLine, budget_chart
from recrawl.simulate.competitors import policy_named
from recrawl.simulate.made import log_normal_rates, sections
from recrawl.simulate.run import simulate

POLICIES = ("uniform", "optimal-known", "clairvoyant")
VISITS = (0.5, 1.0, 2.0, 4.0, 8.0)


def main(folder: Path) -> None:
    """Run every policy at every budget."""
    random = np.random.default_rng(5)
    rates = log_normal_rates(300, every=20.0, spread=1.2, random=random)
    world = sections(rates, days=120.0, random=random)
    lines = []
    for name in POLICIES:
        runs = [
            simulate(
                world,
                policy_named(name, world, Freshness()),
                Budget(visits, "change"),
                random=np.random.default_rng(0),
            )
            for visits in VISITS
        ]
        lines.append(BudgetLine(name, VISITS, [run.freshness for run in runs]))
    chart = budget_chart(
        lines,
        unit="visits per change",
        title="Freshness against budget",
        subtitle="a made-up site of 300 pages in 15 sections that change together",
    )
    write_picture(folder / "simulate-budget.svg", chart)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
