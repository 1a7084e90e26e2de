"""A scene with one thing changed: another budget, another rule for the page, another past.

What is changed for one page is what a block `[[page]]` of its own would say; a budget is that of
all pages that share it. A crawl takes up other settings when it begins again, and counts what it
has spent anew.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.backoff import recheck_after, retry_after, robots_recheck_after
from recrawl.plan.budget import Budget
from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import let_clocks_run
from recrawl.policies.recrawl.state import read_clocks
from recrawl.settings.terms import JITTER
from recrawl.simulate.next_visit import own
from recrawl.simulate.scenario import HostScenario
from recrawl.units import instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.simulate.scenario import Scenario

_AN_INSTANT = 1e-4  # days: less than the hours of a rule are apart


# Other settings.


def budget_times(scene: Scenario, factor: float) -> Scenario:
    """So many times the budget."""
    pool = scene.pool
    budget = Budget(pool.budget.visits * factor, pool.budget.each)
    return scene.with_pool(replace(pool, budget=budget))


def weight_times(scene: Scenario, factor: float) -> Scenario:
    """So many times the weight of the page."""
    terms, pool, row = scene.own_terms, scene.pool, scene.row
    if pool.state is not None and row is not None:
        worth = pool.state.worth.copy()
        worth[row] *= factor
        scene = scene.with_pool(replace(pool, state=replace(pool.state, worth=worth)))
    return scene.with_terms(replace(terms, weight=terms.weight * factor))


def minimum_of(scene: Scenario, days: float) -> Scenario:
    """Another least time between visits to the page."""
    return scene.with_terms(replace(scene.own_terms, minimum=days))


def maximum_of(scene: Scenario, days: float) -> Scenario:
    """Another most time between visits to the page; infinite for none."""
    terms = replace(scene.own_terms, maximum=days, minimum=min(scene.own_terms.minimum, days))
    return _bounded(scene.with_terms(terms), days)


def interval_of(scene: Scenario, days: float) -> Scenario:
    """Another fixed time between visits to the page; 0 where the policy decides."""
    terms = replace(scene.own_terms, interval=days)
    return _bounded(scene.with_terms(terms), days or terms.maximum)


def without_hours(scene: Scenario) -> Scenario:
    """The page may be visited at any hour."""
    changed = scene.with_terms(replace(scene.own_terms, hours=None))
    return changed.with_set_time(_before_hours(scene))


def free_host(scene: Scenario) -> Scenario:
    """The host of the page may be asked at any time, and answers at once."""
    return scene.with_host(HostScenario(delay=0.0, after=-inf, wait=0.0))


# Another past.


def well(scene: Scenario) -> Scenario:
    """The last visit to the page was none that fails or finds it gone."""
    status = PageStatus.NEW if isnan(scene.last[scene.page]) else PageStatus.COPIED
    terms = scene.own_terms
    return _bounded(scene.with_status(status).with_set_time(inf), terms.interval or terms.maximum)


def neighbour_changed(scene: Scenario, row: int) -> Scenario:
    """A visit now has found that the page in a row of the state has changed."""
    state = _own_state(scene)
    let_clocks_run(state, scene.now)
    now = instants_after_epoch(np.array([scene.now]))
    found = Outcomes.existence(np.array([True]))
    state = scene.policy.seen(state, np.array([row]), now, found)
    return scene.with_pool(replace(scene.pool, state=state))


def even_section(scene: Scenario) -> Scenario:
    """The sections of the page have been as active as was expected, no more and no less."""
    state = _own_state(scene)
    let_clocks_run(state, scene.now)
    way = state.sections.path[state.sections.leaf[scene.row]]
    way = way[way >= 0]
    state.clocks.found[way] = state.clocks.expected[way]
    read_clocks(state, [np.array([node]) for node in way.tolist()])
    return scene.with_pool(replace(scene.pool, state=state))


def _own_state(scene: Scenario) -> RecrawlState:
    state = scene.pool.state
    assert state is not None  # noqa: S101 - the page has a row in it
    return own(state)


def _bounded(scene: Scenario, longest: float) -> Scenario:
    """A page that is well waits no longer after its last visit than its terms say."""
    well_now = scene.known.status[scene.page] == PageStatus.COPIED
    if not well_now or scene.known.failures[scene.page]:
        return scene
    if longest == inf:
        return scene.with_set_time(inf)
    set_time = min(float(scene.known.set[scene.page]), float(scene.last[scene.page]) + longest)
    return scene.with_set_time(scene.own_terms.opens(set_time))


def _before_hours(scene: Scenario) -> float:
    """The set time that the page would have at any hour."""
    page, terms = scene.page, scene.own_terms
    set_time = float(scene.known.set[page])
    if set_time == inf or isnan(scene.asked_at):
        return set_time
    if abs(terms.begins(set_time - _AN_INSTANT) - set_time) > _AN_INSTANT:
        return set_time  # not when the hours begin, so it does not wait for them
    days = max(_until_set(scene) * (1 - JITTER / 2), terms.minimum)
    return min(set_time, max(scene.asked_at + days, scene.now))


def _until_set(scene: Scenario) -> float:
    """Days after a visit that the set time of the page was meant to be."""
    times, terms = int(scene.known.failures[scene.page]), scene.own_terms
    match PageStatus(int(scene.known.status[scene.page])):
        case PageStatus.REFUSED:
            return robots_recheck_after(times)
        case PageStatus.SUSPECTED | PageStatus.GONE | PageStatus.MOVED:
            return recheck_after(times)
        case _ if times:
            return retry_after(times)
    return terms.interval or terms.maximum
