"""Facts about one page: its evidence, its estimate, its section, what a visit is worth.

Touches: a store.
"""

from __future__ import annotations

from math import expm1, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.reliability import KINDS, SignalRecord
from recrawl.inspect.pages import failure_word
from recrawl.inspect.why.changes import even_section
from recrawl.inspect.why.figures import in_a_row
from recrawl.inspect.why.values import Activity, Estimate, Evidence, Honesty, Worth
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.policies.recrawl.state import corrections_of
from recrawl.simulate.frozen_rivals import frozen
from recrawl.simulate.next_visit import own_pages
from recrawl.units import epoch_days, instants_after_epoch
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.simulate.next_visit import NextVisit
    from recrawl.simulate.scenario import Scenario
    from recrawl.state.snapshot import Snapshot

_MOST_NAMES = 100  # addresses that tell what those of a section have in common
_PARTS = (0.0, 0.5, 1.0, 2.0)  # of the time until the next visit, at which values are told


def evidence(snapshot: Snapshot, reader: ReadStore, page: int) -> Evidence:
    """What visits to a page, counted from 0, have shown."""
    visits = reader.history(page)
    at, outcome = epoch_days(visits.at), visits.outcome
    counts = np.bincount(outcome, minlength=max(VisitOutcome) + 1)
    changed = at[outcome == VisitOutcome.CHANGED]
    columns = snapshot.columns
    status, failures = int(columns.status[page]), int(columns.failures[page])
    return Evidence(
        visits=len(at),
        compared=sum(int(counts[each]) for each in VisitOutcome if each.compared),
        changes=len(changed),
        failures=0 if status == PageStatus.DUPLICATE else in_a_row(status, failures),
        first_visit=float(at[0]) if len(at) else nan,
        last_visit=float(at[-1]) if len(at) else nan,
        last_compared=float(snapshot.last[page]),
        last_change=float(changed[-1]) if len(changed) else nan,
        outcomes={each.label: int(counts[each]) for each in VisitOutcome if counts[each]},
        failure=failure_word(int(outcome[-1]), int(visits.http[-1])) if len(at) else "",
        first_age=float(visits.age[0]) if len(at) else nan,
    )


def estimate(scenario: Scenario) -> Estimate | None:
    """What is believed of the page of a scenario; None where nothing is learned of it."""
    state, row = scenario.pool.state, scenario.row
    if state is None or row is None:
        return None
    rows = np.array([row])
    beliefs = Beliefs.of(state, rows, scenario.now)
    prior_shape, prior_exposure = state.relatives.prior(state.sections, rows)
    # The mean of a Gamma state is that of its prior and its own, weighted by their exposures.
    own_share = np.clip(1 - prior_exposure / beliefs.exposure, 0.0, 1.0)
    (low,), (high,) = beliefs.rate_band()
    return Estimate(
        rate=float(beliefs.rate[0]),
        low=float(low),
        high=float(high),
        relatives=float((prior_shape / prior_exposure * beliefs.speed)[0]),
        own=float((beliefs.share * own_share).sum()),
        fresh=float(beliefs.fresh[0]),
        correction=float(corrections_of(state, rows)[0]),
    )


def activity(scenario: Scenario, snapshot: Snapshot, reader: ReadStore) -> Activity | None:
    """How active the section of the page of a scenario is; None where nothing is learned of it."""
    state, row = scenario.pool.state, scenario.row
    if state is None or row is None:
        return None
    leaf = int(state.sections.leaf[row])
    rows = np.flatnonzero(state.sections.leaf == leaf)
    pages = snapshot.pools[scenario.own_terms.pool].pages[rows]
    names = reader.addresses(pages[:_MOST_NAMES].tolist())
    even = even_section(scenario)
    return Activity(
        address=_beginning(names),
        pages=len(rows),
        pace=float(state.clocks.pace_now(np.array([leaf]))[0]),
        value=value_at(scenario, state, [scenario.now])[0],
        even=value_at(even, even.pool.state, [scenario.now])[0],
    )


def honesty(reader: ReadStore, host: str) -> list[Honesty]:
    """How far a host is believed, as far as its word was ever checked."""
    found = []
    for name, kind, counts in reader.signal_records():
        word = SignalRecord(*counts)
        if name == host and word.checked > 0:
            found.append(Honesty(kind, round(word.wrong), round(word.checked), *word.band()))
    return sorted(found, key=lambda each: KINDS.index(each.word))


def signals(scenario: Scenario, hinted_at: float = nan) -> Mapping[str, float] | None:
    """What is said of changes of the page, by its host or by hints; None where nothing is.

    Args:
        scenario: The crawl.
        hinted_at: When the page was last hinted, in days after 1970; nan where that is unknown.
    """
    state, row = scenario.pool.state, scenario.row
    if state is None or row is None:
        return None
    announced, found = state.announced, dict[str, float]()
    if announced.hinted[row]:
        found["hint_chance"] = -expm1(-float(announced.hinted[row]))
        if not isnan(hinted_at):
            found["hinted_at"] = hinted_at
    if not announced.recall[row]:
        return found or None
    return found | {
        "announcements": int(announced.count[row]),
        "announced_share": float(announced.recall[row]),
        "false_alarms_per_day": float(announced.false_alarms[row]),
        "asked_at": float(announced.asked[row]),
    }


def worth(scenario: Scenario, base: NextVisit) -> Worth | None:
    """What a visit to the page of a scenario is worth; None where nothing is learned of it.

    Args:
        scenario: The crawl.
        base: When the page is visited next.
    """
    state, row = scenario.pool.state, scenario.row
    if state is None or row is None:
        return None
    ahead = base.at - scenario.now
    at = [scenario.now + part * ahead for part in _PARTS] if isfinite(ahead) else [scenario.now]
    values = value_at(scenario, state, at)
    # Where no visit comes before, what this one is worth when it is made is the price.
    price = base.price if not isnan(base.price) else values[min(2, len(values) - 1)]
    (due,) = epoch_days(scenario.policy.due(*own_pages(state, np.array([row])), price)).tolist()
    reaches = inf if isnan(due) else max(due, scenario.now)
    return Worth(values[0], price, reaches, tuple(zip(at, values, strict=True)))


def value_at(scenario: Scenario, state: RecrawlState | None, at: Sequence[float]) -> list[float]:
    """What a visit to the page is worth at rising instants, if nothing is learned."""
    row = scenario.row
    if state is None or row is None:
        return [nan] * len(at)
    policy: Any = frozen(scenario.policy)
    simulated, first = policy.freeze(*own_pages(state, np.array([row]))), np.array([0])
    return [
        float(policy.value(simulated, first, instant)[0])
        for instant in instants_after_epoch(np.array(at))
    ]


def _beginning(names: Sequence[str]) -> str:
    """What addresses have in common, up to a whole folder.

    >>> _beginning(["https://a.org/news/1", "https://a.org/news/2"])
    'https://a.org/news/'
    """
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    end = next((place for place, (one, other) in pairs if one != other), len(first))
    return first[: first.rfind("/", 0, end) + 1]
