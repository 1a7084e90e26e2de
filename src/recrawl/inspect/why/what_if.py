"""What would change the next visit of a page: each thing changed, and the crawl rehearsed again.

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


def what_ifs(scene: Scenario, base: NextVisit) -> list[WhatIf]:
    """All that may change the next visit of the page of a scene.

    Args:
        scene: The crawl.
        base: When the page is visited next.
    """
    found = []
    for change, was, to, changed in _changes(scene, base):
        other = simulate_next_visit(changed)
        moves = moved(scene, base, other)
        if change == "host" and base.at < inf:
            moves = moves and held_by_host(base, base.at - other.at)
        found.append(WhatIf(change, was, to, other.at, moves))
    return found


def _changes(scene: Scenario, base: NextVisit) -> Iterator[tuple[str, str, str, Scenario]]:
    """What is changed, what it is, what it would be, and the scene with it."""
    terms = scene.own_terms
    was = budget_text(scene.pool.budget, scene.share)
    twice = budget_times(scene, _TWICE)
    yield "budget", was, budget_text(twice.pool.budget, scene.share), twice
    if not is_held(scene):
        weight = terms.weight
        yield "weight", f"{weight:g}", f"{_TWICE * weight:g}", weight_times(scene, _TWICE)
    if terms.minimum > 0:
        yield "minimum", *_halved(terms.minimum), minimum_of(scene, _short(terms.minimum))
    if terms.interval > 0:
        yield "interval", *_halved(terms.interval), interval_of(scene, _short(terms.interval))
        yield "interval", duration(terms.interval), "none", interval_of(scene, 0.0)
    yield from _other_maximum(scene, base)
    if terms.hours is not None:
        yield "hours", "{}-{}".format(*terms.hours), "0-24", without_hours(scene)
    yield "host", "", "free at any time", free_host(scene)
    if scene.known.failures[scene.page] or scene.known.status[scene.page] in _NOT_WELL:
        yield "answer", PageStatus(int(scene.known.status[scene.page])).label, "copied", well(scene)
    elif (row := neighbour(scene)) is not None and not is_held(scene):
        yield "neighbour", "", "found changed now", neighbour_changed(scene, row)


_NOT_WELL = (PageStatus.SUSPECTED, PageStatus.GONE, PageStatus.REFUSED, PageStatus.MOVED)


def _other_maximum(scene: Scenario, base: NextVisit) -> Iterator[tuple[str, str, str, Scenario]]:
    """A most time between visits where there is none, and none where there is one."""
    terms = scene.own_terms
    if terms.interval or scene.known.status[scene.page] != PageStatus.COPIED or is_held(scene):
        return
    if terms.maximum < inf:
        yield "maximum", duration(terms.maximum), "none", maximum_of(scene, inf)
        return
    waited, ahead = scene.now - float(scene.last[scene.page]), base.at - scene.now
    sooner = waited + _HALF * ahead
    text = duration(sooner) if isfinite(ahead) else _NEVER_BOUND
    if not isfinite(ahead) or _SHORTEST <= sooner <= _LONGEST:
        yield "maximum", "none", text, maximum_of(scene, days(text))


def _halved(bound: float) -> tuple[str, str]:
    return duration(bound), duration(_HALF * bound)


def _short(bound: float) -> float:
    """Half of a bound, as it is written."""
    return days(duration(_HALF * bound))


def neighbour(scene: Scenario) -> int | None:
    """Row of the page of the same section that was not visited for longest; None where it is alone.

    A change of it would tell most.
    """
    state, row = scene.pool.state, scene.row
    if state is None or row is None:
        return None
    others = np.flatnonzero(state.sections.leaf == state.sections.leaf[row])
    others = others[(others != row) & (state.last[others] < scene.now)]
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
