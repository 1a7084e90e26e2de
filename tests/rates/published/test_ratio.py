"""Changes a day, its known bias by exact sums, and Garwood's band."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from recrawl import Ratio, Status
from tests.strategies import history_of, pages


def rates_by_changes(gaps: int) -> np.ndarray:
    """What `Ratio` returns for 0, 1, ..., all changed of so many daily gaps."""
    every = [
        [(1.0, True)] * changed + [(1.0, False)] * (gaps - changed) for changed in range(gaps + 1)
    ]
    return Ratio().estimate(history_of(*every)).rate


def moments(rate: float, gaps: int) -> tuple[float, float]:
    """Mean and standard deviation of the estimate, summed over all outcomes of daily visits."""
    chance = stats.binom.pmf(np.arange(gaps + 1), gaps, -math.expm1(-rate))
    returned = rates_by_changes(gaps)
    mean = float(chance @ returned)
    return mean, math.sqrt(float(chance @ (returned - mean) ** 2))


def test_six_changes_in_ten_days_are_six_tenths_a_day():
    """cho-ex1 by the naive estimator: X / T with X = 6, T = 10."""
    estimates = Ratio().estimate(history_of([(1.0, True)] * 6 + [(1.0, False)] * 4))

    assert estimates.rate == pytest.approx([0.6], rel=1e-12)


def test_unequal_gaps_count_by_their_days():
    """Two changes in 1 + 5 + 4 days."""
    estimates = Ratio().estimate(history_of([(1.0, True), (5.0, False), (4.0, True)]))

    assert estimates.rate == pytest.approx([0.2], rel=1e-12)


def test_a_counted_gap_shows_all_its_changes():
    """Where the source tells how often, 3 + 1 changes in 8 days; the gaps that changed are 2."""
    estimates = Ratio().estimate(
        history_of([(2.0, True, np.nan, 3), (5.0, False, np.nan, 0), (1.0, True)])
    )

    assert estimates.rate == pytest.approx([0.5], rel=1e-12)
    assert estimates.changes.tolist() == [2]


def test_a_date_makes_no_difference():
    """The ratio asks only whether a gap changed."""
    dated = Ratio().estimate(history_of([(2.0, True, 0.5), (5.0, False)]))
    plain = Ratio().estimate(history_of([(2.0, True), (5.0, False)]))

    assert dated.rate.tolist() == plain.rate.tolist()


def test_no_change_is_a_rate_of_zero():
    """Garwood's upper bound without an event is -ln(tail) / T."""
    estimates = Ratio(level=0.9).estimate(history_of([(3.0, False), (7.0, False)]))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.low.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 10], rel=1e-6)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


def test_changes_in_all_gaps_give_one_a_gap():
    """X = n gives the rate of the visits, f (algorithms.md 1.1)."""
    estimates = Ratio().estimate(history_of([(0.5, True)] * 4))

    assert estimates.rate == pytest.approx([2.0])
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


def test_the_gamma_is_the_changes_in_the_days():
    estimates = Ratio().estimate(history_of([(1.0, True)] * 6 + [(1.0, False)] * 4))

    assert estimates.shape.tolist() == [6.0]
    assert estimates.exposure.tolist() == [10.0]


@pytest.mark.parametrize("rate", [0.1, 1.0, 2.0])
def test_the_mean_is_that_of_the_chance_of_a_change(rate):
    """E = 1 - e^-r for daily visits, however many there are: more visits do not help."""
    few, many = moments(rate, 3)[0], moments(rate, 50)[0]

    assert few == pytest.approx(-math.expm1(-rate), rel=1e-9)
    assert many == pytest.approx(-math.expm1(-rate), rel=1e-9)


def test_the_bias_stays_below_a_tenth_up_to_a_fifth_of_a_change_a_gap():
    """algorithms.md 1.1: bias below 10 % if and only if r < 0.2146."""
    crossing = brentq(lambda rate: moments(rate, 5)[0] / rate - 0.9, 0.01, 1.0)

    assert crossing == pytest.approx(0.2146, abs=5e-5)


def test_at_two_changes_a_gap_more_than_half_is_lost():
    """algorithms.md 1.1: E/r = 0.432 at r = 2."""
    assert moments(2.0, 20)[0] / 2.0 == pytest.approx(0.432, abs=5e-4)


@pytest.mark.parametrize(
    ("rate", "gaps", "spread"), [(1.0, 1, 0.482), (0.3, 9, 0.487), (1 / 7, 10, 1.504 / 2)]
)
def test_the_spread_is_the_published_one(rate, gaps, spread):
    """algorithms.md 1.1: sigma/r, the last given as 2 sigma/r = 1.504."""
    assert moments(rate, gaps)[1] / rate == pytest.approx(spread, abs=5e-4)


@given(st.integers(1, 400), st.floats(0.1, 1e4), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_band_is_garwoods(changes, days, level):
    """Chi-square quantiles with 2X and 2X + 2 degrees of freedom, over 2T."""
    tail = (1 - level) / 2
    page = [(days / (changes + 1), True)] * changes + [(days / (changes + 1), False)]
    estimates = Ratio(level=level).estimate(history_of(page))

    low = stats.chi2.ppf(tail, 2 * changes) / (2 * days)
    high = stats.chi2.ppf(1 - tail, 2 * changes + 2) / (2 * days)
    assert estimates.low == pytest.approx([low], rel=1e-6)
    assert estimates.high == pytest.approx([high], rel=1e-6)


@given(pages)
def test_the_rate_is_changes_by_days(page):
    estimates = Ratio().estimate(history_of(page))

    seen = sum(gap.count if gap.count >= 0 else gap.changed for gap in page)
    assert estimates.rate == pytest.approx([seen / math.fsum(gap.gap for gap in page)], rel=1e-12)


def test_a_page_seen_once_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = Ratio().estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


def test_states_are_plain_sums():
    """Events, days watched, changes, visits; the first visit is there from the start."""
    state = Ratio.start(2)
    state = Ratio.update(state, np.array([2.0, 3.0]), np.array([True, False]))
    state = Ratio.update(
        state, np.array([1.0, 1.0]), np.array([False, True]), count=np.array([-1, 4])
    )

    assert state.tolist() == [[1.0, 3.0, 1.0, 3.0], [4.0, 4.0, 1.0, 3.0]]


def test_merged_states_share_the_visit_where_they_meet():
    one = Ratio.update(Ratio.start(1), np.array([2.0]), np.array([True]))
    other = Ratio.update(Ratio.start(1), np.array([5.0]), np.array([True]))

    assert Ratio.merge(one, other).tolist() == [[2.0, 7.0, 2.0, 3.0]]
