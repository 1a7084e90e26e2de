"""A crawl that is divided into slots, beside one process."""

import numpy as np
import pytest

from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.live import LiveSimulation
from recrawl.simulate.made import START
from recrawl.simulate.slots import SlotSimulation, pages_of
from recrawl.simulate.world import World

INF = float("inf")


def uneven_world(days=12):
    """A large site that hardly changes, and three small ones that change daily."""
    random = np.random.default_rng(0)
    sizes, rates = (120, 16, 12, 8), (0.01, 1.0, 1.0, 1.0)
    address = [
        f"https://s{site}.org/{page}" for site, size in enumerate(sizes) for page in range(size)
    ]
    rate = np.repeat(rates, sizes)
    row = np.repeat(np.arange(len(rate)), random.poisson(rate * days))
    at = START + (random.uniform(0, days, len(row)) * 86_400e6).astype("timedelta64[us]")
    first = np.full(len(rate), START)
    world = World.of(address, first, (row, at), end=START + np.timedelta64(days, "D"))
    return world.after(4.0), np.repeat(np.arange(4), sizes)


def run(world, slot, every, budget=80.0):
    simulation = SlotSimulation(
        world, Recrawl(), Budget(budget), slot=slot, every=every, random=np.random.default_rng(1)
    )
    for _ in simulation.steps():
        pass
    return simulation.result(), simulation.leased


def test_one_slot_is_one_process():
    """With its whole budget as its share, a slot makes the visits of a crawl that has no slots."""
    world, slot = uneven_world(days=8)
    random = np.random.default_rng(1).spawn(1)[0]
    alone = LiveSimulation(world, Recrawl(), Budget(80.0 / len(world), "page"), random=random)
    for _ in alone.steps():
        pass
    found, _ = run(world, slot * 0, every=0.02)

    assert found.visits_of_page.tolist() == alone.result().visits_of_page.tolist()
    assert found.freshness == alone.result().freshness


def test_slots_with_one_price_come_near_one_process_and_static_shares_do_not():
    """Three sites in four need most of the visits, and have less than a quarter of the pages."""
    world, slot = uneven_world()
    one, _ = run(world, slot * 0, INF)
    shared, made = run(world, slot, every=0.02)
    static, _ = run(world, slot, INF)

    assert shared.freshness > 0.99 * one.freshness
    assert shared.freshness > static.freshness + 0.02
    days = np.bincount((made - made[0]).astype(int))[1:-1]
    assert days.max() <= 80
    assert days.min() >= 80 * 0.95


def test_a_part_of_a_world_has_the_changes_of_its_pages():
    world, slot = uneven_world()
    rows = np.flatnonzero(slot == 2)
    part = pages_of(world, rows)

    assert part.address == tuple(world.address[row] for row in rows)
    for place, row in enumerate(rows):
        own = part.changes[part.offsets[place] : part.offsets[place + 1]]
        assert own.tolist() == world.changes[world.offsets[row] : world.offsets[row + 1]].tolist()
    assert part.rates == pytest.approx(world.rates[rows])
