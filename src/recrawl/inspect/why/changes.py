"""A scenario with one thing changed: another budget, another rule for the page, another past.

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
from recrawl.simulate.next_visit import own_pages
from recrawl.simulate.scenario import HostScenario
from recrawl.units import instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.simulate.scenario import PoolScenario, Scenario

_AN_INSTANT = 1e-4  # days: less than the hours of a rule are apart


# Other settings.


def budget_times(scenario: Scenario, factor: float) -> Scenario:
    """So many times the budget."""
    pool = scenario.pool
    budget = Budget(pool.budget.visits * factor, pool.budget.each)
    return scenario.with_pool(replace(pool, budget=budget))


def weight_times(scenario: Scenario, factor: float) -> Scenario:
    """So many times the weight of the page."""
    terms, pool, row = scenario.own_terms, scenario.pool, scenario.row
    if pool.state is not None and row is not None:
        worth = pool.state.worth.copy()
        worth[row] *= factor
        scenario = scenario.with_pool(replace(pool, learned=replace(pool.state, worth=worth)))
    return scenario.with_terms(replace(terms, weight=terms.weight * factor))


def minimum_of(scenario: Scenario, days: float) -> Scenario:
    """Another least time between visits to the page."""
    return scenario.with_terms(replace(scenario.own_terms, minimum=days))


def maximum_of(scenario: Scenario, days: float) -> Scenario:
    """Another most time between visits to the page; infinite for none."""
    terms = replace(scenario.own_terms, maximum=days, minimum=min(scenario.own_terms.minimum, days))
    return _bounded(scenario.with_terms(terms), days)


def interval_of(scenario: Scenario, days: float) -> Scenario:
    """Another fixed time between visits to the page; 0 where the policy decides."""
    terms = replace(scenario.own_terms, interval=days)
    return _bounded(scenario.with_terms(terms), days or terms.maximum)


def without_hours(scenario: Scenario) -> Scenario:
    """The page may be visited at any hour."""
    changed = scenario.with_terms(replace(scenario.own_terms, hours=None))
    return changed.with_set_time(_before_hours(scenario))


def free_host(scenario: Scenario) -> Scenario:
    """The host of the page may be asked at any time, and answers at once."""
    return scenario.with_host(HostScenario(delay=0.0, after=-inf, wait=0.0))


# Another past.


def well(scenario: Scenario) -> Scenario:
    """The last visit to the page was none that fails or finds it gone."""
    status = PageStatus.NEW if isnan(scenario.last[scenario.page]) else PageStatus.COPIED
    terms = scenario.own_terms
    return _bounded(
        scenario.with_status(status).with_set_time(inf), terms.interval or terms.maximum
    )


def neighbour_changed(scenario: Scenario, row: int) -> Scenario:
    """A visit now has found that the page in a row of the state has changed."""
    rows = scenario.pool.rows
    pool = _own_pool(scenario, rows if row in rows else np.append(rows, row))
    state, place = pool.learned, pool.rows[rows == row] if row in rows else pool.rows[-1:]
    let_clocks_run(state, scenario.now)
    now = instants_after_epoch(np.array([scenario.now]))
    found = Outcomes.existence(np.array([True]))
    state = scenario.policy.seen(state, place, now, found)
    return scenario.with_pool(replace(pool, learned=state, rows=pool.rows[: len(rows)]))


def even_section(scenario: Scenario) -> Scenario:
    """The sections of the page have been as active as was expected, no more and no less."""
    scenario = scenario.with_pool(_own_pool(scenario, scenario.pool.rows))
    state = scenario.pool.learned
    let_clocks_run(state, scenario.now)
    way = state.sections.path[state.sections.leaf[scenario.row]]
    way = way[way >= 0]
    state.clocks.found[way] = state.clocks.expected[way]
    read_clocks(state, [np.array([node]) for node in way.tolist()])
    return scenario


def _own_pool(scenario: Scenario, rows: Ints) -> PoolScenario:
    """The pool of the page with a copy of what was learned of the pages in some rows."""
    learned, place = own_pages(scenario.pool.learned, rows)
    return replace(scenario.pool, learned=learned, rows=place)


def _bounded(scenario: Scenario, longest: float) -> Scenario:
    """A page that is well waits no longer after its last visit than its terms say."""
    well_now = scenario.known.status[scenario.page] == PageStatus.COPIED
    if not well_now or scenario.known.failures[scenario.page]:
        return scenario
    if longest == inf:
        return scenario.with_set_time(inf)
    set_time = min(
        float(scenario.known.set[scenario.page]), float(scenario.last[scenario.page]) + longest
    )
    return scenario.with_set_time(scenario.own_terms.opens(set_time))


def _before_hours(scenario: Scenario) -> float:
    """The set time that the page would have at any hour."""
    page, terms = scenario.page, scenario.own_terms
    set_time = float(scenario.known.set[page])
    if set_time == inf or isnan(scenario.asked_at):
        return set_time
    if abs(terms.begins(set_time - _AN_INSTANT) - set_time) > _AN_INSTANT:
        return set_time  # not when the hours begin, so it does not wait for them
    days = max(_until_set(scenario) * (1 - JITTER / 2), terms.minimum)
    return min(set_time, max(scenario.asked_at + days, scenario.now))


def _until_set(scenario: Scenario) -> float:
    """Days after a visit that the set time of the page was meant to be."""
    times, terms = int(scenario.known.failures[scenario.page]), scenario.own_terms
    match PageStatus(int(scenario.known.status[scenario.page])):
        case PageStatus.REFUSED:
            return robots_recheck_after(times)
        case PageStatus.SUSPECTED | PageStatus.GONE | PageStatus.MOVED | PageStatus.DUPLICATE:
            return recheck_after(times)
        case _ if times:
            return retry_after(times)
    return terms.interval or terms.maximum
