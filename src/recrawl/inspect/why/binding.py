"""Which constraint decides when a page is visited next: exactly one.

A constraint binds where the visit moves without it. What keeps a visit back (the host, the hours,
the least time between visits) is taken away, one at a time, and the one that gives most is named;
where none gives anything, it is what the page waits for: its set time, its turn among new pages,
or the budget.

Pure.
"""

from __future__ import annotations

from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING

from recrawl.inspect.why.changes import (
    budget_times,
    free_host,
    maximum_of,
    minimum_of,
    without_hours,
)
from recrawl.simulate.next_visit import is_held, simulate_next_visit
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.simulate.next_visit import NextVisit
    from recrawl.simulate.scenario import Scenario

# A visit that moves by less has not moved: pages are chosen a tick at a time. Where they are
# visited every minute a part of their gap counts, but a virtual crawl goes on by whole seconds.
_MOVED_DAYS, _MOVED_SHARE = 60 / SECONDS_A_DAY, 0.02
_PART_OF_GAP, _LEAST_DAYS = 1 / 16, 2 / SECONDS_A_DAY
_BUSY = 0.5  # of the days that a visit comes sooner
_MUCH = 1000.0  # times the budget, which then keeps nothing back


class Binding(StrEnum):
    """What decides when a page is visited next."""

    NO_RULE = "no_rule"
    FILTERED = "filtered"
    REMOVED = "removed"
    ROBOTS = "robots"
    RECHECK = "recheck"
    RETRY = "retry"
    INTERVAL = "interval"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    HOURS = "hours"
    HOST = "host"
    NEW = "new"
    PACE = "pace"
    BUDGET = "budget"


def binding(scenario: Scenario, base: NextVisit) -> Binding:
    """What decides when the page of a scenario is visited next.

    Args:
        scenario: The crawl.
        base: When the page is visited next.
    """
    if scenario.own_terms.pool == len(scenario.pools) - 1:
        return Binding.NO_RULE
    gains = {
        kind: _gain(base, simulate_next_visit(changed, until=base.at, priced=False).at)
        for kind, changed in _kept_back(scenario, base).items()
    }
    if not held_by_host(base, gains.get(Binding.HOST, 0.0)):
        gains[Binding.HOST] = 0.0
    best = max(gains, key=gains.__getitem__, default=Binding.HOST)
    if gains.get(best, 0.0) > _least(scenario, base):
        return best
    if is_held(scenario):
        return _why_set(scenario)
    if scenario.known.status[scenario.page] == PageStatus.NEW:
        return Binding.NEW
    if base.set:
        unbound = simulate_next_visit(maximum_of(scenario, inf), priced=False)
        if unbound.at > base.at + _least(scenario, base):
            return Binding.MAXIMUM
    return Binding.BUDGET if base.before else Binding.PACE


def moved(scenario: Scenario, base: NextVisit, other: NextVisit) -> bool:
    """Whether a visit has moved, and not only by what chance may do."""
    return base.at != other.at and not abs(base.at - other.at) <= _least(scenario, base)


def held_by_host(base: NextVisit, days: float) -> bool:
    """Whether a visit may be so much sooner or later because of its host.

    Where pages are worth nearly the same a second may decide which comes first: a host that was
    free nearly all the time has not kept a page back for hours.
    """
    return base.busy >= _BUSY * abs(days)


def _kept_back(scenario: Scenario, base: NextVisit) -> Mapping[Binding, Scenario]:
    """The scenario without one thing that may keep the visit back, by what it is."""
    terms = scenario.own_terms
    found = {Binding.HOST: free_host(scenario)} if base.busy else {}
    if terms.minimum > 0 and not is_held(scenario):
        found[Binding.MINIMUM] = minimum_of(scenario, 0.0)
    if terms.hours is not None:
        found[Binding.HOURS] = without_hours(scenario)
    late = base.at - float(scenario.known.set[scenario.page])
    if late > max(_least(scenario, base), scenario.gap / scenario.pool_size):
        # Its time has come before, and it has waited for more than one visit of the budget: only a
        # day that is full of visits keeps such a page back.
        found[Binding.BUDGET] = budget_times(scenario, _MUCH)
    return found


def _gain(base: NextVisit, sooner: float) -> float:
    return base.at - sooner if sooner < base.at else 0.0


def _least(scenario: Scenario, base: NextVisit) -> float:
    ahead = base.at - scenario.now
    least = min(max(_PART_OF_GAP * scenario.gap, _LEAST_DAYS), _MOVED_DAYS)
    return max(least, _MOVED_SHARE * ahead if ahead < inf else 0.0)


def _why_set(scenario: Scenario) -> Binding:
    """Why a page has a set time."""
    known, page = scenario.known, scenario.page
    match PageStatus(int(known.status[page])):
        case PageStatus.REFUSED:
            return Binding.ROBOTS
        case PageStatus.SUSPECTED | PageStatus.GONE | PageStatus.MOVED | PageStatus.DUPLICATE:
            return Binding.RECHECK
        case _ if known.failures[page]:
            return Binding.RETRY
    return Binding.INTERVAL
