"""Forecasts against what came, for pages of many kinds: is a chance of 30 % right 30 % of the time?

    python benchmarks/populations.py                  # every kind, gaps and length: a minute
    python benchmarks/populations.py two-point never  # some kinds

Pages change as Poisson processes whose rates come from one of eight populations: the four that
the estimators were made with, and four held out, which no constant was chosen by. Half of the pages
make the prior, the other half is scored: before each visit a forecaster gives the chance that it
shows a change, then it is told what it showed. The 100,000 forecasts are sorted and cut into ten
parts of 10,000; printed is the largest difference of mean forecast and share of changes among the
ten (chance alone makes .005 to .01 of it), and the mean of minus the logarithm of the chance that
was given to what came.

Touches: the terminal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl import Gamma, Histories, fit_prior

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats

    Chance = np.random.Generator

VISITS = 100_000  # that are scored
LENGTHS = (5, 50)  # visits per page
SEED = 1956
ASKED = 0.03

NEVER = 1e-9  # changes a day: none in a lifetime


def _either(chance: Chance, share: float, some: Floats, others: Floats) -> Floats:
    return np.where(chance.random(len(some)) < share, some, others)


# Rates of so many pages, by what the population is called.
POPULATIONS: dict[str, Callable[[Chance, int], Floats]] = {
    "gamma": lambda chance, pages: chance.gamma(1.0, 1 / 1.5, pages),
    "two-point": lambda chance, pages: chance.choice([0.05, 2.0], pages),
    "Pareto": lambda chance, pages: 0.1 * (1 + chance.pareto(1.5, pages)),
    "log-normal": lambda chance, pages: chance.lognormal(-0.7, 1.0, pages),
    # Held out.
    "three-point": lambda chance, pages: chance.choice([0.02, 0.3, 3.0], pages, p=[0.4, 0.4, 0.2]),
    "log-uniform": lambda chance, pages: 10 ** chance.uniform(-3, 1, pages),
    "two gammas": lambda chance, pages: _either(
        chance, 0.9, chance.gamma(2.0, 0.05 / 2, pages), chance.gamma(2.0, 3.0 / 2, pages)
    ),
    "never": lambda chance, pages: _either(
        chance, 0.5, np.full(pages, NEVER), chance.gamma(1.0, 1 / 1.5, pages)
    ),
}

# Days between the visits, one row per page.
GAPS: dict[str, Callable[[Chance, tuple[int, int]], Floats]] = {
    "daily": lambda _, size: np.ones(size),
    "weekly": lambda _, size: np.full(size, 7.0),
    "random": lambda chance, size: chance.exponential(1.0, size),
}

# A forecaster made from the pages whose rates it may know of.
FORECASTERS: dict[str, Callable[[Histories], Any]] = {
    "gamma": lambda pages: Gamma(fit_prior(pages)),
}


class Score(NamedTuple):
    """How the forecasts of one forecaster were."""

    worst: float  # difference in a decile
    surprise: float  # mean of minus the logarithm of the chance given to what came


def main() -> None:
    wanted = sys.argv[1:] or list(POPULATIONS)
    print(f"{'population':12} {'gaps':7} {'visits':>6}", *(f"{n:>16}" for n in FORECASTERS))
    worst = dict.fromkeys(FORECASTERS, 0.0)
    for population in wanted:
        for gaps in GAPS:
            for visits in LENGTHS:
                found = scores(population, gaps, visits)
                for name, score in found.items():
                    worst[name] = max(worst[name], score.worst)
                cells = (f"{each.worst:8.3f} {each.surprise:7.4f}" for each in found.values())
                print(f"{population:12} {gaps:7} {visits:6d}", *cells, flush=True)
    for name, each in worst.items():
        print(f"{name}: off by at most {each:.3f} in a decile; {ASKED} asked")


def scores(population: str, gaps: str, visits: int) -> dict[str, Score]:
    """Scores of all forecasters for the same pages."""
    pages = VISITS // visits
    chance = np.random.default_rng(
        [SEED, list(POPULATIONS).index(population), list(GAPS).index(gaps), visits]
    )
    rates = POPULATIONS[population](chance, 2 * pages)
    days = GAPS[gaps](chance, (2 * pages, visits))
    changed = chance.random(days.shape) < -np.expm1(-rates[:, np.newaxis] * days)
    known = Histories(
        gaps=days[:pages].ravel(),
        changed=changed[:pages].ravel(),
        offsets=np.arange(pages + 1) * visits,
    )
    return {
        name: score(make(known), days[pages:], changed[pages:])
        for name, make in FORECASTERS.items()
    }


def score(forecaster: Any, days: Floats, changed: Floats) -> Score:
    """Score of one forecaster that is told the visits one after the other."""
    predicted, state = np.empty(days.shape), forecaster.start(len(days))
    for visit in range(days.shape[1]):
        predicted[:, visit] = 1 - forecaster.read(state).unchanged(days[:, visit])
        state = forecaster.update(state, days[:, visit], changed[:, visit])
    given = np.where(changed, predicted, 1 - predicted)
    surprise = (predicted - changed).ravel()[np.argsort(predicted.ravel(), kind="stable")]
    deciles = [float(part.mean()) for part in np.array_split(surprise, 10)]
    return Score(max(map(abs, deciles)), -float(np.log(np.maximum(given, 1e-12)).mean()))


if __name__ == "__main__":
    main()
