"""What the planner is compared with: integrals in long doubles, and a plain optimiser."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.plan import Limits

if TYPE_CHECKING:
    from recrawl.plan import Objective


def expected_value(name: str, shape: float, exposure: float, elapsed: float) -> float:
    """E V by quadrature over s = ln(1 + t / exposure), in pieces as short as the integrand asks."""
    a, b = np.longdouble(shape), np.longdouble(exposure)
    end = np.log1p(np.longdouble(elapsed) / b)
    marks = np.array([0.1, 0.3, 1, 2, 4, 8, 16, 32, 64]) / shape
    cuts = np.unique(np.clip([0, *marks, *np.linspace(0, float(end), 16), end], 0, end))
    nodes, weights = (part.astype(np.longdouble) for part in np.polynomial.legendre.leggauss(40))
    total = np.longdouble(0)
    for low, high in pairwise(cuts):
        s = low + (high - low) * (nodes + 1) / 2
        integrand = {
            "freshness": b * a * np.expm1(s) * np.exp(-a * s),
            "harmonic": -b * np.expm1(-a * s) * np.exp(s),
            "age": -b * b * np.expm1(s) * np.expm1(-a * s) * np.exp(s),
            "missed": a * b * np.expm1(s) * np.exp(s),
            "detected": -a * (a + 1) * np.expm1(-s) * np.exp(-a * s),
        }[name]
        total += (weights * integrand).sum() * (high - low) / 2
    return float(total)


class Case(NamedTuple):
    """A small problem: what is to be planned, and the limits."""

    rate: np.ndarray
    budget: float
    weight: np.ndarray
    cost: np.ndarray
    limits: Limits


def drawn(seed: int) -> Case:
    """A random problem that can be solved: floors that the budget and the hosts can pay for."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 7))
    rate = 10 ** random.uniform(-1.5, 1.5, count)
    weight = random.choice([np.ones(count), random.uniform(0.1, 3, count)])
    cost = random.choice([np.ones(count), random.uniform(0.5, 2, count)])
    least = random.choice([0.0, 1.0]) * random.uniform(0, 0.2, count)
    most = least + random.choice([1.0, 1e3]) * random.uniform(0.1, 2, count)
    host = random.integers(0, 2, count)
    floors = np.bincount(host, least * cost, 2)
    host_most = floors + random.choice([0.3, 100.0]) * random.uniform(0.2, 3, 2)
    whole = np.minimum(host_most, np.bincount(host, most * cost, 2))[np.unique(host)].sum()
    budget = floors.sum() + random.uniform(0.02, 0.98) * min(whole - floors.sum(), 3.0 * count)
    return Case(rate, budget, weight, cost, Limits(least, most, host, host_most))


def best_loss(objective: Objective, case: Case, start: np.ndarray, *, randomised: bool) -> float:
    """Least weighted loss that scipy's optimiser finds, from several points; only feasible ones."""
    from scipy.optimize import minimize

    limits = case.limits
    least, most, host = (np.asarray(some) for some in (limits.least, limits.most, limits.host))
    host_most = np.asarray(case.limits.host_most)
    tiny = 1e-9
    lose = objective.random_loss if randomised else objective.loss

    def losses(visits):
        return case.weight * lose(case.rate, 1 / np.maximum(visits, tiny))

    def loss(visits):
        return float(losses(visits).sum())

    def slope(visits):
        """By differences, as the optimiser does; each page's loss depends on its visits alone."""
        step = 1e-6 * np.maximum(np.abs(visits), 1e-3)
        return (losses(visits + step) - losses(visits - step)) / (2 * step)

    def at_host(number):
        return np.where(host == number, -case.cost, 0.0)

    rules: list[Any] = [
        {
            "type": "eq",
            "fun": lambda f: f @ case.cost - case.budget,
            "jac": lambda _: case.cost,
        }
    ]
    rules += [
        {
            "type": "ineq",
            "fun": lambda f, h=h: host_most[h] + f @ at_host(h),
            "jac": lambda _, h=h: at_host(h),
        }
        for h in (0, 1)
    ]
    bounds = list(zip(np.maximum(least, tiny), np.maximum(most, 2 * tiny), strict=True))
    best = np.inf
    middle = np.clip(np.full(len(least), case.budget / case.cost.sum()), *np.transpose(bounds))
    for first in (start, middle, (start + middle) / 2):
        found = minimize(
            loss,
            np.clip(first, *np.transpose(bounds)),
            bounds=bounds,
            constraints=rules,
            method="SLSQP",
            jac=slope,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        visits = np.clip(found.x, *np.transpose(bounds))
        for some, cap in (
            (host == 0, host_most[0]),
            (host == 1, host_most[1]),
            (host >= 0, case.budget),
        ):
            # It keeps limits to about 1e-8 only; what is over is taken away in proportion.
            visits[some] *= min(1, cap / max((visits * case.cost)[some].sum(), tiny))
        if (visits >= least * (1 - 1e-12)).all():
            best = min(best, loss(visits))
    return best
