"""The Duane plot: its test vector, a plain regression, and lines that are too steep."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.trends.duane import Duane
from tests.trends.made import RISING, times_of

LAST = np.array([15.0])

windows = st.lists(st.floats(0.01, 100), min_size=2, max_size=20).map(
    lambda gaps: list(itertools.accumulate(gaps))
)


def test_duane():
    """ln(s / i) over ln s for s = 1, 3, 6, 10, 15."""
    fit = Duane.of(times_of(RISING))

    assert fit.slope == pytest.approx([0.405542], abs=1e-6)
    assert fit.intercept == pytest.approx([-0.018135], abs=1e-6)
    assert fit.mean_interval(LAST) == pytest.approx([2.94495], abs=1e-5)
    assert 1 / fit.rate(LAST) == pytest.approx([4.95402], abs=1e-5)


def test_duane_error():
    """Cumulative mean intervals against gaps of 1 to 5 days."""
    intervals = Duane.of(times_of(RISING)).mean_interval(np.array(RISING))

    assert np.mean((intervals - [1, 2, 3, 4, 5]) ** 2) == pytest.approx(1.52704, abs=1e-5)


def test_the_intercept_is_the_logarithm_of_the_papers_alpha():
    """A plot that follows 2 t^0.3 has a = ln 2, not 2 as printed."""
    days = [(2 * i) ** (1 / 0.7) for i in range(1, 9)]

    fit = Duane.of(times_of(days))

    assert fit.slope == pytest.approx([0.3])
    assert fit.intercept == pytest.approx([math.log(2)])
    assert fit.mean_interval(np.array([10.0])) == pytest.approx([2 * 10**0.3])


def test_the_rate_at_the_instant_is_the_slope_of_the_cumulative_count():
    """N(t) = t / (e^a t^gamma): its derivative, by a small step."""
    fit = Duane.of(times_of(RISING))

    def expected(day: float) -> float:
        return day / float(fit.mean_interval(np.array([day]))[0])

    slope = (expected(15.001) - expected(14.999)) / 0.002
    assert fit.rate(LAST) == pytest.approx([slope], rel=1e-6)


@given(windows)
def test_lines_are_those_of_a_plain_regression(days):
    """By numpy.polyfit; the line goes through the points' means."""
    x = np.log(days)
    y = x - np.log(np.arange(1, len(days) + 1))
    fit = Duane.of(times_of(days))

    slope, intercept = np.polyfit(x - x.mean(), y, 1)

    assert fit.slope == pytest.approx([slope], rel=1e-6, abs=1e-8)
    at_mean = fit.intercept + fit.slope * x.mean()
    assert at_mean == pytest.approx([intercept], rel=1e-6, abs=1e-8)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_two_points_give_the_line_between_them(first, gap):
    """Equation 6 of the papers: the slope between two points of the plot."""
    second = first + gap
    fit = Duane.of(times_of([first, second]))

    slope = (math.log(second / 2) - math.log(first)) / (math.log(second) - math.log(first))

    assert fit.slope == pytest.approx([slope], rel=1e-9)
    assert fit.mean_interval(np.array([first])) == pytest.approx([first], rel=1e-6)
    assert fit.mean_interval(np.array([second])) == pytest.approx([second / 2], rel=1e-6)


def test_one_point_gives_a_level_line():
    """Slope 0, and a = y."""
    fit = Duane.of(times_of([7.0]))

    assert fit.slope.tolist() == [0.0]
    assert fit.intercept == pytest.approx([math.log(7)])
    assert fit.rate(np.array([3.0])) == pytest.approx([1 / 7])


def test_windows_do_not_see_each_other():
    together = Duane.of(times_of(RISING, [7.0], [1.0, 2.0, 3.0]))
    alone = [Duane.of(times_of(page)) for page in (RISING, [7.0], [1.0, 2.0, 3.0])]

    assert together.slope == pytest.approx([fit.slope[0] for fit in alone])
    assert together.intercept == pytest.approx([fit.intercept[0] for fit in alone])


def test_equal_gaps_give_a_level_line():
    """s / i is the gap throughout."""
    fit = Duane.of(times_of([2.0 * i for i in range(1, 11)]))

    assert fit.slope == pytest.approx([0.0], abs=1e-12)
    assert fit.rate(LAST) == pytest.approx([0.5])


@pytest.mark.parametrize("slope", [1.0, 1.5])
def test_a_line_too_steep_for_a_rate_gives_the_cumulative_one(slope):
    """(1 - gamma) would be no rate from 1 on."""
    fit = Duane(np.array([slope]), np.array([0.2]))

    assert fit.rate(LAST) == pytest.approx(1 / fit.mean_interval(LAST))
    assert (fit.rate(LAST) > 0).all()


def test_a_line_nearly_too_steep_still_gives_its_own_rate():
    fit = Duane(np.array([0.99]), np.array([0.2]))

    assert fit.rate(LAST) == pytest.approx(0.01 / fit.mean_interval(LAST))


@pytest.mark.parametrize("day", [1.0, 5000.0, 5020.0])
def test_a_line_through_a_burst_does_not_warn(day):
    """Changes a second apart after years: the line is all but upright, its rate 0 or infinite."""
    fit = Duane.of(times_of([5000 + i / 86400 for i in range(8)]))

    assert (fit.mean_interval(np.array([day])) >= 0).all()
    assert (fit.rate(np.array([day])) >= 0).all()


def test_the_unit_of_time_does_not_matter():
    """The slope stays, the mean interval stretches."""
    plain, wide = Duane.of(times_of(RISING)), Duane.of(times_of([7 * day for day in RISING]))

    assert wide.slope == pytest.approx(plain.slope)
    assert wide.mean_interval(7 * LAST) == pytest.approx(7 * plain.mean_interval(LAST))
