"""Frequency classes: Bayes' rule gap by gap as the oracle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Likelihood, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import Classes
from tests.rates.oracles import MICROSECOND
from tests.strategies import all_gaps, history_of, pages

if TYPE_CHECKING:
    from tests.strategies import Seen

WEEK_AND_MONTH = Classes(rates=(1 / 7, 1 / 30))


def one_after_the_other(page: list[Seen], rates: tuple, weights: tuple) -> list[float]:
    """Multiply by the chance of what each gap showed, and bring back to a sum of 1."""
    logs = [math.log(weight) for weight in weights]
    for gap in page:
        for number, rate in enumerate(rates):
            expected = rate * gap.gap
            if gap.count >= 0:
                chance = gap.count * math.log(rate) - expected
            elif not math.isnan(gap.age):
                chance = math.log(rate) - rate * max(gap.age, MICROSECOND)
            else:
                chance = math.log(-math.expm1(-expected)) if gap.changed else -expected
            logs[number] += chance
        top = max(logs)
        total = top + math.log(math.fsum(math.exp(log - top) for log in logs))
        logs = [log - total for log in logs]
    return [math.exp(log) / math.fsum(map(math.exp, logs)) for log in logs]


def test_a_month_without_a_change_speaks_against_a_weekly_page():
    """algorithms.md 1.5: P(monthly) rises and P(weekly) falls; e^(-30/7) against e^-1."""
    weekly, monthly = WEEK_AND_MONTH.probabilities(history_of([(30.0, False)]))[0]

    odds = math.exp(-1) / math.exp(-30 / 7)
    assert monthly == pytest.approx(odds / (1 + odds), rel=1e-12)
    assert weekly < 0.5 < monthly


def test_a_change_within_a_day_speaks_for_a_weekly_page():
    """1 - e^(-1/7) against 1 - e^(-1/30)."""
    weekly, _ = WEEK_AND_MONTH.probabilities(history_of([(1.0, True)]))[0]

    odds = math.expm1(-1 / 7) / math.expm1(-1 / 30)
    assert weekly == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_a_date_says_more_than_the_change_alone():
    """r e^(-rt): a change three days ago, somewhere in a gap of a hundred days."""
    weekly, _ = WEEK_AND_MONTH.probabilities(history_of([(100.0, True, 3.0)]))[0]

    odds = (1 / 7 * math.exp(-3 / 7)) / (1 / 30 * math.exp(-3 / 30))
    assert weekly == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_the_rate_is_that_of_the_most_probable_class():
    estimates = WEEK_AND_MONTH.estimate(history_of([(30.0, False)], [(1.0, True)]))

    assert estimates.rate.tolist() == [1 / 30, 1 / 7]
    assert estimates.probability is not None
    chances = WEEK_AND_MONTH.probabilities(history_of([(30.0, False)], [(1.0, True)]))
    assert estimates.probability.tolist() == chances.max(axis=1).tolist()
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN, Status.ALL_CHANGED]


def test_a_page_without_gaps_is_as_probable_as_the_weights_say():
    """And says so: the figures are what was believed before."""
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    classes = Classes(rates=(1.0, 0.1), weights=(1.0, 3.0))
    estimates = classes.estimate(history_of([], [], first_visit=first_visit))

    assert estimates.rate.tolist() == [0.1, 0.1]
    assert estimates.probability == pytest.approx([0.75, 0.75])
    assert estimates.status.tolist() == [Status.PRIOR_ONLY] * 2


def test_the_gamma_has_the_mean_and_variance_of_the_classes():
    """Rates of 1 and 3 with equal chances: mean 2, variance 1, so shape 4 in 2 days."""
    estimates = Classes(rates=(1.0, 3.0)).estimate(history_of([]))

    assert estimates.shape == pytest.approx([4.0])
    assert estimates.exposure == pytest.approx([2.0])


def test_a_certain_class_is_finite_all_the_same():
    """Ten thousand years without a change leave only the slowest class, without any spread."""
    estimates = Classes().estimate(history_of([(3.65e6, False)], [(1.0, True, np.nan, 10**6)]))

    assert estimates.rate.tolist() == [1 / 365, 2.0]
    assert estimates.probability == pytest.approx([1.0, 1.0])
    for figure in ("low", "high", "shape", "exposure"):
        assert np.isfinite(getattr(estimates, figure)).all()


def test_the_band_holds_the_classes_that_are_needed():
    """Chances 0.04, 0.32, 0.32, 0.32: at 90 % the slowest is cut off, at 99 % it is not."""
    weights = (0.32, 0.04, 0.32, 0.32)
    page = history_of([])
    narrow = Classes(rates=(4.0, 1.0, 2.0, 3.0), weights=weights, level=0.9).estimate(page)
    wide = Classes(rates=(4.0, 1.0, 2.0, 3.0), weights=weights, level=0.99).estimate(page)

    assert (narrow.low.tolist(), narrow.high.tolist()) == ([2.0], [4.0])
    assert (wide.low.tolist(), wide.high.tolist()) == ([1.0], [4.0])


def test_the_order_of_classes_does_not_matter():
    page = history_of([(3.0, True), (9.0, False), (2.0, True, 0.5)])
    one = Classes(rates=(2.0, 0.5, 0.1), weights=(1.0, 2.0, 3.0)).estimate(page)
    other = Classes(rates=(0.1, 2.0, 0.5), weights=(3.0, 1.0, 2.0)).estimate(page)

    for figure in ("rate", "low", "high", "probability"):
        assert getattr(one, figure) == pytest.approx(getattr(other, figure), rel=1e-12)


def test_many_visits_find_the_class_of_the_most_likely_rate():
    """With a class at every tenth of e, the best one is next to the most likely rate."""
    chance = np.random.default_rng(41)
    gaps = chance.exponential(2.0, 400)
    page = history_of(
        [(gap, bool(chance.random() < -math.expm1(-0.7 * gap))) for gap in gaps.tolist()]
    )
    rates = tuple(np.exp(np.arange(-5, 3, 0.1)).tolist())

    best = Classes(rates=rates).estimate(page).rate[0]
    likely = Likelihood(singularity="none").estimate(page).rate[0]
    assert abs(math.log(best / likely)) <= 0.05 + 0.01


@given(found=st.lists(st.lists(all_gaps, max_size=12), min_size=1, max_size=4), data=st.data())
def test_probabilities_are_those_of_one_gap_after_the_other(found, data):
    """Hidden, dated and counted changes, gaps from a second to thirty years."""
    rates = Classes().rates
    weights = tuple(data.draw(st.lists(st.floats(0.01, 10), min_size=6, max_size=6)))
    chances = Classes(weights=weights).probabilities(history_of(*found))

    assert chances.sum(axis=1) == pytest.approx(np.ones(len(found)), rel=1e-12)
    for row, page in zip(chances, found, strict=True):
        # Logarithms of up to 20,000 (days at twice a day) lose four of their digits.
        expected = one_after_the_other(page, rates, weights)
        assert row == pytest.approx(expected, rel=1e-8, abs=1e-10)


@given(page=pages, level=st.sampled_from([0.5, 0.9, 0.99]))
def test_the_band_leaves_out_as_little_as_promised(page, level):
    """At most (1 - level) / 2 of the probability lies below it, and as much above."""
    classes = Classes(level=level)
    estimates, chances = classes.estimate(history_of(page)), classes.probabilities(history_of(page))
    rates, tail = np.array(classes.rates), (1 - level) / 2

    assert chances[0][rates < estimates.low[0]].sum() <= tail + 1e-12
    assert chances[0][rates > estimates.high[0]].sum() <= tail + 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rates": ()}, "rates must be positive"),
        ({"rates": (1.0, 0.0)}, "rates must be positive"),
        ({"rates": (1.0, np.inf)}, "rates must be positive"),
        ({"rates": (1.0, np.nan)}, "rates must be positive"),
        ({"rates": (1.0, 2.0, 1.0)}, "rates must all be different"),
        ({"rates": (1.0, 2.0), "weights": (1.0,)}, "expected 2 weights, one per rate"),
        ({"rates": (1.0, 2.0), "weights": (1.0, 0.0)}, "weights must be positive"),
        ({"rates": (1.0, 2.0), "weights": (1.0, np.nan)}, "weights must be positive"),
        ({"level": 1.0}, "level must be"),
    ],
)
def test_classes_that_mean_nothing_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        Classes(**options)
