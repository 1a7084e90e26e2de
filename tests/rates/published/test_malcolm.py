"""Malcolm and Armitage's estimator from unchanged time: vectors, limits, and a claim refuted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Likelihood, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import Cho, Malcolm, Matloff
from tests.rates.pages import chances, coverage, every_outcome, regular_page
from tests.strategies import Seen, days, history_of, pages


def equation_3(page: list[Seen]) -> float:
    """The mean interval as printed: A / (1 + A / S), A = ((S - U) / k) / ln(S / U)."""
    changed = math.fsum(gap.gap for gap in page if gap.changed)
    quiet = math.fsum(gap.gap for gap in page if not gap.changed)
    first = changed / sum(gap.changed for gap in page) / math.log1p(changed / quiet)
    return first / (1 + first / (changed + quiet))


@pytest.mark.parametrize(
    ("page", "first", "interval"),
    [
        ([(1.0, True)] * 6 + [(1.0, False)] * 4, 1.091357, 0.983970),
        ([(4.0, True), (5.0, True), (11.0, False)], 7.527135, 5.468884),
    ],
)
def test_malcolm3(page, first, interval):
    """S = 10, U = 4, k = 6 and S = 20, U = 11, k = 2; A is what is left without 1 / S."""
    estimates = Malcolm().estimate(history_of(page))
    span = sum(gap[0] for gap in page)

    assert estimates.mean_interval == pytest.approx([interval], abs=1e-6)
    assert 1 / (estimates.rate - 1 / span) == pytest.approx([first], abs=1e-6)
    assert estimates.status.tolist() == [Status.OK]


def test_without_a_change_the_interval_is_the_time_watched():
    """algorithms.md 11: k to 0 gives A to infinity, so the estimate is S."""
    estimates = Malcolm().estimate(history_of([(3.0, False), (7.0, False)]))

    assert estimates.mean_interval == pytest.approx([10.0], rel=1e-12)
    assert estimates.low.tolist() == [0.0]
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("gaps", [1, 5])
def test_where_every_gap_changed_the_interval_is_zero(gaps):
    """U = 0: ln(S / U) is infinite, A is 0."""
    estimates = Malcolm().estimate(history_of(regular_page(gaps, gaps, 2.0)))

    assert estimates.mean_interval.tolist() == [0.0]
    assert estimates.rate.tolist() == [np.inf]
    assert 0 < estimates.low[0] < np.inf
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


@pytest.mark.parametrize("gaps", [1, 5])
def test_half_a_gap_keeps_the_rate_finite(gaps):
    """The repair of algorithms.md 11: a finite rate, the largest from so many gaps."""
    estimates = Malcolm(singularity="half").estimate(history_of(regular_page(gaps, gaps, 2.0)))

    assert 0 < estimates.rate[0] < np.inf
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.SATURATED]


def test_half_a_gap_is_added_to_the_time_watched_and_to_the_quiet_time():
    """U + 1/2 and S + 1/2 average gaps: Cho's rate and one change in ten and a half days."""
    history = history_of(regular_page(6, 10))
    rate = Malcolm(singularity="half").estimate(history).rate[0]

    assert rate == pytest.approx(Cho().estimate(history).rate[0] + 1 / 10.5, rel=1e-9)


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    for singularity in ("none", "half"):
        estimates = Malcolm(singularity).estimate(history_of([], [], first_visit=first_visit))

        assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
        assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@given(page=pages)
def test_the_interval_is_equation_3(page):
    """For gaps of any length, gaps over nine orders of magnitude among them."""
    if not 0 < sum(gap.changed for gap in page) < len(page):
        return
    estimates = Malcolm().estimate(history_of(page))

    assert estimates.mean_interval == pytest.approx([equation_3(page)], rel=1e-9)
    assert estimates.status.tolist() == [Status.OK]
    assert estimates.flags.tolist() == [0]


@given(changed=st.integers(1, 30), quiet=st.integers(1, 30), gap=days, width=st.floats(0.1, 9))
def test_changed_gaps_of_one_length_give_the_most_likely_rate(changed, quiet, gap, width):
    """1/A solves c / (e^(rc) - 1) = U / k, whatever the lengths of the quiet gaps."""
    page = [Seen(gap, True)] * changed + [Seen(gap * width, False)] * quiet
    history = history_of(page)
    span = gap * (changed + width * quiet)

    assert Malcolm().estimate(history).rate - 1 / span == pytest.approx(
        Likelihood(singularity="none").estimate(history).rate, rel=1e-9
    )


@pytest.mark.parametrize("gaps", [5, 10, 20, 100])
@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0])
def test_the_inverse_of_the_first_interval_is_a_biased_rate(rate, gaps):
    """The paper calls 1/A unbiased. It is the most likely rate, by exact sums over the outcomes.

    Its mean is infinite, for all gaps change with a chance above 0. And among the pages where some
    gap stayed unchanged it is still too high, by (e^r - 1) / 2n to first order in 1 / n, as long
    as leaving those pages out takes little away (a chance of a tenth of that, here).
    """
    inverse = Malcolm().estimate(every_outcome(gaps)).rate - 1 / gaps
    chance = chances(rate, gaps)

    assert chance[-1] > 0
    assert inverse[-1] == np.inf
    mean = float(chance[:-1] @ inverse[:-1]) / (1 - chance[-1])
    expected = math.expm1(rate) / (2 * gaps)
    if chance[-1] < expected / 10:
        assert mean - rate == pytest.approx(expected, rel=0.4)
        assert mean - rate > 0


@pytest.mark.parametrize("gaps", [10, 40])
def test_one_over_the_time_watched_makes_the_interval_nearly_unbiased(gaps):
    """What 1 / S is for: at a fifth of a change a gap the mean interval is near the true one.

    Without it the mean is infinite, as a page may pass without a change.
    """
    rate = 0.2
    interval = Malcolm().estimate(every_outcome(gaps)).mean_interval
    mean = float(chances(rate, gaps) @ interval)

    assert mean * rate == pytest.approx(1, abs=0.15 if gaps == 10 else 0.02)


@given(changed=st.integers(1, 30), quiet=st.integers(1, 30))
def test_the_band_of_equal_gaps_is_clopper_and_pearsons_moved_to_the_rate(changed, quiet):
    """For equal gaps nothing is moved: both ends are those of Matloff's rate."""
    history = history_of(regular_page(changed, changed + quiet, 3.0))
    ours, plain = Malcolm().estimate(history), Matloff().estimate(history)

    assert ours.low == pytest.approx(np.minimum(plain.low, ours.rate), rel=1e-9)
    assert ours.high == pytest.approx(np.maximum(plain.high, ours.rate), rel=1e-9)


@pytest.mark.parametrize(("singularity", "least"), [("none", 0.9), ("half", 0.89)])
@pytest.mark.parametrize("gaps", [2, 5, 10, 20, 40, 100])
def test_the_band_holds_the_truth_about_as_often_as_promised(gaps, singularity, least):
    """A 90 % band at regular gaps, for every rate, by exact sums over the outcomes.

    As published its ends are Clopper and Pearson's. With half a gap they are moved down along with
    the rate, which costs up to 0.7 points.
    """
    held = coverage(Malcolm(singularity, level=0.9), np.geomspace(1e-3, 8, 300), gaps)

    assert (held >= least - 1e-9).all()


def test_a_word_that_is_no_singularity_is_refused():
    with pytest.raises(InvalidParameter, match="singularity must be one of none, half"):
        Malcolm(singularity="all")  # type: ignore[arg-type]
