"""One price over a thousand workers: is the budget kept, and what is it worth?

    .venv/bin/python benchmarks/price_controller.py [--workers 1000] [--pages 200] [--seed 0]

Plays two days, minute by minute, of workers that share a budget as workers of a crawl do: by
`recrawl.plan.shared_price.budget_shares`, each with a token bucket of its own; the second day
counts. Each worker has pages of its own, of rates unlike those of the others; half of the workers
see their pages change twice as often for eight hours. Things go wrong all day:

- a worker publishes what it would spend and has spent every three minutes or so; one message in
  twenty is lost, and the others arrive up to five minutes late;
- a worker hears of its share up to three minutes late;
- one worker in five dies once a day; its pages are visited by nobody for five minutes, until
  another worker takes them over, which spends nothing before it has a share;
- one in a hundred is cut off for an hour and goes on with its last share;
- the database is away for half an hour, twice, and for two hours at noon, just after demand has
  doubled: nobody publishes or hears anything.

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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recrawl.frontier.token_bucket import TokenBucket
from recrawl.plan import Harmonic, Limits, Rates, allocate
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.plan.shared_price import SlotDemand, SpendingCurve, budget_shares

MINUTES = 1440
DAYS = 2
LEASE = 5  # minutes until a dead worker's pages are taken over
PUBLISHED_LATE, HEARD_LATE = 5, 3  # minutes, at most
AWAY = [(180, 210), (720, 840), (1200, 1230)]  # the database, every day
BUSY = (700, 1180)  # half of the workers see pages change twice as often
SHARE_LOST, SHARE_DYING, SHARE_CUT_OFF = 0.05, 0.2, 0.01
PRICES = 1.5 ** np.arange(-5.0, 6)  # at which workers publish, over a price that all know of
SAMPLED = 90  # minutes between looks at how fresh pages are


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
    return int(BUSY[0] <= minute % MINUTES < BUSY[1])


class Play:
    """Workers at one price: what each has heard, what is on its way, what was spent."""

    def __init__(self, world: World, random: np.random.Generator) -> None:
        """Nobody has a share."""
        self.world, self.random = world, random
        self.workers = workers = int(world.worker[-1]) + 1
        self.counts = np.bincount(world.worker)
        self.curves = [self.draw_curves(rates) for rates in world.rates]
        self.demands: dict[int, SlotDemand] = {}
        self.sent: defaultdict[int, list[Any]] = defaultdict(list)  # by the minute of arrival
        self.told: defaultdict[int, list[Any]] = defaultdict(list)
        self.buckets = [TokenBucket(0.0, now=0.0) for _ in range(workers)]
        for bucket in self.buckets:
            bucket.cap(0)
        self.died = self._when(SHARE_DYING)
        self.cut_off = self._when(SHARE_CUT_OFF)
        self.made = np.zeros((DAYS * MINUTES, workers), np.int64)
        self.held = np.zeros((DAYS * MINUTES, workers))

    def draw_curves(self, rates: Any) -> list[SpendingCurve]:  # noqa: ANN401 - an array
        """What each worker would spend, at prices around that of the quiet day."""
        price = allocate(self.world.rates[0], self.world.budget, objective=Harmonic()).price
        pages = pages_to_plan(Rates.known(rates), Harmonic(), Limits())
        at = [np.full(self.workers, price * each) for each in PRICES]
        points = [pages.spending_by(self.world.worker, self.workers, each).total for each in at]
        return [SpendingCurve(price * PRICES, visits) for visits in np.array(points).T]

    def _when(self, share: float) -> Any:  # noqa: ANN401 - an array
        """Minute of the day in which something happens to some of the workers."""
        when = self.random.integers(0, MINUTES, self.workers)
        return np.where(self.random.random(self.workers) < share, when, -MINUTES)

    def go(self) -> None:
        """Go through the days."""
        for minute in range(DAYS * MINUTES):
            of_day = minute % MINUTES
            self.down = (self.died <= of_day) & (of_day < self.died + LEASE)
            self.deaf = (self.cut_off <= of_day) & (of_day < self.cut_off + 60)
            for number in np.flatnonzero(self.died + LEASE == of_day).tolist():
                self.buckets[number].cap(0)  # taken over, and without a share
            self.demands.update(self.sent.pop(minute, []))
            if not any(start <= of_day < end for start, end in AWAY):
                self.exchange(minute)
            for number, share in self.told.pop(minute, []):
                if not (self.deaf[number] or self.down[number]):
                    self.buckets[number].set_rate(share.visits_a_day)
                    self.buckets[number].cap(share.most, share.window)
            self.spend(minute)

    def exchange(self, minute: int) -> None:
        """Let some workers publish, and hear of their shares by what has arrived."""
        drawn = self.random.random(self.workers) < 1 / 3
        some = np.flatnonzero((drawn | (minute == 0)) & ~self.down & ~self.deaf).tolist()
        late = self.random.integers(1, PUBLISHED_LATE + 1, self.workers)
        lost = self.random.random(self.workers) < SHARE_LOST
        for number in some:
            if not lost[number]:
                curve, spent = self.curves[state_at(minute)][number], self.buckets[number]
                demand = SlotDemand(curve, int(self.counts[number]), spent.spent(minute / MINUTES))
                self.sent[minute + int(late[number])].append((number, demand))
        known = {
            number: replace(each, live=not self.down[number])
            for number, each in self.demands.items()
        }
        if known:
            _, shares = budget_shares(known, Budget(self.world.budget))
            heard = self.random.integers(0, HEARD_LATE + 1, self.workers)
            for number in some:
                if number in shares:
                    self.told[minute + int(heard[number])].append((number, shares[number]))

    def spend(self, minute: int) -> None:
        """Make the visits that each worker's bucket allows."""
        now = minute / MINUTES
        for number in np.flatnonzero(~self.down).tolist():
            bucket = self.buckets[number]
            self.held[minute, number] = bucket.visits_a_day
            while bucket.ready(now, first=False) <= now:
                bucket.spend(now, first=False)
                self.made[minute, number] += 1

    def freshness(self) -> float:
        """Mean of the last day: shares as they were held, as far as they were spent."""
        held, made = self.held[-MINUTES:], self.made[-MINUTES:]
        spent = made.sum(axis=0) / np.maximum(held.sum(axis=0) / MINUTES, 1e-9)
        found = []
        for minute in range(SAMPLED // 2, MINUTES, SAMPLED):
            share = held[minute] * spent
            rates, limits = (
                self.world.rates[state_at(minute)],
                Limits(host=self.world.worker, host_most=share),
            )
            plan = allocate(rates, 0.999999 * share.sum(), objective=Harmonic(), limits=limits)
            found.append(self.world.freshness(state_at(minute), plan.visits_per_day))
        return float(np.mean(found))


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
    play = Play(world, random)
    play.go()
    fresh = play.freshness()
    kept, apart = static(world, given.workers)
    best = optimum(world)
    spent = play.made.sum(axis=1)
    hours = spent[-MINUTES:].reshape(24, 60).sum(axis=1) / (world.budget / 24)
    windows = np.convolve(spent, np.ones(MINUTES), "valid") / world.budget
    found = {
        "workers": given.workers,
        "pages": len(world.worker),
        "budget": world.budget,
        "spent": float(spent[-MINUTES:].sum() / world.budget),
        "most in any day": float(windows.max()),
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
        print(f"most in 24 hours    {found['most in any day']:.4f} of the budget")
        print(f"spent in an hour    {hours.min():.3f} to {hours.max():.3f} of its part")
        for name, value in found["freshness"].items():
            print(f"freshness           {value:.4f}  {name}")
    assert found["most in any day"] <= 1 + 2 * SHARE_LOST
    assert abs(found["spent"] - 1) < 0.02
    assert best * 0.99 < fresh <= best * 1.01
    assert fresh > apart


if __name__ == "__main__":
    main()
