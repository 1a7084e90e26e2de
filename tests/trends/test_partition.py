"""The best partition into windows: hand-cut ones, brute force, and what always holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from recrawl.trends.partition import best_partition, gap_shape
from recrawl.trends.windows import State, Windowing, consistent_windows
from tests.trends.made import points_at_days

LEAST = 4


def page(gaps):
    return points_at_days(list(itertools.accumulate(gaps)))


def cost(gaps, shape, power_fee):
    """Minus twice the log-likelihood of one window, at a constant rate or by a power."""
    since, n = np.cumsum(gaps), len(gaps)
    depth = np.log(since[-1] / since).sum()
    gain = 2 * shape * ((n - 1) * np.log((n - 1) / depth) + depth - (n - 1)) - power_fee
    return 2 * shape * n * np.log(since[-1] / n) - max(gain, 0.0)


def brute_force(gaps, shape, threshold):
    """The cheapest of all partitions."""
    fee = threshold * np.log(len(gaps))
    best = {}
    for cuts in itertools.product([False, True], repeat=len(gaps) - 1):
        edges = [0, *(1 + np.flatnonzero(cuts)).tolist(), len(gaps)]
        if min(np.diff(edges)) >= LEAST:
            parts = [gaps[a:b] for a, b in itertools.pairwise(edges)]
            total = sum(cost(part, shape, fee / 2) for part in parts) + fee * len(parts)
            best[tuple(edges[:-1])] = total
    return min(best, key=best.__getitem__)


@pytest.mark.parametrize("seed", range(8))
def test_no_partition_is_cheaper(seed):
    """Against all ways to cut fourteen gaps into windows of four and more."""
    random = np.random.default_rng(seed)
    gaps = random.exponential(size=14) * np.where(np.arange(14) < 6, 1.0, 8.0)
    points = page(gaps)
    rows, _ = best_partition(points, threshold=1.0, least=LEAST)

    assert tuple(rows.tolist()) == brute_force(gaps, gap_shape(points)[0], 1.0)


def test_three_regimes_are_three_windows():
    """Gaps of 50 days, of 2.2 days, and of 50 days again."""
    windows = consistent_windows(page([50.0] * 15 + [2.2] * 13 + [50.0] * 8))

    assert windows.points.tolist() == [15, 13, 8]
    assert windows.state_names == ["constant"] * 3


@pytest.mark.parametrize(("beta", "state"), [(0.4, State.DECREASING), (2.5, State.INCREASING)])
def test_a_drift_is_one_window_that_says_which_way(beta, state):
    steps = np.random.default_rng(4).exponential(size=60)
    windows = consistent_windows(points_at_days((np.cumsum(steps) ** (1 / beta)).tolist()))

    assert windows.points.tolist() == [60]
    assert windows.state.tolist() == [state]


def test_chance_is_rarely_taken_for_a_regime():
    """Of 300 pages with forty random gaps each, at most one in twelve is cut."""
    random = np.random.default_rng(5)
    pages = [np.cumsum(random.exponential(size=40)).tolist() for _ in range(300)]
    windows = consistent_windows(points_at_days(*pages))

    assert len(windows) < 300 * 13 / 12
    assert (windows.state == State.CONSTANT).mean() > 0.9


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
def test_the_shape_of_gaps_is_found(shape):
    """And a tenfold step in the middle hardly moves it."""
    random = np.random.default_rng(6)
    gaps = random.gamma(shape, size=4000)

    assert gap_shape(page(gaps)) == pytest.approx([shape], rel=0.1)
    gaps[2000:] *= 10
    assert gap_shape(page(gaps)) == pytest.approx([shape], rel=0.1)


def test_two_gaps_say_little_of_the_shape():
    """One pair beside two random ones; gaps of 1 and 30 days have ln(31^2 / 120)."""
    (shape,) = gap_shape(page([1.0, 1.0, 30.0]))
    mean = (np.log(31**2 / 120) + 2 * 2 * (1 - np.log(2))) / 3

    assert 2 * (digamma(2 * shape) - digamma(shape) - np.log(2)) == pytest.approx(mean, rel=1e-3)


def test_a_few_very_long_gaps_make_a_page_bursty():
    """Nine gaps of a day and one of a hundred, over and over: it is in eight of ten runs of eight.

    Its squared variation there is that of seven ones and 100, and 0 in the other two runs.
    """
    gaps = ([1.0] * 9 + [100.0]) * 40
    square = np.var([1.0] * 7 + [100.0], ddof=1) / np.mean([1.0] * 7 + [100.0]) ** 2 * 9 / 8

    assert gap_shape(page(gaps)) == pytest.approx([1 / (0.8 * square)], rel=0.03)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.floats(0.001, 1000))
def test_the_unit_of_time_does_not_matter(gaps, stretch):
    plain, _ = best_partition(page(gaps), threshold=3.0, least=LEAST)
    stretched, _ = best_partition(page([gap * stretch for gap in gaps]), threshold=3.0, least=LEAST)

    assert plain.tolist() == stretched.tolist()


@given(st.lists(st.lists(st.floats(0.1, 9), max_size=20), max_size=6))
def test_pages_do_not_see_each_other(pages):
    together = consistent_windows(points_at_days(*(np.cumsum(gaps).tolist() for gaps in pages)))
    alone = [consistent_windows(page(gaps)) for gaps in pages]

    assert together.points.tolist() == [n for one in alone for n in one.points.tolist()]
    assert together.state.tolist() == [n for one in alone for n in one.state.tolist()]
    assert all(n >= LEAST for one in alone if len(one) > 1 for n in one.points.tolist())


def test_a_higher_threshold_makes_fewer_windows():
    random = np.random.default_rng(8)
    points = page(random.exponential(size=60))
    counts = [len(consistent_windows(points, Windowing(fee))) for fee in (0.0, 0.5, 1.0, 3.0)]

    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 1
