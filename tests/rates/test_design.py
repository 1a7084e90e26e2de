"""How to watch pages: what a gap tells, how many it takes, and what to make of the first ones.

Places in the papers by algorithms.md: 1.2 is section 4.2 of Cho and Garcia-Molina, whose example 7
(section 7) asks when to give up a guess; 11 is Malcolm and Armitage.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import lambertw

from recrawl import Ratio
from recrawl.errors import InvalidParameter
from recrawl.rates import (
    LLN,
    Beta,
    Cho,
    LastModified,
    LastModifiedRaw,
    Malcolm,
    Matloff,
    accuracy,
    best_gap,
    gain_of_dates,
    gaps_needed,
    interval_accuracy,
    least_spread,
    period_for,
    surprise,
    unbiased_up_to,
)
from recrawl.rates.design import MOST_TELLING

if TYPE_CHECKING:
    from recrawl.rates.estimates import Estimator


def told(expected: float) -> float:
    """What a gap tells about the logarithm of the rate, x^2 / (e^x - 1)."""
    return expected**2 / math.expm1(expected) if expected < 700 else 0.0


# The gap that tells most.


def test_the_most_telling_gap_solves_its_equation():
    """cho-r*: (2 - x) e^x = 2, so x = 2 + W(-2 e^-2) = 1.593624."""
    assert (2 - MOST_TELLING) * math.exp(MOST_TELLING) == pytest.approx(2, abs=1e-12)
    assert pytest.approx(2 + lambertw(-2 * math.exp(-2)).real, abs=1e-12) == MOST_TELLING
    assert pytest.approx(1.593624, abs=1e-6) == MOST_TELLING


def test_no_other_gap_tells_more():
    """beyond.md 1: x^2 / (e^x - 1) has its maximum there."""
    best = minimize_scalar(lambda x: -told(float(x)), bounds=(0.1, 10), method="bounded")

    assert float(best.x) == pytest.approx(MOST_TELLING, abs=1e-5)
    assert told(MOST_TELLING) >= -float(best.fun)


def test_at_the_most_telling_gap_sigma_is_one_and_a_quarter_by_the_root_of_the_gaps():
    """algorithms.md 1.2: sigma sqrt(n) = sqrt(e^x - 1) / x = 1.2426 as n grows."""
    few, many = (
        accuracy(Cho(), np.array([MOST_TELLING]), gap=1.0, gaps=n).sigma[0] * math.sqrt(n)
        for n in (200, 2000)
    )

    limit = math.sqrt(math.expm1(MOST_TELLING)) / MOST_TELLING
    assert limit == pytest.approx(1.2426, abs=5e-5)
    assert many == pytest.approx(limit, rel=1e-3)
    assert abs(many - limit) < abs(few - limit) / 5


def test_the_least_spread_moves_to_the_most_telling_gap():
    """algorithms.md 1.2: the closed form behind the paper's r of about 1.5."""
    place, spread = least_spread(Cho(), 1000)

    assert place == pytest.approx(MOST_TELLING, abs=0.01)
    assert spread * math.sqrt(1000) == pytest.approx(1.2426, rel=2e-3)


def test_a_weekly_page_is_best_visited_every_eleven_days():
    """Example 4: 7 days by 1.5, about 10; with the exact factor it is 11.2."""
    assert best_gap(7.0) == pytest.approx(11.155, abs=1e-3)


# Dates.


def test_dates_pay_where_visits_are_rare():
    """beyond.md 1: 1.02, 1.09, 1.38 and 5.86 for .5, 1, 2 and 5 changes a gap."""
    found = gain_of_dates(np.array([0.5, 1.0, 2.0, 5.0]))

    assert found == pytest.approx([1.02, 1.09, 1.38, 5.86], abs=5e-3)


@given(st.floats(0.01, 50.0))
def test_the_gain_is_the_ratio_of_what_gaps_tell(expected):
    """1 - e^-x over x^2 / (e^x - 1), never below 1."""
    gain = float(gain_of_dates(expected))

    assert gain == pytest.approx(-math.expm1(-expected) / told(expected))
    assert gain >= 1


def test_the_gain_is_what_many_gaps_of_either_kind_show():
    """Ratio of the variances of cho and last-modified, 400 gaps of two changes each."""
    plain = accuracy(Cho(), np.array([2.0]), gap=1.0, gaps=400).sigma
    dated = accuracy(LastModified(), np.array([2.0]), gap=1.0, gaps=400).sigma

    assert ((plain / dated) ** 2).item() == pytest.approx(float(gain_of_dates(2.0)), rel=0.02)


def test_a_gap_without_changes_gains_nothing_from_dates():
    """The limit at 0 is 1."""
    assert gain_of_dates(np.array([0.0])).tolist() == [1.0]


def test_with_very_many_changes_a_gap_dates_are_everything():
    assert gain_of_dates(np.array([800.0])).tolist() == [math.inf]


# Where an estimator is of use.


def test_an_estimator_without_bias_has_no_limit():
    """algorithms.md 3: last-modified stays within 1.5 % for any rate."""
    assert unbiased_up_to(LastModified(), 5) == math.inf
    assert unbiased_up_to(LastModified(), 5, bound=0.01) == pytest.approx(0.52, abs=0.02)


def test_an_estimator_that_is_wrong_for_slow_pages_has_no_region():
    """beta starts every page from one change in two gaps; the raw dated one is 39 % too high."""
    assert unbiased_up_to(Beta(), 5) == 0.0
    assert unbiased_up_to(LastModifiedRaw(), 2) == 0.0


@pytest.mark.parametrize("bound", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("gaps", [3, 12, 40])
def test_the_limit_is_where_the_bias_reaches_the_bound(gaps, bound):
    """Section 4.2, figure 6, for other bounds."""
    limit = unbiased_up_to(Cho(), gaps, bound=bound)
    places = np.linspace(0.001, limit * (1 - 1e-9), 500)

    assert np.abs(accuracy(Cho(), np.array([limit]), gap=1.0, gaps=gaps).bias) == pytest.approx(
        [bound], rel=1e-9
    )
    assert np.all(np.abs(accuracy(Cho(), places, gap=1.0, gaps=gaps).bias) < bound)


def test_a_smaller_bound_hides_the_least_spread():
    """Within .1 % of bias 20 gaps end before r = 1.35."""
    assert unbiased_up_to(Cho(), 20, bound=0.001) < 1.3
    assert np.isnan(least_spread(Cho(), 20, bound=0.001)).all()


def test_where_there_is_no_region_there_is_no_least_spread():
    assert np.isnan(least_spread(Beta(), 5)).all()


# How many gaps.


def by_brute_force(estimator: Estimator, rate: float, precision: float, least: int = 1) -> int:
    """First of the gaps from which on the error stays below, tried one by one up to 80."""
    wrong = [
        gaps
        for gaps in range(least, 81)
        if not accuracy(estimator, np.array([rate]), gap=2.0, gaps=gaps).error[0] <= precision
    ]
    assert 80 not in wrong
    return max(wrong, default=least - 1) + 1


@pytest.mark.parametrize(
    ("estimator", "rate", "precision"),
    [
        (Cho(), 0.25, 0.3),
        (Cho(), 0.75, 0.2),
        (Cho(), 1.5, 0.25),
        (Cho(correction="exact"), 0.5, 0.3),
        (Matloff(), 0.5, 0.3),
        (Beta(), 0.75, 0.25),
        (Ratio(), 0.05, 0.4),
        (LastModifiedRaw(), 1.0, 0.2),
        (LastModified(), 0.1, 0.5),
        (LastModified(), 2.0, 0.15),
        (LastModified(), 0.5, 0.6),
    ],
)
def test_the_gaps_needed_are_the_fewest(estimator, rate, precision):
    """Against every number of gaps from two on."""
    found = gaps_needed(estimator, rate, gap=2.0, precision=precision)

    assert found == by_brute_force(estimator, rate, precision, least=2)


@pytest.mark.parametrize(
    ("estimator", "rate", "precision"),
    [(Malcolm(), 0.5, 0.3), (Malcolm(), 0.75, 0.3), (LLN(), 0.5, 1.0)],
)
def test_the_error_stays_below_the_precision_ever_after(estimator, rate, precision):
    """A few gaps may be right by luck: malcolm's finite answers for x = 1 rise before they fall."""
    found = gaps_needed(estimator, rate, gap=2.0, precision=precision)

    assert found == by_brute_force(estimator, rate, precision)


@pytest.mark.parametrize("estimator", [Ratio(), Cho(), Beta()])
def test_one_gap_may_be_enough(estimator):
    assert accuracy(estimator, np.array([1.0]), gap=1.0, gaps=1).error[0] <= 0.9

    assert gaps_needed(estimator, 1.0, gap=1.0, precision=0.9) == 1.0


def test_a_bias_that_stays_takes_for_ever():
    """Section 4.1: the ratio is not consistent; at one change a gap 37 % are missed."""
    assert gaps_needed(Ratio(), 1.0, gap=1.0, precision=0.3) == math.inf


@pytest.mark.parametrize("estimator", [Cho(), LastModified()])
def test_a_fine_precision_takes_very_many_gaps(estimator):
    """1 / n over what a gap tells: with one gap less the error is still above."""
    found = int(gaps_needed(estimator, 1.0, gap=1.0, precision=0.01))

    last, enough = (
        accuracy(estimator, np.array([1.0]), gap=1.0, gaps=gaps).error[0]
        for gaps in (found - 1, found)
    )
    assert enough <= 0.01 < last


def test_twice_the_precision_takes_four_times_the_gaps():
    rough = gaps_needed(Cho(), 1.5, gap=1.0, precision=0.1)
    fine = gaps_needed(Cho(), 1.5, gap=1.0, precision=0.05)

    assert fine / rough == pytest.approx(4, rel=0.03)


# How long to watch.


def test_three_intervals_leave_a_bias_of_a_twentieth():
    """algorithms.md 11, Malcolm and Armitage: "at least three times the [...] interval"."""
    assert period_for(0.05) == pytest.approx(3, abs=0.005)
    assert period_for(0.01) == pytest.approx(4.6, abs=0.01)


@pytest.mark.parametrize("bias", [0.05, 0.2])
def test_the_period_gives_malcolm_just_that_bias(bias):
    """600 visits over the period: the interval falls short by e^-(S/m)."""
    found = interval_accuracy(Malcolm(), np.array([period_for(bias) / 600]), gap=1.0, gaps=600)

    assert found.bias == pytest.approx([-bias], abs=1e-3)


@pytest.mark.parametrize("bias", [0.05, 0.2])
def test_the_period_gives_simulated_pages_just_that_bias(bias):
    """Equation 3 for 400,000 pages with a mean interval of 1, visited 1000 times.

    A = ((S - U) / k) / ln(S / U), estimate A / (1 + A / S), and S where nothing changed.
    """
    span = period_for(bias)
    chance = np.random.default_rng(121)
    changes = chance.binomial(1000, -math.expm1(-span / 1000), 400_000)
    quiet = span * (1 - changes / 1000)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (span - quiet) / changes / np.log(span / quiet)
        estimate = np.where(changes > 0, between / (1 + between / span), span)

    standard_error = estimate.std() / math.sqrt(len(estimate))
    assert standard_error < 0.0015
    assert estimate.mean() - 1 == pytest.approx(-bias, abs=4 * standard_error + 5e-4)


# A guess, and the first gaps.


def test_example_7_four_changes_in_four_visits_are_no_surprise_yet():
    """Section 7: a weekly guess, visits every ten days, (1 - e^-10/7)^4 = .334.

    It would take eleven of eleven to rule the guess out, so seven more.
    """
    seen = surprise(7.0, gap=10.0, changes=4, gaps=4)

    assert seen.chance == pytest.approx(0.334, abs=5e-4)
    assert not seen.far_off
    assert seen.more == 7
    assert seen.gap < 10.0


def test_example_7_eleven_changes_in_eleven_visits_are_a_surprise():
    ten, eleven = (surprise(7.0, gap=10.0, changes=n, gaps=n) for n in (10, 11))

    assert (ten.far_off, ten.more) == (False, 1)
    assert (eleven.far_off, eleven.more) == (True, 0)
    assert eleven.low > 1 / 7


def test_no_change_in_four_visits_is_a_surprise():
    """e^-40/7 = .0033; the upper end of the band is -ln(.05) / 40 days."""
    seen = surprise(7.0, gap=10.0, changes=0, gaps=4)

    assert seen.chance == pytest.approx(math.exp(-40 / 7))
    assert (seen.far_off, seen.more) == (True, 0)
    assert seen.low == 0.0
    assert seen.high == pytest.approx(-math.log(0.05) / 40)
    assert seen.gap > best_gap(7.0)


first_gaps = st.integers(1, 20).flatmap(lambda gaps: st.tuples(st.integers(0, gaps), st.just(gaps)))


@settings(max_examples=10)
@given(st.floats(5, 50), st.floats(1, 20), first_gaps, st.sampled_from([0.5, 0.9, 0.99]))
def test_chance_and_band_are_those_of_scipy(guess, gap, counts, level):
    """The smaller tail of the binomial, and Clopper and Pearson's band."""
    changes, gaps = counts
    seen = surprise(guess, gap=gap, changes=changes, gaps=gaps, level=level)

    theta = -math.expm1(-gap / guess)
    tails = (
        stats.binomtest(changes, gaps, theta, alternative=side).pvalue
        for side in ("less", "greater")
    )
    known = stats.binom(gaps, theta)
    assert seen.chance == pytest.approx(min(tails), rel=1e-6)
    assert seen.chance == pytest.approx(
        min(float(known.cdf(changes)), float(known.sf(changes - 1))), rel=1e-6
    )
    band = stats.binomtest(changes, gaps).proportion_ci(level, "exact")
    high = -math.log1p(-band.high) / gap if band.high < 1 else math.inf
    assert seen.low == pytest.approx(-math.log1p(-band.low) / gap, rel=1e-6, abs=1e-12)
    assert seen.high == pytest.approx(high, rel=1e-6)
    assert seen.far_off == (not seen.low <= 1 / guess <= seen.high)


@pytest.mark.parametrize(("changes", "gaps"), [(1, 1), (2, 4), (4, 4), (7, 8)])
def test_more_is_the_fewest_changed_gaps_that_rule_the_guess_out(changes, gaps):
    """One gap after the other, by the one-sided test that Clopper and Pearson invert."""
    theta = -math.expm1(-10 / 7)
    more = 0
    while stats.binomtest(changes + more, gaps + more, theta, "greater").pvalue >= 0.05:
        more += 1

    assert surprise(7.0, gap=10.0, changes=changes, gaps=gaps).more == more


@pytest.mark.parametrize("expected", [0.5, 2.0, 4.0, 6.0])
def test_where_all_changed_more_has_a_closed_form(expected):
    """The lower end for n of n is tail^(1/n), so n must exceed ln tail / ln theta."""
    seen = surprise(1.0, gap=expected, changes=1, gaps=1)

    all_of = math.log(0.05) / math.log(-math.expm1(-expected))
    assert 1 + seen.more == math.floor(all_of) + 1


@settings(max_examples=10)
@given(st.floats(5, 50), st.floats(0.5, 20), first_gaps)
def test_the_next_visit_comes_sooner_after_a_change_and_later_without(guess, gap, counts):
    changes, gaps = counts
    before = surprise(guess, gap=gap, changes=changes, gaps=gaps).gap

    changed = surprise(guess, gap=gap, changes=changes + 1, gaps=gaps + 1).gap
    unchanged = surprise(guess, gap=gap, changes=changes, gaps=gaps + 1).gap
    assert changed <= before <= unchanged
    assert changed < unchanged


@settings(max_examples=5)
@given(st.floats(5, 50), st.floats(1, 20), first_gaps, st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter(guess, gap, counts, stretch):
    changes, gaps = counts
    plain = surprise(guess, gap=gap, changes=changes, gaps=gaps)
    slow = surprise(guess * stretch, gap=gap * stretch, changes=changes, gaps=gaps)

    assert slow.chance == pytest.approx(plain.chance, rel=1e-6)
    assert slow.low * stretch == pytest.approx(plain.low)
    assert slow.gap == pytest.approx(plain.gap * stretch, rel=0.02)  # a place of the grid


@pytest.mark.parametrize(("changes", "gaps"), [(4, 4), (2, 4), (0, 4), (11, 11), (1, 12)])
def test_the_next_gap_is_expected_to_tell_most(changes, gaps):
    """By scipy's quadrature: a weekly guess that may be off by a factor of 3, and gaps of 10."""
    guess = stats.norm(math.log(1 / 7), math.log(3))  # of the logarithm of the rate

    def belief(log_rate: float) -> float:
        expected = 10 * math.exp(log_rate)
        seen = math.pow(-math.expm1(-expected), changes) * math.exp(-expected * (gaps - changes))
        return float(guess.pdf(log_rate)) * seen

    def hoped(gap: float) -> float:
        return float(
            quad(lambda log: told(gap * math.exp(log)) * belief(log), -10, 5, limit=200)[0]
        )

    best = minimize_scalar(
        lambda log: -hoped(math.exp(float(log))),
        bounds=(math.log(0.5), math.log(500)),
        method="bounded",
        options={"xatol": 1e-4},
    )

    found = surprise(7.0, gap=10.0, changes=changes, gaps=gaps).gap
    assert found == pytest.approx(math.exp(float(best.x)), rel=0.013)  # the step of the grid
    assert hoped(found) == pytest.approx(-float(best.fun), rel=1e-4)


# What is refused.


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: best_gap(0.0), "mean_interval must be a positive, finite number (got 0.0)"),
        (lambda: best_gap(math.nan), "mean_interval must be a positive, finite number (got nan)"),
        (
            lambda: unbiased_up_to(Cho(), 5, bound=0.0),
            "bound must be a positive, finite number (got 0.0)",
        ),
        (lambda: unbiased_up_to(Cho(), 0), "gaps must be at least 1 (got 0)"),
        (lambda: least_spread(Cho(), 0), "gaps must be at least 1 (got 0)"),
        (
            lambda: unbiased_up_to(LastModified(), 1),
            "gaps must be at least 2 for last-modified (got 1)",
        ),
        (
            lambda: gaps_needed(Cho(), 1.0, gap=1.0, precision=0.0),
            "precision must be a positive, finite number (got 0.0)",
        ),
        (
            lambda: gaps_needed(Cho(), 1.0, gap=1.0, precision=math.nan),
            "precision must be a positive, finite number (got nan)",
        ),
        (
            lambda: gaps_needed(Cho(), 0.0, gap=1.0, precision=0.1),
            "rate must be a positive, finite number (got [0.])",
        ),
        (
            lambda: gaps_needed(Cho(), 1.0, gap=0.0, precision=0.1),
            "gap must be a positive, finite number (got 0.0)",
        ),
        (lambda: period_for(0.0), "bias must be between 0 and 1 (got 0.0)"),
        (lambda: period_for(1.0), "bias must be between 0 and 1 (got 1.0)"),
        (lambda: period_for(math.nan), "bias must be between 0 and 1 (got nan)"),
        (
            lambda: surprise(0.0, gap=1.0, changes=1, gaps=2),
            "mean_interval must be a positive, finite number (got 0.0)",
        ),
        (
            lambda: surprise(7.0, gap=math.inf, changes=1, gaps=2),
            "gap must be a positive, finite number (got inf)",
        ),
        (
            lambda: surprise(7.0, gap=1.0, changes=1, gaps=2, level=1.0),
            "level must be between 0 and 1 (got 1.0)",
        ),
        (
            lambda: surprise(7.0, gap=1.0, changes=3, gaps=2),
            "changes must be between 0 and gaps, at least 1 (got 3 of 2)",
        ),
        (
            lambda: surprise(7.0, gap=1.0, changes=-1, gaps=2),
            "changes must be between 0 and gaps, at least 1 (got -1 of 2)",
        ),
        (
            lambda: surprise(7.0, gap=1.0, changes=0, gaps=0),
            "changes must be between 0 and gaps, at least 1 (got 0 of 0)",
        ),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(ask, message):
    with pytest.raises(InvalidParameter) as refusal:
        ask()

    assert str(refusal.value) == message
