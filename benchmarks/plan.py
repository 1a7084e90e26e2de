"""Speed of planning, as ratios to `numpy.sort` of the rates, measured in one run.

    .venv/bin/python benchmarks/plan.py                  # a million pages and ten million
    .venv/bin/python benchmarks/plan.py 1000000          # or as many as you like

Made pages with log-normal rates and 0.3 visits a day for each. Every figure is the best of a few
runs, taken in turn with the sort, because machines differ and are shared. What was planned is
checked: the budget is spent, every visit is worth the price, no page left alone is worth more.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan import OBJECTIVES, Limits, Rates, allocate

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.plan import Plan

HOSTS = 100_000
LIMIT, LIMIT_WITH_HOSTS = 8, 32  # times as long as a sort


def main() -> None:
    for count in map(int, sys.argv[1:] or ["1000000", "10000000"]):
        measure(count)


def measure(count: int) -> None:
    random = np.random.default_rng(7)
    rates = random.lognormal(np.log(0.1), 1.6, count)
    host = random.integers(0, HOSTS, count)
    budget = 0.3 * count
    caps = Limits(host=host, host_most=1.2 * budget / HOSTS)
    weight, cost = random.pareto(2, count) + 1, random.uniform(0.5, 2, count)
    some = Limits(least=1 / 90, most=24.0)
    gamma = Rates.gamma(random.gamma(2, 1, count) + 0.5, random.gamma(2, 10, count) + 1)

    unit, _ = best(lambda: np.sort(rates))
    print(f"\n== {count:,} pages; numpy.sort of the rates: {1000 * unit:.1f} ms")
    for name, objective in OBJECTIVES.items():
        report(name, rates, LIMIT, lambda o=objective: allocate(rates, budget, objective=o))
    for name in ("freshness", "harmonic"):
        o = OBJECTIVES[name]
        report(
            f"{name}, caps on {HOSTS:,} hosts",
            rates,
            LIMIT_WITH_HOSTS,
            lambda o=o: allocate(rates, budget, objective=o, limits=caps),
        )
        report(
            f"{name}, weights and costs",
            rates,
            None,
            lambda o=o: allocate(rates, budget, objective=o, weight=weight, cost=cost),
        )
        report(
            f"{name}, floors and caps of pages",
            rates,
            None,
            lambda o=o: allocate(rates, budget, objective=o, limits=some),
        )
        report(
            f"{name}, uncertain rates",
            rates,
            None,
            lambda o=o: allocate(gamma, budget, objective=o),
        )


def report(what: str, rates: np.ndarray, limit: int | None, plan: Callable[[], Plan]) -> None:
    runs = 7 if len(rates) <= 1_000_000 else 3
    unit, taken, found = np.inf, np.inf, plan()
    for _ in range(runs):
        unit = min(unit, best(lambda: np.sort(rates), 1)[0])
        seconds, found = best(plan, 1)
        taken = min(taken, seconds)
    check(found)
    asked = "-" if limit is None else f"at most {limit} compiled, {3.125 * limit:.0f} on numpy"
    print(f"{what:<42} {1000 * taken:9.1f} ms {taken / unit:8.1f} sorts   asked: {asked}")


def best(work: Callable[[], Plan | np.ndarray], runs: int = 5) -> tuple[float, Plan]:
    """Seconds of the fastest of a few runs, and what the last returned."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - begun)
    return min(times), found


def check(plan: Plan) -> None:
    """Stop if a plan is not the best one."""
    np.testing.assert_allclose(plan.spent, plan.budget, rtol=1e-9)
    price = np.full(len(plan), plan.price)
    if plan.host_price is not None:
        price = plan.host_price[plan.limits.host]
    free = plan.visits_per_day > 0
    if plan.limits.least is not None:
        free &= (plan.visits_per_day > plan.limits.least) & (plan.visits_per_day < plan.limits.most)
    value = plan.value
    np.testing.assert_allclose(value[free] / price[free], 1, rtol=1e-9)
    assert (value[plan.starved] <= price[plan.starved] * (1 + 1e-12)).all()


if __name__ == "__main__":
    main()
