"""Worlds that are made up keep to their rates, and change as their names say."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.simulate.made import (
    SECTION,
    START,
    WORLDS,
    bursty,
    log_normal_rates,
    make_world,
    poisson,
    renewal,
    sections,
    turnover,
    weekly,
    weibull,
)
from recrawl.simulate.world import World
from recrawl.units import days_between


def random(seed=0):
    return np.random.default_rng(seed)


def gaps_in_means(some, rate):
    """All gaps between changes of a page, in its mean gaps."""
    days = days_between(some.changes, some.end)
    same = np.diff(some.row_of_change) == 0
    return -np.diff(days)[same] * rate


@pytest.mark.parametrize("name", WORLDS)
def test_pages_change_as_often_as_said(name):
    """Within 5 %; pages that are removed change as often while they live."""
    rates = np.repeat([0.2, 1.0], 2000)
    some = make_world(name, rates, days=84.0, random=random())

    half = np.array([int(address.rpartition("-")[2]) >= 2000 for address in some.address])
    for rate, pages in ((0.2, ~half), (1.0, half)):
        seen = some.change_counts[pages].sum() / some.live_days[pages].sum()
        assert seen == pytest.approx(rate, rel=0.05)


@pytest.mark.parametrize("name", WORLDS)
def test_the_same_seed_makes_the_same_world(name):
    rates = log_normal_rates(50, every=5.0, spread=1.0, random=random())
    one, other = (make_world(name, rates, days=30.0, random=random(7)) for _ in range(2))

    np.testing.assert_array_equal(one.changes, other.changes)
    np.testing.assert_array_equal(one.removed_at, other.removed_at)


@pytest.mark.parametrize("name", WORLDS)
def test_changes_rise_within_the_life_of_their_page(name):
    rates = log_normal_rates(200, every=3.0, spread=1.0, random=random())
    some = make_world(name, rates, days=20.5, random=random(1))

    same = np.diff(some.row_of_change) == 0
    assert (np.diff(some.changes)[same] >= np.timedelta64(0)).all()
    assert (some.changes > some.first_seen[some.row_of_change]).all()
    assert not (some.changes >= some.last_moment[some.row_of_change]).any()
    assert some.days == 20.5
    assert some.start == START


@pytest.mark.parametrize("pages", [1, 7, SECTION, SECTION + 1])
@pytest.mark.parametrize("name", WORLDS)
def test_any_number_of_pages_will_do(name, pages):
    assert len(make_world(name, np.full(pages, 0.01), days=1.0, random=random())) == pages


def test_rates_are_log_normal():
    rates = np.log(log_normal_rates(100_000, every=30.0, spread=1.5, random=random()))

    assert rates.mean() == pytest.approx(-np.log(30), abs=0.02)
    assert rates.std() == pytest.approx(1.5, abs=0.02)


def test_poisson_gaps_spread_as_much_as_their_mean():
    some = poisson(np.full(500, 1.0), days=200.0, random=random())

    assert gaps_in_means(some, 1.0).std() == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
def test_gaps_of_a_renewal_spread_by_their_shape(shape):
    """The coefficient of variation of a gamma distribution is 1 / sqrt(shape)."""
    some = renewal(np.full(500, 1.0), days=400.0, random=random(), shape=shape)
    gaps = gaps_in_means(some, 1.0)

    assert gaps.std() / gaps.mean() == pytest.approx(shape**-0.5, rel=0.03)


def test_gaps_of_weibull_have_its_median():
    """The median of a Weibull distribution with mean 1 is ln(2)^(1/k) / Gamma(1 + 1/k)."""
    some = weibull(np.full(500, 1.0), days=400.0, random=random(), shape=0.6)

    expected = np.log(2) ** (1 / 0.6) / 1.504575
    assert np.median(gaps_in_means(some, 1.0)) == pytest.approx(expected, rel=0.04)


def test_a_renewal_is_as_busy_at_the_start_as_later():
    """Else all pages would begin a gap together."""
    some = renewal(np.full(20_000, 0.25), days=40.0, random=random(), shape=4.0)
    day = ((some.changes - some.start) // np.timedelta64(1, "D")).astype(int)

    assert np.bincount(day, minlength=40) == pytest.approx(5000, rel=0.1)


def test_weekly_pages_rest_at_night_and_at_weekends():
    some = weekly(np.full(2000, 1.0), days=70.0, random=random())
    hours = (some.changes - START) // np.timedelta64(1, "h")
    weekday, hour = (hours // 24 % 7).astype(int), (hours % 24).astype(int)

    by_weekday, by_hour = np.bincount(weekday), np.bincount(hour)
    assert by_weekday[5:].mean() / by_weekday[:5].mean() == pytest.approx(0.3, rel=0.05)
    assert by_hour[8:18].mean() / by_hour[:8].mean() == pytest.approx(4.0, rel=0.05)


def test_bursts_spread_counts():
    """Counts of a self-exciting process over a long time have variance / mean 1 / (1 - b)^2."""
    some = bursty(np.full(4000, 0.5), days=400.0, random=random(), followers=0.5, within=0.5)
    counts = some.change_counts

    assert counts.var() / counts.mean() == pytest.approx(4.0, rel=0.1)


def test_pages_of_a_section_change_together():
    """A change of a page is followed within an hour by one of a neighbour far above chance."""
    together = sections(np.full(400, 0.05), days=200.0, random=random())
    apart = poisson(np.full(400, 0.05), days=200.0, random=random())

    assert _with_a_neighbour(together) > 0.5
    assert _with_a_neighbour(apart) < 0.2


def _with_a_neighbour(some):
    """Share of changes that are followed by one in the same section within an hour."""
    section = some.row_of_change // SECTION
    order = np.lexsort((some.changes, section))
    soon = np.diff(some.changes[order]) < np.timedelta64(1, "h")
    return (soon & (np.diff(section[order]) == 0)).mean()


def test_as_many_pages_are_there_all_the_time():
    some = turnover(np.full(20_000, 0.1), days=100.0, random=random())

    there = [
        int(((some.first_seen <= now) & ~(some.removed_at <= now)).sum())
        for now in START + np.arange(10, 100, 20) * np.timedelta64(1, "D")
    ]
    assert there == pytest.approx([20_000 / 3] * 5, rel=0.05)
    assert 0.3 < np.isnat(some.removed_at).mean() < 0.4


def test_names_and_numbers_that_mean_nothing_are_refused():
    with pytest.raises(InvalidParameter, match=r"world must be one of poisson, .*'mars'"):
        make_world("mars", np.ones(3), days=1.0, random=random())


@pytest.mark.parametrize("days", [0.0, -1.0, np.inf, np.nan, 1e7])
def test_a_world_lasts_from_a_moment_to_a_century(days):
    with pytest.raises(InvalidParameter, match="days must be a number from 1e-06 to 36525"):
        make_world("poisson", np.ones(3), days=days, random=random())


def test_more_changes_than_memory_holds_are_refused():
    with pytest.raises(InvalidParameter, match=r"all changes together, must be .* \(got 1e\+12\)"):
        make_world("poisson", np.full(10, 1e9), days=100.0, random=random())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"pages": 0}, "pages must be a number from 1 to 1e\\+08"),
        ({"pages": 10**12}, "pages must"),
        ({"every": 0.0}, "every must be a number from 1e-06 to 1e\\+06"),
        ({"spread": -1.0}, "spread must be a number from 0 to 10"),
        ({"spread": np.nan}, "spread must"),
    ],
)
def test_rates_that_cannot_be_are_refused(wrong, told):
    parts = {"pages": 1, "every": 1.0, "spread": 1.0, **wrong}

    with pytest.raises(InvalidParameter, match=told):
        log_normal_rates(parts.pop("pages"), **parts, random=random())


@pytest.mark.parametrize("name", sorted(set(WORLDS) - {"weekly", "sections"}))
def test_pages_are_as_old_when_time_begins_as_at_any_other_time(name):
    """The last change before the first visit lies as far back as before a moment of the world."""
    some = make_world(name, np.full(4000, 0.5), days=60.0, random=random())
    lived = np.flatnonzero((some.first_seen == START) & ~np.isnan(some.first_age))
    moment = START + np.timedelta64(30, "D")
    later = (
        World.of(
            [some.address[row] for row in lived.tolist()],
            np.full(len(lived), moment),
            (np.searchsorted(lived, some.row_of_change), some.changes),
            end=some.end,
        )
        if name != "turnover"
        else some
    )

    assert len(lived) > 1000
    assert some.first_age[lived].mean() == pytest.approx(np.nanmean(later.first_age), rel=0.08)


def test_a_week_is_a_week_backwards():
    """From Monday 0:00 the weekend comes first, and little changes in it."""
    some = weekly(np.full(4000, 1.0), days=7.0, random=random())

    weekend = (some.first_age < 2).mean()
    assert weekend == pytest.approx(-np.expm1(-7 * 0.6 / 5.6), abs=0.03)


def test_pages_that_are_born_have_no_age():
    some = turnover(np.full(500, 0.5), days=50.0, random=random())

    assert np.array_equal(np.isnan(some.first_age), some.first_seen > START)
