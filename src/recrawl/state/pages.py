"""How pages stand when a crawl is opened or looked at: status and set times, and recent spending.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.agenda import KnownPages
from recrawl.plan.budget import window_of
from recrawl.settings.pools import budgets, terms
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot


def ruled(settings: Settings, rule: Ints) -> Ints:
    """Numbers of rules as numbers of terms: pages without a rule have the last terms."""
    return np.where((rule >= 0) & (rule < len(settings.rules)), rule, len(settings.rules))


def known_pages(snapshot: Snapshot, pages: Ints | None = None) -> KnownPages:
    """Status and set times of all pages, or of some, as an agenda takes them up.

    A page that has a copy and no trouble waits no longer after its last visit than its rule says
    now, and is left to the policy where the rule says nothing. Retries and rechecks stay as they
    were set. A page without a rule is left where it is: refused, with no time set to ask again.
    """
    which = slice(None) if pages is None else pages
    columns, every = snapshot.columns, terms(snapshot.settings)
    term, status = snapshot.rule[which], columns.status[which]
    failures = columns.failures[which]
    has_rule = term < len(snapshot.settings.rules)
    longest = np.array([each.interval or each.maximum for each in every])[term]
    set_time = epoch_days(columns.next_at[which])
    set_time = np.where(np.isnan(set_time), np.inf, set_time)
    latest = np.fmin(set_time, snapshot.last[which] + longest)  # a page never copied has none
    by_terms = np.where(np.isfinite(longest), latest, np.inf)
    for number, each in enumerate(every):
        if each.hours is not None:  # outside its hours a page waits until they begin
            ours = np.flatnonzero((term == number) & np.isfinite(by_terms))
            by_terms[ours] = [each.opens(at) for at in by_terms[ours].tolist()]
    is_well = (status == PageStatus.COPIED) & (failures == 0)
    return KnownPages(
        host=columns.host[which],
        term=term,
        status=np.where(has_rule, status, PageStatus.REFUSED),
        failures=failures,
        set=np.where(has_rule, np.where(is_well, by_terms, set_time), np.inf),
        factor=snapshot.factors.factor[which],
    )


@dataclass(frozen=True, slots=True, eq=False)
class RecentVisits:
    """Visits that budgets have paid for lately; a second request counts as another visit.

    Args:
        page: The page of each.
        at: When, rising, in days after 1970.
        first: Which of them were to pages without a copy.
    """

    page: Ints
    at: Floats
    first: Bools

    def take(self, rows: Ints | Bools) -> RecentVisits:
        """Some of them."""
        return RecentVisits(self.page[rows], self.at[rows], self.first[rows])


def recent_visits(snapshot: Snapshot, store: ReadStore) -> RecentVisits:
    """Visits in the longest time for which a budget holds."""
    settings, now = snapshot.settings, snapshot.now
    counts = np.bincount(snapshot.pool_of, minlength=len(snapshot.pools))
    windows = [
        window_of(budget.visits_a_day(int(count)))
        for budget, count in zip(budgets(settings), counts.tolist(), strict=False)
    ]
    copied = np.zeros(len(snapshot.rule), np.bool_)
    for pool in snapshot.pools:
        copied[pool.pages] = True
    page, at, first = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.bool_)]
    since = store.first_visit_since((now - max(windows)) * SECONDS_A_DAY)
    for visits in store.outcomes(after=since - 1):
        known = np.flatnonzero(visits.page < len(copied))
        ours = np.repeat(known, 1 + (visits.audit[known] != Audit.NONE))
        page.append(visits.page[ours])
        at.append(epoch_days(visits.at[ours]))
        first.append((visits.outcome[ours] == VisitOutcome.FIRST) | ~copied[page[-1]])
    # Visits are written in the order of time, but for a moment or two.
    risen = np.maximum.accumulate(np.concatenate(at))
    return RecentVisits(np.concatenate(page), np.minimum(risen, now), np.concatenate(first))


def paying_pools(snapshot: Snapshot) -> Ints:
    """Pool whose budget pays for visits to each page.

    What was spent on pages without a rule came out of the common budget, or might have.
    """
    pool_of = snapshot.pool_of
    return np.where(pool_of < len(snapshot.pools), pool_of, 0)
