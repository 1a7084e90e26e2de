"""Listings with known hazards, made day by day: what syncs would see of them."""

from dataclasses import dataclass

import numpy as np

from recrawl.listings.data.cycles import Cycle, Stock


@dataclass
class Made:
    """A source whose objects are removed by hazard of age and group and come at a mean a day.

    Args:
        random: Source of chance.
        hazard: Hazard a day by age; the last holds for all older.
        arrivals: Mean arrivals a day, by group.
        factor: Factor of each group.
        shock: Spread of a log-normal factor common to all removals of a day.
    """

    random: np.random.Generator
    hazard: np.ndarray
    arrivals: np.ndarray
    factor: np.ndarray
    shock: float = 0.0

    def __post_init__(self):
        self.day = 0
        self.arrived = np.zeros(0, dtype=np.int64)
        self.group = np.zeros(0, dtype=np.int64)
        self.alive = np.zeros(0, dtype=bool)
        for day in range(-200, 1):
            self.day = day
            self._live()
        self.seen = np.where(self.alive, 0, -1)
        self.before = np.full(len(self.arrived), -1)

    def _live(self):
        """One day: removals, then arrivals."""
        age = np.minimum(self.day - 1 - self.arrived, len(self.hazard) - 1)
        level = np.exp(self.random.normal(-(self.shock**2) / 2, self.shock))
        rate = level * self.hazard[age] * self.factor[self.group]
        self.alive &= self.random.random(len(age)) >= -np.expm1(-rate)
        new = np.repeat(np.arange(len(self.arrivals)), self.random.poisson(self.arrivals))
        self.arrived = np.append(self.arrived, np.full(len(new), self.day))
        self.group = np.append(self.group, new)
        self.alive = np.append(self.alive, np.ones(len(new), dtype=bool))

    def stock(self):
        rows = self.alive & (self.seen >= 0)
        key = np.stack([self.seen[rows], self.before[rows], self.group[rows]])
        found, count = np.unique(key, axis=1, return_counts=True)
        return Stock(self.day, found[0], found[1], found[2], count.astype(float))

    def advance(self, days):
        """Live some days and sync: the cycle."""
        stock, start = self.stock(), self.day
        known = len(self.arrived)
        was = self.alive.copy()
        for _ in range(days):
            self.day += 1
            self._live()
        gone = was & ~self.alive[:known]
        rows = {
            (int(s), int(b), int(g)): row
            for row, (s, b, g) in enumerate(zip(stock.seen, stock.before, stock.group, strict=True))
        }
        deleted = np.zeros(len(rows))
        for index in np.flatnonzero(gone):
            key = (int(self.seen[index]), int(self.before[index]), int(self.group[index]))
            deleted[rows[key]] += 1
        new = np.flatnonzero(self.alive[known:]) + known
        extra = len(self.arrived) - known
        self.seen = np.append(self.seen, np.full(extra, -1))
        self.before = np.append(self.before, np.full(extra, -1))
        self.seen[new], self.before[new] = self.day, start
        inserted = np.bincount(self.group[new], minlength=len(self.arrivals)).astype(float)
        return Cycle(stock, self.day, deleted, inserted, start % 7)


def constant(seed, rate=0.05, arrivals=20.0, **more):
    """One group, one hazard for all ages."""
    random = np.random.default_rng(seed)
    return Made(random, np.full(2, rate), np.array([arrivals]), np.ones(1), **more)
