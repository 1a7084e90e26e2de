r"""How fresh copies were at past instants, as later visits show.

A copy was fresh until its page changed. Between two visits that found no change it was fresh all
the time. Where the second found one with its date, it was fresh until then. Where there is no date,
the page changed somewhere in between, and the copy counts as fresh at $t$ with the chance
$(b - t) / (b - a)$, if $a$ and $b$ are the visits. Dates matter: a crawl that hears of changes
visits pages soon after them, not at random. Of a copy that was not compared since $t$ nothing is
known, and it is left out.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.state.replay import COMPARED
from recrawl.units import epoch_days
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats
    from recrawl.entries.store import ReadStore

_PAGES = 1_000  # looked at, drawn at random: a share is then unsure by 2.6 points at worst
_VISITS = 500  # of each, the newest
_ENDED = (VisitOutcome.GONE, VisitOutcome.MOVED, VisitOutcome.DUPLICATE)
# Share of the copies that must have been compared since: the others are mostly fresh.
_LEAST_KNOWN = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Times between two visits that compared a page with its copy.

    Args:
        begins: Days after 1970 of the first visit.
        ends: Of the second; infinite where there was none yet.
        changed: Whether the second found a change.
        dated: When the page changed, by its own date; nan where it has none.

    Examples:
        Two copies, visited on days 0 and 4; one had changed by then. On day 1 it was still fresh
        with a chance of 3 / 4. If it says that it changed on day 2, it was:

        >>> visited, changed = (np.zeros(2), np.full(2, 4.0)), np.array([True, False])
        >>> Gaps(*visited, changed, np.full(2, np.nan)).fresh_at(np.array([1.0, 5.0])).tolist()
        [0.875, nan]
        >>> Gaps(*visited, changed, np.array([2.0, np.nan])).fresh_at(np.array([1.0, 3.0])).tolist()
        [1.0, 0.5]
    """

    begins: Floats
    ends: Floats
    changed: Bools
    dated: Floats

    def fresh_at(self, instants: Floats) -> Floats:
        """Share of copies that were fresh at some instants; nan where too little is known."""
        found = np.full(len(instants), np.nan)
        span = self.ends - self.begins
        for row, at in enumerate(instants.tolist()):
            held = (self.begins <= at) & (at < self.ends)
            known = held & (self.ends < np.inf)
            if not known.any() or known.sum() < _LEAST_KNOWN * held.sum():
                continue
            dated = self.dated[known]
            inside = (self.ends[known] - at) / span[known]
            stayed = np.where(np.isnan(dated), inside, at < dated)
            found[row] = float(np.where(self.changed[known], stayed, 1.0).mean())
        return found


def past_freshness(reader: ReadStore, instants: Sequence[float]) -> list[float]:
    """Share of copies that were fresh at instants, in days after 1970; nan where unknown.

    Of a large crawl some pages are looked at, drawn at random.
    """
    count = reader.page_count()
    if not count or not instants:
        return [float("nan")] * len(instants)
    pages = np.arange(count)
    if count > _PAGES:
        pages = np.random.default_rng(count).choice(count, _PAGES, replace=False)
    parts = [_gaps(reader, page) for page in pages.tolist()]
    gaps = Gaps(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    shares: list[float] = gaps.fresh_at(np.array(instants)).tolist()
    return shares


def _gaps(reader: ReadStore, page: int) -> tuple[Floats, Floats, Bools, Floats]:
    """Gaps of one page: begin, end, whether it was changed or gone in the end, and since when."""
    visits = reader.history(page, most=_VISITS)
    ended = np.isin(visits.outcome, _ENDED)
    rows = COMPARED[visits.outcome] | (visits.outcome == VisitOutcome.FIRST) | ended
    at, ended = epoch_days(visits.at[rows]), ended[rows]
    other = (visits.outcome[rows] == VisitOutcome.CHANGED) | ended
    if not len(at):
        return at, at, other, at
    begins = ~ended  # a page that is gone has no copy from then on
    ends, changed = np.append(at[1:], np.inf), np.append(other[1:], False)
    dated = ends - np.append(visits.age[rows][1:], np.nan)
    dated[~(dated > at)] = np.nan  # a date before the visit before says nothing
    return at[begins], ends[begins], changed[begins], dated[begins]
