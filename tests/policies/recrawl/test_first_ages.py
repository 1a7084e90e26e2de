"""Ages of pages at their first visit: what they tell, and moments that too many pages name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.first_ages import MOST_MOMENTS, Moments
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import instant_after_epoch

START = 20_000.0


def began(gap=4.0):
    """A crawl that began with a page without a date."""
    policy = Recrawl()
    now = instant_after_epoch(START)
    return policy, policy.start(Pages.of(["/home"], np.array([now])), now, gap)


def pages(names, age, day=0.0):
    found = np.full(len(names), instant_after_epoch(START + day))
    return Pages.of(names, found, first_age=np.array(age))


def counted(state):
    """Changes that each page came with."""
    return state.memories.shape[0].tolist()


def test_equal_dates_are_one_moment_whenever_they_are_read():
    """On the minute, where rounding goes either way."""
    moments = Moments()
    moments.believe(np.arange(3), START + np.array([-1e-9, 0.0, 1e-9]))

    assert list(moments.pages.values()) == [()]


@pytest.mark.parametrize("sizes", [(3,), (2, 1), (1, 2), (1, 1, 1)])
def test_dates_of_a_build_do_not_count_however_its_pages_are_found(sizes):
    """A live crawl finds them a few at a time."""
    policy, state = began()
    names = iter("abcdefgh")
    for day, size in enumerate(sizes):
        state = policy.found(
            state, pages([next(names) for _ in range(size)], [3.0 + day] * size, day)
        )

    assert counted(state) == [0.0] * 4
    assert not state.memories.exposure.any()


def test_what_visits_have_taught_stays_when_a_date_no_longer_counts():
    policy, state = began()
    state = policy.found(state, pages(["/a", "/b"], [3.0, 3.0]))
    later = np.array([instant_after_epoch(START + 2)])
    state = policy.seen(state, np.array([1]), later, Outcomes.existence(np.array([True])))
    seen = counted(state)[1]
    state = policy.found(state, pages(["/c"], [6.0], day=3))

    assert counted(state) == [0.0, seen, 0.0, 0.0]
    assert seen > 1


@given(
    st.lists(st.integers(0, 5), max_size=20).flatmap(
        lambda minutes: st.tuples(st.just(minutes), st.sets(st.integers(0, 20)))
    )
)
def test_pages_are_believed_alike_however_they_are_divided(found):
    """Against counting: a page is believed where at most two name its minute."""
    minutes, cuts = found
    changed, rows = np.array(minutes) / 1440, np.arange(len(minutes))
    moments, believed = Moments(), set()
    for some in np.split(rows, sorted(cut for cut in cuts if cut <= len(rows))):
        places, dropped = moments.believe(some, changed[some])
        believed |= set(some[places].tolist())
        believed -= set(dropped.tolist())

    assert believed == {row for row in rows.tolist() if minutes.count(minutes[row]) <= 2}
    assert Moments.of(moments.table).pages == moments.pages


def test_only_the_newest_moments_are_remembered():
    moments = Moments()
    rows = np.arange(2 * MOST_MOMENTS)
    places, dropped = moments.believe(rows, rows / 1440)

    assert len(places) == len(rows)
    assert not len(dropped)
    assert sorted(moments.pages) == list(range(MOST_MOMENTS, 2 * MOST_MOMENTS))


@pytest.mark.parametrize(
    "table",
    [
        np.array([[5, 99, -1]]),
        np.array([[5, -2, -1]]),
        np.array([[5, 0]]),
        np.array([5, 0, 1]),
        np.array([[0.5, 0.0, 1.0]]),
        np.full((MOST_MOMENTS + 1, 3), -1),
    ],
)
def test_damaged_moments_do_not_fit(table):
    policy, state = began()
    state = policy.found(state, pages(["/a"], [3.0]))
    parts = policy.dump(state)
    policy.check(parts, 2)

    with pytest.raises(ValueError, match="moments"):
        policy.check(parts | {"moments": table}, 2)


def test_moments_are_kept_with_a_checkpoint():
    policy, state = began()
    state = policy.found(state, pages(["/a", "/b"], [3.0, 3.0]))
    kept = policy.load(policy.dump(state), lambda: ["/home", "/a", "/b"])
    kept = policy.found(kept, pages(["/c"], [4.0], day=1))

    assert counted(kept) == [0.0] * 4
