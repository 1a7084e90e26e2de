"""Predicted chance of change against how often it came, over 100,000 simulated visits.

Half of the pages make the prior, the other half are scored: before each of a page's visits the
chance that it will show a change is read from the state, then the visit is told to the state. The
visits are sorted by their prediction and cut into ten parts of 10,000; in each, the mean prediction
and the share of changes may differ by so much. (Chance alone makes 0.005 of it: the surprises of
one visit after the other are uncorrelated, sqrt(.25 / 10,000).)
"""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Gamma, fit_prior
from tests.rates.worlds import GAPS, POPULATIONS, visited

PAGES, VISITS = 2000, 50

# Populations of the prior's own family, and of others.
BOUNDS = {"gamma": 0.02, "two-point": 0.03, "Pareto": 0.03, "log-normal": 0.03}


def decile_errors(population: str, gaps: str, seed: int) -> np.ndarray:
    """Mean prediction less share of changes, by decile of the prediction."""
    chance = np.random.default_rng(seed)
    rates = POPULATIONS[population](chance, 2 * PAGES)
    seen = visited(rates, GAPS[gaps](chance, (2 * PAGES, VISITS)), chance)
    gamma = Gamma(fit_prior(seen.take(np.arange(PAGES))))

    gap = seen.gaps.reshape(-1, VISITS)[PAGES:]
    changed = seen.changed.reshape(-1, VISITS)[PAGES:]
    predicted, state = np.empty(gap.shape), gamma.start(PAGES)
    for visit in range(VISITS):
        predicted[:, visit] = 1 - gamma.read(state).unchanged(gap[:, visit])
        state = gamma.update(state, gap[:, visit], changed[:, visit])

    surprise = (predicted - changed).ravel()[np.argsort(predicted.ravel(), kind="stable")]
    return np.array([part.mean() for part in np.array_split(surprise, 10)])


# Strictly regular visits to a population that is no Gamma are left out: after few of them a page is
# known by its counts alone, and no Gamma prior predicts a two-point population from those (the
# exact posterior under the same prior does not either). Jittered visits do not have that problem.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("population", "gaps"),
    [("gamma", "regular"), *((population, "exponential") for population in POPULATIONS)],
)
def test_what_is_predicted_happens_as_often(population, gaps):
    worst = np.abs(decile_errors(population, gaps, seed=71)).max()

    assert worst <= BOUNDS[population]
