"""Planned syncs: those that keep a goal, or a given number at even steps.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.schedule.schedule import (
    MOST_DAYS,
    days_to_next,
    next_day,
    planned_quality,
    reason_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.schedule.schedule import Goal, Limit

_FLOOR = 0.8  # confidence of the floors where none was asked for


@dataclass(frozen=True, slots=True)
class PlannedSync:
    """One sync to come.

    Args:
        after: Days after the last crawl.
        gap: Days after the sync before.
        precision: Expected just before it.
        precision_floor: Reached with the confidence asked for.
        recall: Expected just before it.
        recall_floor: Reached with the confidence asked for.
        reason: Why then.
        status: What to know of the forecast.
    """

    after: float
    gap: float
    precision: float
    precision_floor: float
    recall: float
    recall_floor: float
    reason: str
    status: str


def plan_to_keep(
    forecast: Callable[[int, int], Forecast], goal: Goal, limits: Sequence[Limit], span: float
) -> list[PlannedSync]:
    """Syncs within a span that keep a goal; at least the next one.

    What is listed then is taken to be as many and as old as now.

    Args:
        forecast: Forecast of so many days ahead, made so many days after the last crawl.
        goal: What is to be kept.
        limits: How many there may be at most.
        span: Days to plan.
    """
    found: list[PlannedSync] = []
    past = [0.0]
    while True:
        now = int(past[-1])
        ahead = forecast(MOST_DAYS, now)
        wait = days_to_next(ahead, goal)
        day = int(np.ceil(next_day(now, wait, past, limits)))
        if day > span and found:
            return found
        reason = "limit" if day > now + wait else reason_for(ahead, goal, wait)
        gap = day - now
        seen = ahead if gap <= MOST_DAYS else forecast(gap, now)
        found.append(_plan_one(seen, float(day), float(gap), goal.confidence, reason))
        past.append(float(day))
        if reason == "unknown":  # nothing can be planned after it
            return found


def plan_evenly(found: Forecast, syncs: int, span: float) -> list[PlannedSync]:
    """A number of syncs at even steps within a span."""
    step = span / syncs if syncs else np.inf
    return [_plan_one(found, number * step, step, None, "budget") for number in range(1, syncs + 1)]


def _plan_one(
    ahead: Forecast, after: float, gap: float, confidence: float | None, reason: str
) -> PlannedSync:
    kept, least, found, fewest = (
        _at(planned_quality(ahead, name, bound), gap)
        for name in ("precision", "recall")
        for bound in (None, confidence or _FLOOR)
    )
    status = " ".join(ahead.status) or "ok"
    return PlannedSync(after, gap, kept, least, found, fewest, reason, status)


def _at(quality: Floats, gap: float) -> float:
    """Quality so many days after a sync, linear between days."""
    if np.isnan(quality).any():
        return float("nan")
    return float(np.interp(gap, np.arange(len(quality) + 1.0), np.concatenate([[1.0], quality])))
