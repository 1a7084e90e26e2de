"""How often the 90 % band of each method's rate holds the true rate.

    python benchmarks/coverage.py [--pages 4000] [--seed 1]

Pages change by Poisson processes whose rates are log-normal: a median of one change in 20 days,
and a factor of 3.3 as standard deviation. Each has 31 visits, in three ways: a week apart, at
random instants five days apart on average, and a week apart with dated changes and a first date.
Priors are fitted to the pages themselves, as `recrawl estimate` does.

Exact simulation: every change of every page is drawn. A share has a standard error of half a
percent at 4,000 pages. The bands of `trends` and `listing` have scripts of their own:
`benchmarks/seasons.py`, `benchmarks/trends.py` and `benchmarks/listings.py`.

Needs nothing but recrawl. Touches: the terminal.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from recrawl import Histories, fit_prior
from recrawl.rates import METHODS

if TYPE_CHECKING:
    from recrawl import Priors

GAPS = 30
LEVEL = 0.9
MEDIAN, SPREAD = 1 / 20, 1.2
KINDS = ("weekly", "irregular", "dated")
READS_DATES = ("malcolm-age", "last-modified", "last-modified-raw")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    rate = np.exp(random.normal(np.log(MEDIAN), SPREAD, asked.pages))
    drawn = {kind: visited(kind, rate, random) for kind in KINDS}
    priors = {kind: fit_prior(seen) for kind, seen in drawn.items()}

    print(f"{'method':<20}" + "".join(f"{kind:>28}" for kind in KINDS))
    print(" " * 20 + f"{'held   below   above':>28}" * len(KINDS))
    for method in METHODS:
        cells = [
            row(method, drawn[kind], priors[kind], rate)
            if kind == "dated" or method not in READS_DATES
            else ""
            for kind in KINDS
        ]
        print(f"{method:<20}" + "".join(f"{cell:>28}" for cell in cells))


def visited(kind: str, rate: np.ndarray, random: np.random.Generator) -> Histories:
    """What the visits to pages of these rates show."""
    pages = len(rate)
    if kind == "irregular":
        gaps = random.exponential(5.0, (pages, GAPS))
    else:
        gaps = np.full((pages, GAPS), 7.0)
    # Looking back from a visit, the last change is exponentially far, whatever was before.
    age = random.exponential(1 / rate[:, np.newaxis], gaps.shape)
    changed = age < gaps
    dates = {}
    if kind == "dated":
        dates["age"] = np.where(changed, age, np.nan).ravel()
        dates["first_age"] = random.exponential(1 / rate)
    return Histories(gaps.ravel(), changed.ravel(), np.arange(pages + 1) * GAPS, **dates)


def row(method: str, seen: Histories, priors: Priors, rate: np.ndarray) -> str:
    """Shares of pages whose true rate lies in, below and above its band."""
    found = METHODS[method](priors, LEVEL).estimate(seen)
    below, above = rate < found.low, rate > found.high
    shares = (1 - (below | above).mean(), below.mean(), above.mean())
    return "".join(f"{100 * share:6.1f} %" for share in shares)


if __name__ == "__main__":
    main()
