"""Speed of planning, as ratios to `numpy.sort` of the rates, measured in one run.

    .venv/bin/python benchmarks/plan.py                  # a million pages and ten million
    .venv/bin/python benchmarks/plan.py 1000000          # or as many as you like
    .venv/bin/python benchmarks/plan.py --only uncertain # plans with this in their names
    .venv/bin/python benchmarks/before_after.py v0.2.0 plan.py 1000000

Made pages with log-normal rates and 0.3 visits a day for each. Every figure is the best of a few
runs, taken in turn with the sort, because machines differ and are shared; by the clock, and by the
time of all processors. What was planned is
checked: the budget is spent, every visit is worth the price, no page left alone is worth more.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from before_after import Cost, cost_of, record

from recrawl.plan import OBJECTIVES, Limits, Rates, allocate

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.plan import Plan

HOSTS = 100_000
LIMIT, LIMIT_WITH_HOSTS = 8, 32  # times as long as a sort, in compiled code
ON_NUMPY = 3.125  # times as long as in compiled code
LIMIT_UNCERTAIN = 20 / ON_NUMPY


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("pages", nargs="*", type=int, default=[1_000_000, 10_000_000])
    options.add_argument("--only", default="")
    given = options.parse_args()
    for count in given.pages:
        measure(count, given.only)


def measure(count: int, only: str) -> None:
    random = np.random.default_rng(7)
    rates = random.lognormal(np.log(0.1), 1.6, count)
    host = random.integers(0, HOSTS, count)
    budget = 0.3 * count
    caps = Limits(host=host, host_most=1.2 * budget / HOSTS)
    weight, cost = random.pareto(2, count) + 1, random.uniform(0.5, 2, count)
    some = Limits(least=1 / 90, most=24.0)
    gamma = Rates.gamma(random.gamma(2, 1, count) + 0.5, random.gamma(2, 10, count) + 1)

    plans: list[tuple[str, float | None, Callable[[], Plan]]] = []
    for name, o in OBJECTIVES.items():
        uncertain = partial(allocate, gamma, budget, objective=o)
        plans += [
            (name, LIMIT, partial(allocate, rates, budget, objective=o)),
            (f"{name}, uncertain rates", LIMIT_UNCERTAIN, uncertain),
        ]
    for name in ("freshness", "harmonic"):
        known = partial(allocate, rates, budget, objective=OBJECTIVES[name])
        plans += [
            (f"{name}, caps on {HOSTS:,} hosts", LIMIT_WITH_HOSTS, partial(known, limits=caps)),
            (f"{name}, weights and costs", None, partial(known, weight=weight, cost=cost)),
            (f"{name}, floors and caps of pages", None, partial(known, limits=some)),
        ]

    unit = cost_of(lambda: np.sort(rates), 5)
    print(f"\n== {count:,} pages; numpy.sort of the rates: {1000 * unit.wall:.1f} ms")
    for what, limit, plan in plans:
        if only in what:
            report(what, rates, limit, plan)


def report(what: str, rates: np.ndarray, limit: float | None, plan: Callable[[], Plan]) -> None:
    runs = 7 if len(rates) <= 1_000_000 else 3
    check(plan())
    unit = taken = Cost(np.inf, np.inf)
    for _ in range(runs):
        unit = unit.least(cost_of(lambda: np.sort(rates), 1))
        taken = taken.least(cost_of(plan, 1))
    asked = (
        "-" if limit is None else f"at most {limit:.3g} compiled, {ON_NUMPY * limit:.0f} on numpy"
    )
    sorts, processor = taken.wall / unit.wall, taken.processor / unit.processor
    print(
        f"{what:<42} {1000 * taken.wall:9.1f} ms {sorts:8.1f} sorts {processor:8.1f} of processor"
        f"   asked: {asked}"
    )
    record(f"{len(rates):,} pages, {what}: sorts by the clock", sorts)
    record(f"{len(rates):,} pages, {what}: seconds of processor", taken.processor)


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
