"""What a budget allows, and when."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.token_bucket import TokenBucket

START = 20_480.0
HOUR, MINUTE = 1 / 24, 1 / 1440


def spree(bucket, now, most, *, first):
    """How many visits may be made at once."""
    made = 0
    while made < most and bucket.ready(now, first=first) <= now:
        bucket.spend(now, first=first)
        made += 1
    return made


def crawled(bucket, *, start, days, step=MINUTE):
    """Revisits made in each hour, where one is made whenever that is allowed."""
    made = np.zeros(round(days * 24), int)
    for tick in range(round(days / step)):
        now = start + tick * step
        made[int(tick * step * 24 + 1e-9)] += spree(bucket, now, 10_000, first=False)
    return made


def test_first_copies_may_come_at_once_up_to_the_budget_of_a_day():
    bucket = TokenBucket(5.0, now=START)

    assert spree(bucket, START, 9, first=True) == 5
    assert bucket.spent(START) == 5
    assert START + 1 < bucket.ready(START, first=True) <= START + 1 + 1.01 * MINUTE
    later = START + 1.001
    assert spree(bucket, later, 9, first=True) == 5


def test_revisits_are_made_evenly():
    bucket = TokenBucket(24.0, now=START)
    made = crawled(bucket, start=START + HOUR, days=3)

    assert set(made.tolist()) <= {0, 1, 2}
    assert abs(made.sum() - 72) <= 1


@pytest.mark.parametrize("visits", [1.0, 3.0, 24.0, 1000.0])
def test_a_steady_crawl_spends_all_but_a_thousandth(visits):
    made = crawled(TokenBucket(visits, now=START - 1), start=START, days=30).sum()

    assert 30 * visits * 0.998 - 1 <= made <= 31 * visits


def test_less_than_a_visit_a_day_is_a_visit_every_so_many_days():
    bucket = TokenBucket(0.25, now=START)
    assert bucket.window == 4.0
    assert spree(bucket, START, 3, first=True) == 1

    assert START + 4 < bucket.ready(START, first=True) < START + 4.01


def test_without_a_budget_nothing_is_ever_allowed():
    bucket = TokenBucket(0.0, now=START)

    assert bucket.ready(START, first=True) == bucket.ready(START + 99, first=False) == inf


def test_what_was_not_spent_while_a_crawl_stood_still_is_made_up_for():
    """Six hours at 24 visits a day are six visits."""
    bucket = TokenBucket(24.0, now=START)

    assert spree(bucket, START + 6 * HOUR, 99, first=False) == 6


def test_revisits_at_set_times_are_made_up_for_by_the_others():
    """Four at once that did not wait to be allowed: for four hours there are no others."""
    bucket = TokenBucket(24.0, now=START)
    for _ in range(4):
        bucket.spend(START, first=False)

    assert bucket.ready(START, first=True) == START
    assert bucket.ready(START, first=False) == pytest.approx(START + 5 * HOUR)


def test_a_burst_does_not_come_back_every_day_for_ever():
    """It leaves the window at once, a day later, and what was saved by then is spent at once."""
    bucket = TokenBucket(240.0, now=START)
    made = crawled(bucket, start=START + 1, days=40)

    assert made[0] > 200
    assert made[24 * 30 :].max() < 30
    assert abs(made[24:].sum() - 39 * 240) < 0.01 * 39 * 240


def test_a_site_open_at_night_gets_nearly_all_of_its_budget_every_night():
    """Eight hours a day, 240 visits a day."""
    bucket = TokenBucket(240.0, now=START)
    nights = []
    for night in range(20):
        start = START + night
        ticks = range(8 * 60)
        each = (spree(bucket, start + t * MINUTE, 999, first=False) for t in ticks)
        nights.append(sum(each))

    assert sum(nights[1:]) >= 0.96 * 240 * 19
    assert min(nights[1:]) >= 0.9 * 240


def test_a_crawl_that_goes_on_counts_what_it_spent_before():
    before = [START - 0.5 + hour * HOUR for hour in range(10)]
    bucket = TokenBucket(24.0, now=START)
    bucket.resume(np.array([START - 1.5, *before]), np.zeros(11, np.bool_), START)

    assert bucket.spent(START) == 10
    assert spree(bucket, START, 99, first=False) == 3  # the last visit was three hours ago
    assert spree(bucket, START, 99, first=True) == 11


def test_first_copies_of_before_leave_less_to_revisits():
    """Twelve of 24 visits a day were first copies: revisits are two hours apart."""
    at = np.full(12, START - HOUR)
    bucket = TokenBucket(24.0, now=START)
    bucket.resume(at, np.ones(12, np.bool_), START)

    ready = bucket.ready(START, first=False)

    assert ready == pytest.approx(START + HOUR)


sprees = st.lists(
    st.tuples(
        st.floats(0, 1.5),
        st.integers(0, 40),
        st.booleans(),
        st.sampled_from([0.1, 0.3, 0.9, 1.0, 2.5, 20.0]),
    ),
    max_size=25,
)


@given(sprees, st.sampled_from([0.2, 1.0, 7.3]))
def test_no_window_ever_holds_more_than_the_budget_allows(happens, budget):
    """However the budget grows with the pages found, the last one counts."""
    bucket, now = TokenBucket(budget, now=START), START
    made: list[float] = []
    for days, most, first, more in happens:
        now += days
        budget += more
        bucket.set_rate(budget)
        made += [now] * spree(bucket, now, most, first=first)
        window = max(1.0, 1 / budget)
        assert bucket.window == window
        if made and made[-1] == now:
            assert sum(each > now - window for each in made) <= budget * window + 1e-6
        assert bucket.spent(now) >= sum(each > now - window for each in made)


@given(sprees, st.sampled_from([0.2, 1.0, 7.3, 1e6]))
def test_ready_never_tells_an_instant_that_is_too_late_and_few_that_are_too_soon(happens, budget):
    bucket, now = TokenBucket(budget, now=START), START
    for days, most, first, _ in happens:
        now += days
        spree(bucket, now, most, first=first)
        at = bucket.ready(now, first=first)
        wakes = 0
        while at > now:
            between = now + (at - now) * 0.99
            assert bucket.ready(between, first=first) > between
            now, wakes = at + 1e-10, wakes + 1
            at = bucket.ready(now, first=first)
        assert wakes <= (1 if first else 50)


@given(st.lists(st.floats(0, 3), max_size=20), st.floats(0.05, 5), st.floats(0.05, 5))
def test_another_budget_forgets_no_visit_too_soon(days, budget, other):
    bucket, now = TokenBucket(budget, now=START), START
    for each in days:
        now += each
        if bucket.ready(now, first=True) <= now:
            bucket.spend(now, first=True)
    counted = bucket.spent(now)
    bucket.set_rate(other)
    window = max(1.0, 1 / other)

    assert bucket.spent(now) <= counted
    left = bucket.spent(now)
    bucket.ready(now, first=True)
    assert sum(visits for visits, _ in bucket._spent.values()) == bucket.spent(now) == left
    assert bucket.window == window


def test_a_crawl_that_stood_still_for_longer_than_its_window_goes_on():
    """Visits of two days are looked up where another budget is a visit in two days."""
    bucket = TokenBucket(24.0, now=START)
    bucket.resume(np.array([START - 1.5]), np.zeros(1, np.bool_), START)

    assert bucket.spent(START) == 0
    assert spree(bucket, START, 99, first=True) == 24
