"""Planned synchronisations as tables: what `recrawl listing schedule` writes, a row each.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.schedule.schedule import MOST_DAYS, days_to_next, next_day
from recrawl.listings.schedule.threshold import first_violation
from recrawl.report.listings.sheets import Sheet, texts
from recrawl.report.words import every
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.schedule.schedule import Goal, Limit
    from recrawl.report.rates import Column

SCHEDULE_COLUMNS = (
    "source",
    "group",
    "sync",
    "at",
    "after_days",
    "precision",
    "precision_floor",
    "recall",
    "recall_floor",
    "reason",
    "status",
)
# Why a synchronisation is planned when it is, beside `precision` and `recall`.
REASONS = {
    "longest": "no target is in danger, but a source is looked at after 30 days at most",
    "limit": "a target asks for it earlier, but --at-most does not allow it",
    "budget": "its share of the budget",
    "rekey": "the keys seem to have changed: what the copy is worth is not known",
    "empty": "nothing is listed: when the first arrival is to be expected",
    "unknown": "nothing is known yet: look again",
}
_NEARLY = 1e-9  # what floats make of nothing
_LEAST = 1e-6  # quality, which has a log
_FLOOR = 0.8  # confidence of the floors where none was asked for


@dataclass(frozen=True, slots=True)
class Planned:
    """One synchronisation to come.

    Args:
        after: Days after the last crawl.
        gap: Days after the synchronisation before.
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


def planned_to_keep(
    forecast: Callable[[int, int], Forecast],
    goal: Goal,
    limits: Sequence[Limit],
    span: float,
) -> list[Planned]:
    """Synchronisations within a span that keep a goal; at least the next one.

    What is listed then is taken to be as many and as old as now.

    Args:
        forecast: Forecast of so many days ahead, made so many days after the last crawl.
        goal: What is to be kept.
        limits: How many there may be at most.
        span: Days to plan.
    """
    found: list[Planned] = []
    past = [0.0]
    while True:
        now = int(past[-1])
        ahead = forecast(MOST_DAYS, now)
        wait = days_to_next(ahead, goal)
        day = int(np.ceil(next_day(now, wait, past, limits)))
        if day > span and found:
            return found
        reason = "limit" if day > now + wait else reason_of(ahead, goal, wait)
        gap = day - now
        seen = ahead if gap <= MOST_DAYS else forecast(gap, now)
        found.append(_planned(seen, float(day), float(gap), goal.confidence, reason))
        past.append(float(day))
        if reason == "unknown":  # what comes after it nobody knows
            return found


def missed_words(plans: Sequence[Sequence[Planned]], goal: Goal) -> list[str]:
    """What to know of synchronisations that are planned for when a target is missed already.

    >>> from recrawl.listings.schedule.schedule import Goal
    >>> late = Planned(1.0, 1.0, 0.9, 0.8, 0.9, 0.64, "recall", "ok")
    >>> missed_words([[late]], Goal(recall=0.8, confidence=0.8))
    ['1 a day apart, which is too seldom: the target asks for one every 12h; days are planned.']
    """
    found = [(sync, _missed(sync, goal)) for plan in plans for sync in plan]
    found = [(sync, by) for sync, by in found if by and sync.reason not in REASONS]
    daily = [sync for sync, _ in found if sync.gap <= 1]
    lines = []
    if daily:
        asked = every(min(_asked(sync, goal) for sync in daily))
        lines.append(
            f"{len(daily):,} a day apart, which is too seldom: the target asks for one every "
            f"{asked}; days are planned."
        )
    later = [by for sync, by in found if sync.gap > 1]
    if later:
        sure = "" if goal.confidence is None else f" with confidence {goal.confidence:g}"
        lines.append(
            f"{len(later):,} on the first day on which a target is missed{sure}, "
            f"by {100 * max(later):.1f} points at most."
        )
    return lines


def _reached(sync: Planned, name: str, goal: Goal) -> float:
    """Quality to count on just before a synchronisation."""
    found: float = getattr(sync, name if goal.confidence is None else f"{name}_floor")
    return found


def _missed(sync: Planned, goal: Goal) -> float:
    """By how much the worst target is missed just before a synchronisation; 0 where none is."""
    short = (target - _reached(sync, name, goal) for name, target in goal.targets.items())
    return max((by for by in short if by > _NEARLY), default=0.0)


def _asked(sync: Planned, goal: Goal) -> float:
    """Days after which a target is missed, of a quality that decays at a constant rate."""
    qualities = {name: max(_reached(sync, name, goal), _LEAST) for name in goal.targets}
    return min(
        sync.gap * float(np.log(target) / np.log(qualities[name]))
        for name, target in goal.targets.items()
        if qualities[name] < target
    )


def planned_evenly(found: Forecast, syncs: int, span: float) -> list[Planned]:
    """So many synchronisations at even steps within a span."""
    step = span / syncs if syncs else np.inf
    return [_planned(found, number * step, step, None, "budget") for number in range(1, syncs + 1)]


def reason_of(ahead: Forecast, goal: Goal, wait: int) -> str:
    """What asks for a synchronisation after so many days."""
    for word, reason in (("one-snapshot", "unknown"), ("rekey?", "rekey"), ("empty", "empty")):
        if word in ahead.status:
            return reason
    days = {
        name: first_violation(path(ahead, name, goal.confidence), target)
        for name, target in goal.targets.items()
    }
    early = wait + 1 if goal.guarantee else wait
    asking = [name for name, day in days.items() if day is not None and day <= max(early, 1)]
    return " and ".join(asking) or "longest"


def path(ahead: Forecast, name: str, confidence: float | None) -> Floats:
    """Quality expected, or reached with a confidence."""
    if confidence is None:
        expected: Floats = getattr(ahead.expected, name)
        return expected
    return ahead.floor(name, confidence)


def _planned(
    ahead: Forecast, after: float, gap: float, confidence: float | None, reason: str
) -> Planned:
    kept, least, found, fewest = (
        _at(path(ahead, name, bound), gap)
        for name in ("precision", "recall")
        for bound in (None, confidence or _FLOOR)
    )
    status = " ".join(ahead.status) or "ok"
    return Planned(after, gap, kept, least, found, fewest, reason, status)


def _at(quality: Floats, gap: float) -> float:
    """Quality so many days after a synchronisation, linear between days."""
    if np.isnan(quality).any():
        return float("nan")
    return float(np.interp(gap, np.arange(len(quality) + 1.0), np.concatenate([[1.0], quality])))


def schedule_sheet(
    name: str, group: str, synchronised: np.datetime64, plan: Sequence[Planned]
) -> Sheet:
    """A row a planned synchronisation of a source or a group of it."""
    after = np.array([sync.after for sync in plan], np.float64)
    elapsed = np.rint(after * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    columns: dict[str, Column] = {
        "group": texts([group] * len(plan)),
        "sync": np.arange(1, len(plan) + 1),
        "at": synchronised + elapsed,
        "after_days": np.array([sync.gap for sync in plan], np.float64),
        **{
            metric: np.array([getattr(sync, metric) for sync in plan], np.float64)
            for metric in ("precision", "precision_floor", "recall", "recall_floor")
        },
        "reason": texts([sync.reason for sync in plan]),
        "status": texts([sync.status for sync in plan]),
    }
    instants = np.datetime_as_string(np.asarray(columns["at"]), unit="h").tolist()
    words = [
        [
            name,
            group,
            at.removesuffix("T00").replace("T", " ") + ("h" if not at.endswith("T00") else ""),
            every(sync.gap),
            _floored(sync.precision, sync.precision_floor),
            _floored(sync.recall, sync.recall_floor),
            sync.reason,
            sync.status,
        ]
        for at, sync in zip(instants, plan, strict=True)
    ]
    header = ("source", "group", "at", "after", "precision", "recall", "reason", "status")
    return Sheet("source", [name] * len(plan), columns, header, words, (0, 1, 2, 6, 7))


def _floored(expected: float, floor: float) -> str:
    if np.isnan(expected):
        return "-"
    return f"{100 * expected:.0f} (at least {100 * floor:.0f}) %"
