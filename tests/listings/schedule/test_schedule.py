"""When to sync next, limits, and a budget over several sources."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.forecast.bands import QualityBand
from recrawl.listings.forecast.forecast import Forecast, ForecastPath
from recrawl.listings.schedule.backtest import quality_per_sync
from recrawl.listings.schedule.schedule import (
    Goal,
    Limit,
    days_to_next,
    first_violation,
    next_day,
)
from recrawl.listings.schedule.sources import BudgetedSource, share_budget

PATH = np.array([0.97, 0.94, 0.915, 0.89, 0.87])


def forecast_of(precision, recall=None, stock=1e9, **more):
    recall = precision if recall is None else recall
    outlook = ForecastPath.of_quality(stock, precision, recall)
    bands = QualityBand(0.12, 0.5), QualityBand(0.12, 0.5)
    return Forecast(stock, outlook, outlook, outlook, outlook, bands, **more)


def test_the_papers_example_syncs_on_day_4():
    """.92 on day 3, .89 on day 4, threshold .9."""
    assert first_violation(np.array([0.97, 0.95, 0.92, 0.89]), 0.9) == 4


def test_a_quality_just_at_the_threshold_is_no_violation():
    assert first_violation(np.array([0.95, 0.9, 0.85]), 0.9) == 3


def test_a_forecast_that_does_not_reach_so_far_says_nothing():
    assert first_violation(np.array([0.99]), 0.9) is None


@given(st.floats(0.005, 1), st.floats(0.3, 0.99))
def test_without_memory_there_is_a_closed_form(rate, threshold):
    """The first whole day after -ln(threshold) / rate."""
    exact = -np.log(threshold) / rate
    found = first_violation(np.exp(-rate * np.arange(1, 500)), threshold)

    assert found == np.floor(exact) + 1 or exact == pytest.approx(np.rint(exact), abs=1e-9)


def test_the_score_alone_rewards_a_schedule_that_breaks_its_threshold():
    """Half the syncs, quality .8 instead of .95: the score says it is 68 % better."""
    kept, broken = quality_per_sync(0.95, 20), quality_per_sync(0.8, 10)

    assert kept == pytest.approx(0.0475)
    assert broken / kept == pytest.approx(1.684, abs=1e-3)
    with pytest.raises(InvalidParameter, match=r"syncs must be at least 1 \(got 0\)"):
        quality_per_sync(0.9, 0)


def test_the_point_rule_and_the_guarantee():
    """Vector `conf`: .915 on day 3, .89 on day 4."""
    assert days_to_next(forecast_of(PATH), Goal(precision=0.9)) == 4
    assert days_to_next(forecast_of(PATH), Goal(precision=0.9, guarantee=True)) == 3


def test_confidence():
    """Vector `conf`: lower bounds .9557, .9173, .8869."""
    forecast = forecast_of(PATH)

    np.testing.assert_allclose(
        forecast.floor("precision", 0.9)[:3], [0.9557, 0.9173, 0.8869], atol=1e-4
    )
    assert days_to_next(forecast, Goal(precision=0.9, confidence=0.9)) == 3


def test_precision_and_recall_together_take_the_earlier():
    forecast = forecast_of(PATH, PATH - 0.03)

    assert days_to_next(forecast, Goal(precision=0.9, recall=0.9)) == 3
    assert days_to_next(forecast, Goal(precision=0.9, recall=0.5)) == 4


def test_a_source_that_looks_dead_is_visited_after_thirty_days():
    assert days_to_next(forecast_of(np.ones(60)), Goal(recall=0.9)) == 30


def test_at_least_a_day_passes():
    assert days_to_next(forecast_of(np.full(5, 0.1)), Goal(recall=0.9, guarantee=True)) == 1


def test_after_a_change_of_keys_it_is_the_next_day():
    assert days_to_next(forecast_of(PATH, status=("rekey?",)), Goal(precision=0.5)) == 1


@pytest.mark.parametrize(("arrivals", "days"), [(0.25, 4), (0.001, 30), (5.0, 1), (0.0, 30)])
def test_an_empty_source_waits_for_an_arrival(arrivals, days):
    forecast = forecast_of(np.ones(30), stock=0.0, status=("empty",), arrivals=arrivals)

    assert days_to_next(forecast, Goal(recall=0.9)) == days


@given(st.floats(0.5, 0.98), st.floats(0.51, 0.98))
def test_more_confidence_never_waits_longer(target, confidence):
    forecast = forecast_of(np.exp(-0.02 * np.arange(1, 31)))
    point = days_to_next(forecast, Goal(precision=target))

    assert days_to_next(forecast, Goal(precision=target, confidence=confidence)) <= point


def test_goals_that_make_no_sense():
    with pytest.raises(InvalidParameter, match="neither"):
        Goal()
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        Goal(precision=1.5)
    with pytest.raises(InvalidParameter, match="confidence"):
        Goal(precision=0.5, confidence=0.3)
    with pytest.raises(InvalidParameter, match="limit"):
        Limit(0, 7.0)
    with pytest.raises(InvalidParameter, match="cost"):
        BudgetedSource(PATH, cost=0.0)


def test_stricter_goals_keep_their_kind():
    goal = Goal(precision=0.8, confidence=0.9).stricter(0.5)

    assert goal == Goal(precision=0.9, confidence=0.9)


def test_limits_put_off_a_sync():
    assert next_day(3.0, 1.0, [0.0, 3.0], [Limit(2, 7.0)]) == 7.0
    assert next_day(3.0, 9.0, [0.0, 3.0], [Limit(2, 7.0)]) == 12.0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=40))
def test_no_week_holds_more_than_the_limit(waits):
    limit, past = Limit(2, 7.0), [0.0]
    for wait in waits:
        past.append(next_day(past[-1], wait, past, [limit]))

    assert all(later - first >= 7 for first, later in zip(past, past[2:], strict=False))


def decaying(rate):
    return np.exp(-rate * np.arange(1, 31))


def test_a_budget_goes_where_it_avoids_most():
    syncs = share_budget([BudgetedSource(decaying(0.02)), BudgetedSource(decaying(0.08))], 24, 30.0)

    assert syncs.sum() == 24
    assert syncs[1] > syncs[0] > 0


def test_a_dear_source_is_visited_less():
    cheap, dear = share_budget(
        [BudgetedSource(decaying(0.05)), BudgetedSource(decaying(0.05), cost=4.0)], 40, 30.0
    )

    assert cheap > dear
    assert cheap + 4 * dear <= 40


def test_a_budget_is_shared_as_well_as_by_trying_all():
    sources = [
        BudgetedSource(decaying(0.02)),
        BudgetedSource(decaying(0.05), weight=2.0),
        BudgetedSource(decaying(0.3)),
    ]
    budget = 9
    found = share_budget(sources, budget, 30.0)
    ways = [
        (first, second, budget - first - second)
        for first in range(budget + 1)
        for second in range(budget + 1 - first)
    ]

    def loss(way):
        return sum(s.loss(int(n), 30.0) for s, n in zip(sources, way, strict=True))

    assert loss(found) == pytest.approx(min(map(loss, ways)))


def test_a_source_that_never_decays_gets_nothing():
    assert share_budget(
        [BudgetedSource(np.ones(30)), BudgetedSource(decaying(0.1))], 5, 30.0
    ).tolist() == [0, 5]
