"""How many changes to expect: closed forms, and what always holds."""

import numpy as np
import pytest
from scipy import stats

from recrawl import Gamma, Histories, Priors
from recrawl.errors import InvalidParameter
from recrawl.trends.counts import counts_within, negative_binomial, poisson
from recrawl.trends.next_change import PREDICTORS
from recrawl.trends.points import points_of
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, WindowTimes, consistent_windows

PRIORS = Priors.one(1.0, 7.0)
GROWING = Histories.from_lists([([1.0, 2, 3, 4, 5], [True] * 5), ([1.0], [False])])


def found(days, most=3):
    points = points_of(GROWING, place="end")
    windows = consistent_windows(points, Windowing(np.inf))
    return counts_within(GROWING, points, windows, priors=PRIORS, days=days, most=most)


def test_chances_are_those_of_the_poisson_distribution():
    mean = np.array([0.0, 0.3, 40.0])

    expected = stats.poisson(mean[:, None]).pmf(np.arange(6))
    np.testing.assert_allclose(poisson(mean, 5), expected, rtol=1e-10)


def test_chances_are_those_of_the_negative_binomial_distribution():
    shape, mean = np.array([0.4, 3.0]), np.array([2.0, 0.5])

    law = stats.nbinom(shape[:, None], (shape / (shape + mean))[:, None])
    np.testing.assert_allclose(negative_binomial(shape, mean, 5), law.pmf(range(6)), rtol=1e-10)


def test_a_weibull_process_expects_the_integral_of_its_rate():
    """From 15 days after the first visit on, by the trapezoidal rule."""
    points = points_of(GROWING, place="end")
    windows = consistent_windows(points, Windowing(np.inf))
    fit = Weibull.of(WindowTimes.of(points, windows))
    at = np.linspace(15.0, 25.0, 100_001)
    mean = np.trapezoid(fit.beta / fit.eta * (at / fit.eta) ** (fit.beta - 1), at)

    assert found(10.0)["weibull"].mean[0] == pytest.approx(mean, rel=1e-8)


def test_every_method_says_what_it_expects():
    """The ratio: five changes in 15 days, so one in three; nothing without a window."""
    counts = found(3.0)

    assert tuple(counts) == PREDICTORS
    assert counts["ratio"].mean[0] == pytest.approx(1.0)
    assert np.isnan(counts["ratio"].mean[1])
    assert np.isnan(counts["weibull"].chance[1]).all()
    state = Gamma(PRIORS).estimate(GROWING)
    assert counts["gamma"].mean == pytest.approx(3 * state.shape / state.exposure)


def test_chances_make_one_and_the_mean():
    counts = found(2.0, most=200)
    for each in counts.values():
        assert each.chance[0].sum() == pytest.approx(1, abs=1e-6)
        assert each.chance[0] @ np.arange(201) == pytest.approx(each.mean[0], rel=1e-4)


@pytest.mark.parametrize("wrong", [{"days": 0.0}, {"days": 1.0, "most": -1}])
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        found(**wrong)
