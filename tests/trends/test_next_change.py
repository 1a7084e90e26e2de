"""When each page changes next."""

import numpy as np
import pytest
from scipy import integrate, optimize

from recrawl import Gamma, Histories, Priors
from recrawl.trends.next_change import PREDICTORS, gamma_wait, last_windows, next_changes
from recrawl.trends.points import points_of
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, WindowTimes, consistent_windows
from tests.trends.made import one_window_each

PRIORS = Priors.one(1.0, 7.0)


def found(histories, threshold=np.inf, level=0.8):
    points = points_of(histories)
    windows = consistent_windows(points, Windowing(threshold=threshold))
    return next_changes(histories, points, windows, priors=PRIORS, level=level)


def test_one_event_in_a_week_makes_half_wait_a_week():
    """(7 / (7 + t))^1 = 1 / 2 at t = 7."""
    assert gamma_wait(np.array([1.0]), np.array([7.0]), 0.5) == pytest.approx([7.0])


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_a_gamma_wait_averages_exponential_waits(probability):
    """Against quadrature over the rate's density."""
    shape, exposure = 2.5, 10.0

    def falls_within(days):
        def density(rate):
            weight = rate ** (shape - 1) * np.exp(-exposure * rate)
            return weight * exposure**shape / 1.329340388179137 * -np.expm1(-rate * days)

        return integrate.quad(density, 0, np.inf)[0] - probability

    wait = optimize.brentq(falls_within, 1e-3, 1e3)
    assert gamma_wait(np.array([shape]), np.array([exposure]), probability) == pytest.approx(
        [wait], rel=1e-6
    )


def test_a_rate_as_good_as_zero_waits_for_ever():
    assert gamma_wait(np.array([1e-4]), np.array([1.0]), 0.9) == np.inf


def test_every_predictor_orders_its_band():
    """Daily visits to a busy page, a page with four changes, and one that never changed."""
    daily = Histories.from_lists(
        [
            ([1.0] * 30, [True, False] * 15),
            ([1.0] * 30, [day % 7 == 0 for day in range(30)]),
            ([1.0] * 30, [False] * 30),
        ]
    )
    waits = found(daily)

    assert tuple(waits) == PREDICTORS
    for name, wait in waits.items():
        pages = 3 if name in ("bank", "gamma") else 2
        known = slice(0, pages)
        assert (wait.low[known] > 0).all()
        assert (wait.low[known] < wait.wait[known]).all()
        assert (wait.wait[known] < wait.high[known]).all()
        assert np.isnan(wait.wait[pages:]).all()


def test_gamma_speaks_of_the_gamma_state():
    daily = Histories.from_lists([([1.0] * 10, [True] * 3 + [False] * 7)])
    state = Gamma(PRIORS).estimate(daily)

    assert found(daily)["gamma"].wait == gamma_wait(state.shape, state.exposure, 0.5)


def test_weibull_is_asked_from_the_last_look():
    """Five early changes and thirty quiet days: a falling rate, a long wait."""
    page = Histories.from_lists([([1.0] * 36, [True] * 6 + [False] * 30)])
    points = points_of(page)
    windows = consistent_windows(points, Windowing(threshold=np.inf))
    fit = Weibull.of(WindowTimes.of(points, windows), np.array([36.0]))

    wait = found(page)["weibull"].wait
    assert fit.beta < 1
    assert wait == pytest.approx(fit.next_wait(0.5))
    assert wait > 36 * np.log(2) / 6


def test_a_record_that_ends_with_a_change_is_failure_truncated():
    """The hand calculation: beta is (n - 2) / S = 0.531986, not (n - 1) / S.

    S = 5.639238, so the median wait is 15 (exp(S ((1/2)^(-1/4) - 1) / 5) - 1) = 3.5681.
    """
    page = Histories.from_lists([([1.0, 2, 3, 4, 5], [True] * 5)])
    points = points_of(page, place="end")
    windows = consistent_windows(points, Windowing(threshold=np.inf))
    waits = next_changes(page, points, windows, priors=PRIORS)

    assert waits["weibull"].wait == pytest.approx([3.5681], rel=1e-4)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("count", [5, 12])
def test_the_next_change_falls_into_its_band_as_often_as_it_says(beta, count):
    """20,000 Weibull processes that end with their fifth or twelfth change, and the next one."""
    pages = 20_000
    steps = np.random.default_rng(7).exponential(size=(pages, count + 1))
    days = np.cumsum(steps, axis=1) ** (1 / beta)
    gaps = np.diff(days, axis=1, prepend=0.0)
    offsets = np.arange(pages + 1) * count
    seen = Histories(gaps[:, :count].ravel(), np.ones(pages * count, bool), offsets)
    points = points_of(seen, place="end")
    windows = one_window_each(points)
    waits = next_changes(seen, points, windows, priors=PRIORS, level=0.8)
    wait = gaps[:, count]

    fit = Weibull.of(WindowTimes.of(points, windows), points.end)
    assert fit.beta.mean() == pytest.approx(beta, abs=5 * fit.beta.std() / np.sqrt(pages))
    inside = (waits["duane"].low <= wait) & (wait <= waits["duane"].high)
    assert inside.mean() == pytest.approx(0.8, abs=0.025)
    for name in ("weibull", "ratio") if beta == 1 else ("weibull",):
        inside = (waits[name].low <= wait) & (wait <= waits[name].high)
        assert inside.mean() == pytest.approx(0.8, abs=0.01)
        assert (wait <= waits[name].wait).mean() == pytest.approx(0.5, abs=0.015)


def test_the_last_window_of_a_page_counts():
    page = Histories.from_lists(
        [([1.0] * 4, [True] * 4), ([], []), ([1.0] * 20, [True] * 10 + [False, True] * 5)]
    )
    windows = consistent_windows(points_of(page), Windowing(0, "count"))
    last = last_windows(windows, 3)

    assert last[1] == -1
    assert windows.page[last[0]] == 0
    assert last[2] == len(windows) - 1
