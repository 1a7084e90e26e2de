"""The trend test: published numbers, exact times as a limit, size and power by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Histories, Likelihood
from recrawl.errors import InvalidHistory
from recrawl.trends.trend_test import TrendStatus, _slope, laplace, military_handbook, trend_test
from tests.strategies import Seen, history_of, stretched
from tests.strategies import histories as some_histories
from tests.strategies import pages as some_pages
from tests.trends.made import seen_often


def exponential_rates(
    rate: float,
    *,
    growth: float = 1.0,
    gaps: int,
    pages: int,
    even: bool = True,
    dated: bool = False,
) -> Histories:
    """Pages whose rate grows evenly in its logarithm, `growth`-fold from first visit to last."""
    chance = np.random.default_rng(20)
    lengths = np.ones((pages, gaps)) if even else chance.exponential(1, (pages, gaps))
    end = np.cumsum(lengths, axis=1)
    power = np.log(growth) / end[:, -1:]
    # Changes to expect from visit to visit, backwards to the last change, and where that was.
    first = rate / np.sqrt(growth)
    total = first * np.expm1(power * end) / power if growth != 1 else first * end
    before = np.concatenate([np.zeros((pages, 1)), total[:, :-1]], axis=1)
    last = total - chance.exponential(size=total.shape)
    changed = last > before
    inside = np.where(changed, last, total)
    time = np.log1p(power * inside / first) / power if growth != 1 else inside / first
    age = np.where(changed, np.clip(end - time, 0, lengths * (1 - 1e-9)), np.nan)
    return Histories(
        lengths.ravel(),
        changed.ravel(),
        np.arange(pages + 1) * gaps,
        age=age.ravel() if dated else None,  # type: ignore[arg-type]
    )


def rejected(histories: Histories) -> float:
    """Share of the tested pages that are found to have a trend, at the level 0.05."""
    test = trend_test(histories)
    return float(np.mean(test.p[test.status == TrendStatus.OK] < 0.05))


def test_published_vector():
    """algorithms.md 16, `trend`: the last change ended the observation."""
    times = [1, 3, 6, 10, 15]

    assert laplace(times).statistic == pytest.approx([-1.154701], abs=1e-6)
    handbook = military_handbook(times)
    assert handbook.statistic == pytest.approx([11.278488], abs=1e-6)
    assert handbook.degrees is not None
    assert handbook.degrees.tolist() == [8]


def test_tests_of_exact_times_by_hand():
    """Two changes in 10 days: U = (3 - 5) / (10 / sqrt(24)), chi-square 2 ln(10/2 * 10/4)."""
    early = laplace([2.0, 4.0], 10.0)
    handbook = military_handbook([2.0, 4.0], 10.0)

    assert early.statistic == pytest.approx([-2 / (10 / np.sqrt(24))])
    assert early.p == pytest.approx([2 * stats.norm.sf(2 / (10 / np.sqrt(24)))])
    assert handbook.statistic == pytest.approx([2 * np.log(12.5)])
    assert handbook.p == pytest.approx([2 * stats.chi2.sf(2 * np.log(12.5), 4)])
    assert early.direction.tolist() == handbook.direction.tolist() == [-1]


def test_tests_of_exact_times_take_many_pages():
    """Pages without a change, with one at the origin or with all at the end have a status."""
    times = np.array([0.0, 9.0, 3.0, 5.0, 5.0])
    offsets = np.array([0, 0, 1, 3, 5])
    end = np.array([10.0, 10.0, 10.0, 5.0])

    for test in (
        laplace(times, end, offsets=offsets),
        military_handbook(times, end, offsets=offsets),
    ):
        assert test.status_names == ["no_change_seen", "no_change_seen", "ok", "ok"]
        assert np.isnan(test.p).tolist() == [True, True, False, False]
        assert test.direction.tolist() == [0, 0, 1, 1]


def test_without_an_end_only_one_change_ends_the_observation():
    assert laplace([5.0, 5.0, 1.0]).statistic == laplace([1.0, 5.0], 5.0).statistic
    assert laplace([3.0]).status_names == ["no_change_seen"]
    assert military_handbook([]).status_names == ["no_change_seen"]


@pytest.mark.parametrize("time", [-1.0, 11.0, np.nan])
def test_changes_outside_the_observation_are_refused(time):
    with pytest.raises(InvalidHistory, match="page 0: changes must be between 0 and the end, 10"):
        laplace([1.0, time], 10.0)


def test_equal_gaps_by_hand():
    """With equal gaps U compares the mean time of changed gaps with that of all.

    At the most likely rate a changed gap scores y (n - X) / X and an unchanged one -y, with X of n
    changed, and the information is y^2 (n - X) / X a gap.
    """
    changed = np.array([False, True, False, False, True, True, True, False, True, True])
    middle, n, x = np.arange(10) + 0.5, 10, 6
    late = middle[changed].mean() - 5.0

    test = trend_test(Histories.from_lists([([1.0] * n, changed.tolist())]))

    expected = late * np.sqrt(n * x / (n - x)) / middle.std() * np.sqrt(1 - 1 / n)
    assert test.statistic == pytest.approx([expected])
    assert test.p == pytest.approx([2 * stats.norm.sf(abs(expected))])
    assert test.direction.tolist() == [1]


def test_equal_gaps_make_it_the_rank_sum_test():
    """Of Wilcoxon, Mann and Whitney, by the normal distribution."""
    changed = np.random.default_rng(4).random(30) < 0.4
    time = np.arange(30)

    test = trend_test(Histories.from_lists([([2.0] * 30, changed.tolist())]))

    ranks = stats.mannwhitneyu(
        time[changed], time[~changed], method="asymptotic", use_continuity=False
    )
    assert test.p == pytest.approx([ranks.pvalue])


@pytest.mark.parametrize("kind", ["hidden", "dated", "counted"])
def test_short_gaps_make_it_laplace(kind):
    """With visits far more often than changes nothing is hidden."""
    chance = np.random.default_rng(3)
    gap, total = 1e-3, 20_000
    hits = np.sort(chance.choice(total, 25, replace=False))

    test = trend_test(seen_often(hits, total, gap, kind))

    exact = laplace(((hits + 0.5) * gap).tolist(), total * gap)
    assert test.statistic == pytest.approx(exact.statistic, rel=2e-3)


def height(page: list[Seen], rate: float, slope: float) -> float:
    """Log-likelihood of `rate * exp(slope * t)` by the book."""

    def due(start: float, end: float) -> float:
        return float(rate * (np.exp(slope * end) - np.exp(slope * start)) / slope)

    total, end = 0.0, 0.0
    for seen in page:
        start, end = end, end + seen.gap
        if seen.count >= 0:
            total += seen.count * np.log(due(start, end)) - due(start, end)
        elif not np.isnan(seen.age):
            total += np.log(rate) + slope * (end - seen.age) - due(end - seen.age, end)
        elif seen.changed:
            total += np.log(-np.expm1(-due(start, end)))
        else:
            total -= due(start, end)
    return float(total)


def test_the_slope_is_that_of_the_likelihood():
    """Of all kinds of gaps, by finite differences; at the best rate the centre does not matter."""
    page = [
        Seen(1.0, False), Seen(2.0, True), Seen(3.0, True, 0.7), Seen(1.5, True, np.nan, 3),
        Seen(0.5, False), Seen(2.5, True), Seen(1.0, True, 0.2), Seen(2.0, False, np.nan, 0),
        Seen(4.0, False), Seen(1.0, True),
    ]  # fmt: skip
    rate = float(Likelihood(singularity="none").estimate(history_of(page)).rate[0])
    step = 1e-4
    slope = (height(page, rate, step) - height(page, rate, -step)) / (2 * step)

    test = trend_test(history_of(page))

    found, variance = _slope(history_of(page), np.array([rate]))
    assert found == pytest.approx([slope], rel=1e-5)
    assert test.statistic == pytest.approx(found / np.sqrt(variance) * np.sqrt(0.9))


@pytest.mark.parametrize("dated", [False, True])
def test_the_variance_is_that_of_the_slope(dated):
    """At the true rate; the best rate takes away what lies along it."""
    seen = exponential_rates(1.5, gaps=30, pages=4000, even=False, dated=dated)
    slope, variance = _slope(seen, np.full(len(seen), 1.5))

    assert np.mean(slope**2 / variance) == pytest.approx(1, abs=0.08)


# Three standard deviations of the share, of 4,000 pages, are 0.011.
@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize(("gaps", "rate"), [(20, 0.5), (20, 1.0), (50, 0.5), (50, 2.0), (100, 1.0)])
def test_size(gaps, rate, even, dated):
    """A constant rate is called moving in 5 of 100 cases, dated changes or not."""
    seen = exponential_rates(rate, gaps=gaps, pages=4000, even=even, dated=dated)

    assert rejected(seen) == pytest.approx(0.05, abs=0.013)


@pytest.mark.parametrize(
    ("rate", "hidden", "dated"), [(0.3, 0.54, 0.56), (1.0, 0.85, 0.89), (2.0, 0.82, 0.95)]
)
def test_power(rate, hidden, dated):
    """A rate that grows 7.4-fold over 50 even visits; dates help where changes are frequent."""
    plain = exponential_rates(rate, growth=np.exp(2), gaps=50, pages=2000)
    told = exponential_rates(rate, growth=np.exp(2), gaps=50, pages=2000, dated=True)

    assert rejected(plain) == pytest.approx(hidden, abs=0.04)
    assert rejected(told) == pytest.approx(dated, abs=0.04)
    assert np.mean(trend_test(plain).direction) > 0.8


def test_pages_that_say_nothing_have_a_status():
    visited = np.array(["NaT"] + ["2026-01-01"] * 7, "datetime64[us]")
    some = [(1.0, True), (1.0, False)]
    seen = history_of(
        [], [], [(1.0, True)], some, [*some, (1.0, True)],
        [(1.0, False)] * 20, [(1.0, True)] * 20, [(1.0, True)] * 2 + [(1.0, False)] * 20,
        first_visit=visited,
    )  # fmt: skip

    test = trend_test(seen)

    assert test.status_names == [
        "no_visits", "one_visit", "all_changed", "too_few_gaps", "too_few_gaps",
        "no_change_seen", "all_changed", "too_few_changes",
    ]  # fmt: skip
    assert np.isnan(test.p).all()
    assert np.isnan(test.statistic).all()
    assert not test.direction.any()
    assert len(test) == 8


def test_a_day_of_many_visits_is_tested_like_any_other():
    seen = exponential_rates(1.0, gaps=30, pages=5)
    second = Histories(seen.gaps / 86_400, seen.changed, seen.offsets)

    np.testing.assert_allclose(trend_test(second).statistic, trend_test(seen).statistic)


@given(some_histories())
def test_every_empty_figure_has_a_status(seen):
    test = trend_test(seen)

    told = test.status == TrendStatus.OK
    assert np.isfinite(test.statistic[told]).all()
    assert np.isnan(test.statistic[~told]).all()
    assert ((test.p[told] >= 0) & (test.p[told] <= 1)).all()


@given(some_pages, st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter(page, factor):
    plain = trend_test(history_of([gap._replace(age=max(gap.age, 1e-6)) for gap in page]))
    other = trend_test(
        history_of(stretched([gap._replace(age=max(gap.age, 1e-6)) for gap in page], factor))
    )

    np.testing.assert_allclose(other.statistic, plain.statistic, rtol=1e-5, atol=1e-6)


@given(some_pages)
def test_company_does_not_matter(page):
    alone = trend_test(history_of(page))
    together = trend_test(history_of([(1.0, True), (2.0, False)] * 8, page))

    np.testing.assert_array_equal(together.statistic[1:], alone.statistic)
