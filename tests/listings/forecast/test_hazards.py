"""Hazards by age and group: survivors, levels, one pass of expectation-maximisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.forecast.ages import AGELESS, CLASSES, OLDEST, Ages, by_age
from recrawl.listings.forecast.hazards import (
    AgedCycle,
    HazardModel,
    Hazards,
    HazardTally,
    age_hazard,
    gained,
    group_factor,
    implied_level,
    surviving,
)

CURVE = np.full(CLASSES, 0.02)
CURVE[:3] = 0.10, 0.05, 0.05
FACTOR = np.array([1.5, 0.8])


def tally_of(cycle, model):
    """What a cycle tells of ages and groups."""
    return AgedCycle.of(cycle, len(model.factor)).expected_tally(model)


def spec_count():
    count = np.zeros((CLASSES, 2))
    count[0], count[1], count[5] = (4, 1), (3, 2), (10, 20)
    return count


def left(level, days):
    gain = gained(CURVE, np.array([days]))
    return float(surviving(spec_count(), gain, FACTOR, np.array([level]))[0])


def stock_of(day, rows, group=None):
    seen, before, count = (np.array(column) for column in zip(*rows, strict=True))
    group = np.zeros(len(rows), dtype=np.int64) if group is None else np.array(group)
    return Stock(day, seen, before, group, count.astype(float))


def cycle_of(stock, days, deleted):
    return Cycle(stock, stock.day + days, np.array(deleted, dtype=float), np.zeros(1), 0)


def test_survivors_of_a_small_stock():
    """Vector `surv`: W = .9 is part of the level."""
    assert left(1.2 * 0.9, 3) == pytest.approx(36.070680, abs=1e-6)
    assert left(1.2 * 0.9, 3) / 40 == pytest.approx(0.901767, abs=1e-6)


def test_survivors_after_a_week():
    """Vector `surv-1`."""
    assert left(1.0, 7) == pytest.approx(33.340972, abs=1e-6)


def test_the_level_that_explains_nine_removals():
    """Vector `level`."""
    gain = gained(CURVE, np.array([3]))[0]

    assert 40 - left(1.0, 3) == pytest.approx(3.659857, abs=1e-6)
    assert implied_level(spec_count(), gain, FACTOR, 9.0) == pytest.approx(2.786305, abs=1e-6)


@given(st.floats(0.01, 39.9), st.integers(1, 40))
def test_the_level_agrees_with_a_root_finder(deleted, days):
    gain = gained(CURVE, np.array([days]))
    found = implied_level(spec_count(), gain[0], FACTOR, deleted)

    def gap(level):
        return 40 - float(surviving(spec_count(), gain, FACTOR, np.array([level]))[0]) - deleted

    assert found == pytest.approx(brentq(gap, 0, 1e6, xtol=1e-14), rel=1e-6)


def test_ages_of_a_cohort():
    """Vector `cohort`: seen at 17, the one before at 10, now 24."""
    table = by_age(stock_of(24, [(17, 10, 7)]), 1)[:, 0]

    assert np.flatnonzero(table).tolist() == [7, 8, 9, 10, 11, 12, 13]
    np.testing.assert_allclose(table[7:14], 1.0)


def test_ages_beyond_the_oldest_class_count_there():
    table = by_age(stock_of(200, [(25, 20, 5), (5, 0, 3)]), 1)[:, 0]

    assert table[[175, 176, 177, 178, 179]].tolist() == pytest.approx([1, 1, 1, 1, 1 + 3])
    assert table.sum() == pytest.approx(8)


def test_an_unknown_age_is_a_class_of_its_own():
    table = by_age(stock_of(50, [(0, -1, 6)]), 1)[:, 0]

    assert table[AGELESS] == 6
    assert table[:AGELESS].sum() == 0


rows = st.lists(
    st.tuples(st.integers(1, 300), st.integers(1, 200), st.integers(1, 50), st.integers(0, 2)),
    min_size=1,
    max_size=8,
)


@given(rows)
def test_no_object_is_lost_between_ages_and_groups(rows):
    seen = np.array([row[0] for row in rows])
    before = np.maximum(seen - np.array([row[1] for row in rows]), -1)
    stock = Stock(
        300,
        seen,
        before,
        np.array([row[3] for row in rows]),
        np.array([row[2] for row in rows]) * 1.0,
    )
    table = by_age(stock, 3)

    np.testing.assert_allclose(table.sum(), stock.listed)
    np.testing.assert_allclose(table.sum(axis=0), np.bincount(stock.group, stock.count, 3))


@given(rows)
def test_totals_undo_spreading(rows):
    """The sum of ones over the ages of a row is its number of ages."""
    seen = np.array([row[0] for row in rows])
    before = np.maximum(seen - np.array([row[1] for row in rows]), -1)
    count = np.ones(len(rows))
    ages = Ages.of(Stock(300, seen, before, np.array([row[3] for row in rows]), count), 3)

    np.testing.assert_allclose(ages.total(np.ones((CLASSES, 3))), ages.width)


def test_one_pass_of_expectation_maximisation():
    """Vector `em`: a cohort of ages 0, 1, 2; 3 of 9 die in 2 days."""
    stock = stock_of(3, [(3, 0, 9)])
    model = HazardModel(CURVE, np.ones(1), 1.0, np.ones(2))
    tally = tally_of(cycle_of(stock, 2, [3]), model)

    np.testing.assert_allclose(
        tally.removals[:4], [0.945133, 0.922662, 0.945133, 0.187071], atol=1e-6
    )
    np.testing.assert_allclose(
        tally.exposure[:4], [2.824996, 4.848517, 4.745492, 2.167104], atol=1e-6
    )
    assert tally.removals.sum() == pytest.approx(3)


def test_the_removed_and_the_remaining_by_age_at_the_start():
    """Vector `em`: removed and remaining by age at the start."""
    ages = Ages.of(stock_of(3, [(3, 0, 9)]), 1)
    chance = -np.expm1(-gained(CURVE, np.array([2]))[0])[:, None]
    removed = ages.spread(3 / ages.total(chance)) * chance
    remaining = ages.spread(6 / ages.total(1 - chance)) * (1 - chance)

    np.testing.assert_allclose(removed[:3, 0], [1.383417, 0.945133, 0.671449], atol=1e-6)
    np.testing.assert_allclose(remaining[:3, 0], [1.914145, 2.012286, 2.073569], atol=1e-6)


@given(rows, st.integers(1, 30), st.floats(0.2, 3))
def test_all_removals_are_shared_out(rows, days, level):
    seen = np.array([row[0] for row in rows])
    before = np.maximum(seen - np.array([row[1] for row in rows]), -1)
    count = np.array([row[2] for row in rows]) * 1.0
    stock = Stock(300, seen, before, np.array([row[3] for row in rows]), count)
    model = HazardModel(CURVE, np.array([0.5, 1.0, 2.0]), level, np.ones(days))
    tally = tally_of(cycle_of(stock, days, count // 2), model)

    assert tally.removals.sum() == pytest.approx((count // 2).sum())
    assert tally.group_removals.sum() == pytest.approx((count // 2).sum())
    assert np.all(tally.exposure >= 0)


def cycle_of_rows(rows, days):
    seen = np.array([row[0] for row in rows])
    before = np.maximum(seen - np.array([row[1] for row in rows]), -1)
    count = np.array([row[2] for row in rows]) * 1.0
    stock = Stock(300, seen, before, np.array([row[3] for row in rows]), count)
    return cycle_of(stock, days, count // 2)


def assert_alike(one, other):
    """Tables of two counted cycles are the same."""
    for name in (
        "days",
        "listed",
        "deleted",
        "inserted",
        "count",
        "removed",
        "remaining",
        "group_removed",
    ):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)
    np.testing.assert_array_equal(one.uncertain.ages.first, other.uncertain.ages.first)
    np.testing.assert_array_equal(one.uncertain.ages.group, other.uncertain.ages.group)


@given(rows)
def test_a_counted_cycle_has_its_stock_by_age(rows):
    """Whether rows are in one class for sure or in several."""
    cycle = cycle_of_rows(rows, 3)

    np.testing.assert_allclose(AgedCycle.of(cycle, 3).count, by_age(cycle.stock, 3), atol=1e-12)


@given(rows)
def test_a_cycle_as_a_whole_is_one_counted_with_a_single_group(rows):
    cycle = cycle_of_rows(rows, 3)

    assert_alike(AgedCycle.of(cycle, 3).whole, AgedCycle.of(cycle, 1))


@given(rows, st.integers(1, 30), st.floats(0.2, 3))
def test_rows_of_one_age_need_not_be_shared_out(rows, days, level):
    """Sharing out every row, as if none were sure, finds as many removals in the same places."""
    cycle, factor = cycle_of_rows(rows, days), np.array([0.5, 1.0, 2.0])
    ages = Ages.of(cycle.stock, 3)
    chance = -np.expm1(-level * gained(CURVE, np.array([days]))[0][:, None] * factor)
    removed = ages.spread(cycle.deleted / ages.total(chance)) * chance
    tally = tally_of(cycle, HazardModel(CURVE, factor, level, np.ones(days)))

    np.testing.assert_allclose(tally.group_removals, removed.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(tally.removals[AGELESS], removed[AGELESS].sum(), atol=1e-9)
    if days == 1:
        np.testing.assert_allclose(tally.removals, removed.sum(axis=1), atol=1e-9)


def test_on_a_single_day_all_live_but_the_removed_for_half_of_it():
    """Level 1.5, weekday 0.8, factors 2 and 0.5: 1.2 (2 (3 + 2/2) + 0.5 (4 + 1/2)) at age 5."""
    stock = stock_of(9, [(4, 3, 5), (4, 3, 5)], group=[0, 1])
    model = HazardModel(CURVE, np.array([2.0, 0.5]), 1.5, np.array([0.8]))
    tally = tally_of(cycle_of(stock, 1, [2, 1]), model)

    assert tally.removals[5] == pytest.approx(3)
    assert tally.exposure[5] == pytest.approx(1.2 * (2 * 4 + 0.5 * 4.5))
    assert np.count_nonzero(tally.exposure) == 1


def test_the_unknown_learn_only_of_themselves():
    stock = stock_of(9, [(0, -1, 20)])
    tally = tally_of(cycle_of(stock, 4, [5]), HazardModel(CURVE, np.ones(1), 1.0, np.ones(4)))

    assert tally.removals[AGELESS] == pytest.approx(5)
    assert tally.removals[:AGELESS].sum() == 0


def test_shrunk_hazards_and_factors():
    """Vector `pool`."""
    assert age_hazard(np.array(18.0), np.array(400.0), 0.03) == pytest.approx(0.042)
    assert group_factor(np.array(60.0), np.array(40.0)) == pytest.approx(1.25)


def test_ages_merge_until_a_class_holds_fifteen_removals():
    tally = HazardTally.empty(1)
    removals, exposure = tally.removals.copy(), tally.exposure.copy()
    removals[:5] = 10, 6, 20, 3, 13
    exposure[:AGELESS] = 10.0
    tally = HazardTally(removals, exposure, np.zeros(1), np.zeros(1))
    curve = Hazards().curve(tally)

    assert curve[0] == curve[1] != curve[2]
    assert len(set(curve[:AGELESS].tolist())) == 3
    assert curve[3] == curve[4] == curve[OLDEST]
    assert curve[3] == pytest.approx(age_hazard(np.array(16.0), np.array(1770.0), tally.mean))


def test_a_few_removals_are_one_class():
    tally = HazardTally.empty(1)
    assert len(set(Hazards().curve(tally).tolist())) == 1


def test_with_no_removal_the_mean_hazard_is_a_half_over_exposure():
    """Edge case: (0 + .5) / (X + 30)."""
    exposure = np.zeros(CLASSES)
    exposure[5] = 970.0
    tally = HazardTally(np.zeros(CLASSES), exposure, np.zeros(1), np.zeros(1))

    assert tally.mean == pytest.approx(0.5 / 1000)


def test_simulated_hazards_are_found_again():
    """Objects seen daily; infants are removed at 0.2 a day for 3 days, then at 0.02."""
    random = np.random.default_rng(7)
    truth = np.where(np.arange(200) < 3, 0.2, 0.02)
    alive = np.zeros(200)
    tally, hazards = HazardTally.empty(1), Hazards()
    for day in range(1, 200):
        alive[day] = 60
        age = day - np.arange(1, day + 1)
        removed = random.binomial(alive[1 : day + 1].astype(int), -np.expm1(-truth[age]))
        seen = np.arange(1, day + 1)
        stock = Stock(day, seen, seen - 1, np.zeros(day, dtype=np.int64), alive[1 : day + 1].copy())
        model = HazardModel(hazards.curve(tally), np.ones(1), 1.0, np.ones(1))
        cycle = Cycle(stock, day + 1, removed.astype(float), np.zeros(1), 0)
        tally = tally.add(tally_of(cycle, model), 1)
        alive[1 : day + 1] -= removed

    curve = hazards.curve(tally)
    assert curve[:3].mean() == pytest.approx(0.2, rel=0.12)  # half a day's exposure a removal
    assert curve[5:60].mean() == pytest.approx(0.02, rel=0.1)
