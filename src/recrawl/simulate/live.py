"""A run as a live crawl makes it: through the agenda, one visit at a time.

`recrawl.simulate.run` decides in steps and knows neither hosts nor first copies, so that thousands
of runs are cheap. Here a policy visits the same world through everything that a live crawl has: new
pages are copied first, in turns with revisits; the budget is a token bucket; a host is asked once
per delay; pages that are gone are asked for again, less and less often.

Pure.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.settings.terms import VisitTerms
from recrawl.simulate.run import WorldObserver, check_run
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.units import SECONDS_A_DAY, epoch_days, instant_after_epoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.frontier.agenda import Lease
    from recrawl.plan.budget import Budget
    from recrawl.policies.policy import Policy
    from recrawl.simulate.observation import Observation
    from recrawl.simulate.scores import SimulationRun
    from recrawl.simulate.world import World

_VISITS_PER_STEP = 256
DELAY = 1 / SECONDS_A_DAY  # between two requests to a host, as in settings that say nothing


class LiveSimulation:
    """A run through the live agenda.

    Args:
        world: What happens.
        policy: What decides which pages to visit.
        budget: How many visits may be made.
        random: Breaks ties, and makes what noise the observation has.
        observation: What visits show; whether pages have changed, if not given.
        delay: Days between two requests to a host.

    Attributes:
        agenda: Pages, and what to visit next.
        leased: When each visit was made, in days after 1970.

    Examples:
        A page changes after a day and a half and is visited every day:

        >>> from recrawl.plan.budget import Budget
        >>> from recrawl.policies.rivals.uniform import uniform
        >>> from recrawl.simulate.world import World
        >>> noon = np.datetime64("2026-01-01T12:00", "us") + np.arange(9) * np.timedelta64(12, "h")
        >>> world = World.of(["/"], noon[:1], (np.array([0]), noon[[3]]), end=noon[6])
        >>> random = np.random.default_rng(0)
        >>> simulation = LiveSimulation(world, uniform(), Budget.read("1/1d"), random=random)
        >>> for share_of_time in simulation.steps():
        ...     pass
        >>> run = simulation.result()
        >>> round(run.staleness, 2), run.found, run.visits
        (0.17, 1, 2)
    """

    def __init__(
        self,
        world: World,
        policy: Policy[Any],
        budget: Budget,
        *,
        random: np.random.Generator,
        observation: Observation | None = None,
        delay: float = DELAY,
    ) -> None:
        check_run(world, budget)
        ties, noise = random.spawn(2)
        self._world = world
        self._first_seen, self._gone_at = epoch_days(world.first_seen), epoch_days(world.removed_at)
        self._observer = WorldObserver(world, observation, noise)
        self._now = float(epoch_days(world.start))
        hosts = HostTable(delay=delay)
        self._host = np.array([hosts.row(_host(each)) for each in world.address])
        self.agenda = Agenda(hosts, [VisitTerms()], ties)
        terms = world.budget(budget)
        self.agenda.add_pool(Frontier(policy, terms, ties), terms, self._now)
        self._known = 0
        self.leased: array[float] = array("d")

    def steps(self) -> Iterator[float]:
        """Make the visits, some at a time; yields the share of time that is over."""
        start, end = (float(epoch_days(each)) for each in (self._world.start, self._world.end))
        for now in self.advance(end):
            yield (now - start) / (end - start)

    def advance(self, until: float) -> Iterator[float]:
        """Make the visits before an instant, some at a time; yields how far they have come."""
        while self._now < until:
            stop = min(self.take_in(self._now), until)
            visits = virtual_visits(self.agenda, self._now, math.nextafter(stop, self._now))
            for number, lease in enumerate(visits):
                self._visit(lease)
                self.leased.append(lease.at)
                if number % _VISITS_PER_STEP == 0:
                    yield lease.at
            self._now = stop
            yield stop

    def take_in(self, now: float) -> float:
        """Add the pages that have been found by an instant; returns when the next one is."""
        known = int(np.searchsorted(self._first_seen, now, side="right"))
        if known > self._known:
            new = slice(self._known, known)
            term = np.zeros(known - self._known, np.int64)
            self.agenda.found(self._host[new], term, self._world.weight[new])
            self._known = known
        return float(self._first_seen[known]) if known < len(self._first_seen) else math.inf

    def result(self) -> SimulationRun:
        """Scores of the whole run."""
        return self._observer.result()

    def _visit(self, lease: Lease) -> None:
        agenda, page, now = self.agenda, lease.page, lease.at
        agenda.answered(lease, now)
        if self._gone_at[page] <= now:
            agenda.gone(page, now)
            return
        outcomes = self._observer.visit(np.array([page]), instant_after_epoch(now))
        (changed,), (age,) = outcomes.changed.tolist(), outcomes.age.tolist()
        if lease.first:
            agenda.copied(page, self._world.address[page], now, age=age)
        else:
            agenda.seen(page, now, changed=changed, age=age)


def _host(address: str) -> str:
    """Host of an address; empty for a name that is none."""
    return address.partition("://")[2].partition("/")[0]
