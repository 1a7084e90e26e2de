"""A crawl of the demonstration's world that takes no time: the same agenda, and no network.

It is what other policies are compared by at the same budget: visits come when the agenda says,
cost nothing, and see what a visit over HTTP would see.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.demo.truth import Belief, CopyVisits
from recrawl.demo.world import SECTIONS, Says
from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.terms import VisitTerms
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.units import SECONDS_A_DAY, instant_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.demo.world import ExampleWorld
    from recrawl.frontier.agenda import Lease
    from recrawl.plan.budget import Budget
    from recrawl.policies.policy import Policy

_SECOND = 1 / SECONDS_A_DAY
_DATED = (Says.TAG_AND_DATE, Says.DATE)


def virtual_crawl(
    world: ExampleWorld,
    policy: Policy[Any],
    budget: Budget,
    *,
    looks: Floats,
    random: np.random.Generator,
) -> tuple[CopyVisits, list[Belief]]:
    """Crawl a world from its start by a policy, and look at the copies now and then.

    Args:
        world: What is crawled.
        policy: What decides where to go.
        budget: How many visits may be made.
        looks: Instants at which to look, rising; the crawl ends with the last.
        random: Breaks ties.

    Returns:
        Its visits, and what it believes at each look; a policy without beliefs has chances of nan.
    """
    crawl = VirtualExample(world, policy, budget, random)
    beliefs = []
    for at in looks.tolist():
        crawl.go_on(until=at)
        beliefs.append(crawl.belief())
    return crawl.visits(), beliefs


class VirtualExample:
    """A crawl of the demonstration's world under way; the parameters are those of `virtual_crawl`.

    Attributes:
        agenda: What it does next.
    """

    def __init__(
        self,
        world: ExampleWorld,
        policy: Policy[Any],
        budget: Budget,
        random: np.random.Generator,
    ) -> None:
        self._world = world
        self._policy = policy
        hosts = HostTable(delay=_SECOND)
        self.agenda = Agenda(hosts, [VisitTerms()], random)
        self.agenda.add_pool(Frontier(policy, budget, random), budget, world.start)
        self.agenda.found(np.full(len(world), hosts.add()), np.zeros(len(world), np.int64))
        self._now = world.start
        self._copied: dict[int, int] = {}
        self._made: list[tuple[int, float]] = []

    def go_on(self, until: float) -> None:
        """Make all visits until an instant."""
        for lease in virtual_visits(self.agenda, self._now, until):
            self._visit(lease)
        self._now = until

    def _visit(self, lease: Lease) -> None:
        world, page, now = self._world, lease.page, lease.at
        self.agenda.answered(lease, now)
        version = world.version(page, now)
        if lease.first:
            self.agenda.copied(page, f"http://127.0.0.1{world.path[page]}", now)
        else:
            changed = version != self._copied[page]
            dated = changed and SECTIONS[world.section[page]].says in _DATED
            age = now - world.changed_at(page, now) if dated else nan
            self.agenda.seen(page, now, changed=changed, age=age)
        self._copied[page] = version
        self._made.append((page, now))

    def belief(self) -> Belief:
        """What the policy believes of the copies; chances are nan where it has no beliefs."""
        frontier = self.agenda.frontier(0)
        page = self.agenda.pages(0)
        chance = np.full(len(page), np.nan)
        if isinstance(self._policy, Recrawl) and len(page):
            instant = instant_after_epoch(self._now)
            state: Any = frontier.state
            chance = self._policy.fresh(state, np.arange(len(page)), instant)
        return Belief(self._now, page, chance)

    def visits(self) -> CopyVisits:
        """All visits so far."""
        page, at = (np.array(each) for each in zip(*self._made, strict=True))
        return CopyVisits(page, at, at)
