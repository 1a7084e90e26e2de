"""Runs: tiny worlds by hand, the definition by brute force, and what every run obeys."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidHistory, InvalidParameter
from recrawl.plan.budget import Budget
from recrawl.policies.rivals.uniform import uniform
from recrawl.simulate.made import poisson
from recrawl.simulate.run import Simulation, fitting_step, simulate
from recrawl.simulate.scores import FoundChanges, scored
from recrawl.simulate.world import World
from tests.simulate.made import DAY, START, Recorded, Timetable, at, run, world, worlds
from tests.simulate.slow import slow_scores

budgets = st.sampled_from(["1/1d", "3/1d", "0.3/1d", "0.5/page/1d", "0.07/page/1d", "1/change"])
steps = st.sampled_from([0.25, 0.5, 1.0, 0.3])


def micro(moment):
    return int(moment.astype(np.int64))


def three_pages():
    """The world of the calculation by hand."""
    return world(
        [1.5, 2.5, 5.0],
        [2.0, 3.0, 3.5],
        [],
        found=[0.0, 1.0, 0.0],
        gone=[np.nan, 7.0, np.nan],
        weight=[1.0, 3.0, 1.0],
        end=8.0,
    )


# The page that is found last comes last: rows are in the order of discovery.
VISITS = Timetable({0: [1.0, 2.0, 4.0], 2: [6.0]})


def test_every_score_of_three_pages_by_hand():
    """Page by page, with its visits in brackets.

    The first, of weight 1, lives 8 days and lacks changes from 1.5 to [2], from 2.5 to [4] and
    from 5 on: stale for 0.5 + 1.5 + 3 = 5 days, age 0.125 + 1.125 + 4.5 = 5.75. The second, of
    weight 3, lives 6 days and lacks one change from 2, another from 3, another from 3.5 to [6]:
    stale for 4 days, age 8, harmonic 4 + 3 / 2 + 2.5 / 3, missed 4 + 3 + 2.5. The third never
    changes and lives 8 days. The visit to the first at [1] is premature.
    """
    found = run(three_pages(), budget="2/1d", policy=VISITS)
    time = 8 + 3 * 6 + 8

    assert found.staleness == pytest.approx((5 + 3 * 4) / time)
    assert found.age == pytest.approx((5.75 + 3 * 8) / time)
    assert found.harmonic == pytest.approx((5 + 3 * (4 + 3 / 2 + 2.5 / 3)) / time)
    assert found.missed == pytest.approx((5 + 3 * 9.5) / time)
    assert (found.visits, found.found, found.premature, found.changes) == (4, 3, 1, 6)
    assert found.precision == 0.75
    assert found.never_visited == 1


def test_a_warm_up_counts_nowhere():
    """From day 3 on: the first page lacks changes from 3 to 4 and from 5 to 8, the second 3 to 6.

    Ages go on from when the changes happened: that of the first is (1.5^2 - 0.5^2) / 2 + 4.5.
    """
    found = run(three_pages().after(3.0), budget="2/1d", policy=VISITS)
    time = 5 + 3 * 4 + 5

    assert found.staleness == pytest.approx((4 + 3 * 3) / time)
    assert found.age == pytest.approx((1 + 4.5 + 3 * (4**2 - 1) / 2) / time)
    assert found.missed == pytest.approx((4 + 3 * (3 + 3 + 2.5)) / time)
    assert (found.visits, found.found, found.changes) == (2, 2, 3)
    assert found.never_visited == 1


def test_a_visit_sees_what_changes_at_its_instant():
    found = run(world([2.0], end=4.0), policy=Timetable({0: [2.0]}))

    assert found.found == 1
    assert found.staleness == 0.0


def test_a_page_is_known_from_the_first_step_after_it_is_found_and_counts_from_before():
    """Found at 0.5, known at 1; its change at 0.75 is seen there, a quarter day late."""
    some = world([], [0.75], found=[0.0, 0.5], end=2.5)
    record = Recorded()

    found = run(some, budget="5/1d", policy=record)

    assert record.days_of_page(1) == [1.0, 2.0]
    assert found.stale_days.tolist() == [0.0, 0.25]


def test_a_page_that_comes_and_goes_between_two_steps_is_never_visited():
    some = world([], [0.5], found=[0.0, 0.25], gone=[np.nan, 0.75], end=3.0)
    record = Recorded()

    found = run(some, budget="5/1d", policy=record)

    assert record.days_of_page(1) == []
    assert found.never_visited == 1
    assert found.stale_days[1] == 0.25


def test_a_page_is_not_visited_from_the_moment_it_is_gone():
    record = Recorded()

    run(world([], [], gone=[np.nan, 2.0], end=4.0), budget="5/1d", policy=record)

    assert record.days_of_page(1) == [0.0, 1.0]


def test_fractions_of_visits_are_carried_over():
    """0.3 visits a step: the first after four steps, at their last one's start."""
    record = Recorded()

    run(world([], end=12.0), budget="0.3/1d", policy=record)

    assert record.days_of_page(0) == [3.0, 6.0, 9.0]


def test_ten_tenths_are_one_visit():
    record = Recorded()

    run(world([], end=30.0), budget="0.1/1d", policy=record)

    assert record.days_of_page(0) == [9.0, 19.0, 29.0]


def test_a_budget_by_pages_follows_the_pages_that_are_there():
    """Half a visit a page and day: from day 2 on there are two pages, from day 4 on one."""
    some = world([], [], found=[0.0, 2.0], gone=[np.nan, 4.0], end=8.0)
    record = Recorded()

    run(some, budget="0.5/page/1d", policy=record)

    days = sorted([*record.days_of_page(0), *record.days_of_page(1)])
    assert days == [1.0, 2.0, 3.0, 5.0, 7.0]


def test_a_budget_by_changes_makes_so_many_visits_a_change():
    """Six changes in 24 live page-days, three visits each: 0.75 visits a page and day."""
    some = world([1.0, 2.0], [1.0, 2.0, 3.0, 4.0], end=12.0)

    assert some.budget(Budget.read("3/change")).visits == 0.75
    assert run(some, budget="3/change").visits == 18


def test_a_world_without_changes_gets_no_visits_by_changes():
    found = run(world([], end=5.0), budget="4/change")

    assert (found.visits, found.freshness, found.never_visited) == (0, 1.0, 1)
    assert math.isnan(found.precision)


def test_what_is_not_visited_is_stale_from_its_first_change_on():
    found = run(world([1.0, 2.0], end=4.0), policy=Timetable({}))

    assert found.staleness == pytest.approx(0.75)
    assert found.harmonic == pytest.approx((3 + 2 / 2) / 4)


@settings(max_examples=150, deadline=None)
@given(worlds(), budgets, steps, st.integers(0, 3), st.sampled_from([0.0, 2.5]))
def test_every_score_is_what_the_definition_says(some, budget, step, seed, warm_up):
    some = some.after(warm_up)
    record = Recorded()
    found = run(some, budget=budget, step=step, policy=record, seed=seed)

    live = stale = age = harmonic = missed = Fraction(0)
    for row in range(len(some)):
        changes = some.changes[some.offsets[row] : some.offsets[row + 1]]
        scores = slow_scores(
            [micro(change) for change in changes],
            record.of_page(row),
            micro(some.first_seen[row]),
            max(micro(some.last_moment[row]), micro(some.first_seen[row])),
            micro(some.scored_from),
        )
        weight = Fraction(some.weight[row])
        assert found.stale_days[row] == pytest.approx(float(scores.stale))
        assert some.scored_days[row] == pytest.approx(float(scores.live))
        live += weight * scores.live
        stale += weight * scores.stale
        age += weight * scores.age
        harmonic += weight * scores.harmonic
        missed += weight * scores.missed
    if live:
        assert found.staleness == pytest.approx(float(stale / live), abs=1e-12)
        assert found.age == pytest.approx(float(age / live), abs=1e-12)
        assert found.harmonic == pytest.approx(float(harmonic / live), abs=1e-12)
        assert found.missed == pytest.approx(float(missed / live), abs=1e-12)
    else:
        assert math.isnan(found.staleness)


@settings(deadline=None)
@given(worlds(), budgets, steps)
def test_sums_that_always_hold(some, budget, step):
    record = Recorded()
    found = run(some, budget=budget, step=step, policy=record)
    a_day = some.budget(Budget.read(budget)).visits_a_day(len(some))

    if not math.isnan(found.freshness):
        assert found.staleness == 1 - found.freshness
        assert 0 <= found.freshness <= 1
        assert found.staleness <= found.harmonic + 1e-12 <= found.missed + 2e-12
    assert found.found + found.premature == found.visits
    assert found.found <= found.changes
    assert found.visits <= a_day * (some.days + step) + 1
    assert found.visits == sum(len(record.of_page(row)) for row in range(len(some)))


@settings(deadline=None)
@given(worlds(), budgets, steps)
def test_visits_are_made_at_the_start_of_steps_while_a_page_is_there(some, budget, step):
    record = Recorded()
    run(some, budget=budget, step=step, policy=record)

    for row in range(len(some)):
        visits = record.of_page(row)
        assert all((visit - micro(START)) % round(step * DAY) == 0 for visit in visits)
        assert all(micro(some.first_seen[row]) <= visit for visit in visits)
        assert all(visit < micro(some.last_moment[row]) for visit in visits)
        assert len(set(visits)) == len(visits)


@settings(deadline=None)
@given(worlds(), budgets, steps, st.integers(-3000, 3000))
def test_it_does_not_matter_when_the_world_begins(some, budget, step, days):
    shift = np.timedelta64(days, "D")
    later = replace(
        some,
        first_seen=some.first_seen + shift,
        removed_at=some.removed_at + shift,
        changes=some.changes + shift,
        end=some.end + shift,
        scored_from=some.scored_from + shift,
    )

    now, then = (run(one, budget=budget, step=step) for one in (some, later))

    np.testing.assert_array_equal(now.stale_days, then.stale_days)
    np.testing.assert_array_equal(now.visits_of_page, then.visits_of_page)


@settings(deadline=None)
@given(worlds(), st.sampled_from([1.0, 3.0, 0.3]), steps)
def test_the_unit_of_time_does_not_matter(some, visits, step):
    """All times twice as long, half the visits a day: the same share of time is stale."""

    def doubled(times):
        return START + (times - START) * 2

    slower = replace(
        some,
        first_seen=doubled(some.first_seen),
        removed_at=doubled(some.removed_at),
        changes=doubled(some.changes),
        end=doubled(some.end),
    )

    fast = run(some, budget=f"{visits}/1d", step=step)
    slow = run(slower, budget=f"{visits}/2d", step=2 * step)

    np.testing.assert_array_equal(slow.visits_of_page, fast.visits_of_page)
    np.testing.assert_allclose(slow.stale_days, 2 * fast.stale_days)
    np.testing.assert_allclose(slow.age_integral, 4 * fast.age_integral)


@settings(deadline=None)
@given(worlds(), budgets, st.integers(0, 5))
def test_the_same_seed_gives_the_same_run(some, budget, seed):
    one, other = (run(some, budget=budget, seed=seed) for _ in range(2))

    np.testing.assert_array_equal(one.stale_days, other.stale_days)
    np.testing.assert_array_equal(one.visits_of_page, other.visits_of_page)


def test_a_finer_step_makes_the_same_number_of_visits():
    some = world(*([1.0] for _ in range(5)), end=20.0)

    assert {run(some, budget="3/1d", step=step).visits for step in (0.125, 0.25, 1.0)} == {60}


@pytest.mark.parametrize("expected_changes", [0.3, 1.0, 2.0])
def test_regular_visits_to_poisson_pages_have_the_known_freshness(expected_changes):
    """(1 - e^-x) / x with x = rate * gap; sigma is less than a thousandth here."""
    gap = 5.0
    rates = np.full(20_000, expected_changes / gap)
    some = poisson(rates, days=110.0, random=np.random.default_rng(3)).after(2 * gap)

    found = run(some, budget=f"{20_000 / gap}/1d", step=0.25)

    expected = -math.expm1(-expected_changes) / expected_changes
    assert found.freshness == pytest.approx(expected, rel=0.003)


def test_progress_rises_to_the_end():
    simulation = Simulation(
        world([1.0], end=10.0),
        Recorded(),
        Budget.read("1/1d"),
        random=np.random.default_rng(0),
        step=1.0,
    )
    shares = list(simulation.steps())

    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.8 < shares[-1] < 1


@pytest.mark.parametrize("step", [0.0, -1.0, math.inf, math.nan, 1e-13])
def test_a_step_must_take_time(step):
    with pytest.raises(InvalidParameter, match="step must be a positive, finite number of days"):
        run(world([1.0]), step=step)


def test_a_world_must_last():
    with pytest.raises(InvalidHistory, match="a world must last"):
        run(world([]))


def test_a_budget_must_be_finite():
    budget, random = Budget(math.inf), np.random.default_rng(0)

    with pytest.raises(InvalidParameter, match="budget must be finite"):
        simulate(world([1.0]), uniform(), budget, random=random)


def test_pages_found_after_the_end_count_nowhere():
    found = run(world([1.0], [], found=[0.0, 9.0], end=4.0), budget="5/1d")

    assert found.world.live_days.tolist() == [4.0, 0.0]
    assert found.never_visited == 1
    assert not at(9.0)[0] <= found.world.end


@settings(deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_visits_in_the_record_does_not_matter(some, shuffler):
    """Each visit brings a stretch of changes of its own."""
    visits = [
        (np.datetime64(some.end), first, first + 1)
        for first in range(len(some.changes))
        if shuffler.random() < 0.5
    ]
    nobody = np.zeros(len(some), np.int64)

    def tallies(order):
        brought = FoundChanges.joined(
            [(when, np.array([first]), np.array([until])) for when, first, until in order]
        )
        return scored(some, brought, nobody, nobody > 0)

    one = tallies(visits)
    shuffler.shuffle(visits)
    other = tallies(visits)

    np.testing.assert_array_equal(one.harmonic_integral, other.harmonic_integral)
    np.testing.assert_array_equal(one.found_of_page, other.found_of_page)


def lasting(days, pages=10):
    end = START + np.timedelta64(round(days * 86_400e6), "us")
    changes = np.arange(pages), np.repeat(START + (end - START) // 2, pages)
    address = [f"https://a.org/{row}" for row in range(pages)]
    return World.of(address, np.repeat(START, pages), changes, end=end)


@pytest.mark.parametrize(
    ("days", "budget", "step"),
    [
        (100.0, "1/1d", 0.25),  # a gap of ten days: six hours are fine
        (1.0, "1/1d", 0.01),  # a hundred steps
        (100.0, "40/1d", 10 / 40 / 8),  # eight in a gap
        (100.0, "1000000/1d", 0.01),  # ten thousand at most
        (0.0, "1/1d", 0.25),  # will be refused for what it is
    ],
)
def test_a_step_fits_the_history_and_the_gaps(days, budget, step):
    assert fitting_step(lasting(days), Budget.read(budget)) == pytest.approx(step)


@given(days=st.floats(1e-3, 1e4), visits=st.floats(1e-3, 1e6))
def test_a_step_is_never_long_nor_are_there_too_many(days, visits):
    step = fitting_step(lasting(days), Budget(visits))

    assert 0 < step <= 0.25
    assert days / step <= max(10_001, 4 * days + 1)
