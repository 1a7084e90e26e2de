"""After training no cycle outvotes what was known before."""

import numpy as np

from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.forecast.drifting_level import HALF_LIVES
from recrawl.listings.forecast.forecaster import Forecaster

ONE = np.array([0])


def cycle(day, days, listed, deleted, inserted=0.0):
    stock = Stock(day, np.array([day]), np.array([-1]), ONE, np.array([float(listed)]))
    return Cycle(
        stock, day + days, np.array([float(deleted)]), np.array([float(inserted)]), day % 7
    )


def trained():
    """A source of 100 objects that loses and gains five a day."""
    return Forecaster().start([cycle(day, 1, 100, 5, 5) for day in range(80)])


def after(state, *cycles):
    for each in cycles:
        state = Forecaster().learn(state, each)
    return state


def test_a_quiet_cycle_of_a_stock_that_was_loaded_weighs_no_more_than_one_of_the_usual_stock():
    """Nine times the objects are not nine times the evidence that the source sleeps."""
    usual = after(trained(), cycle(80, 7, 100, 0))
    loaded = after(trained(), cycle(80, 7, 900, 0))

    assert loaded.pooled.theta > 0.9 * usual.pooled.theta


def test_the_level_falls_by_no_more_than_the_factor_by_which_it_may_rise():
    """At 7 days that is 2: a week without removals teaches half the level, not none."""
    state = trained()
    bank = after(state, cycle(80, 7, 10_000, 0)).pooled.level
    before, kept = state.pooled.level, 0.5 ** (7 / HALF_LIVES)
    learned = bank.events - before.events * kept
    weight = bank.weight - before.weight * kept

    np.testing.assert_allclose(learned / weight, state.pooled.theta / 2, rtol=0.02)


def test_what_is_usual_is_the_weight_of_a_cycle_of_that_length():
    state = trained()
    bank = state.pooled.level

    assert bank.usual(7) == 7 * bank.usual(1)
    assert bank.usual(1) < 6  # about five removals are expected a day
    assert bank.usual(1) > 4
