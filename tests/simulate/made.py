"""Small worlds, and policies that keep a record or a timetable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from recrawl.plan.budget import Budget
from recrawl.policies.rivals.uniform import uniform
from recrawl.simulate.run import simulate
from recrawl.simulate.world import World

DAY = 86_400_000_000
START = np.datetime64("2026-01-05T00:00", "us")  # a Monday


def at(*days):
    """Instants so many days after the start; NaT for nan."""
    known = np.nan_to_num(np.array(days, np.float64))
    instants = START + np.rint(known * DAY).astype("timedelta64[us]")
    return np.where(np.isnan(days), np.datetime64("NaT", "us"), instants)


def world(*pages, found=None, gone=None, weight=None, end=None, address=None):
    """A world from each page's changes, in days after the start."""
    count = len(pages)
    rows = np.repeat(np.arange(count), [len(page) for page in pages])
    return World.of(
        address or [f"page-{number}" for number in range(count)],
        at(*(np.zeros(count) if found is None else found)),
        (rows, at(*(day for page in pages for day in page))),
        removed_at=None if gone is None else at(*gone),
        weight=None if weight is None else np.array(weight, np.float64),
        end=None if end is None else at(end)[0],
    )


def run(some, *, budget="1/1d", step=1.0, policy=None, seed=0, observation=None):
    """Send a policy through a world."""
    return simulate(
        some,
        policy or uniform(),
        Budget.read(budget),
        step=step,
        random=np.random.default_rng(seed),
        observation=observation,
    )


@dataclass(eq=False)
class Recorded:
    """A policy that does as another, and keeps the visits that it is told of."""

    policy: Any = field(default_factory=uniform)
    visits: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def start(self, pages, now, gap):
        return self.policy.start(pages, now, gap)

    def found(self, state, pages):
        return self.policy.found(state, pages)

    def with_mean_gap(self, state, gap):
        return self.policy.with_mean_gap(state, gap)

    def seen(self, state, rows, now, outcomes):
        self.visits.append((rows.copy(), now.copy(), outcomes))
        return self.policy.seen(state, rows, now, outcomes)

    def due(self, state, rows, price):
        return self.policy.due(state, rows, price)

    def of_page(self, row):
        """When a page was visited, in microseconds after 1970."""
        return [
            int(moment.astype(np.int64))
            for rows, now, _ in self.visits
            for moment in now[rows == row]
        ]

    def days_of_page(self, row):
        """When a page was visited, in days after the start."""
        return [(moment - int(START.astype(np.int64))) / DAY for moment in self.of_page(row)]

    def outcomes(self, row):
        """Whether each visit to a page showed a change, and its age."""
        return [
            (bool(outcomes.changed[place]), float(outcomes.age[place]))
            for rows, _, outcomes in self.visits
            for place in np.flatnonzero(rows == row)
        ]


@dataclass(frozen=True)
class Timetable:
    """A priced policy to which visits are worth something on some days only.

    Args:
        days: On which days after the start to visit each page.
    """

    days: dict[int, list[float]]
    every_step: ClassVar[bool] = True

    def start(self, pages, now, gap):
        return len(pages)

    def found(self, state, pages):
        return state + len(pages)

    def with_mean_gap(self, state, gap):
        return state

    def seen(self, state, rows, now, outcomes):
        return state

    def due(self, state, rows, price):
        return np.full(len(rows), "NaT", "datetime64[us]")

    def value(self, state, rows, now):
        day = (now - START).astype(np.int64) / DAY
        return np.array([float(day in self.days.get(row, [])) for row in rows.tolist()])


_day = st.integers(0, 40).map(lambda quarter: quarter / 4)  # ties happen


@st.composite
def worlds(draw):
    """Up to five pages that are found, change and vanish within ten days, often at once."""
    count = draw(st.integers(1, 5))
    found = [draw(_day) for _ in range(count)]
    found[draw(st.integers(0, count - 1))] = 0.0
    stays = [draw(st.none() | _day) for _ in range(count)]
    return world(
        *(draw(st.lists(_day, max_size=8)) for _ in range(count)),
        found=found,
        gone=[
            np.nan if stay is None else day + stay for day, stay in zip(found, stays, strict=True)
        ],
        weight=[draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in range(count)],
        end=draw(st.sampled_from([5.0, 10.0, 11.3])),
    )
