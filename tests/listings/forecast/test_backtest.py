"""Backtests: nothing between two syncs leaks, and figures are what they claim."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.listings.data.attributes import Labels, ObjectGroups
from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing
from recrawl.listings.forecast.backtest import (
    backtest,
    groups_of_training,
    informative_groups_of_training,
    score_cycles,
)
from recrawl.listings.forecast.methods import DEFAULT, METHODS, SyncReplay
from recrawl.listings.schedule.backtest import (
    ScheduleScore,
    Truth,
    backtest_schedule,
    compared,
    mean_score,
)
from recrawl.listings.schedule.schedule import Goal


def grid_of(seed=0, days=200, rate=0.05, arrivals=8, until=None):
    """A grid with exponential lifetimes; `until` alters all that happens after that day."""
    random = np.random.default_rng(seed)
    arrived = np.sort(
        np.concatenate([np.zeros(120, int), random.integers(1, days, arrivals * days)])
    )
    gone = arrived + 1 + random.exponential(1 / rate, len(arrived)).astype(int)
    if until is not None:
        other = np.random.default_rng(seed + 1)
        gone = np.where(gone > until, until + 1 + other.integers(0, 50, len(arrived)), gone)
        keep = (arrived <= until) | (other.random(len(arrived)) < 0.3)
        arrived, gone = arrived[keep], gone[keep]
    gone = np.minimum(gone, days)
    order = np.arange(len(arrived))
    start = np.datetime64("2026-01-05", "us")
    none = np.zeros(days, dtype=bool)
    return DayGrid(start, none, ~none, len(arrived), order, arrived, gone)


def forecasts(grid, until):
    run = SyncReplay(grid, ObjectGroups.one(grid.objects), METHODS[DEFAULT], train=80)
    for day in range(87, until + 1, 7):
        run.advance(day)
    return run.forecast(14).expected


def test_what_comes_after_a_forecast_cannot_change_it():
    """The leak test: altered snapshots after day 122 leave the forecast of day 122 alone."""
    plain, altered = forecasts(grid_of(), 122), forecasts(grid_of(until=122), 122)

    np.testing.assert_allclose(plain.precision, altered.precision, rtol=1e-12)
    np.testing.assert_allclose(plain.recall, altered.recall, rtol=1e-12)


def test_what_lies_between_two_syncs_cannot_change_a_forecast():
    """Objects that come and go between two of them are never seen."""
    grid = grid_of()
    extra = np.arange(5)
    seen = replace(
        grid,
        objects=grid.objects + 5,
        object=np.concatenate([grid.object, grid.objects + extra]),
        first=np.concatenate([grid.first, np.full(5, 88)]),
        gone=np.concatenate([grid.gone, 90 + extra]),
    )

    np.testing.assert_array_equal(forecasts(grid, 122).recall, forecasts(seen, 122).recall)


def test_every_phase_is_scored():
    grid = grid_of(days=130)
    method = METHODS["survival-weibull"]
    run = SyncReplay(grid, ObjectGroups.one(grid.objects), method, train=80)
    scores = score_cycles(run, cycle=7, train=80, marks=DayMarks.of(grid))

    assert np.sort(scores.start).tolist() == list(range(80, 123))
    assert np.all(np.isnan(scores.covered)), "it has no bands"
    one = score_cycles(run, cycle=7, train=80, marks=DayMarks.of(grid), phases=[0])
    assert one.start.tolist() == list(range(80, 123, 7))
    assert one.truth[:, 0].tolist() == [grid.precision(day, day + 7) for day in one.start.tolist()]


def test_gaps_are_neither_synced_nor_scored():
    grid = grid_of(days=130)
    gap = grid.gap.copy()
    gap[100:103] = True
    holed = replace(grid, gap=gap)
    run = SyncReplay(holed, ObjectGroups.one(grid.objects), METHODS["static"], train=80)
    scores = score_cycles(run, cycle=7, train=80, marks=DayMarks.of(holed))

    ends = set(scores.start.tolist()) | set((scores.start + 7).tolist())
    assert not ends & {100, 101, 102}


def test_rows_of_a_backtest():
    grid = grid_of()
    rows = backtest(grid, ObjectGroups.one(grid.objects), [DEFAULT, "static"], cycles=(7,))

    assert len(rows) == 8
    static = [row for row in rows if row.method == "static"]
    assert all(row.relative_error == 1 for row in static)
    ours = next(row for row in rows if row.method == DEFAULT and row.cycles_kind == "all")
    assert ours.relative_error < 2  # a source without drift: little to win, little to lose
    assert 0.8 <= ours.covered <= 1


def test_rows_of_schedules():
    grid = grid_of()
    goal = Goal(precision=0.8, recall=0.8)
    rows = backtest_schedule(
        grid, ObjectGroups.one(grid.objects), [DEFAULT, "static"], goal, starts=(0, 2)
    )

    assert [(row.metric, row.method) for row in rows] == [
        ("precision", DEFAULT),
        ("recall", DEFAULT),
        ("precision", "static"),
        ("recall", "static"),
    ]
    for row in rows:
        assert abs(row.promise_error) < 0.03
        assert row.quality > 0.8
        assert 0 <= row.share_below < 0.5
    assert rows[-1].relative_syncs == pytest.approx(1)


def test_the_published_score_divides_by_the_exact_mean_of_syncs():
    """Starting days differ in their number of syncs, so that the mean is not whole."""
    grid = grid_of(days=150)
    one = ObjectGroups.one(grid.objects)
    (row,) = backtest_schedule(grid, one, ["static"], Goal(recall=0.7), train=60, starts=(0, 3, 6))

    assert row.syncs != round(row.syncs)
    assert row.quality_per_sync == pytest.approx(row.quality / row.syncs, rel=1e-12)


def test_confidence_buys_time_above_the_target():
    grid = grid_of()
    run = SyncReplay(grid, ObjectGroups.one(grid.objects), METHODS[DEFAULT], train=80)
    truth, target = Truth(grid), Goal(recall=0.8)
    point = mean_score(run, target, target, truth, [80])["recall"]
    sure = mean_score(run, Goal(recall=0.8, confidence=0.9), target, truth, [80])["recall"]

    assert sure.below < point.below
    assert sure.syncs > point.syncs


def test_a_change_of_keys_is_no_ones_fault():
    """On day 100 every object gets a new key."""
    grid = grid_of(days=120)
    over = (grid.first < 100) & (grid.gone > 100)
    count = int(over.sum())
    renamed = replace(
        grid,
        objects=grid.objects + count,
        object=np.concatenate([grid.object, grid.objects + np.arange(count)]),
        first=np.concatenate([grid.first, np.full(count, 100)]),
        gone=np.concatenate([np.where(over, 100, grid.gone), grid.gone[over]]),
    )

    assert not Truth(renamed).counts(98, 102)
    assert Truth(renamed).counts(101, 104)


def test_quality_is_linear_over_a_gap():
    """Days 100 to 102 were not crawled: between days 99 and 103 the way is straight."""
    grid = grid_of(days=130)
    gap = grid.gap.copy()
    gap[100:103] = True
    whole, broken = Truth(grid), Truth(replace(grid, gap=gap))
    full, path = whole.path("precision", 97, 105), broken.path("precision", 97, 105)

    assert path[:3].tolist() == full[:3].tolist()
    assert path[6:].tolist() == full[6:].tolist()
    np.testing.assert_allclose(path[2:7], np.linspace(full[2], full[6], 5))


def test_equal_share_below_is_interpolated():
    own = [ScheduleScore(10, 0, 0, 0.2, 0), ScheduleScore(40, 0, 0, 0.05, 0)]

    assert compared(own, own) == pytest.approx(1)
    assert np.isnan(compared(own, [ScheduleScore(10, 0, 0, 0.9, 0)]))


def test_groups_know_nothing_of_later_days():
    """A make that comes only after training is no group of its own."""
    grid = grid_of(days=200)
    early = grid.first <= 80
    make = ["a" if flag and row % 2 else "b" if flag else "late" for row, flag in enumerate(early)]
    groups = groups_of_training({"make": Labels.of(make)}, grid, 80)

    assert groups.attributes == ("make",)
    assert len(groups) == 3
    assert set(groups.codes[~early].tolist()) == {2}
    assert groups_of_training({}, grid, 80).names == ("(all)",)


def test_telling_attributes_are_chosen_by_training_alone():
    """Red objects live 2 days and blue ones 40, but in the second half they live alike."""
    crawls = np.arange("2026-01-01", "2026-07-20", dtype="datetime64[D]")
    random = np.random.default_rng(1)
    first = random.integers(0, 190, 1500)
    red = random.random(1500) < 0.5
    lifetime = np.where(red & (first < 90), 2, 40)
    spells = [
        (row, int(day), min(int(day + days), len(crawls)))
        for row, (day, days) in enumerate(zip(first, lifetime, strict=True))
    ]
    columns = {
        "colour": Labels.of(["red" if flag else "blue" for flag in red]),
        "shape": Labels.of(["round", "square"] * 750),
    }
    keys = [str(row) for row in range(1500)]
    listing = Listing.of(keys, crawls, spells, attributes=columns)
    groups = informative_groups_of_training(listing, DayGrid.of(listing), 80)

    assert groups.attributes == ("colour",)
