"""What a crawl may expect of its budget in the long run, and of half and twice as much.

Each budget is planned for its own pages, as the crawl does: by its objective, with what is known of
each page's rate and how sure that is, within the bounds of the rules and what hosts can be asked.
A plan supposes that rates stay as they are, which the crawl itself does not, and leaves out at
which hours of the day pages may be visited.

A large crawl is planned by some copies, drawn at random, with their part of the budget and of what
each host can be asked.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.host_table import HostTable
from recrawl.inspect.status.values import BudgetOutlook
from recrawl.plan.allocation import allocate
from recrawl.plan.limits import Limits
from recrawl.plan.objectives import OBJECTIVES, Freshness
from recrawl.plan.rates import Rates
from recrawl.policies.recrawl.beliefs import in_common
from recrawl.settings.pools import terms
from recrawl.state.pages import ruled
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.copies import CopiesFound, CopySample
    from recrawl.plan.plan import Plan
    from recrawl.settings.settings import Settings

TIMES = (0.5, 1.0, 2.0)
# Copies that are planned for: a share is then unsure by 0.8 points in nine cases of ten at worst.
_MOST_PLANNED = 4000
_DRAWS = 2000  # rates drawn for a band, at least
_DEVIATIONS = 1.645
_LITTLE = 1e-4
_ROUNDING = 1 - 1e-9  # so that floors that take all leave a plan some room


@dataclass(frozen=True, slots=True, eq=False)
class PlannedPages:
    """Copies to plan for.

    Args:
        sample: Where they are from; its rows are these.
        of: How many pages they stand for.
        rates: Facts about their rates.
        weight: How much each matters.
        least: Visits a day that each gets in any case.
        most: Visits a day that none exceeds.
        host: Number of the host of each.
        rule: Number of the rule of each.
    """

    sample: CopySample
    of: int
    rates: Rates
    weight: Floats
    least: Floats
    most: Floats
    host: Ints
    rule: Ints

    @property
    def share(self) -> float:
        """Share of the pages that they are."""
        return len(self.host) / self.of


@dataclass(frozen=True, slots=True)
class RulePlan:
    """What a plan gives the pages of one rule.

    Args:
        rule: Number of the rule.
        copies: How many there are, about.
        visits: Visits a day that they get.
        fresh: Share of them that is expected to be fresh in the long run.
    """

    rule: int
    copies: float
    visits: float
    fresh: float


class Planner:
    """Plans for the copies that were looked at.

    Args:
        settings: What is asked of the crawl.
        reader: Its store.
        copies: Its copies.
        now: The instant, in days after 1970.
    """

    def __init__(
        self, settings: Settings, reader: ReadStore, copies: CopiesFound, now: float
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._copies = copies
        self._now = now
        self._objective = OBJECTIVES[settings.objective]
        self._cap: dict[int, float] = {}

    # What budgets buy.

    def outlooks(
        self,
        budgets: Sequence[float],
        pages: Sequence[int],
        times: Sequence[float] = TIMES,
    ) -> list[BudgetOutlook]:
        """What to expect of half the budgets, of the budgets and of twice as much.

        Args:
            budgets: Visits a day that each allows.
            pages: How many pages each is for, those counted that have no copy yet.
            times: How many times the budgets.
        """
        planned = self._planned(pages)
        return [self._outlook(each, budgets, planned) for each in times] if planned else []

    def by_rule(self, budgets: Sequence[float], pages: Sequence[int]) -> list[RulePlan]:
        """What the pages of each rule get of the budgets, and what they are worth then.

        Args:
            budgets: Visits a day that each allows.
            pages: How many pages each is for, those counted that have no copy yet.
        """
        rules = len(self._settings.rules) + 1  # the last is of pages without one
        copies, visits, fresh = np.zeros(rules), np.zeros(rules), np.zeros(rules)
        taken: dict[int, float] = {}
        for some in self._planned(pages):
            plan = self._plan(some, budgets[some.sample.pool], taken)
            copies += np.bincount(some.rule, minlength=rules) / some.share
            visits += np.bincount(some.rule, plan.visits_per_day, rules) / some.share
            fresh += np.bincount(some.rule, plan.freshness, rules) / some.share
        return [
            RulePlan(rule, many, asked, well / many)
            for rule, (many, asked, well) in enumerate(
                zip(copies[:-1].tolist(), visits.tolist(), fresh.tolist(), strict=False)
            )
            if many
        ]

    def _planned(self, pages: Sequence[int]) -> list[PlannedPages]:
        """Some of the copies of each budget, standing for all of its pages."""
        samples = self._copies.samples
        drawn = sum(len(sample.rows) for sample in samples)
        # Those with budgets of their own come first: what they leave of a host is for the others.
        return [
            self.pages(thinned(sample, _MOST_PLANNED, drawn), max(pages[sample.pool], sample.of))
            for sample in sorted(samples, key=lambda sample: -sample.pool)
            if len(sample.rows)
        ]

    def _outlook(
        self, times: float, budgets: Sequence[float], planned: Sequence[PlannedPages]
    ) -> BudgetOutlook:
        taken: dict[int, float] = {}
        whole, fresh, variance = 0, 0.0, 0.0
        for pages in planned:
            plan = self._plan(pages, times * budgets[pages.sample.pool], taken)
            of = plan.freshness
            whole += pages.of
            fresh += pages.of * float(of.mean())
            variance += _variance(pages, plan, of)
        half = _DEVIATIONS * variance**0.5
        band = max(fresh - half, 0.0) / whole, min(fresh + half, whole) / whole
        return BudgetOutlook(times, times * sum(budgets), (fresh / whole, *band))

    def _plan(self, pages: PlannedPages, budget: float, taken: dict[int, float]) -> Plan:
        """Plan for pages, within what others have left of their hosts."""
        budget = budget * pages.share
        floors = float(pages.least.sum())
        bearable = min(_ROUNDING * budget / floors, 1.0) if floors > 0 else 1.0
        limits = Limits(least=pages.least * bearable, most=pages.most)
        plan = self._allocated(pages, budget, limits)
        hosts, host, caps = self.caps(pages, taken)
        visits = np.bincount(host, plan.visits_per_day, len(hosts))
        if (visits > caps).any():
            limits = within_hosts(limits, host, caps)
            plan = self._allocated(pages, budget, limits)
            visits = np.bincount(host, plan.visits_per_day, len(hosts))
        for number, each in zip(hosts.tolist(), (visits / pages.share).tolist(), strict=True):
            taken[number] = taken.get(number, 0.0) + each
        return plan

    def _allocated(self, pages: PlannedPages, budget: float, limits: Limits) -> Plan:
        return allocate(
            pages.rates, budget, objective=self._objective, weight=pages.weight, limits=limits
        )

    def caps(self, pages: PlannedPages, taken: Mapping[int, float]) -> tuple[Ints, Ints, Floats]:
        """Hosts of pages, the row of each page's, and what each can be asked for these pages.

        Args:
            pages: The pages.
            taken: What hosts are asked a day for others.
        """
        hosts, host = np.unique(pages.host, return_inverse=True)
        new = [number for number in hosts.tolist() if number not in self._cap]
        if new:
            self._cap |= self._asked_at_most(np.array(new))
        left = [self._cap[number] - taken.get(number, 0.0) for number in hosts.tolist()]
        return hosts, host, np.maximum(np.array(left), 0.0) * pages.share

    def _asked_at_most(self, numbers: Ints) -> dict[int, float]:
        """Requests a day that some hosts can be sent: a delay after the answer, or the request."""
        settings = self._settings
        hosts = HostTable(delay=settings.delay, together=settings.together, delays=settings.delays)
        found_by_name = map(self._reader.host, settings.delays)
        names = {host.number: host.name for host in found_by_name if host is not None}
        paces = zip(*self._reader.host_delays(numbers), strict=True)
        found = {}
        for number, (delay, latency) in zip(numbers.tolist(), paces, strict=True):
            name = names.get(number, "")
            row = hosts.add(name=name, delay=delay, latency=latency / SECONDS_A_DAY)
            cycle = hosts.delay(row) + (hosts.latency(row) if settings.together == 1 else 0.0)
            found[number] = 1 / cycle if cycle > 0 else inf
        return found

    # Pages to plan for.

    def pages(self, sample: CopySample, of: int) -> PlannedPages:
        """The copies of a sample, which stand for so many pages."""
        pages = sample.pages[sample.rows]
        rule, host = self._copies.rules_and_hosts(self._reader, pages)
        every, rule = terms(self._settings), ruled(self._settings, rule)
        longest = np.array([each.interval or each.maximum for each in every])[rule]
        shortest = np.array([each.interval or each.minimum for each in every])[rule]
        shape, exposure = sample.beliefs(self._now).as_one
        with np.errstate(divide="ignore"):
            return PlannedPages(
                sample=sample,
                of=of,
                rates=Rates.gamma(shape, exposure),
                weight=self._copies.weights(self._settings, self._reader, pages, rule),
                least=1 / longest,
                most=1 / shortest,
                host=host,
                rule=rule,
            )


def thinned(sample: CopySample, most: int, among: int) -> CopySample:
    """A sample of which so many are left, if it is `among` so many; at least one.

    >>> from recrawl.inspect.status.copies import CopySample
    >>> sample = CopySample(0, None, None, pages=np.arange(10), rows=np.arange(10), of=500)
    >>> some = thinned(sample, most=30, among=100)
    >>> len(some.rows), some.of
    (3, 500)
    """
    count = max(round(len(sample.rows) * most / among), 1)
    if count >= len(sample.rows):
        return sample
    random = np.random.default_rng(len(sample.rows))  # the same sample for the same crawl
    rows = np.sort(random.choice(sample.rows, count, replace=False))
    return replace(sample, rows=rows)


def within_hosts(limits: Limits, host: Ints, caps: Floats) -> Limits:
    """Limits that hosts have, too, with floors that they can bear."""
    least = np.broadcast_to(np.asarray(limits.least, np.float64), host.shape)
    floors = np.bincount(host, least, len(caps))
    with np.errstate(divide="ignore", invalid="ignore"):
        bearable = np.where(floors > 0, np.minimum(_ROUNDING * caps / floors, 1.0), 1.0)
    return Limits(least=least * bearable[host], most=limits.most, host=host, host_most=caps)


def _variance(pages: PlannedPages, plan: Plan, fresh: Floats) -> float:
    """Variance of the expected number of fresh copies, of all the pages that these stand for.

    What is unsure of a page's rate, of who was drawn at random, and of the clocks that pages share.
    """
    count, times = len(fresh), pages.of / len(fresh)
    rates, interval, aim = pages.rates, plan.interval, Freshness()
    assert rates.shape is not None  # noqa: S101 - made so
    assert rates.exposure is not None  # noqa: S101
    draws = max(-(-_DRAWS // count), 1)
    random = np.random.default_rng(count)
    rate = random.gamma(rates.shape, size=(draws, count)) / rates.exposure
    off = float(((1 - aim.loss(rate, interval) - fresh) ** 2).sum()) / draws
    faster = aim.expected_loss(rates.shape, rates.exposure, interval * (1 + _LITTLE))
    pull = (faster - (1 - fresh)) / _LITTLE
    leaf = pages.sample.state.sections.leaf[pages.sample.rows]
    drawn = pages.of * (times - 1) * float(np.var(fresh))
    return times * off + drawn + in_common(pages.sample.state, leaf, pull, 1 / times)
