"""The papers' rules for single pages: Malcolm's listings, Singh's predictors, two tiers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.interval import IntervalPolicy
from recrawl.policies.rivals.malcolm import MalcolmLastModified, MalcolmPolicy
from recrawl.policies.rivals.singh import Singh
from recrawl.policies.rivals.two_tier import TwoTier
from recrawl.rates.published.classes import Classes
from recrawl.rates.published.malcolm import Malcolm as MalcolmEstimator
from recrawl.trends.duane import Duane
from recrawl.trends.points import Points
from recrawl.trends.prediction import FORECASTERS, Forecasting, follow
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windows, WindowTimes
from tests.policies.crawls import GAP, START, due_days, later, outcomes, pages_at, visits, waits
from tests.strategies import history_of


def listing_2(seen, most=None):
    """Days to wait after each visit, as Malcolm and Armitage's second listing returns them."""
    span = unchanged = 0.0
    changes = 0
    for gap, changed in seen:
        span += gap
        unchanged += 0 if changed else gap
        changes += changed
        if most is not None and changes >= most:
            yield math.nan
            continue
        if changes == 0:
            estimate = span
        elif unchanged == 0:
            estimate = 0.0
        else:
            average = (span - unchanged) / changes / math.log(span / unchanged)
            estimate = average / (1 + average / span)
        interval = estimate
        if interval > 2:
            interval = max(2.0, estimate / 3)
        yield max(interval, 10 / 1440)


@given(visits, st.sampled_from([None, 3]))
def test_malcolm_follows_the_second_listing(seen, most):
    found = waits(MalcolmPolicy(stop=most), seen)

    np.testing.assert_allclose(found, list(listing_2(seen, most)), rtol=1e-6, atol=1e-9)


def test_malcolm_has_the_interval_of_the_estimator():
    """Ten daily visits, six changes: .98397 days, which the soft maximum leaves alone."""
    seen = [(1.0, True)] * 6 + [(1.0, False)] * 4
    estimate = MalcolmEstimator().estimate(history_of(seen)).mean_interval

    assert waits(MalcolmPolicy(), seen)[-1] == pytest.approx(estimate[0])
    assert estimate[0] == pytest.approx(0.983970, abs=1e-6)


def test_the_wait_for_a_quiet_page_doubles_up_to_two_days():
    """The estimate of a page that never changed is the time watched, here from ten minutes on."""
    rule, seen, wait = MalcolmPolicy(), [], 10 / 1440
    for _ in range(9):
        seen.append((wait, False))
        wait = waits(rule, seen)[-1]

    assert [gap * 144 for gap, _ in seen] == pytest.approx([1, 1, 2, 4, 8, 16, 32, 64, 128])


@given(
    st.lists(st.tuples(st.integers(1, 40).map(float), st.booleans()), min_size=1),
    st.booleans(),
    st.sampled_from([np.nan, 0.0, 12.0, 90.0]),
)
def test_malcolm_with_dates_follows_the_first_listing(seen, dated, first_age):
    """A fifth of the mean age; a first copy without a date is of age 0."""
    first = 0.0 if np.isnan(first_age) else first_age
    now, modified, ages, expected, told = 0.0, -first, [first], [], []
    for gap, changed in seen:
        now += gap
        if changed:
            modified = now - gap * (0.25 if dated else 0.5)
        ages.append(now - modified)
        expected.append(max(1.0, sum(ages) / len(ages) / 5))
        told.append((gap, changed, 0.25 * gap if dated and changed else np.nan))

    rule = MalcolmLastModified(stop=None)
    found = waits(rule, told, first_age=np.array([first_age]))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_first_age_decides_on_the_first_wait():
    """Listing 1: a page that is 40 days old is visited again after 8."""
    policy = IntervalPolicy(MalcolmLastModified())
    pages = pages_at(0.0, 0.0, first_age=np.array([40.0, np.nan]))

    assert due_days(policy, policy.start(pages, START, GAP), range(2)).tolist() == [8.0, 1.0]


@given(visits)
def test_two_tiers_go_by_the_more_probable_class(seen):
    """As `classes` has the probabilities; pages on the edge go with the fast ones."""
    classes = Classes(rates=(1 / 7, 1 / 30))
    for number, wait in enumerate(waits(TwoTier(), seen), start=1):
        fast, slow = classes.probabilities(history_of(seen[:number]))[0]
        if abs(fast - slow) > 1e-9:
            assert wait == pytest.approx(7.0 if fast > slow else 91.0)


def test_a_dated_change_weighs_by_its_age():
    """Odds 30/7 e^(-(1/7 - 1/30) t): above 1 up to 13.3 days, below it after."""
    assert waits(TwoTier(), [(30.0, True, 13.0)]) == pytest.approx([7.0])
    assert waits(TwoTier(), [(30.0, True, 14.0)]) == pytest.approx([91.0])


# Points of one window, and how long after the last of them the page is looked at again.
steps = st.lists(st.integers(1, 200).map(lambda n: n / 8), min_size=4, max_size=20)


def dated_visits(gaps, premature):
    """Every change seen as it happens, then a visit in vain."""
    return [*((gap, True, 0.0) for gap in gaps), (premature, False, np.nan)]


@given(steps, st.integers(1, 100).map(float))
def test_forecasts_are_those_of_the_fits(gaps, premature):
    """Weibull and Duane processes fitted to all points, asked at the last visit."""
    times = np.cumsum(gaps)
    now = np.array([times[-1] + premature])
    points = Points(times, np.array([0, len(times)]), now)
    window = WindowTimes.of(
        points, Windows(np.array([0, len(times)]), np.array([0]), np.array([0], np.uint8))
    )
    weibull, duane = Weibull.of(window), Duane.of(window)
    expected = {
        "weibull": (1 / weibull.rate(now), weibull.beta < 1),
        "duane": (duane.mean_interval(now), duane.slope > 0),
        "ratio": (times[-1:] / len(times), np.array([False])),
    }

    for name, (mean, falls) in expected.items():
        rule = Singh(name, least=1e-9)
        if abs(float(duane.slope[0])) < 1e-6:
            continue  # rounding decides whether the rate falls
        bound = 0.7 if falls[0] and name == "weibull" else 1.0
        wait = np.clip(bound * mean, 1e-8, 36_525.0)
        found = waits(rule, dated_visits(gaps, premature))[-1]
        np.testing.assert_allclose(found, wait[0], rtol=1e-4, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("forecaster", FORECASTERS)
@pytest.mark.parametrize("rewindow", [False, True])
def test_visits_go_as_in_the_simulation_of_whole_records(forecaster, rewindow):
    """Of one page, followed from its fourth change on: as many visits, as many of them in vain."""
    random, bound = np.random.default_rng(4), 0.7
    times = np.cumsum(random.exponential(1.0, 60) * np.linspace(1, 4, 60))
    points = Points(times, np.array([0, 60]), times[-1:])
    forecasting = Forecasting(
        forecaster, period=GAP, least=0.5, rewindow=rewindow, decreasing=bound
    )
    expected = follow(points, forecasting)

    policy, row = (
        IntervalPolicy(Singh(forecaster, least=0.5 / GAP, rewindow=rewindow, bound=bound)),
        np.array([0]),
    )
    state, known = policy.start(pages_at(0.0), START, GAP), 4
    for time in times[:4]:
        state = policy.seen(state, row, later(time), outcomes([True], [0.0]))
    visits_made = found = 0
    while (now := float(due_days(policy, state)[0])) <= times[-1] + 1e-9:
        latest = int(np.searchsorted(times, now, side="right"))
        changed = latest > known
        seen = outcomes([changed], [now - times[latest - 1] if changed else np.nan])
        state, known = policy.seen(state, row, later(now), seen), latest
        visits_made, found = visits_made + 1, found + changed

    assert (found, visits_made) == (expected.observed[0], expected.visits[0])


def test_before_four_changes_pages_wait_for_the_gap():
    assert waits(Singh(), [(3.0, True)] * 3) == pytest.approx([GAP] * 3)
    assert waits(Singh(), [(3.0, True)] * 4)[-1] != pytest.approx(GAP)


def test_undated_changes_lie_in_the_middle_of_their_gaps():
    """Points at 1, 3, 5 and 7 of visits every two days."""
    assert waits(Singh("ratio", least=1e-3), [(2.0, True)] * 4)[-1] == pytest.approx(7 / 4)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MalcolmPolicy(soft=0.0),
        lambda: MalcolmLastModified(ratio=-1.0),
        lambda: TwoTier(fast=0.01, slow=0.1),
        lambda: Singh("horoscope"),
        lambda: Singh(share=0.0),
        lambda: Singh(bound=0.0),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="got"):
        wrong()
