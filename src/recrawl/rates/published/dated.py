"""Counts for the methods that read dated changes: changes, and days known to be quiet.

They need the date of the last change wherever there was one. A change without a date, or one of
several that were counted, is taken for the middle of its gap, and the page is flagged.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.arrays.special import gamma_quantile
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.gamma import Gamma
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.rates.priors import Priors
    from recrawl.visits.histories import Histories

_RESOLUTION = 1 / SECONDS_A_DAY  # a date of HTTP is no finer than a second

_FEW = 2  # with so few gaps 1 / exposure has no finite variance


@dataclass(frozen=True, slots=True, eq=False)
class Dated:
    """Counts of each page.

    Args:
        changes: Gaps that showed a change, X.
        gaps: Gaps, N.
        exposure: Days known to be without a change, T: whole gaps where nothing changed, ages
            where something did.
        visits: Visits.
        flags: Bits of `Flag`.
    """

    changes: Ints
    gaps: Ints
    exposure: Floats
    visits: Ints
    flags: FlagBits

    @classmethod
    def of(cls, histories: Histories) -> Dated:
        """Add up each page's changes and quiet days."""
        exposure, changes = np.empty(len(histories)), np.empty(len(histories), np.int64)
        undated = np.empty(len(histories), np.int64)

        def work(pages: slice) -> None:
            rows, edges = histories.block(pages)
            days, hidden = quiet_days(histories, rows)
            exposure[pages] = sums(days, edges)
            changes[pages] = sums(histories.changed[rows].view(np.uint8), edges, np.int64)
            undated[pages] = sums(hidden.view(np.uint8), edges, np.int64)

        over_blocks(work, len(histories))
        # Every change came in the very second of its visit.
        exposure[exposure == 0] = (changes * _RESOLUTION)[exposure == 0]
        gaps, flags = histories.gaps_of_page, histories.flags.copy()
        flags[undated > 0] |= np.uint32(Flag.UNDATED)
        flags[(gaps > 0) & (gaps <= _FEW)] |= np.uint32(Flag.HEAVY_TAIL)
        return cls(changes, gaps, exposure, histories.visits, flags)

    def estimates(self, events: Floats, level: float, method: str) -> Estimates:
        """Estimates from `events` in the days known to be quiet.

        The band is Garwood's for as many changes as were seen, widened to hold the rate.
        """
        tail = (1 - level) / 2
        known, some = self.gaps > 0, self.changes > 0
        days = np.where(known, self.exposure, np.nan)
        seen = self.changes.astype(np.float64)
        low = np.where(some, gamma_quantile(np.maximum(seen, 1), tail), 0)
        high = gamma_quantile(seen + 1, 1 - tail)
        return Estimates(
            rate=events / days,
            low=np.minimum(low, events) / days,
            high=np.maximum(high, events) / days,
            shape=np.where(some, events, np.nan),
            exposure=np.where(some, self.exposure, np.nan),
            changes=self.changes,
            visits=self.visits,
            status=status_of(self.changes, self.visits),
            flags=self.flags,
            method=method,
        )


def quiet_days(histories: Histories, rows: slice) -> tuple[Floats, Bools]:
    """Days of each gap since its last change, and whether that change has no date."""
    gaps, changed = histories.gaps[rows], histories.changed[rows]
    if not histories.knows_age:
        return gaps * (1 - 0.5 * changed), changed
    days, hidden = gaps.copy(), changed.copy()
    some = np.flatnonzero(changed)
    age = histories.age[rows][some]
    undated = np.isnan(age)
    days[some] = np.where(undated, gaps[some] / 2, age)
    hidden[some] = undated
    return days, hidden


def with_fallback(
    estimates: Estimates, histories: Histories, pages: Ints, priors: Priors, level: float
) -> Estimates:
    """The same estimates, with those of `gamma` and a flag for pages without an answer."""
    if not len(pages):
        return estimates
    priors.of_pages(len(histories))  # refuses those made for other pages
    instead = Gamma(priors.take(pages), level=level).estimate(histories.take(pages))
    instead.flags[:] |= np.uint32(Flag.FALLBACK)
    return estimates.with_rows(pages, instead)
