"""When pages are visited next, found out by a virtual crawl.

Nothing is fetched. Visits find their pages as they were found last: a page that has failed fails
again, one that is gone stays gone, and of all others nothing is learned.

Pure.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier, PolicyCheckpoint
from recrawl.frontier.host_table import HostTable
from recrawl.policies.policy import Priced
from recrawl.policies.recrawl.some_pages import some_pages
from recrawl.policies.recrawl.state import RecrawlState
from recrawl.simulate.frozen_policy import SampledPolicy
from recrawl.simulate.frozen_rivals import frozen
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.units import epoch_days, instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.simulate.frozen_policy import FrozenPolicy
    from recrawl.simulate.frozen_rivals import FrozenFixed
    from recrawl.simulate.scenario import PoolScenario, Scenario

Learned = TypeVar("Learned")

# A page that was not visited in so many mean gaps is looked for no longer: the price tells when.
_GAPS = 6.0
# Visits whose worth tells the price: the last ones, out of so many looked at in a gap.
_PRICED, _PRICED_PER_GAP = 16, 64
# Ticks that an order holds for where it is drawn at random what visits find: chance moves the next
# visit by far more, and most of what such a run takes is making orders.
_TICKS_AT_RANDOM = 4.0


@dataclass(frozen=True, slots=True)
class NextVisit:
    """When a page is visited next.

    Args:
        at: The instant, in days after 1970; infinite where it is never.
        set: Whether its set time had come.
        before: Visits that the same budget pays for until then.
        at_host: Visits that go to the same host until then.
        busy: Days until then in which the host could not be asked.
        price: What visits are worth that the policy chooses shortly before, in the middle, and no
            more than this one where the policy chooses it; nan where it chooses none.
        reckoned: Whether the visit lies too far off to be simulated, and follows from its set time
            or from the price.
    """

    at: float
    set: bool = False
    before: int = 0
    at_host: int = 0
    busy: float = 0.0
    price: float = nan
    reckoned: bool = False


def simulate_next_visit(
    scenario: Scenario, *, until: float = inf, stream: int | None = None, priced: bool = True
) -> NextVisit:
    """When the page of a scenario is visited next.

    Args:
        scenario: The crawl.
        until: Instant after which nobody wants to know: a later visit is never.
        stream: Number of the random stream from which it is drawn what visits find; None where
            nothing is learned.
        priced: Whether somebody wants to know the price, too.
    """
    (found,) = simulate_next_visits(
        scenario, [scenario.page], until=until, stream=stream, priced=priced
    )
    return found


def simulate_next_visits(
    scenario: Scenario,
    pages: Sequence[int],
    *,
    until: float = inf,
    stream: int | None = None,
    priced: bool = True,
) -> list[NextVisit]:
    """When some pages of a scenario are visited next, by one virtual crawl for all of them.

    Args:
        scenario: The crawl.
        pages: Pages, counted from 0 in the scenario.
        until: Instant after which nobody wants to know: a later visit is never.
        stream: Number of the random stream from which it is drawn what visits find; None where
            nothing is learned.
        priced: Whether somebody wants to know the price, too.
    """
    found: dict[int, NextVisit] = {}
    ends = {}
    for page in pages:
        one = replace(scenario, page=page)
        set_time, end = float(scenario.known.set[page]), horizon(one)
        if end == inf:
            found[page] = NextVisit(inf)  # no budget
        elif is_held(one) and set_time > end:
            set_time = one.own_terms.opens(set_time) if set_time < inf else inf
            found[page] = NextVisit(set_time if set_time <= until else inf, set=True, reckoned=True)
        else:
            ends[page] = end
    if ends:
        last = min(max(ends.values()), until)
        run = _ScenarioRun(scenario, frozen(scenario.policy, stream), priced=priced)
        met = run.run(ends, last)
        late = {page for page, end in ends.items() if page not in met or met[page].at > end}
        if not priced and any(ends[page] < until for page in late):  # the price tells when
            run = _ScenarioRun(scenario, frozen(scenario.policy, stream), priced=True)
            run.run(ends, last)
        for page, end in ends.items():
            if page not in late:
                found[page] = met[page]
            else:
                found[page] = run.reckoned(page) if end < until else run.missed(page, until)
    return [found[page] for page in pages]


def first_visit(scenario: Scenario) -> float:
    """When a crawl makes its next visit, whichever page it is to; infinite where it makes none."""
    return _ScenarioRun(scenario, frozen(scenario.policy), priced=False).first()


def horizon(scenario: Scenario) -> float:
    """Instant until which a visit is looked for."""
    host = scenario.host
    pages = int(np.count_nonzero(scenario.known.host == scenario.known.host[scenario.page]))
    # A host that may be asked rarely has a longer gap than the budget would have.
    at_host = pages * (max(host.delay, 2 * host.wait) + host.wait)
    return max(scenario.now + _GAPS * max(scenario.gap, at_host), host.after + _GAPS * scenario.gap)


def is_held(scenario: Scenario) -> bool:
    """Whether nothing but its set time decides on the page of a scenario."""
    page, known = scenario.page, scenario.known
    if known.failures[page]:
        return True
    match PageStatus(int(known.status[page])):
        case PageStatus.NEW:
            return False  # an interval begins with the first copy
        case PageStatus.COPIED:
            return scenario.own_terms.interval > 0
    return True


def allowed_from(scenario: Scenario, at: float) -> float:
    """The first instant from `at` on at which the terms of the page of a scenario allow a visit."""
    last, terms = float(scenario.last[scenario.page]), scenario.own_terms
    return terms.opens(at if isnan(last) else max(at, last + terms.minimum))


class _ScenarioRun:
    """A virtual crawl of a scenario, until some of its pages have been visited."""

    def __init__(
        self, scenario: Scenario, policy: FrozenPolicy | FrozenFixed, *, priced: bool
    ) -> None:
        self._scenario = scenario
        self._policy = policy
        self._priced = priced
        random = np.random.default_rng(0)
        self._agenda = Agenda(_hosts(scenario), scenario.terms, random)
        self._pool_of = np.array([each.pool for each in scenario.terms])[scenario.known.term]
        is_new = (scenario.known.status == PageStatus.NEW) & (scenario.known.set == inf)
        new_pages = np.bincount(self._pool_of[is_new], minlength=len(scenario.pools)).tolist()
        self._states: list[Any] = []
        for pool, count in zip(scenario.pools, new_pages, strict=True):
            self._add_pool(pool, count, random)
        pages = [pool.pages for pool in scenario.pools]
        self._agenda.resume(scenario.known, pages, [scenario.last[each] for each in pages])
        for number, pool in enumerate(scenario.pools):
            self._agenda.budget_pool(number).bucket.resume(
                pool.spent.at, pool.spent.first, scenario.now
            )
        self._row = {
            page: row for pool in scenario.pools for row, page in enumerate(pool.pages.tolist())
        }
        sizes = np.bincount(self._pool_of, minlength=len(scenario.pools))
        self._price_every = np.maximum(sizes // _PRICED_PER_GAP, 1).tolist()
        self._visits = [0] * len(scenario.pools)
        self._visits_at = [0] * len(scenario.hosts)
        # What visits were worth that the policy chose, by pool: instants and values.
        self._worth: list[list[tuple[float, float]]] = [[] for _ in scenario.pools]
        self._busy = 0.0

    def _add_pool(self, pool: PoolScenario, new_pages: int, random: np.random.Generator) -> None:
        frontier, state = Frontier(self._policy, pool.budget, random), None
        if pool.learned is not None and len(pool.rows):
            state = self._policy.freeze(*own_pages(pool.learned, pool.rows))
            learned = PolicyCheckpoint(state, len(pool.rows), state.gap, new_pages)
            frontier = Frontier.resumed(self._policy, pool.budget, random, learned)
        self._states.append(state)
        number = self._agenda.add_pool(frontier, pool.budget, self._scenario.now)
        at_random = isinstance(self._policy, SampledPolicy)
        self._agenda.budget_pool(number).simulate(_TICKS_AT_RANDOM if at_random else 1.0)

    def run(self, ends: Mapping[int, float], until: float) -> dict[int, NextVisit]:
        """Go on until some pages were visited, or until an instant; those that were.

        Args:
            ends: Until when each page is looked for.
            until: The instant.
        """
        agenda, scenario, found = self._agenda, self._scenario, {}
        wanted, pool_ends = {page: agenda.set_time(page) for page in ends}, self._pool_ends(ends)
        for lease in virtual_visits(agenda, scenario.now, until, on_wait=self._wait):
            page, pool = lease.page, int(self._pool_of[lease.page])
            if lease.at > pool_ends[pool]:
                agenda.budget_pool(pool).await_share()
            if page in wanted:
                by_set = wanted.pop(page) <= lease.at
                found[page] = self._chosen(page, self._foreseen(page, lease.at, by_set=by_set))
                if not wanted:
                    break
            self._visits[pool] += 1
            self._visits_at[lease.host] += 1
            self._price(page, pool, lease.at)
            agenda.answered(lease, lease.at + scenario.hosts[lease.host].wait)
            self._visit(page, lease.at)
        return found

    def _pool_ends(self, ends: Mapping[int, float]) -> list[float]:
        """Until when each pool spends its budget: as long as its pages are looked for.

        Else a hundred thousand visits a day would go on for all the years in which a page is looked
        for whose budget is a visit in a thousand days.
        """
        scenario = self._scenario
        sizes = np.bincount(self._pool_of, minlength=len(scenario.pools)).tolist()
        found = []
        for pool, size in zip(scenario.pools, sizes, strict=True):
            visits = pool.budget.visits_a_day(size)
            found.append(scenario.now + _GAPS * size / visits if visits > 0 else inf)
        host = scenario.known.host
        for page, end in ends.items():
            # Pages of other pools at its host keep it waiting, too.
            for number in distinct(self._pool_of[host == host[page]]).tolist():
                found[number] = max(found[number], end)
        return found

    def first(self) -> float:
        """Instant of the first visit; infinite where there is none."""
        visits = virtual_visits(self._agenda, self._scenario.now, inf)
        return next((lease.at for lease in visits), inf)

    def missed(self, page: int, until: float) -> NextVisit:
        """A page that was not visited in time."""
        return replace(self._foreseen(page, until, by_set=False), at=inf)

    def reckoned(self, page: int) -> NextVisit:
        """When a page is visited that was not while the run lasted: by its set time or the price.

        A new page comes some time, and a page that its terms keep back comes after that.
        """
        scenario, at = replace(self._scenario, page=page), inf
        end, pool = horizon(scenario), int(self._pool_of[page])
        found = self._foreseen(page, end, by_set=False)
        row, state = self._row.get(page), self._states[pool]
        surely = scenario.known.status[page] == PageStatus.NEW or allowed_from(scenario, end) > end
        chosen = found.price > 0 or not isinstance(self._policy, Priced)
        if row is not None and state is not None and chosen:
            (due,) = epoch_days(self._policy.due(state, np.array([row]), found.price)).tolist()
            at = inf if isnan(due) else allowed_from(scenario, max(due, scenario.now))
        elif surely and not is_held(scenario):
            at = allowed_from(scenario, end)
        set_time = self._agenda.set_time(page)
        # It was not visited before: a set time that has passed waits for the budget.
        later = max(min(at, set_time), end)
        return replace(found, at=later, set=set_time < at, reckoned=True)

    def _wait(self, now: float, later: float) -> None:
        """Note how long the host of the scenario's page could not be asked."""
        free = self._agenda.hosts.ready(int(self._scenario.known.host[self._scenario.page]))
        self._busy += max(min(free, later) - now, 0.0)

    def _foreseen(self, page: int, at: float, *, by_set: bool) -> NextVisit:
        pool = int(self._pool_of[page])
        worth = [value for when, value in self._worth[pool] if when <= at][-_PRICED:]
        price = _median(worth) if worth else nan
        at_host = self._visits_at[int(self._scenario.known.host[page])]
        return NextVisit(at, by_set, self._visits[pool], at_host, self._busy, price)

    def _chosen(self, page: int, found: NextVisit) -> NextVisit:
        """The visit with a price that it is worth: the policy has chosen it.

        Announced changes make visits worth far more than what the budget pays for otherwise.
        """
        if found.set or isnan(found.price):
            return found
        value = self._value(page, found.at)
        return found if value is None else replace(found, price=min(found.price, value))

    def _value(self, page: int, now: float) -> float | None:
        """What a visit is worth by the policy; None where it does not say."""
        row, state = self._row.get(page), self._states[int(self._pool_of[page])]
        if row is None or state is None or not isinstance(self._policy, Priced):
            return None
        instant = instants_after_epoch(np.array([now]))[0]
        return float(self._policy.value(state, np.array([row]), instant)[0])

    def _price(self, page: int, pool: int, now: float) -> None:
        """Note what a visit is worth that the policy has chosen."""
        if not self._priced:
            return
        if self._visits[pool] % self._price_every[pool] or self._scenario.known.set[page] < inf:
            return
        value = self._value(page, now)
        if value is not None:
            self._worth[pool].append((now, value))

    def _visit(self, page: int, now: float) -> None:
        """Make a visit that finds what the one before has found."""
        agenda = self._agenda
        match agenda.status(page):
            case PageStatus.NEW | PageStatus.COPIED if agenda.failures(page):
                agenda.failed(page, now)
            case PageStatus.NEW:
                agenda.copied(page, "", now)
            case PageStatus.COPIED:
                agenda.seen(page, now, changed=False)
            case PageStatus.REFUSED:
                agenda.refused(page, now)
            case PageStatus.MOVED:
                agenda.moved(page, now)
            case PageStatus.DUPLICATE:
                agenda.duplicate(page, now)
            case _:
                agenda.gone(page, now)


def _median(values: list[float]) -> float:
    """Middle of some values; numpy's loads masked arrays, which takes as long as two such runs."""
    rising, middle = sorted(values), len(values) // 2
    return (rising[middle] + rising[~middle]) / 2


def own(learned: Learned) -> Learned:
    """A copy of what a policy has learned; sections are shared, since no page is added."""
    shared = {}
    if isinstance(learned, RecrawlState):
        shared = {id(learned.sections): learned.sections}
    return deepcopy(learned, shared)


def own_pages(learned: Any, rows: Ints) -> tuple[Any, Ints]:  # noqa: ANN401 - the policy's own
    """A copy of what a policy has learned of some pages, perhaps of more, and their rows in it."""
    if isinstance(learned, RecrawlState) and len(rows) < len(learned.last):
        return some_pages(learned, rows), np.arange(len(rows))
    return own(learned), rows


def _hosts(scenario: Scenario) -> HostTable:
    hosts = HostTable(delay=0.0, together=scenario.together)
    for each in scenario.hosts:
        hosts.add(delay=each.delay, after=each.after, latency=each.wait)
    return hosts
