r"""The speeds of a site's clock, fitted to the changes of all its pages by EM.

With rate $r$ of a page and speed $s_h$, a hidden change in a gap that lies for $w_h$ days in hour
$h$ makes

$$ r s_h w_h / (1 - e^{-r \sum_k s_k w_k}) $$

changes to expect in that hour. Changes over the exposure $r w_h$ are the new speeds.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_positive
from recrawl.trends.clock import SiteClock
from recrawl.trends.visit_instants import microseconds, visit_instants
from recrawl.trends.week import DAYS_A_WEEK, HOURS_A_DAY, HOURS_A_WEEK, Stretches
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.sites import check_sites, sites_of_pages

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories

# On a made site (working hours eight times as fast as nights, gaps of six hours) 240 hidden changes
# give three quarters of what the true clock adds to the log score, 1000 give 95 %. Smoothing by 3
# gives 93 % and 98 %, but where there is no week it costs 0.0026 a visit with 240 changes, and
# smoothing by 10 only 0.0013 (0.0008 and 0.0003 with 1000).
_FEWEST_CHANGES = 200
_SMOOTHING = 10.0
_ROUNDS = 60
_SETTLED = 1e-3
# A page's rate is pulled towards its site's by half a change.
_PULL = 0.5


def fit_clock(
    histories: Histories,
    sites: Ints | None = None,
    *,
    smoothing: float = _SMOOTHING,
    fewest_changes: int = _FEWEST_CHANGES,
) -> SiteClock:
    """Clock of each site from the changes of all its pages.

    Each hour of the day, each day of the week, and each hour of the week beyond what these two
    make of it, is pulled towards the average by `smoothing` changes.

    Args:
        histories: The pages. Those whose first visit is unknown are ignored.
        sites: Number of each page's site, from 0; None where all are of one site.
        smoothing: Changes an hour must outweigh.
        fewest_changes: A site has an even clock unless so many changes are dated or lie in gaps
            of less than a week.

    Examples:
        Changes at noon, seen by visits every six hours, make a clock that runs fast then:

        >>> from recrawl import Histories
        >>> changed = np.tile([False, False, True, False], 250)
        >>> monday = np.array(["2026-01-05"], "datetime64[us]")
        >>> seen = Histories(np.full(1000, 0.25), changed, [0, 1000], first_visit=monday)
        >>> fit_clock(seen).speeds[0, :24:6].round(1)
        array([0.3, 0.3, 3.2, 0.3])
    """
    check_positive(smoothing=smoothing)
    site_of_page = sites_of_pages(sites, len(histories))
    count = int(site_of_page.max(initial=0)) + 1
    check_sites(site_of_page, count)

    start, _ = visit_instants(histories)
    telling = histories.changed & ~np.isnat(start)
    telling &= ~np.isnan(histories.age) | (histories.gaps < DAYS_A_WEEK)
    changes = np.bincount(site_of_page, histories.total(telling), count)
    enough = changes >= fewest_changes
    speeds = np.ones((count, HOURS_A_WEEK))
    pages = np.flatnonzero(enough[site_of_page] & (histories.gaps_of_page > 0))
    if len(pages):
        fitted = _fit(histories.take(pages), site_of_page[pages], count, smoothing)
        speeds[enough] = fitted[enough]
    return SiteClock(speeds, None if sites is None else site_of_page)


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """Evidence in the gaps of all pages; none in those of pages without a known first visit.

    Args:
        page: Page of each gap.
        known: Gaps whose instants are known.
        dated: Those of them whose last change has a date.
        hidden: Those of them with changes without one.
        watched: The part of each gap that tells something.
        count: Changes in each gap with hidden ones; 0 where that is unknown.
    """

    page: Ints
    known: Bools
    dated: Bools
    hidden: Bools
    watched: Stretches
    count: Floats

    @classmethod
    def of(cls, histories: Histories, site: Ints) -> _Evidence:
        start, end = visit_instants(histories)
        known = ~np.isnat(start)
        page = histories.page_of_gap
        counted = histories.count >= 0
        dated = ~np.isnan(histories.age) & ~counted
        # Before the last change of a gap anything may have happened; a change has some age.
        age = np.maximum(microseconds(np.where(dated, histories.age, 0.0)), 1)
        first = np.where(dated, end.astype(np.int64) - age, start.astype(np.int64))
        first, last = np.where(known, first, 0), np.where(known, end.astype(np.int64), 0)
        hidden = known & histories.changed & ~dated
        return cls(
            page=page,
            known=known,
            dated=dated & known,
            hidden=hidden,
            watched=Stretches.between(first, last, site[page]),
            count=np.where(counted, histories.count, 0)[hidden].astype(np.float64),
        )


def _fit(histories: Histories, site: Ints, sites: int, smoothing: float) -> Floats:
    """Speeds of each site by EM."""
    seen = _Evidence.of(histories, site)
    page, known, watched = seen.page, seen.known, seen.watched
    within, hidden_page = watched.take(seen.hidden), page[seen.hidden]
    told = histories.total(seen.dated.astype(np.float64))
    events = np.bincount(watched.start, seen.dated.astype(np.float64), sites * HOURS_A_WEEK)

    speeds = np.ones((sites, HOURS_A_WEEK))
    changes = np.bincount(site, histories.total(seen.hidden | seen.dated), sites)
    days = np.bincount(site, histories.total(watched.shown(speeds) * known), sites)
    pooled = np.maximum(changes, _PULL) / np.maximum(days, 1 / MICROSECONDS_A_DAY)
    rate = pooled[site]
    for _ in range(_ROUNDS):
        shown = within.shown(speeds)
        x = np.maximum(rate[hidden_page] * shown, 1e-12)
        expected = np.where(seen.count > 0, seen.count, x / -np.expm1(-x))
        by_day = expected / np.maximum(shown, 1e-15)

        in_hours = within.days_in_hours(by_day, sites) * speeds
        in_hours += events.reshape(sites, HOURS_A_WEEK)
        exposure = watched.days_in_hours(rate[page] * known, sites)
        before, speeds = speeds, _smoothed(in_hours, exposure, smoothing)
        # Rates on the new clock.
        of_page = told + np.bincount(hidden_page, expected, len(rate))
        shown_all = histories.total(watched.shown(speeds) * known)
        rate = (of_page + _PULL) / (shown_all + _PULL / pooled[site])
        if np.abs(np.log(speeds / before)).max() < _SETTLED:
            break
    return speeds


def _smoothed(changes: Floats, exposure: Floats, smoothing: float) -> Floats:
    """Speeds with mean 1: hours of the day, days of the week, and what is left over.

    Hour and day are found in turn; each hour of the week starts from their product.
    """
    shape = (len(changes), DAYS_A_WEEK, HOURS_A_DAY)
    changes, exposure = changes.reshape(shape), exposure.reshape(shape)
    # Both may be off by a page's rate, the same for all hours.
    total = exposure.sum(axis=(1, 2), keepdims=True)
    exposure = exposure * changes.sum(axis=(1, 2), keepdims=True) / np.where(total > 0, total, 1)
    day = np.ones((len(changes), DAYS_A_WEEK, 1))
    hour = np.ones((len(changes), 1, HOURS_A_DAY))
    for _ in range(4):
        hour = changes.sum(axis=1, keepdims=True) + smoothing
        hour /= (exposure * day).sum(axis=1, keepdims=True) + smoothing
        day = changes.sum(axis=2, keepdims=True) + smoothing
        day /= (exposure * hour).sum(axis=2, keepdims=True) + smoothing
    guess = hour * day
    speeds = guess * (changes + smoothing) / (exposure * guess + smoothing)
    flat = speeds.reshape(len(changes), HOURS_A_WEEK)
    even: Floats = flat / flat.mean(axis=1, keepdims=True)
    return even
