"""The policy of a virtual crawl decides as ours does, and learns nothing, or what is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.frozen_policy import FrozenPolicy, FrozenState, SampledPolicy
from recrawl.simulate.next_visit import own
from recrawl.units import epoch_days

FIRST = np.datetime64("2026-01-01T00:00", "us")
DAY = np.timedelta64(1, "D")
ADDRESSES = [f"https://a.org/{folder}/{page}" for folder in "xyz" for page in range(4)]


def learned(changed=(True, False, True)):
    """Twelve pages in three folders, visited in turn a day apart."""
    policy = Recrawl()
    state = policy.start(Pages.of(ADDRESSES, np.full(12, FIRST)), FIRST, gap=4.0)
    for day, found in enumerate(changed, 1):
        rows, now = np.arange(day - 1, 12, 3), FIRST + day * DAY
        outcomes = Outcomes.existence(np.full(len(rows), found))
        state = policy.seen(state, rows, np.full(len(rows), now), outcomes)
    return policy, state


def test_a_visit_is_worth_what_our_policy_says():
    policy, state = learned()
    rows, now = np.array([7, 2]), FIRST + 3 * DAY
    simulated = FrozenState.of(own(state), rows)

    values = FrozenPolicy(policy).value(simulated, np.arange(2), now)

    assert values.tolist() == policy.value(state, rows, now).tolist()


def test_nothing_is_learnt_but_when_a_page_was_visited():
    policy, state = learned()
    mine = own(state)
    frozen, now = FrozenPolicy(policy), FIRST + 5 * DAY
    simulated = frozen.seen(
        FrozenState.of(mine, np.arange(12)),
        np.array([3]),
        np.array([now]),
        Outcomes.existence(np.array([True])),
    )

    assert frozen.value(simulated, np.array([3]), now) == 0
    assert mine.last[3] == epoch_days(now)
    assert (mine.memories.shape == state.memories.shape).all()


def test_the_crawl_that_is_looked_at_stays_as_it_is():
    policy, state = learned()
    before = policy.value(own(state), np.arange(12), FIRST + 4 * DAY)
    simulated = FrozenState.of(own(state), np.arange(12))
    for policy_of in (FrozenPolicy(policy), SampledPolicy(policy, 1)):
        now = np.full(12, FIRST + 9 * DAY)
        policy_of.seen(simulated, np.arange(12), now, Outcomes.existence(np.ones(12, np.bool_)))

    assert policy.value(own(state), np.arange(12), FIRST + 4 * DAY).tolist() == before.tolist()


def test_young_pages_are_worth_what_is_assumed_of_a_page():
    """One change a gap, as for the first page of a crawl of our policy."""
    policy = Recrawl()
    pages = Pages.of(["https://a.org/"], np.array([FIRST]))
    ours, frozen = policy.start(pages, FIRST, 4.0), FrozenPolicy(policy)
    young, now = frozen.start(pages, FIRST, 4.0), FIRST + 3 * DAY

    value = frozen.value(young, np.array([0]), now)

    assert value == pytest.approx(policy.value(ours, np.array([0]), now))


@given(st.floats(0.01, 30.0), st.floats(0.01, 30.0))
def test_what_a_visit_is_worth_grows_while_nothing_is_learnt(days, more):
    policy, state = learned((False, False))
    simulated = FrozenState.of(own(state), np.arange(12))
    soon, later = (
        FrozenPolicy(policy).value(simulated, np.arange(12), FIRST + np.timedelta64(int(each), "s"))
        for each in (86_400 * (2 + days), 86_400 * (2 + days + more))
    )

    assert (later >= soon * (1 - 1e-9)).all()


def test_lots_draw_as_many_changes_as_are_expected():
    """Over many lots pages change as often as their copies are believed not to be fresh."""
    policy, state = learned()
    rows, now = np.arange(12), FIRST + 8 * DAY
    expected = 1 - policy.fresh(own(state), rows, now)
    found = []
    for lot in range(200):
        simulated = FrozenState.of(own(state), rows)
        SampledPolicy(policy, lot).seen(
            simulated, rows, np.full(12, now), Outcomes.existence(rows < 0)
        )
        assert simulated.learned is not None
        # The first memory keeps all that it knows, and only a change adds to its shape.
        found.append(simulated.learned.memories.shape[0] > state.memories.shape[0] + 1e-9)

    np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=0.15)
    assert np.mean(found) == pytest.approx(expected.mean(), abs=0.05)


def test_the_same_lot_draws_the_same():
    policy, state = learned()
    rows, now = np.arange(12), np.full(12, FIRST + 8 * DAY)
    one, other = (FrozenState.of(own(state), rows) for _ in range(2))
    for simulated in (one, other):
        SampledPolicy(policy, 5).seen(simulated, rows, now, Outcomes.existence(rows < 0))

    assert one.learned is not None
    assert other.learned is not None
    assert (one.learned.memories.shape == other.learned.memories.shape).all()
