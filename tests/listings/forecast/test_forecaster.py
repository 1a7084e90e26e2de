"""The default forecaster as a whole: simulations with known hazards, properties, edge cases."""

from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.forecast.forecaster import AGE, DECAY, POOLED, Forecaster
from recrawl.listings.forecast.methods import Static
from tests.listings.made import Made, constant

METRICS = ("precision", "recall", "deleted", "inserted", "listed")


def trained(source, forecaster, days=80, groups=1):
    return forecaster.start([source.advance(1) for _ in range(days)], groups)


def one_row(day, count, *, days=1, deleted=0.0, inserted=0.0):
    """A cycle of one cohort of unknown age."""
    stock = Stock(day, np.array([0]), np.array([-1]), np.array([0]), np.array([float(count)]))
    return Cycle(stock, day + days, np.array([deleted]), np.array([inserted]), day % 7)


def empty_stock(day):
    none = np.zeros(0, dtype=np.int64)
    return Stock(day, none, none, none, np.zeros(0))


def steady(count=100.0, moved=5.0, days=40):
    return [one_row(day, count, deleted=moved, inserted=moved) for day in range(days)]


@pytest.mark.parametrize("expert", [POOLED, AGE, DECAY])
def test_a_constant_hazard_is_forecast_without_bias(expert):
    """Precision after 7 days is exp(-7 x 0.05) whatever the expert."""
    forecaster = Forecaster((expert,))
    found = []
    for seed in range(6):
        source = constant(seed)
        state = trained(source, forecaster)
        found.append(forecaster.forecast(state, source.stock(), 7).typical.precision[-1])

    assert np.mean(found) == pytest.approx(np.exp(-0.35), abs=0.02)


def test_with_a_constant_hazard_both_hazard_experts_agree():
    source = constant(11)
    state = trained(source, Forecaster())
    ends = [
        Forecaster((name,)).forecast(
            replace(state, mixtures=(state.mixtures[0].__class__(np.zeros(1)),) * 2),
            source.stock(),
            7,
        )
        for name in (POOLED, AGE)
    ]

    np.testing.assert_allclose(ends[0].typical.precision, ends[1].typical.precision, atol=0.03)


def test_objects_that_are_removed_young_are_forecast_by_age_only():
    """After a load the stock is young: hazards by age know, one for all does not."""
    hazard = np.where(np.arange(10) < 4, 0.25, 0.01)
    source = Made(np.random.default_rng(2), hazard, np.array([20.0]), np.ones(1))
    state = trained(source, Forecaster())
    young = Stock(source.day, np.array([80]), np.array([79]), np.array([0]), np.array([500.0]))
    old = replace(young, seen=np.array([20]), before=np.array([19]))
    alone = replace(state, mixtures=(state.mixtures[0].__class__(np.zeros(1)),) * 2)
    by_age = Forecaster((AGE,))

    assert by_age.forecast(alone, young, 4).typical.precision[-1] == pytest.approx(
        np.exp(-1), abs=0.08
    )
    assert by_age.forecast(alone, old, 4).typical.precision[-1] == pytest.approx(
        np.exp(-0.04), abs=0.03
    )


def test_groups_that_vanish_faster_are_told_apart():
    source = Made(
        np.random.default_rng(4), np.full(2, 0.03), np.array([10.0, 10.0]), np.array([0.5, 2.0])
    )
    state = trained(source, Forecaster(), days=150, groups=2)
    factor = state.aged.hazards.factors(state.aged.tally)

    assert factor[1] / factor[0] == pytest.approx(4, rel=0.35)


@pytest.mark.slow
@pytest.mark.parametrize("shock", [0.0, 0.5])
def test_forecasts_are_unbiased_and_bands_hold_what_they_claim(shock):
    """90 % bands of all five figures hold 85 to 95 % (counts: at least 85 %) of outcomes."""
    forecaster = Forecaster()
    held: dict[str, list[bool]] = {name: [] for name in METRICS}
    errors = []
    for seed in range(5):
        source = constant(seed, rate=0.04, arrivals=12.0, shock=shock)
        state = trained(source, forecaster)
        for _ in range(60):
            forecast = forecaster.forecast(state, source.stock(), 7)
            cycle = source.advance(7)
            there, now = cycle.survived, cycle.stock.listed
            true = (there / now, there / cycle.listed, now - there, cycle.listed - there)
            for name, value in zip(METRICS, (*true, cycle.listed), strict=True):
                low, high = getattr(forecast.low, name)[-1], getattr(forecast.high, name)[-1]
                held[name].append(low - 1e-9 <= value <= high + 1e-9)
            errors.append(forecast.expected.precision[-1] - true[0])
            state = forecaster.learn(state, cycle)

    assert np.mean(errors) == pytest.approx(0, abs=0.012)
    for name in ("precision", "recall", "deleted"):
        assert 0.85 <= np.mean(held[name]) <= 0.95, name
    for name in ("inserted", "listed"):
        assert 0.85 <= np.mean(held[name]) <= 0.99, name


def test_precision_never_rises_with_days_ahead():
    source = constant(1)
    state = trained(source, Forecaster())
    forecast = Forecaster().forecast(state, source.stock(), 30)

    for outlook in (forecast.typical, forecast.expected):
        assert np.all(np.diff(outlook.precision) <= 1e-12)
        np.testing.assert_allclose(
            outlook.listed, outlook.inserted + forecast.stock - outlook.deleted
        )
    for name in METRICS:
        low, high = getattr(forecast.low, name), getattr(forecast.high, name)
        assert np.all(low <= getattr(forecast.expected, name) + 1)
        assert np.all(getattr(forecast.expected, name) <= high + 1)


def test_deleting_the_group_column_changes_nothing_for_alike_objects():
    """All objects in one group or the only group of three: the same forecast."""
    source = constant(3)
    cycles = [source.advance(1) for _ in range(60)]
    wide = [
        replace(cycle, inserted=np.concatenate([cycle.inserted, [0.0, 0.0]])) for cycle in cycles
    ]
    stock = source.stock()
    one = Forecaster().forecast(Forecaster().start(cycles, 1), stock, 14)
    three = Forecaster().forecast(Forecaster().start(wide, 3), stock, 14)

    np.testing.assert_allclose(one.expected.recall, three.expected.recall)
    np.testing.assert_allclose(one.low.precision, three.low.precision)


def test_learning_changes_no_earlier_state():
    source = constant(5)
    forecaster = Forecaster()
    state = trained(source, forecaster, days=30)
    stock = source.stock()
    before = forecaster.forecast(state, stock, 7).expected.precision
    forecaster.learn(state, source.advance(7))

    np.testing.assert_array_equal(before, forecaster.forecast(state, stock, 7).expected.precision)


@pytest.mark.parametrize("deleted", [0.0, 100.0])
def test_all_or_nothing_deleted_stays_finite(deleted):
    """D = 0 gives a level of .001, D = n one of 4 max(level, .5)."""
    forecaster = Forecaster()
    state = forecaster.start(steady())
    for day in range(40, 75, 7):
        state = forecaster.learn(state, one_row(day, 100, days=7, deleted=deleted, inserted=2.0))
        forecast = forecaster.forecast(state, one_row(day + 7, 100).stock, 30)
        for outlook in (forecast.typical, forecast.expected, forecast.low, forecast.high):
            for name in METRICS:
                assert np.all(np.isfinite(getattr(outlook, name)))
    assert 1e-3 <= state.pooled.theta <= 40


def test_a_cycle_of_a_lifetime_costs_in_proportion_to_its_days():
    """Work by the square of 20,000 days took 45 CPU seconds; the days themselves take 2."""
    forecaster = Forecaster()
    state = forecaster.start(steady())

    begun = process_time()
    after = forecaster.learn(state, one_row(40, 100, days=20_000, deleted=60.0, inserted=60.0))
    spent = process_time() - begun

    assert spent < 12
    assert np.isfinite(
        forecaster.forecast(after, one_row(20_040, 100).stock, 7).expected.recall
    ).all()


def test_a_mass_closure_is_kept_from_the_models_once():
    forecaster = Forecaster()
    state = forecaster.start(steady())
    once = forecaster.learn(state, one_row(40, 100, days=7, deleted=90.0, inserted=5.0))
    twice = forecaster.learn(once, one_row(47, 100, days=7, deleted=90.0, inserted=5.0))

    assert once.flags.closure
    assert once.pooled.theta == state.pooled.theta
    assert once.mass.closed > 0
    assert twice.flags.closure
    assert twice.pooled.theta > once.pooled.theta


def test_expected_forecasts_know_of_mass_events_and_typical_ones_do_not():
    forecaster = Forecaster()
    state = forecaster.start(steady())
    after = forecaster.learn(state, one_row(40, 100, days=7, deleted=90.0, inserted=5.0))
    forecast = forecaster.forecast(after, one_row(47, 100).stock, 7)

    assert np.all(forecast.expected.precision < forecast.typical.precision)


def test_a_change_of_keys_teaches_nothing_and_is_reported():
    forecaster = Forecaster()
    state = forecaster.start(steady())
    after = forecaster.learn(state, one_row(40, 100, deleted=95.0, inserted=97.0))

    assert after.rekeyed
    assert after.rekeys[-1].day == 41
    assert after.rekeys[-1].lost == pytest.approx(0.95)
    assert after.pooled is state.pooled
    assert after.bands is state.bands
    assert "rekey?" in forecaster.forecast(after, one_row(41, 97).stock, 3).status


def test_an_empty_source_says_so():
    """Precision 1, recall 0 while arrivals are to be expected."""
    forecaster = Forecaster()
    state = forecaster.start(steady())
    nothing = empty_stock(40)
    forecast = forecaster.forecast(state, nothing, 5)

    assert "empty" in forecast.status
    np.testing.assert_allclose(forecast.expected.precision, 1)
    np.testing.assert_allclose(forecast.expected.recall, 0)
    assert forecast.arrivals == pytest.approx(5, rel=0.1)
    assert np.all(forecast.high.inserted >= forecast.expected.inserted)


def test_a_cycle_from_an_empty_stock_teaches_arrivals_only():
    forecaster = Forecaster()
    state = forecaster.start(steady())
    nothing = empty_stock(40)
    after = forecaster.learn(state, Cycle(nothing, 47, np.zeros(0), np.array([20.0]), 5))

    assert after.pooled.level is state.pooled.level
    assert after.pooled.arrivals != state.pooled.arrivals


def test_one_snapshot_gives_no_forecast():
    forecaster = Forecaster()
    forecast = forecaster.forecast(forecaster.start([]), one_row(0, 50).stock, 3)

    assert "one-snapshot" in forecast.status
    assert np.all(np.isnan(forecast.expected.precision))


def test_little_training_is_weak_and_a_small_stock_small():
    forecaster = Forecaster()
    weak = forecaster.start(steady(days=5))

    assert "weak" in forecaster.forecast(weak, one_row(5, 100).stock, 3).status
    assert "small" in forecaster.forecast(weak, one_row(5, 29).stock, 3).status
    assert forecaster.forecast(forecaster.start(steady()), one_row(40, 100).stock, 3).status == ()


def test_without_a_removal_the_rate_is_small():
    assert Forecaster().start(steady(moved=0.0)).rate < 0.001


def test_more_data_do_not_change_what_counts_scale():
    """Twice the counts of everything: the same typical forecast."""
    single = Forecaster().start(steady(400.0, 20.0))
    double = Forecaster().start(steady(800.0, 40.0))
    ends = [
        Forecaster().forecast(state, one_row(40, count).stock, 7).typical.precision
        for state, count in ((single, 400), (double, 800))
    ]

    np.testing.assert_allclose(ends[0], ends[1], atol=0.004)


def test_the_static_forecaster_knows_training_only():
    """alpha = D / E with removals counted for half their day: 5 / 97.5."""
    static, refit = Static(), Static(refit=True)
    totals = static.start(steady())

    assert totals.rate == pytest.approx(5 / 97.5)
    assert totals.arrivals == pytest.approx(5)
    burst = one_row(40, 100, deleted=50.0)
    assert static.learn(totals, burst) == totals
    assert refit.learn(totals, burst).rate > totals.rate
