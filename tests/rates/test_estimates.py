"""One row per page: the chance to stay as it is, the mean interval, the status."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from recrawl import Estimates, Status
from recrawl.rates.estimates import status_of

some_days = st.floats(-5, 4).map(lambda exponent: float(10**exponent))


def some(rate: list[float], shape: float = np.nan, exposure: float = np.nan) -> Estimates:
    """Estimates of pages with these rates."""
    rates, pages = np.array(rate), len(rate)
    return Estimates(
        rate=rates,
        low=rates,
        high=rates,
        shape=np.full(pages, shape),
        exposure=np.full(pages, exposure),
        changes=np.ones(pages, np.int64),
        visits=np.full(pages, 3),
        status=np.full(pages, Status.OK, np.uint8),
        flags=np.zeros(pages, np.uint32),
        method="made",
    )


def one(rate: float, shape: float = np.nan, exposure: float = np.nan) -> Estimates:
    """Estimates of one page."""
    return some([rate], shape, exposure)


def test_a_certain_rate_leaves_a_page_alone_exponentially():
    """The chance of no change in 3 days at half a change a day is e^-1.5."""
    assert one(0.5).unchanged(3.0)[0] == pytest.approx(math.exp(-1.5))


def test_an_uncertain_rate_is_averaged_over():
    """(b / (b + t))^a with a = 2, b = 3, t = 6: one third squared."""
    assert one(0.5, shape=2.0, exposure=3.0).unchanged(6.0)[0] == pytest.approx(1 / 9)


@given(
    st.floats(-1.5, 4).map(lambda exponent: float(10**exponent)),
    some_days,
    st.floats(-4, 4).map(lambda exponent: float(10**exponent)),
)
def test_the_average_is_the_integral(shape, exposure, per_exposure):
    """The mean of e^(-rt) over Gamma(a, b), by quadrature over u, the logarithm of r b."""

    def density(u: float) -> float:
        log_density = shape * u - (1 + per_exposure) * math.exp(u) - math.lgamma(shape)
        return math.exp(log_density)

    # The density falls like e^(au) below its top and like e^(-e^u) above it.
    top, width = math.log(shape / (1 + per_exposure)), 1 / math.sqrt(shape)
    marks = [top - 40 / shape - 1, *(top + width * np.arange(-20, 11, 2.5)), top + 12 * width + 4]
    pieces = [quad(density, *piece, limit=200)[0] for piece in pairwise(sorted(marks))]

    assert one(1.0, shape, exposure).unchanged(exposure * per_exposure)[0] == pytest.approx(
        math.fsum(pieces), rel=1e-6, abs=1e-12
    )


@given(some_days, some_days)
def test_a_page_does_not_become_fresher_by_waiting(one_wait, other_wait):
    short, long = sorted([one_wait, other_wait])
    for estimates in (one(0.3), one(0.3, 1.5, 4.0)):
        assert estimates.unchanged(long)[0] <= estimates.unchanged(short)[0] <= 1


@pytest.mark.parametrize("rate", [0.0, 0.5, np.inf])
def test_a_page_just_seen_is_as_it_was(rate):
    """After no time at all nothing can have changed, however high the rate."""
    assert one(rate).unchanged(0.0)[0] == 1


def test_an_uncertain_page_just_seen_is_as_it_was():
    assert one(0.5, 2.0, 3.0).unchanged(0.0)[0] == 1


def test_before_the_last_visit_a_page_is_as_it_was_seen():
    """A negative wait (a `now` before the last visit) is no wait."""
    assert one(0.5).unchanged(-2.0)[0] == 1
    assert one(0.5, 2.0, 3.0).unchanged(-2.0)[0] == 1


def test_a_rate_of_zero_never_changes_a_page():
    assert one(0.0).unchanged(1e9)[0] == 1


def test_an_infinite_rate_changes_a_page_at_once():
    assert one(np.inf).unchanged(1e-9)[0] == 0


def test_each_page_may_have_waited_for_a_different_time():
    unchanged = some([0.5, 0.5]).unchanged(np.array([1.0, 2.0]))

    assert unchanged == pytest.approx(np.exp([-0.5, -1.0]))


def test_nothing_is_said_of_a_page_without_a_rate():
    assert np.isnan(one(np.nan).unchanged(1.0)[0])


@pytest.mark.parametrize(("rate", "interval"), [(0.5, 2.0), (0.0, np.inf), (np.inf, 0.0)])
def test_the_mean_interval_is_the_inverse_of_the_rate(rate, interval):
    assert one(rate).mean_interval[0] == interval


def test_estimates_are_as_long_as_there_are_pages():
    assert len(some([0.5, 1.0, 2.0])) == 3


@pytest.mark.parametrize(
    ("changes", "visits", "status"),
    [
        (0, 0, Status.NO_VISITS),
        (0, 1, Status.ONE_VISIT),
        (0, 2, Status.NO_CHANGE_SEEN),
        (0, 9, Status.NO_CHANGE_SEEN),
        (1, 2, Status.ALL_CHANGED),
        (8, 9, Status.ALL_CHANGED),
        (1, 9, Status.OK),
        (7, 9, Status.OK),
    ],
)
def test_the_counts_alone_give_a_status(changes, visits, status):
    assert status_of(np.array([changes]), np.array([visits]))[0] == status


def test_statuses_have_the_names_of_the_files():
    """The words of DESIGN.md 3, which CSV and JSON carry."""
    assert [status.name.lower() for status in Status] == [
        "ok",
        "no_visits",
        "one_visit",
        "no_change_seen",
        "all_changed",
        "saturated",
        "prior_only",
    ]
    assert one(0.5).status_names == ["ok"]
