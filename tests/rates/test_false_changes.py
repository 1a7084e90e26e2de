"""A change that may be none: the mixture by hand, by quadrature, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma as gamma_law

from recrawl import Histories, Priors
from recrawl.errors import InvalidParameter
from recrawl.rates.gamma import Gamma
from recrawl.rates.gamma_state import step
from recrawl.rates.priors import fit_prior

ONE = np.ones(1)


def moments(shape, exposure, likelihood):
    """Mean and variance of a rate after an observation, by integrating over all rates."""
    law = gamma_law(shape, scale=1 / exposure)
    low, high = law.ppf([1e-14, 1 - 1e-14])
    rates = np.exp(np.linspace(np.log(low / 1e4), np.log(high), 200_001))
    weight = likelihood(rates) * law.pdf(rates) * rates  # of even steps in the logarithm
    mean = np.sum(rates * weight) / weight.sum()
    return mean, np.sum((rates - mean) ** 2 * weight) / weight.sum()


def after(shape, exposure, gap, false, age=None):
    a, b = step(
        shape * ONE,
        exposure * ONE,
        gap * ONE,
        np.array([True]),
        None if age is None else age * ONE,
        false_changes=false * ONE,
    )
    return float(a[0] / b[0]), float(a[0] / b[0] ** 2)


def test_a_change_that_is_false_half_of_the_time_counts_for_half():
    """One change in one day expected as often as not, and as many false ones: weight 2/3."""
    same = 0.5  # (1 / (1 + 1)) ** 1
    weight = (1 - same) / (1 - same + 0.5 * same)
    changed = step(ONE, ONE, ONE, np.array([True]))
    mean = weight * changed[0][0] / changed[1][0] + (1 - weight) * 1 / 2

    assert after(1.0, 1.0, 1.0, 0.5)[0] == pytest.approx(mean)


@given(
    st.floats(0.3, 20), st.floats(0.1, 100), st.floats(0.01, 50), st.floats(0.001, 1), st.booleans()
)
def test_mean_and_variance_are_those_of_the_posterior(shape, exposure, gap, false, dated):
    age = 0.4 * gap
    if dated:
        found = after(shape, exposure, gap, false, age)
        expected = moments(
            shape, exposure, lambda r: r * np.exp(-r * age) + false * np.exp(-r * gap) / gap
        )
    else:
        found = after(shape, exposure, gap, false)
        expected = moments(
            shape, exposure, lambda r: 1 - np.exp(-r * gap) + false * np.exp(-r * gap)
        )

    assert found == pytest.approx(expected, rel=1e-4)


def test_no_false_changes_is_as_before_bit_for_bit():
    random = np.random.default_rng(3)
    shape, exposure, gaps = random.gamma(2.0, 1.0, (3, 100))
    changed = random.random(100) < 0.5

    plain = step(shape, exposure, gaps, changed)
    none = step(shape, exposure, gaps, changed, false_changes=np.zeros(100))

    assert (np.array(plain) == np.array(none)).all()


def noisy_histories(rate, false, pages=400, visits=30):
    random = np.random.default_rng(8)
    changed = random.random((pages, visits)) < 1 - np.exp(-rate) * (1 - false)
    return Histories.from_lists([([1.0] * visits, row.tolist()) for row in changed])


def test_noise_does_not_inflate_rates_that_know_of_it():
    """Pages that change once in twenty days, and show a false change at one visit in five.

    Four changes of five are false, so single pages tell next to nothing, and the prior little.
    """
    histories = noisy_histories(0.05, 0.2)
    knowing = Gamma(fit_prior(histories, false_changes=0.2), false_changes=0.2)
    trusting = Gamma(fit_prior(histories))

    estimates = knowing.estimate(histories)
    assert 0.03 < np.mean(estimates.shape / estimates.exposure) < 0.06
    assert np.median(trusting.estimate(histories).rate) > 0.2
    held = np.mean((estimates.low <= 0.05) & (estimates.high >= 0.05))
    assert held > 0.85


def test_gaps_of_minutes_are_read_as_gaps_of_days_are():
    """A page that changes at all of its visits does so, whatever the unit of time."""
    pages = [([gap] * 7, [True] * 7) for gap in (1.0, 1 / 1440) for _ in range(5)]
    for rows in (slice(0, 5), slice(5, 10)):
        histories = Histories.from_lists(pages[rows])
        doubting, believing = (
            Gamma(fit_prior(histories, false_changes=false), false_changes=false)
            for false in (0.01, 0.0)
        )
        rate = believing.estimate(histories).rate
        assert doubting.estimate(histories).rate == pytest.approx(rate, rel=0.1)


def test_folding_gaps_is_the_same_as_reading_them_together():
    histories = noisy_histories(0.3, 0.1, pages=20, visits=5)
    method = Gamma(Priors.one(), false_changes=0.1)
    state = method.start(20)
    for visit in range(5):
        rows = np.arange(20) * 5 + visit
        state = method.update(state, histories.gaps[rows], histories.changed[rows])

    assert (method.read(state).rate == method.estimate(histories).rate).all()


@pytest.mark.parametrize("false", [-0.1, 1.0, float("nan")])
def test_a_chance_is_refused_that_is_none(false):
    with pytest.raises(InvalidParameter, match="false_changes must be between 0 and 1"):
        Gamma(false_changes=false)
