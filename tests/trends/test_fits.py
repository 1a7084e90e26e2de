"""Every estimator on every window: the vectors, a naive loop, and the published ranking."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.trends.fits import ESTIMATORS, Fits, beats, fit_windows, mean_errors, wins
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, Windows, WindowTimes, consistent_windows
from tests.trends.made import RISING, bernoulli_days, one_window_each, points_at_days, times_of

if TYPE_CHECKING:
    from recrawl.trends.fits import WindowFits
    from recrawl.trends.points import Points

PUBLISHED = ("weibull", "duane", "cho", "matloff")
COUNTED = Windowing(3.0, "count")


def slow_intervals(days: list[float], period: float) -> dict[str, list[float]]:
    """Sections 6.1 to 6.4, a point at a time."""
    count, span = len(days), days[-1]
    logs = math.fsum(math.log(span / day) for day in days)
    beta = (count - 2) / logs if count >= 4 else 1.0
    x = np.log(days)
    y = x - np.log(np.arange(1, count + 1))
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * y).sum()) / spread if count > 1 else 0.0
    gaps = max(round(span / period), count)
    changed = count / gaps
    constants = {
        "ratio": span / count,
        "cho": period / -math.log((gaps - count + 0.5) / (gaps + 0.5)),
        "matloff": 0.0 if changed == 1 else period / -math.log1p(-changed),
    }
    last = span / (count * beta)
    by_weibull = [last * math.exp((1 - beta) * math.log(day / span)) for day in days]
    return {
        "ratio": [constants["ratio"]] * count,
        "running": [day / number for number, day in enumerate(days, start=1)],
        "weibull": by_weibull,
        "duane": np.exp(y.mean() + slope * (x - x.mean())).tolist(),
        "cho": [constants["cho"]] * count,
        "matloff": [constants["matloff"]] * count,
    }


def slow_errors(days: list[float], period: float = 1.0) -> dict[str, float]:
    """Mean square of interval less gap, as section 7 has it."""
    gaps = [later - day for day, later in itertools.pairwise([0.0, *days])]
    return {
        name: math.fsum((one - gap) ** 2 for one, gap in zip(found, gaps, strict=True)) / len(days)
        for name, found in slow_intervals(days, period).items()
    }


class Reproduction(NamedTuple):
    points: Points
    windows: Windows
    fits: WindowFits


@pytest.fixture(name="reproduction", scope="module")
def _reproduction() -> Reproduction:
    """The population of section 9, threshold 3 as a count."""
    points = bernoulli_days(3000)
    windows = consistent_windows(points, Windowing(3.0, "count"))
    return Reproduction(points, windows, fit_windows(points, windows))


def test_the_vector_of_both_methods():
    """s = 1, 3, 6, 10, 15: 0.415489 by Weibull, 1.52704 by Duane."""
    fits = Fits.of(times_of(RISING))
    errors, _ = fits.errors()

    expected = [1.58779, 2.65518, 3.67265, 4.66453, 5.63924]
    assert fits.mean_intervals("weibull") == pytest.approx(expected, abs=1e-5)
    assert errors["weibull"] == pytest.approx([0.415489], abs=1e-6)
    assert errors["duane"] == pytest.approx([1.52704], abs=1e-5)
    assert errors["ratio"] == pytest.approx([2.0])
    assert errors["running"] == pytest.approx([1.5])


def test_the_constants_of_regular_access():
    """Five changes in 15 days: -ln(10.5 / 15.5) and -ln(10 / 15) a day; Matloff's is higher."""
    fits = Fits.of(times_of(RISING))

    assert 1 / fits.constant("cho") == pytest.approx([math.log(15.5 / 10.5)])
    assert 1 / fits.constant("matloff") == pytest.approx([math.log(1.5)])


def test_a_change_every_day_leaves_matloff_no_time_at_all():
    """M = n: the rate is infinite, its mean interval 0, its error the mean square gap."""
    errors, _ = Fits.of(times_of([1.0, 2, 3, 4])).errors()

    assert errors["matloff"].tolist() == [1.0]
    assert errors["cho"] == pytest.approx([(1 / math.log(9) - 1) ** 2])


def test_days_are_never_fewer_than_changes():
    """Five changes within one day count as five of five."""
    fits = Fits.of(times_of([0.1, 0.2, 0.4, 0.5, 0.9]))

    assert fits.constant("cho") == pytest.approx([1 / math.log(11)])
    assert fits.constant("matloff").tolist() == [0.0]


whole_days = st.lists(st.floats(0.05, 20), min_size=1, max_size=25).map(
    lambda gaps: list(itertools.accumulate(gaps))
)


@given(st.lists(whole_days, min_size=1, max_size=4), st.sampled_from([0.5, 1.0, 7.0]))
def test_intervals_and_errors_are_those_of_a_naive_loop(pages, period):
    fits = Fits.of(times_of(*pages), period)
    errors, _ = fits.errors()

    for name in ESTIMATORS:
        expected = [slow_intervals(page, period)[name] for page in pages]
        flat = [one for page in expected for one in page]
        np.testing.assert_allclose(fits.mean_intervals(name), flat, rtol=1e-7)
        slow = [slow_errors(page, period)[name] for page in pages]
        np.testing.assert_allclose(errors[name], slow, rtol=1e-6, atol=1e-10)


@given(st.lists(st.integers(1, 9).map(float), min_size=4, max_size=40))
def test_windows_are_fitted_on_their_own_clocks(gaps):
    """Each window as if its page began with it."""
    points = points_at_days(list(itertools.accumulate(gaps)))
    windows = consistent_windows(points, Windowing(1.0, "count"))
    fitted = fit_windows(points, windows)

    for number in range(len(windows)):
        rows = slice(int(windows.offsets[number]), int(windows.offsets[number + 1]))
        own = list(itertools.accumulate(gaps[rows]))
        alone = Weibull.of(times_of(own))
        slow = slow_errors(own)
        assert fitted.beta[number] == pytest.approx(alone.beta[0])
        assert fitted.eta[number] == pytest.approx(alone.eta[0])
        assert fitted.rate[number] == pytest.approx(alone.rate(alone.span)[0])
        low, high = alone.band(0.9)
        assert (fitted.beta_low[number], fitted.beta_high[number]) == (
            pytest.approx(low[0]),
            pytest.approx(high[0]),
        )
        for name in ESTIMATORS:
            assert fitted.errors[name][number] == pytest.approx(slow[name], rel=1e-6, abs=1e-9)


def test_blocks_of_windows_do_not_matter(monkeypatch):
    """The same bits, whatever else is fitted at the same time."""
    points = bernoulli_days(40)
    windows = consistent_windows(points, COUNTED)
    whole = fit_windows(points, windows)
    monkeypatch.setattr("recrawl.trends.fits._WINDOWS", 7)

    parts = fit_windows(points, windows)

    np.testing.assert_array_equal(parts.beta, whole.beta)
    for name in ESTIMATORS:
        np.testing.assert_array_equal(parts.errors[name], whole.errors[name])


def test_weibull_is_best_in_most_windows(reproduction):
    """92.0 % of windows, Duane 6.9 %, cho 1.1 %, matloff none; published 91.5, 8.5, 0, 0."""
    errors = np.array([reproduction.fits.errors[name] for name in PUBLISHED])

    shares = np.bincount(errors.argmin(axis=0), minlength=4) / errors.shape[1]

    assert shares == pytest.approx([0.920, 0.069, 0.011, 0.0], abs=0.01)


@pytest.mark.parametrize(
    ("better", "worse", "share"),
    [
        ("weibull", "cho", 0.987),
        ("weibull", "duane", 0.927),
        ("duane", "cho", 0.934),
        ("cho", "matloff", 1.0),
    ],
)
def test_how_often_one_beats_another(reproduction, better, worse, share):
    """Section 9: 98.7, 92.7, 93.4 and 100 % of windows."""
    errors = reproduction.fits.errors

    won = np.mean(errors[better] < errors[worse])

    assert won == pytest.approx(share, abs=0.01)


def test_the_order_of_mean_errors_is_the_published_one(reproduction):
    """matloff > cho > ratio > Duane > Weibull."""
    means = {name: float(found.mean()) for name, found in reproduction.fits.errors.items()}

    order = sorted(("weibull", "duane", "ratio", "cho", "matloff"), key=lambda name: means[name])
    assert order == ["weibull", "duane", "ratio", "cho", "matloff"]


def test_the_rate_the_papers_say_they_used_loses(reproduction):
    """With lambda-check Weibull is best in 53 % of windows, and its error above Duane's."""
    points, windows, fitted = reproduction
    times = WindowTimes.of(points, windows)
    fits = Fits.of(times)
    factor = (times.count - 2) / np.maximum(times.count - 3, 1)
    off = fits.mean_intervals("weibull") * times.spread(factor) - times.gaps
    checked = times.total(off * off) / times.count

    others = np.array([fitted.errors[name] for name in PUBLISHED[1:]])

    assert np.mean(checked < others.min(axis=0)) == pytest.approx(0.53, abs=0.03)
    assert checked.mean() > fitted.errors["duane"].mean()


@pytest.mark.parametrize(
    ("windowing", "best", "beats_cho"),
    [
        (Windowing(3.0, "budget"), 0.896, 0.982),
        (Windowing(1.0, "point"), 0.866, 0.988),
        (Windowing(3.0, "point"), 0.879, 0.973),
    ],
)
def test_neighbouring_readings_are_close(reproduction, windowing, best, beats_cho):
    """How much weight the reproduction carries: other readings nearly do as well."""
    points = reproduction.points
    errors = fit_windows(points, consistent_windows(points, windowing)).errors

    others = np.min([errors[name] for name in PUBLISHED[1:]], axis=0)

    assert np.mean(errors["weibull"] < others) == pytest.approx(best, abs=0.02)
    assert np.mean(errors["weibull"] < errors["cho"]) == pytest.approx(beats_cho, abs=0.01)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_short_window_has_the_ratio_for_its_rate(count):
    """Too few for a Weibull rate; beta is nan below three points, nothing else is."""
    points = points_at_days(RISING[:count], end=[20.0])
    fitted = fit_windows(points, consistent_windows(points, COUNTED))

    assert fitted.rate == pytest.approx([count / RISING[count - 1]] if count else [])
    assert np.isnan(fitted.beta).tolist() == ([count < 3] if count else [])
    assert all(np.isfinite(found).all() for found in fitted.errors.values())
    np.testing.assert_allclose(fitted.errors["weibull"], fitted.errors["ratio"], rtol=1e-12)


@pytest.mark.parametrize(
    "days",
    [
        [0.01 * i for i in range(1, 21)],
        [1e-9 * i for i in range(1, 9)],
        [5000 + i / 86400 for i in range(8)],
        [1e-9, 1.0, 2.0, 3.0, 4.0],
        [7.0 * i for i in range(1, 200)],
    ],
)
def test_awkward_pages_have_finite_fits(days):
    """All in one day, at the origin almost, a burst after years, like clockwork: no warning."""
    points = points_at_days(days)
    fitted = fit_windows(points, one_window_each(points))

    assert all(np.isfinite(found).all() for found in fitted.errors.values())
    for found in (fitted.beta, fitted.beta_low, fitted.beta_high, fitted.eta, fitted.rate):
        assert np.isfinite(found).all()


def test_a_thousand_changes_within_a_day_after_years_do_not_warn():
    """Beta is 138, and at the first point the mean interval is beyond a float."""
    points = points_at_days([1.0, *(1000 + i / 1440 for i in range(1000))])

    fitted = fit_windows(points, one_window_each(points))

    assert not np.isnan(fitted.errors["weibull"]).any()


def test_duane_holds_for_a_burst_of_milliseconds_after_years():
    """All logarithms agree to 11 digits: the line goes through the points all the same."""
    days = [1e4 + i / 86_400_000 for i in range(4)]
    errors, _ = Fits.of(times_of(days)).errors()

    assert errors["duane"] == pytest.approx([slow_errors(days)["duane"]], rel=0.01)


def test_the_smallest_error_of_clockwork_is_nothing():
    """Gaps of a week for years: the ratio explains them to the last digit that counts."""
    errors, _ = Fits.of(times_of([7.0 * i for i in range(1, 500)])).errors()

    assert errors["ratio"] == pytest.approx([0.0], abs=1e-9)
    assert errors["running"] == pytest.approx([0.0], abs=1e-9)
    assert errors["duane"] == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("level", [-0.5, 0.0, 1.0, 1.5, math.nan])
def test_a_level_that_is_no_probability_is_refused(level):
    points = points_at_days(RISING)

    with pytest.raises(InvalidParameter, match="level"):
        fit_windows(points, consistent_windows(points, COUNTED), level=level)


@pytest.mark.parametrize("period", [-1.0, 0.0, math.inf, math.nan])
def test_a_period_that_is_no_time_is_refused(period):
    points = points_at_days(RISING)

    with pytest.raises(InvalidParameter, match="period"):
        fit_windows(points, consistent_windows(points, COUNTED), period=period)


def test_an_estimator_nobody_knows_is_refused():
    with pytest.raises(InvalidParameter, match="estimator"):
        Fits.of(times_of(RISING)).mean_intervals("norman")


def test_wins_and_mean_errors_go_by_window_and_state():
    """Three windows, one of them short."""
    windows = Windows(np.array([0, 4, 8, 10]), np.array([0, 0, 1]), np.array([0, 2, 3], np.uint8))
    errors = {"ratio": np.array([1.0, 4.0, 7.0]), "weibull": np.array([2.0, 3.0, 1.0])}

    assert wins(errors) == {"ratio": 1, "weibull": 2}
    assert beats(errors) == {("ratio", "weibull"): 1, ("weibull", "ratio"): 2}
    assert mean_errors(errors, windows)["ratio"] == {
        "all": 4.0,
        "constant": 1.0,
        "decreasing": 4.0,
        "short": 7.0,
    }
