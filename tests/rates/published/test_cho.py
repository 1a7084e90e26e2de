"""Cho and Garcia-Molina's estimator for regular access: its table rows, its a(n), its band."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from recrawl import Flag, Likelihood, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import Cho
from recrawl.rates.published.cho import exact_correction
from tests.rates.pages import chances, coverage, every_outcome, regular_page
from tests.strategies import days, history_of

LOGARITHMIC_RATES = np.geomspace(1e-4, 12, 400)


def test_cho_ex1():
    """X = 6 of n = 10 daily gaps: -ln((n - X + 1/2) / (n + 1/2))."""
    estimates = Cho().estimate(history_of(regular_page(6, 10)))

    assert estimates.rate == pytest.approx([0.847298], abs=1e-6)
    assert estimates.status.tolist() == [Status.OK]
    assert estimates.flags.tolist() == [0]


@pytest.mark.parametrize(
    ("gaps", "correction"),
    [(1, 0.581977), (2, 0.541494), (3, 0.5277), (5, 0.5167), (10, 0.508332)],
)
def test_cho_a_of_n(gaps, correction):
    """a(n) = 1 / (e^(1/n) - 1) - (n - 1), figure 19; some are given to four digits only."""
    digits = 1e-6 if gaps in (1, 2, 10) else 5e-5

    assert exact_correction(np.array([gaps])) == pytest.approx([correction], abs=digits)


@given(st.integers(1, 10_000))
def test_the_exact_correction_solves_its_equation(gaps):
    """n ln((n + a) / (n - 1 + a)) = 1, by a root-finder; it falls towards a half."""
    root = brentq(lambda a: gaps * math.log1p(1 / (gaps - 1 + a)) - 1, 0.4, 0.6, xtol=1e-14)
    found, next_ = exact_correction(np.array([gaps, gaps + 1]))

    assert found == pytest.approx(root, abs=1e-8)
    assert found > next_ - 1e-9 * gaps
    assert next_ >= 0.5 - 1e-8


def slope_at_zero(returned: np.ndarray) -> float:
    """How fast the mean grows with a small rate: only X = 0 and X = 1 have a say."""
    gaps, rate = len(returned) - 1, 1e-7
    return float(chances(rate, gaps) @ (returned - returned[0])) / rate


def general(gaps: int, a: float, b: float) -> np.ndarray:
    """-ln((n - X + a) / (n + b)) for every X."""
    return np.asarray(-np.log((np.arange(gaps, -1, -1) + a) / (gaps + b)))


@pytest.mark.parametrize(("gaps", "a", "b"), [(2, 0.5, 1.0), (5, 0.3, 0.9), (10, 1.0, 0.5)])
def test_the_coefficient_of_appendix_b_is_misprinted(gaps, a, b):
    """The r term is n ln((n + a) / (n - 1 + a)), not n ln((n + a) / (n - 1 + b)).

    Both agree for a = b, which the constant term asks for, so the paper's result stands.
    """
    slope = slope_at_zero(general(gaps, a, b))

    assert slope == pytest.approx(gaps * math.log((gaps + a) / (gaps - 1 + a)), rel=1e-5)
    assert slope != pytest.approx(gaps * math.log((gaps + a) / (gaps - 1 + b)), rel=1e-2)


@pytest.mark.parametrize("gaps", [1, 2, 3, 10, 40])
def test_only_the_equation_with_the_factor_n_leaves_no_first_order_bias(gaps):
    """The text below figure 19 asks for ln((n + a) / (n - 1 + a)) = 1, without the n.

    That a is 1 / (e - 1) - (n - 1): the mean would start to grow n times too fast, and the
    logarithm would be that of a negative number from two gaps on where all changed.
    """
    exact = Cho("exact").estimate(every_outcome(gaps)).rate
    half = Cho("half").estimate(every_outcome(gaps)).rate
    printed = 1 / (math.e - 1) - (gaps - 1)

    assert slope_at_zero(exact) == pytest.approx(1, rel=1e-5)
    assert slope_at_zero(half) == pytest.approx(1, rel=0.11 / gaps**2)
    assert gaps * math.log((gaps + printed) / (gaps - 1 + printed)) == pytest.approx(gaps)
    assert (printed > 0) == (gaps == 1)


def test_without_a_change_the_rate_is_exactly_zero():
    """algorithms.md 1.2; the upper end has all gaps unchanged with chance 0.05."""
    estimates = Cho(level=0.9).estimate(history_of(regular_page(0, 10, 2.0)))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.low.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 20], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("gaps", [1, 3, 10])
def test_where_every_gap_changed_the_rate_is_the_largest_there_is(gaps):
    """ln(2n + 1) a gap, more cannot be told from so many gaps: saturated, with no upper end."""
    estimates = Cho().estimate(history_of(regular_page(gaps, gaps, 2.0)))

    assert estimates.rate == pytest.approx([math.log(2 * gaps + 1) / 2], rel=1e-12)
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.SATURATED]
    assert Cho().estimate(every_outcome(gaps)).rate.max() == pytest.approx(2 * estimates.rate[0])


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    for correction in ("half", "exact"):
        estimates = Cho(correction).estimate(history_of([], [], first_visit=first_visit))

        assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
        assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@given(changed=st.integers(0, 30), quiet=st.integers(0, 30), gap=days)
def test_equal_gaps_give_the_likelihood_with_half_a_gap(changed, quiet, gap):
    """algorithms.md 2: the irregular equation with half a virtual gap is this estimator."""
    if changed + quiet == 0:
        return
    history = history_of(regular_page(changed, changed + quiet, gap))

    assert Cho().estimate(history).rate == pytest.approx(
        Likelihood(singularity="half").estimate(history).rate, rel=1e-9
    )


@given(
    changed=st.integers(0, 40), quiet=st.integers(0, 40), level=st.sampled_from([0.5, 0.9, 0.99])
)
def test_the_band_is_clopper_and_pearsons(changed, quiet, level):
    """The chance of change is 1 - e^(-rI), so its ends turn into rates by -ln(1 - theta) / I.

    Where few gaps hold the rate below the lower end, the rate is the end.
    """
    n = max(changed + quiet, 1)
    estimates = Cho(level=level).estimate(history_of(regular_page(changed, n, 3.0)))

    exact = stats.binomtest(changed, n).proportion_ci(level, method="exact")
    high = math.inf if changed == n else -math.log1p(-exact.high) / 3
    low = min(-math.log1p(-exact.low) / 3, estimates.rate[0])
    assert estimates.low == pytest.approx([low], rel=1e-9)
    assert estimates.high == pytest.approx([max(high, estimates.rate[0])], rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("correction", ["half", "exact"])
@pytest.mark.parametrize("gaps", [1, 2, 5, 10, 40, 150])
def test_the_band_holds_the_truth_at_least_as_often_as_promised(gaps, correction, level):
    """For every rate, by exact sums over the outcomes: Clopper and Pearson never promise too much.

    Widening the band to hold the rate can only help.
    """
    held = coverage(Cho(correction, level), LOGARITHMIC_RATES, gaps)

    assert (held >= level - 1e-9).all()


def test_the_average_gap_stands_for_unequal_ones():
    """Gaps of 1 and 3 days with one change: as two gaps of 2 days, and flagged."""
    estimates = Cho().estimate(history_of([(1.0, True), (3.0, False)]))

    assert estimates.rate == pytest.approx([math.log(2.5 / 1.5) / 2], rel=1e-12)
    assert estimates.flags.tolist() == [Flag.IRREGULAR_GAPS]


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(InvalidParameter, match="level must be between 0 and 1"):
        Cho(level=level)


def test_a_word_that_is_no_correction_is_refused():
    with pytest.raises(InvalidParameter, match=r"correction must be one of half, exact \(got 'no'"):
        Cho("no")  # type: ignore[arg-type]
