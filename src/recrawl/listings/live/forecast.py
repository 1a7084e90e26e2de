r"""What the copy of a listing is worth at any instant after a sync, and when the next is due.

The forecaster counts whole days. Syncs are planned whole days after the first one, and those that
came near to a whole day teach it; where a copy would be too bad before a day is over, syncs are
planned in equal parts of a day. Between days the log of a quality is taken as linear: what decays
at a constant rate is on that line.

As long as little is known, every sync teaches the forecaster's rates. Later ones also teach its
bands, which by then have something to be compared with.

The forecaster learns nothing from days after which all keys are new. Where a list is always so,
what the last two syncs saw tells how soon the next is due; where it was renamed, one is early.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, exp, log
from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.listings import ForecastInterval
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Updates
from recrawl.listings.forecast.bands import QualityBand, observed_decay, student
from recrawl.listings.forecast.forecast import between
from recrawl.listings.forecast.forecaster import Forecaster
from recrawl.listings.forecast.methods import TRAIN_DAYS, SyncReplay
from recrawl.listings.groups.informative import informative_groups
from recrawl.listings.schedule.schedule import (
    MOST_DAYS,
    Goal,
    days_to_next,
    planned_quality,
    reason_for,
)
from recrawl.units import days_between, epoch_days

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.forecast.bands import ForecastBand
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.live.rules import ListingRule

_LEAST_TRAINING, _LEAST_REMOVALS = 14, 30
_LONGEST = 400.0  # days of syncs that a forecast rests on: what is older has passed
_WHOLE = 1e-9
_HALF_A_DAY = 0.5
_NEAR = 0.25  # days from a whole day, within which a sync is taken to be on it
_LEAST_QUALITY = 1e-6
_SHORTEST = 1 / 1440
_WEAK = QualityBand()


@dataclass(frozen=True, slots=True)
class NextSync:
    """When to sync next.

    Args:
        at: In days after 1970.
        reason: Why then: one of those of `recrawl listing schedule`.
    """

    at: float
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class LiveForecast:
    """Forecast of a listing's copy after a sync.

    Args:
        began: When it was first synced, in days after 1970.
        at: When it was last synced.
        ahead: Forecast from then on; None before two syncs.
        decay: Rate a day at which each quality fell between the last two syncs, by name.
        longest: Most days between two syncs so far.
    """

    began: float
    at: float
    ahead: Forecast | None
    decay: Mapping[str, float] = field(default_factory=dict)
    longest: float = 0.0

    @classmethod
    def of(cls, listing: Listing) -> LiveForecast | None:
        """Return the forecast after all syncs of a listing; None before the first."""
        if not len(listing.crawls):
            return None
        crawls = epoch_days(listing.crawls)
        began, last = float(crawls[0]), float(crawls[-1])
        ahead = _ahead(_recent(listing, last - _LONGEST), began)
        return cls(began, last, ahead, _decay(listing), float(np.diff(crawls).max(initial=0.0)))

    def quality(self, metric: str, now: float) -> ForecastInterval | None:
        """What a quality is forecast to be; None where nothing is known.

        Args:
            metric: `precision` or `recall`.
            now: When, in days after 1970.
        """
        ahead = self.ahead
        if ahead is None or ahead.bands is None or not ahead.stock:
            return None
        elapsed = min(max(now - self.at, _SHORTEST), float(len(ahead)))
        band: ForecastBand
        if "rekey?" in ahead.status:
            band, size = _WEAK, ahead.stock
            expected = exp(-self.decay[metric] * elapsed)
        else:
            precise = metric == "precision"
            band = ahead.bands[0 if precise else 1]
            listed = float(np.interp(elapsed, ahead.days, ahead.expected.listed))
            size = ahead.stock if precise else listed
            path_ahead = getattr(ahead.expected, metric)
            expected = float(between(path_ahead, np.array([elapsed]))[0])
        if np.isnan(expected):
            return None
        low, high = band.bounds(np.array([expected]), size, np.array([elapsed]))
        # Bands are of whole objects, and what is expected is not.
        return ForecastInterval(
            min(float(low[0]), expected), expected, max(float(high[0]), expected)
        )

    def next(self, rule: ListingRule) -> NextSync:
        """Return when to sync next, so that the copy stays as good as is wanted.

        Args:
            rule: What is wanted.
        """
        goal = Goal(rule.precision, rule.recall, rule.confidence, guarantee=True)
        wait, reason = _wait(self.ahead, goal)
        if reason == "rekey":
            faster = exp(student(rule.confidence) * float(_WEAK.sigma(np.ones(1))[0]))
            rates = {name: rate * faster for name, rate in self.decay.items()}
            wait = min(wait, *(-log(least) / rates[name] for name, least in goal.targets.items()))
        if self.ahead is not None and "weak" in self.ahead.status and wait > 1:
            # Little is known, and a quiet day may be followed by others: step by step.
            wait = min(wait, float(max(round(2 * self.longest), 1)))
        bounded = min(max(wait, rule.minimum), rule.maximum)
        if bounded < wait:
            reason = "longest"
        elif bounded > wait:
            reason = "limit"
        whole = abs(bounded - round(bounded)) < _WHOLE and bounded > _HALF_A_DAY
        start = self.began + round(self.at - self.began) if whole else self.at
        return NextSync(rule.opens(start + bounded), reason)


def _decay(listing: Listing) -> dict[str, float]:
    """Rates a day at which precision and recall fell between the last two syncs."""
    last = len(listing.crawls) - 1
    if not last:
        return {}
    there = (listing.first <= last) & (listing.gone > last)
    before = (listing.first <= last - 1) & (listing.gone > last - 1)
    elapsed = max(float(days_between(listing.crawls[-2:-1], listing.crawls[-1:])[0]), _SHORTEST)
    kept = float(np.count_nonzero(there & before))
    return {
        name: observed_decay(kept, float(np.count_nonzero(whole))) / elapsed
        for name, whole in (("precision", before), ("recall", there))
    }


def _recent(listing: Listing, since: float) -> Listing:
    """A listing without the syncs before an instant, and without what was gone by then."""
    left = int(np.searchsorted(epoch_days(listing.crawls), since))
    if not left:
        return listing
    there = listing.gone > left
    return replace(
        listing,
        crawls=listing.crawls[left:],
        object=listing.object[there],
        first=np.maximum(listing.first[there] - left, 0),
        gone=listing.gone[there] - left,
        updates=Updates.none(),
    )


def grid_of(listing: Listing, began: float | None = None) -> DayGrid:
    """A listing day by day, counted from the first sync; days without a sync near them are gaps.

    Args:
        listing: Objects and syncs, at least one.
        began: When it was first synced, in days after 1970, if not at the first sync here.
    """
    elapsed = _elapsed(listing, began)
    return _grid(listing, *_near_days(elapsed))


def _elapsed(listing: Listing, began: float | None) -> Floats:
    crawls = epoch_days(listing.crawls)
    return crawls - (crawls[0] if began is None else began)


def _near_days(elapsed: Floats) -> tuple[Ints, Ints]:
    """The sync that is nearest to each whole day, where one is near; rows and days."""
    days = np.rint(elapsed).astype(np.int64)
    away = np.abs(elapsed - days)
    near = np.flatnonzero(away <= _NEAR)
    near = near[np.lexsort((away[near], days[near]))]
    rows = near[np.unique(days[near], return_index=True)[1]]
    if not len(rows):  # nothing to learn from, but something to begin with
        rows = np.zeros(1, np.int64)
    return rows, days[rows]


def _grid(listing: Listing, rows: Ints, days: Ints) -> DayGrid:
    """What some syncs saw, each on a day."""
    # Days begin at midnight, and a sync on a day is moved there.
    midnight = listing.crawls[rows[0]].astype("datetime64[D]").astype("datetime64[us]")
    first, gone = (np.searchsorted(rows, each) for each in (listing.first, listing.gone))
    met = first < gone
    moved = replace(
        listing,
        crawls=midnight + (days - days[0]) * np.timedelta64(1, "D"),
        object=listing.object[met],
        first=first[met],
        gone=gone[met],
        updates=Updates.none(),
    )
    return replace(DayGrid.of(moved, oldest=_NEAR), start=listing.crawls[rows[0]])


def _ahead(listing: Listing, began: float) -> Forecast | None:
    """Forecast from the last sync of a listing; None before two days with objects."""
    rows, days = _near_days(_elapsed(listing, began))
    last = len(listing.crawls) - 1
    extra = rows[-1] != last
    if extra:  # the last sync teaches nothing yet, but shows what is listed
        rows, days = np.append(rows, last), np.append(days, days[-1] + 1)
    grid = _grid(listing, rows, days)
    taught = grid.crawled[: -1 if extra else None]
    if len(taught) < 2 or not len(grid.object):  # noqa: PLR2004 - a cycle has two ends
        return None
    groups = informative_groups(listing)
    run = SyncReplay(grid, groups, Forecaster(), train=min(_training(grid), int(taught[-1])))
    for day in taught[taught > run.syncs.day].tolist():
        run.advance(day)
    if extra:
        run.syncs.next(int(grid.crawled[-1]))
    return run.forecast(2 * MOST_DAYS)


def _training(grid: DayGrid) -> int:
    """Days after which enough is known for bands to be compared with what comes."""
    removals = np.cumsum(grid.deleted)
    enough = np.flatnonzero(removals >= _LEAST_REMOVALS)
    first = int(enough[0]) if len(enough) else TRAIN_DAYS
    return min(max(first, _LEAST_TRAINING), TRAIN_DAYS)


def _wait(ahead: Forecast | None, goal: Goal) -> tuple[float, str]:
    """Days until a target is missed, and which."""
    if ahead is None:
        return 1.0, "unknown"
    days = days_to_next(ahead, goal)
    reason = reason_for(ahead, goal, days)
    if days > 1 or reason in ("unknown", "rekey", "empty"):
        return float(days), reason
    kept = [
        log(target) / log(min(max(floor, _LEAST_QUALITY), 1 - _LEAST_QUALITY))
        for name, target in goal.targets.items()
        if (floor := float(planned_quality(ahead, name, goal.confidence)[0])) < target
    ]
    return 1 / ceil(1 / min(kept, default=1.0)), reason
