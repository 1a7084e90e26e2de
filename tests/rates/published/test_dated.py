"""What the methods for dated changes read of a history, and the plain estimator among them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Flag, Likelihood, Status
from recrawl.rates import LastModifiedRaw
from recrawl.rates.published.dated import Dated
from tests.strategies import dated_in, days, history_of, pages, unchanged_in

SECOND = 1 / 86_400

dated_pages = st.lists(unchanged_in(days) | dated_in(days), min_size=1, max_size=12)


def test_figure_10_by_hand():
    """Two changes, 1 and 0.5 days before the visits that saw them, and two quiet days: 2 / 3.5."""
    estimates = LastModifiedRaw().estimate(
        history_of([(2.0, True, 1.0), (2.0, True, 0.5), (2.0, False)])
    )

    assert estimates.rate == pytest.approx([2 / 3.5], rel=1e-12)
    assert (estimates.shape.tolist(), estimates.exposure.tolist()) == ([2.0], [3.5])
    assert estimates.status.tolist() == [Status.OK]
    assert estimates.flags.tolist() == [0]


def test_a_change_without_a_date_is_taken_for_the_middle_of_its_gap():
    seen = Dated.of(history_of([(4.0, True), (3.0, False), (2.0, True, 0.5)]))

    assert seen.exposure.tolist() == [2.0 + 3.0 + 0.5]
    assert seen.flags.tolist() == [Flag.UNDATED]


def test_a_source_that_only_counts_gives_no_date():
    """Three changes in a gap: the last one came somewhere; one change is counted."""
    seen = Dated.of(history_of([(4.0, True, np.nan, 3), (3.0, False, np.nan, 0), (2.0, False)]))

    assert (seen.changes.tolist(), seen.exposure.tolist()) == ([1], [7.0])
    assert seen.flags.tolist() == [Flag.UNDATED]


@pytest.mark.parametrize(("gaps", "heavy"), [(0, False), (1, True), (2, True), (3, False)])
def test_so_few_gaps_leave_no_finite_variance(gaps, heavy):
    """algorithms.md 3: E[1 / T^2] is infinite for two gaps, so the flag is always there."""
    seen = Dated.of(history_of([(1.0, False)] * gaps))

    assert bool(seen.flags[0] & Flag.HEAVY_TAIL) == heavy


def test_flags_of_the_history_are_kept():
    history = history_of([(1.0, True)] * 3, flags=np.array([Flag.LM_STALE], np.uint32))

    assert Dated.of(history).flags.tolist() == [Flag.LM_STALE | Flag.UNDATED]
    assert history.flags.tolist() == [Flag.LM_STALE]


def test_changes_in_the_very_second_of_their_visits_take_a_second_each():
    """algorithms.md 3: T = 0 becomes X seconds, so the rate is one a second."""
    estimates = LastModifiedRaw().estimate(history_of([(1.0, True, 0.0)] * 4))

    assert estimates.rate == pytest.approx([1 / SECOND], rel=1e-12)
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


def test_without_a_change_the_rate_is_zero():
    estimates = LastModifiedRaw(level=0.9).estimate(history_of([(5.0, False)] * 4))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 20], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]
    assert np.isnan([estimates.shape, estimates.exposure]).all()


def test_one_dated_gap_gives_a_rate_with_a_warning():
    estimates = LastModifiedRaw().estimate(history_of([(5.0, True, 2.0)]))

    assert estimates.rate.tolist() == [0.5]
    assert estimates.status.tolist() == [Status.ALL_CHANGED]
    assert estimates.flags.tolist() == [Flag.HEAVY_TAIL]


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = LastModifiedRaw().estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]
    assert estimates.flags.tolist() == [0, 0]


@given(page=pages)
def test_changes_and_quiet_days_are_those_of_figure_10s_loop(page):
    """If the age is less than the gap: X += 1, T += age; else T += gap."""
    changes, quiet = 0, []
    for gap in page:
        age = gap.age if not math.isnan(gap.age) else gap.gap / 2 if gap.changed else gap.gap
        changes += age < gap.gap
        quiet.append(age)
    seen = Dated.of(history_of(page))

    assert seen.changes.tolist() == [changes]
    assert seen.exposure == pytest.approx([math.fsum(quiet) or changes * SECOND], rel=1e-12)


@given(page=dated_pages)
def test_dated_changes_give_the_most_likely_rate(page):
    """Figure 10 is the likelihood's special case D / E (beyond.md 1)."""
    if any(gap.age == 0 for gap in page):
        return  # both round such an age up, each by its own clock
    history = history_of(page)

    assert LastModifiedRaw().estimate(history).rate == pytest.approx(
        Likelihood(singularity="none").estimate(history).rate, rel=1e-9
    )


@given(changes=st.integers(1, 200), level=st.sampled_from([0.5, 0.9, 0.99]))
def test_the_band_is_garwoods(changes, level):
    """Chi-square quantiles with 2X and 2X + 2 degrees of freedom, over 2T."""
    tail, quiet = (1 - level) / 2, changes / 2 + 7
    page = [(1.0, True, 0.5)] * changes + [(7.0, False)]
    estimates = LastModifiedRaw(level=level).estimate(history_of(page))

    assert estimates.low == pytest.approx([stats.chi2.ppf(tail, 2 * changes) / 2 / quiet], rel=1e-6)
    high = stats.chi2.ppf(1 - tail, 2 * changes + 2) / 2 / quiet
    assert estimates.high == pytest.approx([high], rel=1e-6)


def test_gaps_over_eight_orders_of_magnitude_are_no_trouble():
    """Only their sum counts, so irregular gaps are not even flagged."""
    page = [(10.0**power, power % 2 == 0, 10.0**power / 4) for power in range(-4, 5)]
    page = [gap if gap[1] else gap[:2] for gap in page]  # type: ignore[misc]
    estimates = LastModifiedRaw().estimate(history_of(page))

    quiet = sum(gap[0] / 4 if gap[1] else gap[0] for gap in page)
    assert estimates.rate == pytest.approx([5 / quiet], rel=1e-12)
    assert estimates.status.tolist() == [Status.OK]
    assert estimates.flags.tolist() == [0]
