"""Cuts where the rate jumps: brute force, optimal partitioning and known worlds as oracles."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from recrawl import Histories, Likelihood
from recrawl.errors import InvalidParameter
from recrawl.trends.change_points import _classes, all_change_points, change_points
from recrawl.trends.trend_test import TrendStatus
from tests.rates.oracles import evidence_of
from tests.strategies import Seen, all_gaps, even_days, hidden_in, history_of, told_in
from tests.strategies import histories as some_histories

if TYPE_CHECKING:
    from collections.abc import Sequence

short_pages = st.lists(told_in(even_days) | hidden_in(even_days), min_size=4, max_size=11)


def world(
    *rates: float, gaps: int, pages: int, even: bool = False, dated: bool = False
) -> Histories:
    """Pages that change at one rate after the other, each for equally many gaps."""
    chance = np.random.default_rng(12)
    lengths = np.ones((pages, gaps)) if even else chance.exponential(1, (pages, gaps))
    back = chance.exponential(size=lengths.shape) / np.repeat(rates, gaps // len(rates))
    changed = back < lengths
    return Histories(
        lengths.ravel(),
        changed.ravel(),
        np.arange(pages + 1) * gaps,
        age=np.where(changed, back, np.nan).ravel() if dated else None,  # type: ignore[arg-type]
    )


def cost(page: Sequence[Seen]) -> float:
    """Minus twice the best log-likelihood, by an optimiser."""
    seen = evidence_of(page)
    if seen.changes == 0 or seen.quiet == 0:
        return 0.0
    low, high = np.log(seen.bracket)
    best = minimize_scalar(
        lambda at: -seen.log_likelihood(np.exp(at)),
        bounds=(low - 1e-6, high + 1e-6),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return 2 * float(best.fun)


def price(page: list[Seen], starts: Sequence[int], penalty: float) -> float:
    """What a way to cut costs in all."""
    edges = [*starts, len(page)]
    stretches = sum(cost(page[a:b]) for a, b in pairwise(edges))
    return stretches + penalty * float(np.log(len(page))) * (len(starts) - 1)


def every_way(gaps: int, least: int) -> list[tuple[int, ...]]:
    """All ways to cut so many gaps into stretches that are long enough."""
    ways = (
        (0, *cuts) for size in range(gaps // least) for cuts in combinations(range(1, gaps), size)
    )
    return [way for way in ways if min(np.diff([*way, gaps])) >= least]


@settings(max_examples=40, deadline=None)
@given(short_pages, st.sampled_from([0.0, 0.3, 1.0, 3.0]), st.sampled_from([1, 2, 4]))
def test_no_other_way_to_cut_is_cheaper(page, penalty, least):
    """Brute force over all of them."""
    found = change_points(history_of(page), 0, penalty=penalty, least_gaps=least)

    if len(page) >= 2 * least:
        least_price = min(price(page, way, penalty) for way in every_way(len(page), least))
        assert price(page, found.first.tolist(), penalty) == pytest.approx(least_price, abs=1e-5)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("penalty", [0.5, 3.0])
def test_optimal_partitioning_finds_the_same(penalty, dated):
    """The recursion without dropping anything, and every cost worked out."""
    seen = world(0.3, 2.0, 0.3, gaps=45, pages=2, dated=dated)
    for number in range(2):
        rows = range(45 * number, 45 * (number + 1))
        page = [Seen(seen.gaps[row], bool(seen.changed[row]), seen.age[row]) for row in rows]
        best, before = {0: -penalty * np.log(45)}, {}
        for end in range(4, 46):
            ways = {
                s: best[s] + cost(page[s:end]) + penalty * np.log(45) for s in best if end - s >= 4
            }
            before[end] = min(ways, key=ways.__getitem__)
            best[end] = ways[before[end]]
        starts: list[int] = []
        end = 45
        while end:
            end = before[end]
            starts.insert(0, end)

        found = change_points(seen, number, penalty=penalty)

        assert price(page, found.first.tolist(), penalty) == pytest.approx(best[45], abs=1e-5)
        assert found.first.tolist() == starts


def test_a_jump_by_hand():
    """20 quiet days and 20 with a change: free if cut, 80 ln 2 if not, and a cut costs 3 ln 40."""
    jump = Histories.from_lists([([1.0] * 40, [False] * 20 + [True] * 20)])

    found = change_points(jump, 0)

    assert found.first.tolist() == [0, 20]
    assert found.stop.tolist() == [20, 40]
    assert found.start.tolist() == [0.0, 20.0]
    assert found.end.tolist() == [20.0, 40.0]
    assert found.status_names == ["no_change_seen", "saturated"]
    dear = 80 * np.log(2) / np.log(40)
    assert change_points(jump, 0, penalty=dear * 1.001).first.tolist() == [0]
    assert change_points(jump, 0, penalty=dear * 0.999).first.tolist() == [0, 20]


def test_rates_and_bands_are_those_of_the_likelihood():
    seen = world(0.2, 2.0, gaps=100, pages=1, dated=True)
    found = change_points(seen, 0, level=0.8)
    cut = found.first[1]

    halves = Histories(seen.gaps, seen.changed, np.array([0, cut, 100]), age=seen.age)
    expected = Likelihood(level=0.8).estimate(halves)

    np.testing.assert_array_equal(found.rate, expected.rate)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.high, expected.high)


@pytest.mark.parametrize("dated", [False, True])
def test_jumps_are_found(dated):
    """A rate ten times as high from the fiftieth gap on."""
    found = all_change_points(world(0.2, 2.0, gaps=100, pages=60, dated=dated))

    two = np.diff(found.offsets) == 2
    cuts = found.first[found.offsets[:-1][two] + 1]
    assert two.mean() > 0.9
    assert np.mean(np.abs(cuts - 50) <= 5) > 0.85


@pytest.mark.parametrize(("gaps", "most"), [(20, 0.06), (60, 0.04)])
@pytest.mark.parametrize("rate", [0.2, 1.0])
@pytest.mark.parametrize("dated", [False, True])
def test_constant_rates_are_rarely_cut(gaps, most, rate, dated):
    found = all_change_points(world(rate, gaps=gaps, pages=150, dated=dated))

    assert np.mean(np.diff(found.offsets) > 1) <= most


def test_many_lengths_are_sorted_into_classes():
    """A class has the mean length of its gaps, and none is empty."""
    gaps = 10 ** np.random.default_rng(1).uniform(-3, 3, 500)

    number, lengths = _classes(gaps)

    assert len(lengths) <= 64
    assert number.max() == len(lengths) - 1
    assert lengths[number].sum() == pytest.approx(gaps.sum())
    assert np.abs(np.log(lengths[number] / gaps)).max() < np.log(10**6) / 64


def test_a_thousand_gaps_of_many_lengths():
    found = all_change_points(world(0.3, 3.0, gaps=1000, pages=1))

    assert found.first[1] == pytest.approx(500, abs=8)


def test_short_pages_stay_whole():
    visited = np.array(["NaT"] + ["2026-01-01"] * 5, "datetime64[us]")
    seen = history_of(
        [], [], [(1.0, True)], [(1.0, True), (2.0, False)], [(1.0, False)] * 3,
        [(1.0, False)] * 8, first_visit=visited,
    )  # fmt: skip

    found = all_change_points(seen)

    names = [TrendStatus(code).name for code in found.page_status]
    assert names == ["NO_VISITS", "ONE_VISIT", *["TOO_FEW_GAPS"] * 3, "OK"]
    assert np.diff(found.offsets).tolist() == [0, 0, 1, 1, 1, 1]
    assert found.first.tolist() == [0] * 4
    assert found.end.tolist() == [1.0, 3.0, 3.0, 8.0]
    assert len(found) == 6


@given(some_histories())
def test_stretches_cover_every_page(seen):
    """End to end, with a figure or a status each."""
    found = all_change_points(seen, penalty=0.1, least_gaps=2)

    for page, (begin, end) in enumerate(pairwise(found.offsets)):
        gaps = seen.gaps_of_page[page]
        edges = [*found.first[begin:end], gaps]
        assert edges[0] == 0
        assert edges[1:] == found.stop[begin:end].tolist()
        assert gaps < 4 or min(np.diff(edges)) >= 2
        if gaps > 0:
            assert found.start[begin:end].tolist() == [0.0, *found.end[begin : end - 1]]
    assert not np.isnan(found.rate).any()


@settings(deadline=None, max_examples=30)
@given(st.lists(all_gaps, min_size=8, max_size=30))
def test_wildly_irregular_gaps_are_cut_without_complaint(page):
    found = change_points(history_of(page), 0)

    assert found.stop[-1] == len(page)
    assert np.isfinite(found.low).all()


def test_a_change_in_the_moment_of_the_visit_after_years_of_quiet():
    """Ages of nothing count a microsecond, and are not lost beside ten thousand days."""
    page = [Seen(1e4, False)] * 10 + [Seen(1.0, True, 0.0)] * 10

    assert change_points(history_of(page), 0).first.tolist() == [0, 10]


def test_impossible_parameters_are_refused():
    seen = world(1.0, gaps=10, pages=1)

    with pytest.raises(InvalidParameter, match="penalty must be at least 0"):
        change_points(seen, 0, penalty=-1)
    with pytest.raises(InvalidParameter, match="least_gaps must be at least 1"):
        change_points(seen, 0, least_gaps=0)
    with pytest.raises(InvalidParameter, match="level must be between 0 and 1"):
        change_points(seen, 0, level=1.0)
