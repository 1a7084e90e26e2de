"""One price over a thousand workers: is the budget kept, and what is it worth?

    .venv/bin/python benchmarks/price_controller.py [--workers 1000] [--pages 200] [--seed 0]

Plays a day, minute by minute, of workers that share a budget of visits through
`recrawl.plan.shared_price`. Each worker has pages of its own, of rates unlike those of the others;
half of the workers see their pages change twice as often for eight hours. Things go wrong all day:

- a worker publishes its curve every three minutes or so; one in twenty is lost, and the others
  arrive up to five minutes late;
- a new price reaches each worker up to three minutes late;
- one worker in five dies once; its pages are visited by nobody for five minutes, until another
  worker takes them over, which begins at the price that it last heard of;
- one in a hundred is cut off for an hour and goes on at its last price;
- whoever sets the price is away for half an hour, twice, and for two hours at noon, just after
  demand has doubled;
- visits come by chance (Poisson).

Compared with: one process that knows all pages at once (the optimum), and static shares, where each
worker has a part of the budget in proportion to its pages and finds its own price; the share of a
dead worker is not spent.

The assertions at the end are what `docs/scale.md` says.

Touches: nothing.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.plan import Harmonic, Limits, Rates, allocate
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.objectives import Freshness
from recrawl.plan.shared_price import SpendingCurve, aimed_spending, prices_around, shared_price

MINUTES = 1440
LEASE = 5  # minutes until a dead worker's pages are taken over
PUBLISHED_LATE, HEARD_LATE = 5, 3  # minutes, at most
AWAY = [(180, 210), (720, 840), (1200, 1230)]  # nobody sets the price
BUSY = (700, 1180)  # half of the workers see pages change twice as often
SHARE_LOST, SHARE_DYING, SHARE_CUT_OFF = 0.05, 0.2, 0.01


@dataclass
class World:
    """Pages of all workers, in two states of demand."""

    worker: Any
    rates: list[Any]
    budget: float

    @classmethod
    def draw(cls, workers: int, pages: int, random: np.random.Generator) -> World:
        """Rates that differ within a worker, and from worker to worker."""
        middle = random.normal(-3, 1.0, workers)  # logarithm of a typical rate
        worker = np.repeat(np.arange(workers), pages)
        quiet = np.exp(random.normal(middle[worker], 1.2))
        busy = np.where(worker % 2 == 0, 2 * quiet, quiet)
        return cls(worker, [quiet, busy], budget=0.1 * len(worker))

    def freshness(self, state: int, visits: Any) -> float:  # noqa: ANN401 - an array
        """Expected share of fresh pages."""
        with np.errstate(divide="ignore"):
            loss = Rates.known(self.rates[state]).loss(Freshness(), 1 / visits)
        return float(1 - loss.mean())


def state_at(minute: int) -> int:
    return int(BUSY[0] <= minute < BUSY[1])


class Day:
    """A day of workers at one price: what they hold, what is on its way, what was spent."""

    def __init__(self, world: World, random: np.random.Generator) -> None:
        """Begin at a price that is three times too high."""
        self.world, self.random = world, random
        self.workers = workers = int(world.worker[-1]) + 1
        self.demands = [
            pages_to_plan(Rates.known(each), Harmonic(), Limits()) for each in world.rates
        ]
        self.price = 3 * allocate(world.rates[0], world.budget, objective=Harmonic()).price
        self.held = np.full(workers, self.price)
        self.curves: dict[int, SpendingCurve] = {}
        self.sent: defaultdict[int, list[Any]] = defaultdict(list)  # by the minute of arrival
        self.told: defaultdict[int, list[Any]] = defaultdict(list)
        self.died = self._when(SHARE_DYING)
        self.cut_off = self._when(SHARE_CUT_OFF)
        self.spent, self.fresh = np.zeros(MINUTES), [0.0][:0]

    def _when(self, share: float) -> Any:  # noqa: ANN401 - an array
        """Minute in which something happens to some of the workers."""
        when = self.random.integers(0, MINUTES, self.workers)
        return np.where(self.random.random(self.workers) < share, when, -MINUTES)

    def play(self) -> None:
        """Go through the day."""
        for minute in range(MINUTES):
            self.down = (self.died <= minute) & (minute < self.died + LEASE)
            self.deaf = (self.cut_off <= minute) & (minute < self.cut_off + 60)
            self.curves.update(self.sent.pop(minute, []))
            self.publish(minute)
            if not any(start <= minute < end for start, end in AWAY):
                self.set_price(minute)
            for whom, price in self.told.pop(minute, []):
                self.held = np.where(whom & ~self.deaf & ~self.down, price, self.held)
            self.spend(minute)

    def publish(self, minute: int) -> None:
        """Workers send curves around the price that they hold, every three minutes or so."""
        drawn = self.random.random(self.workers)
        sends = ~self.down & ~self.deaf & ((drawn < (1 - SHARE_LOST) / 3) | (minute == 0))
        grid = np.array([prices_around(each) for each in self.held])
        rows = np.flatnonzero(sends[self.world.worker])
        some, group = self.demands[state_at(minute)].take(rows), self.world.worker[rows]
        points = [some.spending_by(group, self.workers, at.copy()).total for at in grid.T]
        late = self.random.integers(1, PUBLISHED_LATE + 1, self.workers)
        for number in np.flatnonzero(sends).tolist():
            curve = SpendingCurve(grid[number], np.array([each[number] for each in points]))
            self.sent[minute + int(late[number])].append((number, curve))

    def set_price(self, minute: int) -> None:
        """Add up what is known of those that live."""
        known = [curve for number, curve in self.curves.items() if not self.down[number]]
        if not known:
            return
        aim = aimed_spending(self.world.budget, self.spent[:minute].sum(), minute / MINUTES)
        self.price = shared_price(known, aim)
        late = self.random.integers(0, HEARD_LATE + 1, self.workers)
        for wait in range(HEARD_LATE + 1):
            self.told[minute + wait].append((late == wait, self.price))

    def spend(self, minute: int) -> None:
        """Make the visits that are worth the price that each worker holds."""
        visits = self.demands[state_at(minute)].visits(self.held[self.world.worker])
        visits[self.down[self.world.worker]] = 0.0
        self.spent[minute] = self.random.poisson(visits.sum() / MINUTES)
        if minute % 30 == 15:
            self.fresh.append(self.world.freshness(state_at(minute), visits))


def static(world: World, workers: int) -> tuple[float, float]:
    """Share of the budget that is spent, and freshness, with fixed shares."""
    counts = np.bincount(world.worker, minlength=workers)
    share = world.budget * counts / counts.sum()
    fresh = []
    for state, rates in enumerate(world.rates):
        limits = Limits(host=world.worker, host_most=share)
        plan = allocate(rates, world.budget, objective=Harmonic(), limits=limits)
        fresh.append(world.freshness(state, plan.visits_per_day))
    busy = (BUSY[1] - BUSY[0]) / MINUTES
    lost = SHARE_DYING * LEASE / MINUTES
    return 1 - lost, (1 - busy) * fresh[0] + busy * fresh[1]


def optimum(world: World) -> float:
    fresh = [
        world.freshness(state, allocate(rates, world.budget, objective=Harmonic()).visits_per_day)
        for state, rates in enumerate(world.rates)
    ]
    busy = (BUSY[1] - BUSY[0]) / MINUTES
    return (1 - busy) * fresh[0] + busy * fresh[1]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--workers", type=int, default=1000)
    asked.add_argument("--pages", type=int, default=200, help="of each worker")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--json", action="store_true")
    given = asked.parse_args()
    random = np.random.default_rng(given.seed)
    world = World.draw(given.workers, given.pages, random)
    day = Day(world, random)
    day.play()
    fresh = float(np.mean(day.fresh))
    kept, apart = static(world, given.workers)
    best = optimum(world)
    hours = day.spent.reshape(24, 60).sum(axis=1) / (world.budget / 24)
    found = {
        "workers": given.workers,
        "pages": len(world.worker),
        "budget": world.budget,
        "spent": float(day.spent.sum() / world.budget),
        "least hour": float(hours.min()),
        "most hour": float(hours.max()),
        "freshness": {"shared price": fresh, "one process": best, "static shares": apart},
        "static shares spend": kept,
    }
    if given.json:
        print(json.dumps(found))
    else:
        pages = len(world.worker)
        print(f"{given.workers:,} workers, {pages:,} pages, {world.budget:,.0f} visits/day")
        print(f"spent over the day  {found['spent']:.4f} of the budget")
        print(f"spent in an hour    {hours.min():.3f} to {hours.max():.3f} of its part")
        for name, value in found["freshness"].items():
            print(f"freshness           {value:.4f}  {name}")
    assert abs(found["spent"] - 1) < max(0.02, 3 / np.sqrt(world.budget))  # chance of few visits
    assert best * 0.99 < fresh <= best * 1.01
    assert fresh > apart


if __name__ == "__main__":
    main()
