"""Runs through the agenda of a live crawl, beside runs that decide in steps."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.errors import InvalidHistory, InvalidParameter
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.rivals.uniform import uniform
from recrawl.simulate import log_normal_rates, make_world, simulate
from recrawl.simulate.live import LiveSimulation
from recrawl.simulate.world import World

DAY = np.timedelta64(1, "D")
START = np.datetime64("2026-01-01", "us")


def live(world, policy, budget, **more):
    simulation = LiveSimulation(
        world, policy, Budget.read(budget), random=np.random.default_rng(0), **more
    )
    shares = list(simulation.steps())
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    return simulation.result()


def stepwise(world, policy, budget):
    return simulate(world, policy, Budget.read(budget), random=np.random.default_rng(0))


def poisson(pages=120, days=60):
    random = np.random.default_rng(3)
    rates = log_normal_rates(pages, every=6.0, spread=1.2, random=random)
    return make_world("poisson", rates, days=days, random=random)


@pytest.mark.parametrize("policy", [uniform(), Recrawl()], ids=["uniform", "recrawl"])
def test_one_visit_at_a_time_keeps_a_copy_about_as_fresh_as_steps_do(policy):
    """First copies cost a visit each here, and revisits come evenly over the day."""
    world = poisson()
    one, other = live(world, policy, "60/1d"), stepwise(world, policy, "60/1d")

    assert one.staleness == pytest.approx(other.staleness, rel=0.12)
    assert one.visits == pytest.approx(other.visits, rel=0.02)


def test_a_host_is_asked_once_per_delay():
    """Ten pages, a thousand visits a day, and a host that may be asked every six hours."""
    world = poisson(pages=10, days=10)

    assert live(world, uniform(), "1000/1d", delay=0.25).visits <= 10 / 0.25 + 1


def test_a_page_that_is_found_later_is_visited_from_then_on():
    first_seen = np.array([START, START + 5 * DAY])
    changes = np.array([0, 1]), np.array([START + 2 * DAY, START + 7 * DAY])
    world = World.of(["/a", "/b"], first_seen, changes, end=START + 10 * DAY)
    run = live(world, uniform(), "4/1d")

    assert run.found == 2
    assert run.staleness < 0.1


def test_pages_that_are_gone_are_asked_for_less_and_less_often():
    removed = np.array([START + 2 * DAY, np.datetime64("NaT")])
    changes = np.array([1]), np.array([START + 3 * DAY])
    world = World.of(
        ["/a", "/b"], np.array([START, START]), changes, removed_at=removed, end=START + 30 * DAY
    )
    run = live(world, uniform(), "8/1d")

    assert run.visits >= 8 * 27


def test_what_cannot_be_simulated_is_refused():
    world = poisson(pages=2, days=3)
    nothing = World.of(["/a"], np.array([START]), (np.empty(0, np.int64), np.empty(0, "M8[us]")))

    with pytest.raises(InvalidParameter, match="budget"):
        LiveSimulation(world, uniform(), Budget(np.inf), random=np.random.default_rng(0))
    with pytest.raises(InvalidHistory, match="must last"):
        LiveSimulation(nothing, uniform(), Budget(1.0), random=np.random.default_rng(0))


def test_weights_of_a_world_decide_as_they_do_in_steps():
    """Twenty of 120 pages weigh a hundred times as much: they are kept fresher than the others."""
    world = poisson()
    heavy = np.arange(120) < 20
    world = replace(world, weight=np.where(heavy, 100.0, 1.0))
    run, plain = live(world, Recrawl(), "20/1d"), live(poisson(), Recrawl(), "20/1d")

    assert run.stale_days[heavy].sum() < 0.7 * plain.stale_days[heavy].sum()
    assert run.stale_days[~heavy].sum() > plain.stale_days[~heavy].sum()
