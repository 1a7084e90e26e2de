"""What a crawl does next, found out by doing it: the same agenda on a clock that takes no time.

Nothing is fetched. Visits find their pages as they were found last: a page that has failed fails
again, one that is gone stays gone, and of all others nothing is learnt.

Pure.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier, PolicyCheckpoint
from recrawl.frontier.host_table import HostTable
from recrawl.simulate.frozen_policy import FrozenPolicy, FrozenState, SampledPolicy
from recrawl.units import SECONDS_A_DAY, epoch_days, instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.frontier.agenda import Lease
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.simulate.scenario import PoolScenario, Scenario

# A page that was not visited in so many mean gaps is looked for no longer: the price tells when.
_GAPS = 6.0
_SECOND = 1 / SECONDS_A_DAY
# Visits whose worth tells the price: the last ones, out of so many looked at in a gap.
_PRICED, _PRICED_A_GAP = 16, 64


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
        reckoned: Whether the visit lies too far off to be rehearsed, and follows from its set time
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
    scene: Scenario, *, until: float = inf, lot: int | None = None
) -> NextVisit:
    """When the page of a scene is visited next.

    Args:
        scene: The crawl.
        until: Instant after which nobody wants to know: a later visit is never.
        lot: Number of the lot by which it is drawn what visits find; None where nothing is learnt.
    """
    set_time, end = float(scene.known.set[scene.page]), horizon(scene)
    if end == inf:
        return NextVisit(inf)  # no budget
    if is_held(scene) and set_time > end:
        set_time = scene.own_terms.opens(set_time) if set_time < inf else inf
        return NextVisit(set_time if set_time <= until else inf, set=True, reckoned=True)
    policy = FrozenPolicy(scene.policy) if lot is None else SampledPolicy(scene.policy, lot)
    rehearsal = _Rehearsal(scene, policy)
    found = rehearsal.run(min(end, until))
    if found.at == inf and end < until:
        return rehearsal.reckoned(found)
    return found


def horizon(scene: Scenario) -> float:
    """Instant until which a visit is looked for."""
    host = scene.host
    pages = int(np.count_nonzero(scene.known.host == scene.known.host[scene.page]))
    # A host that may be asked rarely has a longer gap than the budget would have.
    at_host = pages * (max(host.delay, 2 * host.wait) + host.wait)
    return max(scene.now + _GAPS * max(scene.gap, at_host), host.after + _GAPS * scene.gap)


def is_held(scene: Scenario) -> bool:
    """Whether nothing but its set time decides on the page of a scene."""
    page, known = scene.page, scene.known
    if known.failures[page]:
        return True
    match PageStatus(int(known.status[page])):
        case PageStatus.NEW:
            return False  # an interval begins with the first copy
        case PageStatus.COPIED:
            return scene.own_terms.interval > 0
    return True


def allowed_from(scene: Scenario, at: float) -> float:
    """The first instant from `at` on at which the terms of the page of a scene allow a visit."""
    last, terms = float(scene.last[scene.page]), scene.own_terms
    return terms.opens(at if isnan(last) else max(at, last + terms.minimum))


class _Rehearsal:
    def __init__(self, scene: Scenario, policy: FrozenPolicy | SampledPolicy) -> None:
        self._scene = scene
        self._policy = policy
        random = np.random.default_rng(0)
        self._agenda = Agenda(_hosts(scene), scene.terms, random)
        self._states: list[FrozenState | None] = []
        for pool in scene.pools:
            self._add_pool(pool, random)
        pages = [pool.pages for pool in scene.pools]
        self._agenda.resume(scene.known, pages, [scene.last[each] for each in pages])
        for number, pool in enumerate(scene.pools):
            self._spend(number, pool)
        self._row = {page: row for row, page in enumerate(scene.pool.pages.tolist())}
        self._worth: deque[float] = deque(maxlen=_PRICED)
        self._every = max(scene.pool_size // _PRICED_A_GAP, 1)
        self._before = self._at_host = 0
        self._busy = 0.0

    def _add_pool(self, pool: PoolScenario, random: np.random.Generator) -> None:
        scene, state = self._scene, None
        frontier = Frontier(self._policy, pool.budget, random)
        if pool.state is not None and len(pool.rows):
            state = FrozenState.of(own(pool.state), pool.rows)
            learnt = PolicyCheckpoint(state, len(pool.rows), state.gap)
            frontier = Frontier.resumed(self._policy, pool.budget, random, learnt)
        self._states.append(state)
        since = scene.now if pool.spent.anew or not len(pool.spent.at) else float(pool.spent.at[0])
        self._agenda.add_pool(frontier, pool.budget, since)

    def _spend(self, number: int, pool: PoolScenario) -> None:
        """Count what was spent before."""
        spending, spent = self._agenda.bucket(number), pool.spent
        if spent.anew:
            spending.resume(spent.at, spent.first, self._scene.now)
            return
        for at, first in zip(spent.at.tolist(), spent.first.tolist(), strict=True):
            spending.spend(at, first=first)

    def run(self, until: float) -> NextVisit:
        """Go on until the page is visited, or until an instant."""
        agenda, now, page = self._agenda, self._scene.now, self._scene.page
        while now <= until:
            set_time = agenda.set_time(page)
            leases = agenda.take(now, 1)
            for lease in leases:
                if lease.page == page:
                    found = self._foreseen(now, by_set=set_time <= now)
                    return found if found.set else self._chosen(found)
                self._visit(lease, now)
            if not leases:
                ready = agenda.ready(now)
                if ready == inf:
                    break
                later = max(ready, now + _SECOND)
                free = agenda.hosts.ready(int(self._scene.known.host[page]))
                self._busy += max(min(free, later) - now, 0.0)
                now = later
        return self._foreseen(inf, by_set=False)

    def reckoned(self, found: NextVisit) -> NextVisit:
        """When the page is visited that was not while the rehearsal lasted: by the price."""
        scene, at = self._scene, inf
        end = horizon(scene)
        row, state = self._row.get(scene.page), self._states[scene.own_terms.pool]
        # A new page comes some time, and a page that its terms keep back comes after that.
        surely = scene.known.status[scene.page] == PageStatus.NEW or allowed_from(scene, end) > end
        if row is not None and state is not None and found.price > 0:
            (due,) = epoch_days(self._policy.due(state, np.array([row]), found.price)).tolist()
            at = inf if isnan(due) else allowed_from(scene, max(due, scene.now))
        elif surely and not is_held(scene):
            at = allowed_from(scene, end)
        set_time = self._agenda.set_time(scene.page)
        by_set = set_time < at
        at = min(at, set_time)
        return replace(found, at=at, set=by_set, reckoned=True)

    def _foreseen(self, at: float, *, by_set: bool) -> NextVisit:
        price = float(np.median(self._worth)) if self._worth else nan
        return NextVisit(at, by_set, self._before, self._at_host, self._busy, price)

    def _chosen(self, found: NextVisit) -> NextVisit:
        """The visit with a price that it is worth: the policy has chosen it.

        Announced changes make visits worth far more than what the budget pays for otherwise.
        """
        row, state = self._row.get(self._scene.page), self._states[self._scene.own_terms.pool]
        if row is None or state is None or isnan(found.price):
            return found
        instant = instants_after_epoch(np.array([found.at]))[0]
        (value,) = self._policy.value(state, np.array([row]), instant).tolist()
        return replace(found, price=min(found.price, value))

    def _visit(self, lease: Lease, now: float) -> None:
        """Make a visit that finds what the one before has found."""
        agenda, scene, page = self._agenda, self._scene, lease.page
        pool = scene.terms[agenda.term(page)].pool
        self._before += pool == scene.own_terms.pool
        self._at_host += lease.host == int(scene.known.host[scene.page])
        self._price(page, now)
        agenda.answered(lease, now + scene.hosts[lease.host].wait)
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
            case _:
                agenda.gone(page, now)

    def _price(self, page: int, now: float) -> None:
        """Note what a visit is worth that the policy has chosen."""
        row, state = self._row.get(page), self._states[self._scene.own_terms.pool]
        if row is None or state is None or self._before % self._every:
            return
        if self._scene.known.set[page] == inf:
            instant = instants_after_epoch(np.array([now]))[0]
            self._worth.extend(self._policy.value(state, np.array([row]), instant).tolist())


def own(state: RecrawlState) -> RecrawlState:
    """What the policy has learnt, to do with as one likes; sections stay, since none come."""
    return deepcopy(state, {id(state.sections): state.sections})


def _hosts(scene: Scenario) -> HostTable:
    hosts = HostTable(delay=0.0, together=scene.together)
    for each in scene.hosts:
        hosts.add(delay=each.delay, after=each.after, latency=each.wait)
    return hosts
