"""As many changes as expected: a bracketing root-finder as the oracle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from recrawl import Histories, Likelihood, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import MomentMatching
from tests.rates.pages import coverage, regular_page
from tests.strategies import days, history_of, pages

if TYPE_CHECKING:
    from collections.abc import Sequence


def matching_rate(page: Sequence[tuple]) -> float:
    """Root of sum(1 - e^(-rg)) = X in ln r, written for whichever of X and n - X is smaller."""
    gaps, changed = [gap[0] for gap in page], sum(gap[1] for gap in page)

    def too_few(log_rate: float) -> float:
        expected = [math.exp(log_rate) * gap for gap in gaps]
        if 2 * changed >= len(gaps):
            stay = math.fsum(math.exp(-x) for x in expected)
            return math.log(max(stay, 1e-300) / (len(gaps) - changed))
        return math.log(changed / math.fsum(-math.expm1(-x) for x in expected))

    return math.exp(brentq(too_few, -40, 40, xtol=1e-13, rtol=1e-14))


def rate_of(page: Sequence[tuple], tolerance: float = 1e-9) -> float:
    """Rate of one page."""
    return float(MomentMatching(tolerance=tolerance).estimate(history_of(page)).rate[0])


def test_cho_ex1():
    """For equal gaps -ln(1 - X/n), as the likelihood: X = 6, n = 10."""
    assert rate_of(regular_page(6, 10)) == pytest.approx(0.916291, abs=1e-6)


def test_two_gaps_by_hand():
    """Gaps of 1 and 2 days, one changed: q + q^2 = 1 for q = e^-r, the golden section."""
    golden = (math.sqrt(5) - 1) / 2

    assert rate_of([(1.0, True), (2.0, False)]) == pytest.approx(-math.log(golden), rel=1e-9)


def test_which_of_the_gaps_changed_is_forgotten():
    """Unlike the likelihood, which learns more from a change in a short gap."""
    short, long = [(1.0, True), (9.0, False)], [(1.0, False), (9.0, True)]

    assert rate_of(short) == rate_of(long)
    likely = Likelihood(singularity="none").estimate(history_of(short, long)).rate
    assert likely[0] != pytest.approx(likely[1], rel=0.1)


@given(page=pages)
@settings(max_examples=150)
def test_the_rate_is_the_root_that_brent_finds(page):
    """Dates and counts are not asked for; gaps from a second to thirty years."""
    assume(0 < sum(gap.changed for gap in page) < len(page))

    assert rate_of(page) == pytest.approx(matching_rate(page), rel=1e-6)


@pytest.mark.parametrize(
    "page",
    [
        [(gap, gap < 1e4) for gap in (1e-5, 1.0, 1.0, 1.0, 1.0, 1e4)],
        [(gap, gap < 6000) for gap in (1190.33348, 0.747728932, 6553.58052, 1.76812726e-4)],
        [(1e-5, True)] * 5 + [(1e4, False)],
    ],
)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-9, 1e-11])
def test_the_promised_tolerance_is_kept_among_unequal_gaps(page, tolerance):
    assert rate_of(page, tolerance) == pytest.approx(matching_rate(page), rel=tolerance)


def test_gaps_over_thirteen_orders_of_magnitude_have_a_rate_too():
    """Four of five changed: the four short ones are expected to, e^(-r 1e-7) = 1/4."""
    page = [(1e-7, True)] * 4 + [(1e6, False)]

    assert rate_of(page) == pytest.approx(math.log(4) * 1e7, rel=1e-6)


@given(changed=st.integers(1, 30), quiet=st.integers(1, 30), gap=days)
def test_equal_gaps_have_the_closed_form(changed, quiet, gap):
    page = regular_page(changed, changed + quiet, gap)

    assert rate_of(page) == pytest.approx(math.log1p(changed / quiet) / gap, rel=1e-9)


def test_without_a_change_the_rate_is_zero():
    """The upper end has all days quiet with chance 0.05, however they are divided into gaps."""
    estimates = MomentMatching(level=0.9).estimate(history_of([(3.0, False), (7.0, False)]))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.low.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 10], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("gaps", [1, 4])
def test_where_every_gap_changed_the_rate_is_infinite(gaps):
    """The lower end has all gaps changed with chance 0.05."""
    estimates = MomentMatching(level=0.9).estimate(history_of([(2.0, True)] * gaps))

    assert estimates.rate.tolist() == [np.inf]
    assert estimates.low == pytest.approx([-math.log1p(-(0.05 ** (1 / gaps))) / 2], rel=1e-9)
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = MomentMatching().estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@given(page=pages, level=st.sampled_from([0.5, 0.9, 0.99]))
def test_the_band_is_that_of_a_gamma_with_the_variance_of_so_many_changes(page, level):
    """Delta method: X has a variance of at most X (1 - X / n), and its mean rises by sum(g q).

    Among unequal gaps it is sum(q (1 - q)), which is less, so the band is on the safe side.
    """
    assume(0 < sum(gap.changed for gap in page) < len(page))
    estimates = MomentMatching(level=level).estimate(history_of(page))
    rate = estimates.rate[0]
    stay = [math.exp(-rate * gap.gap) for gap in page]

    slope = math.fsum(gap.gap * q for gap, q in zip(page, stay, strict=True))
    changes = sum(gap.changed for gap in page)
    variance = changes * (1 - changes / len(page))
    assert math.fsum(q * (1 - q) for q in stay) <= variance * (1 + 1e-6)
    shape = max((rate * slope) ** 2 / variance, 0.1)
    assert estimates.shape == pytest.approx([shape], rel=1e-3)
    ends = stats.gamma.ppf([(1 - level) / 2, (1 + level) / 2], shape) / shape * rate
    assert estimates.low == pytest.approx([min(ends[0], rate)], rel=1e-3)
    assert estimates.high == pytest.approx([max(ends[1], rate)], rel=1e-3)


def test_it_is_less_accurate_than_the_likelihood_where_gaps_differ():
    """Over 20,000 pages with twenty gaps over four orders of magnitude (r = 1)."""
    chance = np.random.default_rng(51)
    count, gaps = 20_000, 20
    days_between = 10 ** chance.uniform(-2, 2, (count, gaps))
    changed = chance.random((count, gaps)) < -np.expm1(-days_between)
    history = Histories(days_between.ravel(), changed.ravel(), np.arange(count + 1) * gaps)
    matched = MomentMatching().estimate(history).rate
    likely = Likelihood(singularity="none").estimate(history).rate

    both = (matched > 0) & np.isfinite(matched)
    assert np.log(matched[both]).std() > np.log(likely[both]).std()


def test_the_band_holds_the_truth_about_as_often_as_promised():
    """No exact band: at 90 % it holds rates up to two changes a gap in 78 % of cases and more."""
    held = coverage(MomentMatching(level=0.9), np.geomspace(0.05, 2, 60), 40)

    assert held.min() >= 0.78
    assert held.mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("tolerance", [0.0, -1e-9, 1.0, np.nan])
def test_a_tolerance_that_nothing_can_meet_is_refused(tolerance):
    with pytest.raises(InvalidParameter, match="tolerance must be between 0 and 1"):
        MomentMatching(tolerance=tolerance)
