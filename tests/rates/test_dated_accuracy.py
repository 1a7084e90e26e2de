"""Errors of estimators that read dates, against simulated pages and sums by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Histories
from recrawl.errors import InvalidParameter
from recrawl.rates import Cho, LastModified, LastModifiedRaw, MalcolmAge
from recrawl.rates.dated_accuracy import MeanAge, _below
from recrawl.rates.existence_accuracy import accuracy, answers, chance_within, interval_accuracy

if TYPE_CHECKING:
    from recrawl.rates.estimates import Estimator

ESTIMATORS: dict[str, Estimator] = {
    "last-modified": LastModified(),
    "last-modified-raw": LastModifiedRaw(),
    "malcolm-age": MalcolmAge(),
}
GAP = 2.0  # days
PAGES = 60_000
FEW = 12  # gaps: enough for four moments


def drawn(rate: float, gaps: int) -> Histories:
    """Pages met by chance: looking back from any visit, the last change is exponentially far."""
    chance = np.random.default_rng(7)
    age = chance.exponential(1 / rate, (PAGES, gaps))
    changed = age < GAP
    return Histories(
        gaps=np.full(PAGES * gaps, GAP),
        changed=changed.ravel(),
        offsets=np.arange(PAGES + 1) * gaps,
        age=np.where(changed, age, np.nan).ravel(),
        first_age=chance.exponential(1 / rate, PAGES),
    )


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.25])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_simulated_pages_have_these_errors(name, rate):
    """Mean, spread and share within 30 %, of rates and of intervals: within four deviations."""
    estimator, at = ESTIMATORS[name], np.array([rate])
    found = estimator.estimate(drawn(rate, FEW)).rate / rate
    exact = accuracy(estimator, at, gap=GAP, gaps=FEW)
    close = chance_within(estimator, at, gap=GAP, gaps=FEW, within=0.3)[0]

    share = float(((found >= 0.7) & (found <= 1.3)).mean())
    assert found.mean() - 1 == pytest.approx(exact.bias[0], abs=4 * found.std() / PAGES**0.5)
    assert found.std() == pytest.approx(exact.sigma[0], rel=0.05)
    assert share == pytest.approx(close, abs=4 * math.sqrt(close * (1 - close) / PAGES))

    with np.errstate(divide="ignore"):
        inverse = 1 / found
    some = inverse[np.isfinite(inverse)]
    of_interval = interval_accuracy(estimator, at, gap=GAP, gaps=FEW)
    error = 4 * some.std() / len(some) ** 0.5
    assert some.mean() - 1 == pytest.approx(of_interval.bias[0], abs=error)
    assert some.std() == pytest.approx(of_interval.sigma[0], rel=0.05)
    assert 1 - len(some) / PAGES == pytest.approx(of_interval.undefined[0], abs=0.004)


def test_the_inverse_of_two_independent_ages():
    """Gaps so long that ages have nothing to do with each other: E 2 / (a + b) = 2 for rate 1."""
    found = accuracy(MalcolmAge(), np.array([60.0]), gap=1.0, gaps=1)

    assert found.bias == pytest.approx([1.0], abs=1e-6)
    assert found.sigma.tolist() == [math.inf]


def test_many_independent_ages_are_a_gamma_variable():
    """n ages of rate 1 add up to a Gamma variable of shape n: a mean inverse of n / (n - 1)."""
    found = accuracy(MalcolmAge(), np.array([60.0]), gap=1.0, gaps=9)
    close = chance_within(MalcolmAge(), np.array([60.0]), gap=1.0, gaps=9, within=0.25)

    sums = stats.gamma(10)
    assert found.bias == pytest.approx([10 / 9 - 1], abs=1e-6)
    assert found.sigma == pytest.approx([math.sqrt(100 / 72 - (10 / 9) ** 2)], abs=1e-6)
    assert close == pytest.approx([sums.cdf(10 / 0.75) - sums.cdf(10 / 1.25)], abs=1e-6)


def test_the_mean_age_is_unbiased_and_spreads_by_39_percent():
    """Malcolm and Armitage, V: changes every 10 days, watched all the time for 120."""
    found = interval_accuracy(MalcolmAge(), np.array([0.1]), gap=0.25, gaps=480)

    assert found.bias.tolist() == [0.0]
    assert found.sigma == pytest.approx([0.39], abs=0.002)


@given(st.floats(0.05, 5.0), st.integers(2, 9), st.floats(0.05, 3.0))
def test_the_transform_of_ages_is_a_probability_generating_one(expected, visits, s):
    """1 at s = 0, falling, and its slope there is minus the mean of the sum."""
    ages = MeanAge(visits, expected)
    at_zero, little, more = ages._transform(np.array([1e-9, s, 2 * s]))

    assert at_zero == pytest.approx(1.0, abs=1e-6)
    assert 1 > little > more > 0
    slope = (1 - ages._transform(np.array([1e-6]))[0]) / 1e-6
    assert slope == pytest.approx(visits / expected, rel=1e-3)


@given(st.floats(0.01, 30.0), st.integers(2, 30))
def test_a_transform_gives_back_its_distribution(value, shape):
    assert _below(lambda s: (1 + s) ** -shape, value) == pytest.approx(
        stats.gamma(shape).cdf(value), abs=1e-6
    )


def test_example_4_is_within_35_percent_three_times_in_four():
    """Cho and Garcia-Molina: changes once a week, ten visits ten and a half days apart."""
    close = chance_within(Cho(), np.array([1 / 7]), gap=10.5, gaps=10, within=0.35)

    assert close == pytest.approx([0.75], abs=0.01)


def test_one_gap_is_close_or_not_by_hand():
    """cho says 0 or ln 3 in one gap: at x = ln 3 a change is right, none is not."""
    close = chance_within(Cho(), np.array([math.log(3)]), gap=1.0, gaps=1, within=0.01)

    assert close == pytest.approx([2 / 3])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_closer_is_less_likely(name):
    within = [0.05, 0.2, 0.6, 0.99]
    found = [
        chance_within(ESTIMATORS[name], np.array([0.4]), gap=GAP, gaps=8, within=each)[0]
        for each in within
    ]

    assert found == sorted(found)
    assert 0 < found[0] < found[-1] < 1


@pytest.mark.parametrize("name", ESTIMATORS)
def test_dates_have_no_list_of_answers(name):
    with pytest.raises(InvalidParameter, match="must depend on counts alone"):
        answers(ESTIMATORS[name], gap=1.0, gaps=3)


def test_a_share_must_be_positive():
    with pytest.raises(InvalidParameter, match="within must be a positive"):
        chance_within(Cho(), np.array([1.0]), gap=1.0, gaps=3, within=0.0)
