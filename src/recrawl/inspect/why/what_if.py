"""What would change the next visit of a page: each thing changed, and the crawl simulated again.

Pure.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.why.binding import held_by_host, moved
from recrawl.inspect.why.changes import (
    budget_times,
    free_host,
    interval_of,
    maximum_of,
    minimum_of,
    neighbour_changed,
    weight_times,
    well,
    without_hours,
)
from recrawl.inspect.why.values import WhatIf
from recrawl.simulate.next_visit import is_held, simulate_next_visit
from recrawl.units import days, duration
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.plan.budget import Budget
    from recrawl.simulate.next_visit import NextVisit
    from recrawl.simulate.scenario import Scenario

_TWICE, _HALF = 2.0, 0.5
_SHORTEST, _LONGEST = days("2m"), days("52w")  # of a bound that is worth trying
_NEVER_BOUND = "30d"


def what_ifs(scenario: Scenario, base: NextVisit) -> list[WhatIf]:
    """All that may change the next visit of the page of a scenario.

    Args:
        scenario: The crawl.
        base: When the page is visited next.
    """
    found = []
    for change, was, to, changed in _changes(scenario, base):
        other = simulate_next_visit(changed, priced=False)
        moves = moved(scenario, base, other)
        if change == "host" and base.at < inf:
            moves = moves and held_by_host(base, base.at - other.at)
        found.append(WhatIf(change, was, to, other.at, moves))
    return found


def _changes(scenario: Scenario, base: NextVisit) -> Iterator[tuple[str, str, str, Scenario]]:
    """What is changed, what it is, what it would be, and the scenario with it."""
    terms = scenario.own_terms
    was = budget_text(scenario.pool.budget, scenario.share)
    twice = budget_times(scenario, _TWICE)
    yield "budget", was, budget_text(twice.pool.budget, scenario.share), twice
    by_value = scenario.row is None or scenario.pool.state is not None
    if by_value and not is_held(scenario):
        weight = scenario.own_weight
        yield "weight", f"{weight:g}", f"{_TWICE * weight:g}", weight_times(scenario, _TWICE)
    if terms.minimum > 0:
        yield "minimum", *_halved(terms.minimum), minimum_of(scenario, _short(terms.minimum))
    if terms.interval > 0:
        yield "interval", *_halved(terms.interval), interval_of(scenario, _short(terms.interval))
        yield "interval", duration(terms.interval), "none", interval_of(scenario, 0.0)
    yield from _other_maximum(scenario, base)
    if terms.hours is not None:
        yield "hours", "{}-{}".format(*terms.hours), "0-24", without_hours(scenario)
    yield "host", "", "free at any time", free_host(scenario)
    if scenario.known.failures[scenario.page] or scenario.known.status[scenario.page] in _NOT_WELL:
        yield (
            "answer",
            PageStatus(int(scenario.known.status[scenario.page])).label,
            "copied",
            well(scenario),
        )
    elif (row := neighbour(scenario)) is not None and not is_held(scenario):
        yield "neighbour", "", "found changed now", neighbour_changed(scenario, row)


_NOT_WELL = (
    PageStatus.SUSPECTED,
    PageStatus.GONE,
    PageStatus.REFUSED,
    PageStatus.MOVED,
    PageStatus.DUPLICATE,
)


def _other_maximum(scenario: Scenario, base: NextVisit) -> Iterator[tuple[str, str, str, Scenario]]:
    """A most time between visits where there is none, and none where there is one."""
    terms = scenario.own_terms
    if (
        terms.interval
        or scenario.known.status[scenario.page] != PageStatus.COPIED
        or is_held(scenario)
    ):
        return
    if terms.maximum < inf:
        yield "maximum", duration(terms.maximum), "none", maximum_of(scenario, inf)
        return
    waited, ahead = scenario.now - float(scenario.last[scenario.page]), base.at - scenario.now
    sooner = waited + _HALF * ahead
    text = duration(sooner) if isfinite(ahead) else _NEVER_BOUND
    if not isfinite(ahead) or _SHORTEST <= sooner <= _LONGEST:
        yield "maximum", "none", text, maximum_of(scenario, days(text))


def _halved(bound: float) -> tuple[str, str]:
    return duration(bound), duration(_HALF * bound)


def _short(bound: float) -> float:
    """Half of a bound, as it is written."""
    return days(duration(_HALF * bound))


def neighbour(scenario: Scenario) -> int | None:
    """Row of the page of the same section that was not visited for longest; None where it is alone.

    A change of it would tell most.
    """
    state, row = scenario.pool.state, scenario.row
    if state is None or row is None:
        return None
    others = np.flatnonzero(state.sections.leaf == state.sections.leaf[row])
    others = others[(others != row) & (state.last[others] < scenario.now)]
    return int(others[np.argmin(state.last[others])]) if len(others) else None


def budget_text(budget: Budget, share: float = 1.0) -> str:
    """A budget as people write it, of which the pages that take part have a share.

    >>> from recrawl.plan.budget import Budget
    >>> budget_text(Budget(50.0), 0.1), budget_text(Budget(2.0, "page"), 0.1)
    ('500/1d', '2/page/1d')
    """
    if budget.each == "page":
        return f"{budget.visits:g}/page/1d"
    return f"{budget.visits / share:.6g}/1d"
