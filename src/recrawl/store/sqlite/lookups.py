"""Recent visits, looked up one by one: nobody reads a week of visits for that.

A visit knows the one before it to the same page, so a few thousand of them and all that went
before each are found without an index.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.columns import SampledVisits
from recrawl.store.sqlite.columns import looked_up
from recrawl.store.sqlite.latest_visits import latest_visits
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    import apsw

    from recrawl.arrays.types import Floats, Ints

_COMPARED = np.array([outcome.compared for outcome in VisitOutcome])
# Visits of a page that are gone back to: who failed so often in a row is not looked at further.
_FURTHEST_BACK = 1000


def sampled_visits(connection: apsw.Connection, visits: Ints, enough: int) -> SampledVisits:
    """Visits by number, and how many before each compared its page, up to `enough`."""
    query = "select before, outcome, audit is not null from visits where id = ?"
    before, outcome, audited = looked_up(connection, query, visits, 3)
    copied, compared = np.zeros(len(visits), np.bool_), np.zeros(len(visits), np.int64)
    open_ = np.flatnonzero(before > 0)
    query = "select before, outcome from visits where id = ?"
    for _ in range(_FURTHEST_BACK):
        if not len(open_):
            break
        older, found = looked_up(connection, query, before[open_], 2)
        compared[open_] += _COMPARED[found]
        copied[open_] |= (found == VisitOutcome.FIRST) | _COMPARED[found]
        # So that damage makes no ring of the chain.
        before[open_] = np.where(older < before[open_], older, 0)
        open_ = open_[(before[open_] > 0) & (compared[open_] < enough)]
    return SampledVisits(outcome, audited > 0, copied, compared)


def visit_counts(connection: apsw.Connection, pages: Ints, since_seconds: float) -> Ints:
    """How many visits were made to each of some different pages at or after an instant."""
    counts = np.zeros(len(pages), np.int64)
    visit = latest_visits(connection, pages)
    open_ = np.flatnonzero(visit > 0)
    query = "select before, at from visits where id = ?"
    while len(open_):
        older, at = looked_up(connection, query, visit[open_], 2)
        since = at >= since_seconds * 1000
        counts[open_] += since
        visit[open_] = np.where((older < visit[open_]) & since, older, 0)
        open_ = open_[visit[open_] > 0]
    return counts


def latest_visit_times(connection: apsw.Connection, pages: Ints) -> Floats:
    """When each of some different pages was last visited, in epoch seconds; nan if never."""
    visit = latest_visits(connection, pages)
    some = np.flatnonzero(visit > 0)
    (at,) = looked_up(connection, "select at from visits where id = ?", visit[some], 1)
    found = np.full(len(pages), np.nan)
    found[some] = at / 1000
    return found
