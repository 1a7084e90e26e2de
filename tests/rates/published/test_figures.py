"""What Cho and Garcia-Molina read off their figures, by exact sums.

Estimating frequency of change (2003). The numbers are those that algorithms.md 1.1 to 1.3, 3 and
16 marks as verified, with the claims of the paper that it marks as wrong. Visits are daily, so a
rate is the paper's r, changes a gap.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from recrawl import Ratio
from recrawl.rates import (
    Cho,
    LastModified,
    LastModifiedRaw,
    accuracy,
    least_spread,
    unbiased_up_to,
)
from recrawl.rates.existence_accuracy import answers
from recrawl.rates.published.cho import exact_correction

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.rates import Accuracy
    from recrawl.rates.estimates import Estimator


def at(estimator: Estimator, rate: float, gaps: int) -> Accuracy:
    return accuracy(estimator, np.array([rate]), gap=1.0, gaps=gaps)


def cho_by_hand(rate: float, gaps: int) -> tuple[float, float]:
    """Bias and sigma / r of -ln((n - X + 1/2) / (n + 1/2)), by scipy's binomial (equation 1)."""
    changed = np.arange(gaps + 1)
    chance = stats.binom.pmf(changed, gaps, -math.expm1(-rate))
    estimate = -np.log((gaps - changed + 0.5) / (gaps + 0.5))
    mean = float(chance @ estimate)
    return mean / rate - 1, math.sqrt(float(chance @ (estimate - mean) ** 2)) / rate


@cache
def ages_added_up(changes: int) -> tuple[Floats, Floats]:
    """Places and weights to integrate over the sum of so many ages, uniform between 0 and 1.

    Irwin and Hall's density is a polynomial between whole numbers.
    """
    nodes, heights = np.polynomial.legendre.leggauss(40)
    total = ((nodes + 1) / 2 + np.arange(changes)[:, np.newaxis]).ravel()
    return total, stats.irwinhall.pdf(total, changes) * np.tile(heights / 2, changes)


def figure_13(changes: int, gaps: int) -> float:
    if changes == gaps:
        return gaps - 1
    return (changes - 1) - changes / (gaps * math.log(1 - changes / gaps))


def dated_bias(rate: float, gaps: int) -> float:
    """Bias of figure 13 as in appendix D: over the density of T, one k of X after the other.

    Shares nothing with `accuracy`, which integrates a Laplace transform.
    """
    mean = 0.0
    for k in range(1, gaps + 1):
        ages, weight = ages_added_up(k)
        inverse = float(np.sum(weight * np.exp(-rate * ages) / (gaps - k + ages)))
        ways = math.comb(gaps, k) * rate**k * math.exp(-rate * (gaps - k))
        mean += ways * figure_13(k, gaps) * inverse
    return mean / rate - 1


# Section 4.1, the plain ratio.


def test_figure_3_the_ratio_is_within_a_tenth_below_a_fifth_of_a_change_a_gap():
    """Section 4.1: bias < 10 % if and only if r < 0.2146, the paper's 0.21, for any n."""
    assert unbiased_up_to(Ratio(), 1) == pytest.approx(0.2146, abs=5e-5)
    assert unbiased_up_to(Ratio(), 50) == pytest.approx(0.2146, abs=5e-5)
    assert abs(at(Ratio(), 0.2145, 10).bias[0]) < 0.1 < abs(at(Ratio(), 0.2147, 10).bias[0])


def test_figure_3_the_ratio_misses_more_than_half_at_two_changes_a_gap():
    """Section 4.1: E/r = .432 at r = 2."""
    assert 1 + at(Ratio(), 2.0, 20).bias == pytest.approx([0.432], abs=5e-4)


@pytest.mark.parametrize(("rate", "gaps", "spread"), [(1.0, 1, 0.482), (0.3, 9, 0.487)])
def test_figure_4_a_slower_page_takes_more_gaps_for_the_same_spread(rate, gaps, spread):
    """Section 4.1, the paper's 0.5."""
    assert at(Ratio(), rate, gaps).sigma == pytest.approx([spread], abs=5e-4)


def test_example_3_ten_daily_visits_to_a_weekly_page_tell_little():
    """Section 4.1: 2 sigma/r = 1.504 at r = 1/7, n = 10."""
    assert 2 * at(Ratio(), 1 / 7, 10).sigma == pytest.approx([1.504], abs=5e-4)


# Section 4.2, the improved estimator.

REGIONS = [  # gaps, by the specification, by us
    (3, 1.305, 1.30122),
    (10, 2.650, 2.64841),
    (20, 3.477, 3.47544),
    (50, 4.578, 4.57474),
    (80, 5.141, 5.13604),
]


@pytest.mark.parametrize(("gaps", "specified", "ours"), REGIONS)
def test_figure_6_the_region_of_a_tenth_of_bias(gaps, specified, ours):
    """cho-bias: the paper says 3.5 for n = 20 and 5 for n = 80.

    A root finder over scipy's binomial agrees with us to ten digits. The specification's numbers
    lie a little beyond the region: the bias is already above a tenth there.
    """
    found = unbiased_up_to(Cho(), gaps)
    by_hand = float(
        brentq(lambda rate: cho_by_hand(float(rate), gaps)[0] + 0.1, 0.5, 8, xtol=1e-13)
    )

    assert found == pytest.approx(by_hand, rel=1e-10)
    assert found == pytest.approx(ours, abs=1e-4)
    assert found == pytest.approx(specified, abs=0.01)
    assert cho_by_hand(specified, gaps)[0] < -0.1


@pytest.mark.parametrize(("gaps", "spread"), [(10, 0.4024), (40, 0.2021)])
def test_figure_7_the_spread_at_one_and_a_half_changes_a_gap(gaps, spread):
    """cho-sigma: the paper says .4 and .2."""
    assert at(Cho(), 1.5, gaps).sigma == pytest.approx([spread], abs=1e-3)
    assert at(Cho(), 1.5, gaps).sigma == pytest.approx([cho_by_hand(1.5, gaps)[1]])


@pytest.mark.parametrize(("gaps", "place"), [(20, 1.345), (40, 1.44), (80, 1.525)])
def test_figure_7_the_spread_is_least_near_one_and_a_half(gaps, place):
    """Section 4.2: the paper says 1.35 for n = 20."""
    found, spread = least_spread(Cho(), gaps)
    by_hand = minimize_scalar(
        lambda rate: cho_by_hand(float(rate), gaps)[1],
        bounds=(1, 2),
        method="bounded",
        options={"xatol": 1e-9},
    )

    assert found == pytest.approx(place, abs=5e-3)
    assert found == pytest.approx(float(by_hand.x), abs=1e-5)
    assert spread == pytest.approx(float(by_hand.fun), rel=1e-10)


@pytest.mark.parametrize("gaps", [5, 10, 17])
def test_figure_7_few_gaps_have_no_least_spread(gaps):
    """Against "for other values of n [...] its minimum when r is about 1.5" (section 4.2).

    With up to 17 gaps, so at the paper's own n = 10, sigma/r falls all the way.
    """
    spreads = [cho_by_hand(rate, gaps)[1] for rate in np.arange(0.05, 12, 0.01)]

    assert np.isnan(least_spread(Cho(), gaps)).all()
    assert np.all(np.diff(spreads) < 0)


def test_figure_7_from_eighteen_gaps_on_there_is_a_least_spread():
    place, spread = least_spread(Cho(), 18)

    assert place == pytest.approx(1.382, abs=1e-3)
    assert spread < cho_by_hand(place - 0.1, 18)[1]
    assert spread < cho_by_hand(place + 0.1, 18)[1]


@pytest.mark.parametrize(("gaps", "rate", "bias"), [(160, 5.0, -0.029), (500, 6.0, -0.018)])
def test_section_6_more_gaps_take_the_bias_of_fast_pages_below_a_twentieth(gaps, rate, bias):
    """Section 6.2 chooses these n so that the bias stays below 5 %: -2.9 % and -1.8 %."""
    assert at(Cho(), rate, gaps).bias == pytest.approx([bias], abs=5e-4)


def test_twenty_gaps_are_biased_by_up_to_a_sixth_of_a_percent_below_two_changes():
    """Against "the bias is less than 0.1 % in this region" (section 4.2): .17 % at r = 1.59."""
    rates = np.linspace(0.01, 2, 400)
    bias = np.abs(accuracy(Cho(), rates, gap=1.0, gaps=20).bias)

    assert bias.max() == pytest.approx(0.00172, abs=1e-5)
    assert bias.max() == pytest.approx(max(abs(cho_by_hand(rate, 20)[0]) for rate in rates))
    assert rates[np.argmax(bias)] == pytest.approx(1.59, abs=0.01)


def test_example_4_ten_visits_at_one_and_a_half_changes_are_nearly_unbiased():
    """Section 4.2: less than .3 % by the paper, -.30 % by us."""
    assert at(Cho(), 1.5, 10).bias == pytest.approx([-0.0030], abs=5e-5)


@pytest.mark.parametrize(("rate", "probability"), [(1.5, 0.755), (10 / 7, 0.531)])
def test_example_4_how_often_the_rate_is_right_to_a_third(rate, probability):
    """Section 4.2: "by up to 35 % with 75 % probability" holds at r = 1.5.

    At 7 days and 10, r = 10/7, one more of the eleven answers lies outside and it is 53 %.
    """
    near = np.abs(answers(Cho(), gap=1.0, gaps=10) - rate) <= 0.35 * rate
    chance = stats.binom.pmf(np.arange(11), 10, -math.expm1(-rate))

    assert float(chance[near].sum()) == pytest.approx(probability, abs=5e-4)


# Appendix B, where the half comes from.


def test_figure_19_the_exact_correction():
    """cho-a(n), and the values of algorithms.md 1.3 for 3 and 5 gaps; a half in the limit."""
    found = exact_correction(np.array([1, 2, 10]))

    assert found == pytest.approx([0.581977, 0.541494, 0.508332], abs=1e-6)
    assert exact_correction(np.array([3, 5])) == pytest.approx([0.5277, 0.5167], abs=5e-5)
    assert exact_correction(np.array([100_000])) == pytest.approx([0.5], abs=1e-5)


@pytest.mark.parametrize("gaps", [1, 2, 3, 5, 10, 40])
def test_figure_19_the_correction_solves_its_equation(gaps):
    """n ln((n + a) / (n - 1 + a)) = 1, so that E r^ = r + O(r^2)."""
    a = float(exact_correction(np.array([gaps]))[0])

    assert gaps * math.log((gaps + a) / (gaps - 1 + a)) == pytest.approx(1, rel=1e-12)
    assert at(Cho(correction="exact"), 1e-4, gaps).bias == pytest.approx([0], abs=1e-3)


# Section 5 and appendix D, dates of change.


@pytest.mark.parametrize("gaps", [2, 3, 5, 10, 50])
def test_figure_11_the_raw_estimator_has_two_limits(gaps):
    """cho-fig10-limits: N ln(N / (N - 1)) for slow pages, N / (N - 1) for fast ones."""
    slow, fast = (
        1 + at(LastModifiedRaw(), 1e-6, gaps).bias,
        1 + at(LastModifiedRaw(), 60, gaps).bias,
    )

    assert slow == pytest.approx([gaps * math.log(gaps / (gaps - 1))], abs=1e-5)
    assert fast == pytest.approx([gaps / (gaps - 1)], abs=1e-5)


@pytest.mark.parametrize(("rate", "limit"), [(0.01, 1.3863), (10.0, 2.0), (30.0, 2.0)])
def test_figure_11_the_limits_come_out_by_simulation(rate, limit):
    """cho-fig10-limits by Monte Carlo, to 2 %: N = 2, four million pages.

    algorithms.md 3 has 1.401 with a standard error of .005 at r = .01; the exact mean is 1.394.
    """
    age = np.random.default_rng(111).exponential(1 / rate, (2, 4_000_000))
    estimate = (age < 1).sum(axis=0) / np.minimum(age, 1).sum(axis=0)
    mean = estimate.mean() / rate

    assert mean == pytest.approx(limit, rel=0.02)
    assert mean == pytest.approx(1 + at(LastModifiedRaw(), rate, 2).bias[0], rel=0.01)


def test_figure_11_the_mean_at_a_hundredth_of_a_change_is_that_of_the_specification():
    assert 1 + at(LastModifiedRaw(), 0.01, 2).bias == pytest.approx([1.39397], abs=1e-5)
    assert 1 + at(LastModifiedRaw(), 0.01, 2).bias == pytest.approx([1.401], abs=2 * 0.005)


WORST = [  # gaps, rate, bias
    (2, 0.70, -0.01444),
    (5, 0.73, 0.01081),
    (10, 1.34, 0.00949),
    (50, 2.64, 0.00308),
]


@pytest.mark.parametrize(("gaps", "rate", "bias"), WORST)
def test_figure_12_what_bias_the_correction_leaves(gaps, rate, bias):
    """Section 5: "less than 2 % for any r value"; below 1.5 % it is.

    algorithms.md 3 has -1.3 % for N = 2, +1.0 % and +.9 % for 5 and 10, and below .3 % for 50, by
    a Monte Carlo that was too coarse for the second digit: the integral over the density of T
    agrees with ours to seven.
    """
    rates = np.geomspace(0.2, 10, 250)
    left = accuracy(LastModified(), rates, gap=1.0, gaps=gaps).bias
    worst = int(np.argmax(np.abs(left)))

    assert left[worst] == pytest.approx(bias, abs=1e-5)
    assert rates[worst] == pytest.approx(rate, abs=0.02)
    assert left[worst] == pytest.approx(dated_bias(float(rates[worst]), gaps), abs=1e-7)


def test_figure_12_by_simulation():
    """Three standard errors of two million pages, at the worst place of N = 5."""
    age = np.random.default_rng(112).exponential(1 / 0.73, (5, 2_000_000))
    changed = (age < 1).sum(axis=0)
    events = np.array([0.0] + [figure_13(k, 5) for k in range(1, 6)])
    ratio = events[changed] / np.minimum(age, 1).sum(axis=0) / 0.73

    standard_error = ratio.std() / math.sqrt(len(ratio))
    assert standard_error < 0.001
    assert ratio.mean() - 1 == pytest.approx(0.01081, abs=3 * standard_error)


def test_figure_12_the_curves_do_not_overlap():
    """Against "the graphs for other n values essentially overlap with that of n = 2" (section 5).

    At r = .7 two gaps are 1.4 % too low and five are 1.1 % too high.
    """
    two, five = at(LastModified(), 0.7, 2).bias[0], at(LastModified(), 0.7, 5).bias[0]

    assert two == pytest.approx(dated_bias(0.7, 2), abs=1e-7)
    assert five == pytest.approx(dated_bias(0.7, 5), abs=1e-7)
    assert five - two == pytest.approx(0.025, abs=1e-3)


@pytest.mark.parametrize(("rate", "mean"), [(4.0, 0.5748), (30 / 7, 0.542)])
def test_example_6_without_dates_nearly_half_is_lost(rate, mean):
    """Section 5: five visits a month apart, weekly changes; its .57 takes months of 28 days."""
    assert 1 + at(Cho(), rate, 5).bias == pytest.approx([mean], abs=5e-4)


@pytest.mark.parametrize(("rate", "bias"), [(4.0, -0.000852), (30 / 7, -0.000724)])
def test_example_6_with_dates_next_to_nothing_is_lost(rate, bias):
    """Section 5: "less than 0.1 %"; algorithms.md 3 has -.07 % with a standard error of .03."""
    found = at(LastModified(), rate, 5).bias

    assert found == pytest.approx([bias], abs=1e-6)
    assert found == pytest.approx([dated_bias(rate, 5)], abs=1e-7)
    assert found == pytest.approx([-0.0007], abs=0.0003)


def test_figure_14_the_spread_falls_with_the_gaps():
    """Section 5: "as n increases, the variation gets smaller", at every r."""
    rates = np.geomspace(0.1, 10, 9)
    spreads = [accuracy(LastModified(), rates, gap=1.0, gaps=n).sigma for n in (3, 5, 10, 50)]

    assert np.all(np.diff(spreads, axis=0) < 0)
