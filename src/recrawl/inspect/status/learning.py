"""Visits of a crawl that were made to learn rather than to refresh.

A visit to a page that was compared with its copy less than three times tells more of its rate than
it keeps fresh, and a second request that checks what the first had said refreshes nothing.

Touches: a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.status.values import Learning
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

_ENOUGH = 3  # comparisons after which a page is known a little
# Visits that are looked at: a share is then unsure by 1.6 points in nine cases of ten at worst.
_MOST = 2500


def learning(reader: ReadStore, first: int, end: int) -> Learning:
    """How many of the visits from number `first` to before `end` were made to learn."""
    visits = end - first
    random = np.random.default_rng(visits)  # the same visits as long as there are no others
    offsets = random.choice(visits, _MOST, replace=False) if visits > _MOST else np.arange(visits)
    drawn = reader.sampled_visits(first + np.sort(offsets), _ENOUGH)
    # A first copy, or a page that there is no copy of yet, is visited to have it.
    again = drawn.copied & (drawn.outcome != VisitOutcome.FIRST)
    young = again & (drawn.compared < _ENOUGH)
    return Learning(
        visits=visits,
        looked_at=len(drawn),
        young=int(np.count_nonzero(young)),
        audits=int(np.count_nonzero(drawn.audited)),
        either=int(np.count_nonzero(young | drawn.audited)),
    )
