"""Planned syncs as tables: what `recrawl listing schedule` writes.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.listings.sheets import Sheet, texts
from recrawl.report.words import counted, every
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.schedule.plan import PlannedSync
    from recrawl.listings.schedule.schedule import Goal
    from recrawl.report.rates import Column

# Why a sync is planned when it is, beside `precision` and `recall`.
REASONS = {
    "longest": "no target at risk; every source is synced at least every 30 days",
    "limit": "needed earlier, but --at-most does not allow it",
    "budget": "its share of the budget",
    "rekey": "keys seem to have changed: the quality of the copy is unknown",
    "empty": "nothing is listed: the first arrival is expected then",
    "unknown": "nothing is known yet: sync again",
}
_NEARLY = 1e-9  # what floats make of nothing
_LEAST = 1e-6  # quality, which has a log


def missed_words(plans: Sequence[Sequence[PlannedSync]], goal: Goal) -> list[str]:
    """What to know of syncs that are planned for when a target is missed already.

    >>> from recrawl.listings.schedule.plan import PlannedSync
    >>> from recrawl.listings.schedule.schedule import Goal
    >>> late = PlannedSync(1.0, 1.0, 0.9, 0.8, 0.9, 0.64, "recall", "ok")
    >>> missed_words([[late]], Goal(recall=0.8, confidence=0.8))
    ['1 sync a day apart, still too rare: the target needs one every 12h; plans use whole days.']
    """
    found = [(sync, _missed(sync, goal)) for plan in plans for sync in plan]
    found = [(sync, by) for sync, by in found if by and sync.reason not in REASONS]
    daily = [sync for sync, _ in found if sync.gap <= 1]
    lines = []
    if daily:
        asked = every(min(_asked(sync, goal) for sync in daily))
        lines.append(
            f"{counted(len(daily), 'sync')} a day apart, still too rare: the target needs one "
            f"every {asked}; plans use whole days."
        )
    later = [by for sync, by in found if sync.gap > 1]
    if later:
        sure = "" if goal.confidence is None else f" with confidence {goal.confidence:g}"
        lines.append(
            f"{len(later):,} on the first day that misses a target{sure}, by "
            f"{100 * max(later):.1f} points at most."
        )
    return lines


def _reached(sync: PlannedSync, name: str, goal: Goal) -> float:
    """Quality to count on just before a sync."""
    found: float = getattr(sync, name if goal.confidence is None else f"{name}_floor")
    return found


def _missed(sync: PlannedSync, goal: Goal) -> float:
    """By how much the worst target is missed just before a sync; 0 where none is."""
    short = (target - _reached(sync, name, goal) for name, target in goal.targets.items())
    return max((by for by in short if by > _NEARLY), default=0.0)


def _asked(sync: PlannedSync, goal: Goal) -> float:
    """Days after which a target is missed, of a quality that decays at a constant rate."""
    qualities = {name: max(_reached(sync, name, goal), _LEAST) for name in goal.targets}
    return min(
        sync.gap * float(np.log(target) / np.log(qualities[name]))
        for name, target in goal.targets.items()
        if qualities[name] < target
    )


def schedule_sheet(
    name: str, group: str, synced_at: np.datetime64, plan: Sequence[PlannedSync]
) -> Sheet:
    """One row per planned sync of a source or a group of it."""
    after = np.array([sync.after for sync in plan], np.float64)
    elapsed = np.rint(after * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    columns: dict[str, Column] = {
        "group": texts([group] * len(plan)),
        "sync": np.arange(1, len(plan) + 1),
        "at": synced_at + elapsed,
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
