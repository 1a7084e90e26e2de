"""What was forecast of visits stands beside what they found."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.demo.virtual import VirtualExample
from recrawl.demo.world import draw_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies import Outcomes, Pages
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.checkpoint import CALIBRATION, dump, load
from recrawl.policies.recrawl.policy import Recrawl

START = np.datetime64("2026-01-01T00:00", "us")
DAY = np.timedelta64(1, "D")
visits = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


def table(pairs):
    found = Calibration.start()
    chance, changed = (np.array(each) for each in zip(*pairs, strict=True)) if pairs else ((), ())
    found.learn(np.array(chance, float), np.array(changed, bool))
    return found


def test_visits_stand_in_the_tenth_of_their_chance():
    """0.25 and 0.28 make 0.53 of two visits, and one of them found a change."""
    found = table([(0.25, False), (0.28, True), (0.1, False), (1.0, True)])

    assert found.visits == pytest.approx([0, 1, 2, 0, 0, 0, 0, 0, 0, 1], abs=1e-3)
    assert found.forecast[2] == pytest.approx(0.53, abs=1e-3)
    assert found.found[[1, 2, 9]] == pytest.approx([0, 1, 1], abs=1e-3)
    assert found.deviation[2] == pytest.approx((0.25 * 0.75 + 0.28 * 0.72) ** 0.5, abs=1e-3)


def test_what_is_old_fades():
    """Ten thousand visits later a visit counts for 1 / e."""
    found = table([(0.95, True)])
    found.learn(np.full(10_000, 0.05), np.zeros(10_000, bool))

    assert found.visits[9] == pytest.approx(np.exp(-1), rel=1e-3)
    assert found.deviation[9] == pytest.approx((0.95 * 0.05) ** 0.5 * np.exp(-1), rel=1e-3)
    assert found.visits.sum() == pytest.approx(10_000 * (1 - np.exp(-1)), rel=1e-3)


@given(visits, visits)
def test_visits_may_come_one_by_one_or_all_at_once(first, second):
    together = table(first + second)
    apart = table(first)
    for chance, changed in second:
        apart.learn(np.array([chance]), np.array([changed]))

    np.testing.assert_allclose(apart.sums, together.sums, atol=1e-9)


@given(visits)
def test_every_visit_is_counted_once(pairs):
    found = table(pairs)

    kept_part = 0.9999 ** np.arange(len(pairs))
    assert found.visits.sum() == pytest.approx(kept_part.sum())
    assert (found.found <= found.visits + 1e-12).all()
    assert (found.deviation**2 <= found.visits / 4 + 1e-12).all()


def test_the_policy_puts_down_what_it_had_believed():
    """A visit is forecast by the chance that the copy was no longer fresh just before it."""
    policy = Recrawl()
    state = policy.start(Pages.of(["a/x", "a/y"], np.full(2, START)), START, gap=4.0)
    for day, changed in ((3, True), (5, False), (9, True)):
        now = START + day * DAY
        chance = 1 - policy.fresh(state, np.array([0]), now)[0]
        before = state.calibration.forecast.sum()
        outcomes = Outcomes.existence(np.array([changed]))
        state = policy.seen(state, np.array([0]), np.array([now]), outcomes)

        assert state.calibration.forecast.sum() == pytest.approx(0.9999 * before + chance, rel=1e-6)
    assert state.calibration.found.sum() == pytest.approx(2, abs=1e-3)


def test_it_is_kept_and_gone_on_from():
    policy, names = Recrawl(), ["a/x", "a/y"]
    state = policy.start(Pages.of(names, np.full(2, START)), START, gap=4.0)
    outcomes = Outcomes.existence(np.array([True, False]))
    state = policy.seen(state, np.arange(2), np.full(2, START + DAY), outcomes)
    parts = dump(state)
    again = load(policy, parts, lambda: names)

    assert again.calibration.sums.tolist() == state.calibration.sums.tolist()
    assert again.calibration.sums.any()


def test_a_store_that_knows_none_begins_with_none():
    policy, names = Recrawl(), ["a/x"]
    state = policy.start(Pages.of(names, np.full(1, START)), START, gap=4.0)
    old = {name: part for name, part in dump(state).items() if name != CALIBRATION}

    assert not load(policy, old, lambda: names).calibration.sums.any()


@pytest.mark.parametrize("seed", [4, 6])
def test_a_crawl_foretells_what_it_finds(seed):
    """7,200 visits by real forecasts: each tenth is within what chance alone would do."""
    world = draw_world(300, start=20_000.0, days=60.0, seed=seed)
    policy = Recrawl(objective=OBJECTIVES["freshness"])
    crawl = VirtualExample(world, policy, Budget(120.0), np.random.default_rng(seed))
    crawl.go_on(until=world.start + 60)
    state: Any = crawl.agenda.frontier(0).state
    found = state.calibration

    assert found.visits.sum() > 4_500
    assert (np.abs(found.found - found.forecast) <= 4 * found.deviation).all()
