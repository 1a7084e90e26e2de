"""The table of beyond.md 2.3: four estimators on one population, error and share undefined.

3000 pages with log-normal(-.7, 1) rates, as many exponential gaps of mean 1 as there are
"visits" in the table. The error is the root mean square of ln(estimate / true rate) over the pages
whose estimate is neither 0 nor infinite; the share is that of the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recrawl import Gamma, Likelihood, fit_prior
from recrawl.rates import Cho, Malcolm
from tests.rates.worlds import GAPS, POPULATIONS, visited
from tests.strategies import history_of

if TYPE_CHECKING:
    from recrawl import Histories
    from recrawl.arrays.types import Floats

PAGES, RUNS = 3000, 8

PUBLISHED = {
    "likelihood-plain": {5: (0.793, 0.25), 10: (0.611, 0.10), 30: (0.405, 0.01)},
    "Malcolm": {5: (0.772, 0.04), 10: (0.588, 0.01), 30: (0.411, 0.00)},
    "Cho": {5: (0.744, 0.22), 10: (0.650, 0.09), 30: (0.518, 0.01)},
    "gamma": {5: (0.678, 0.00), 10: (0.549, 0.00), 30: (0.360, 0.00)},
}


def malcolm(histories: Histories) -> Floats:
    """Rate 1/A of eq. 3, which the table scores: ours without its 1/S, except where k = 0.

    A page that never changed has no A, and ours has the rate 1/S: one change in the time watched.
    """
    span = histories.total(histories.gaps)
    return np.asarray(Malcolm().estimate(histories).rate - np.where(histories.changes, 1 / span, 0))


ESTIMATORS = {
    "likelihood-plain": lambda seen: Likelihood(singularity="none").estimate(seen).rate,
    "Malcolm": malcolm,
    "Cho": lambda seen: Cho().estimate(seen).rate,
    "gamma": lambda seen: Gamma(fit_prior(seen)).estimate(seen).rate,
}


@pytest.mark.slow
@pytest.mark.parametrize("visits", [5, 10, 30])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_are_the_published_ones(name, visits):
    """Within three standard errors of the difference between one run, theirs, and the mean of 8.

    The standard error of a root mean square m over n pages is sd(e^2) / (2 m sqrt(n)), that of a
    share p is sqrt(p (1 - p) / n); half a unit of the last printed digit comes on top.
    """
    squares, undefined = [], []
    for seed in range(RUNS):
        chance = np.random.default_rng(60 + seed)
        rates = POPULATIONS["log-normal"](chance, PAGES)
        seen = visited(rates, GAPS["exponential"](chance, (PAGES, visits)), chance)
        estimate = ESTIMATORS[name](seen)
        defined = (estimate > 0) & (estimate < np.inf)
        squares.append(np.log(estimate[defined] / rates[defined]) ** 2)
        undefined.append(1 - defined.mean())

    error, share = PUBLISHED[name][visits]
    mean_error = float(np.mean([math.sqrt(run.mean()) for run in squares]))
    pooled = np.concatenate(squares)
    standard_error = pooled.std() / (2 * mean_error * math.sqrt(len(pooled) / RUNS))
    allowed = 3 * math.sqrt(1 + 1 / RUNS)
    assert mean_error == pytest.approx(error, abs=allowed * standard_error + 0.0005)
    mean_share = float(np.mean(undefined))
    share_error = math.sqrt(mean_share * (1 - mean_share) / PAGES)
    assert mean_share == pytest.approx(share, abs=allowed * share_error + 0.005)


def test_malcolm3():
    """S = 10, U = 4, k = 6 gives A = 1.091357 (algorithms.md 11, before 1/A + 1/S)."""
    page = [(1.0, True)] * 6 + [(1.0, False)] * 4

    assert 1 / malcolm(history_of(page))[0] == pytest.approx(1.091357, abs=1e-6)
