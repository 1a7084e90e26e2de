"""When to sync next, so that a copy stays as good as was asked for.

At each sync the expected quality of the coming days is scanned for the first day below
a target. As published the sync is on that day; with a *guarantee* on the day before, the last that
keeps the target. The *point* rule goes by the expected quality itself, and as published is below
the target for 12 to 28 % of the time on real sources, with a guarantee for 5 to 24 %; with a
*confidence* it goes by the quality that is reached with that probability (guaranteed, at 0.8: below
for 2 to 10 % of the time, with 1.6 to 3.6 times as many syncs; at 0.9: 1 to 7 %, 2.1 to 5.6 times).

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.listings.forecast.forecast import QUALITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.forecast import Forecast

# A source that looks dead is still visited, to learn whether it is.
MOST_DAYS = 30


@dataclass(frozen=True, slots=True)
class Goal:
    """What quality a copy is to keep.

    Args:
        precision: Least precision, or None for any.
        recall: Least recall, or None for any.
        confidence: Probability with which it is to be kept; None for the point rule.
        guarantee: Whether to sync the day before quality is below the target, rather than
            the day it is.
    """

    precision: float | None = None
    recall: float | None = None
    confidence: float | None = None
    guarantee: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(**self.targets)
        if self.precision is None and self.recall is None:
            raise InvalidParameter("a goal must name precision, recall or both (got neither)")
        if self.confidence is not None and not 0.5 <= self.confidence < 1:  # noqa: PLR2004
            message = f"confidence must be at least 0.5 and below 1 (got {self.confidence})"
            raise InvalidParameter(message)

    @property
    def targets(self) -> dict[str, float]:
        """Target of each metric that has one."""
        pairs = ((name, getattr(self, name)) for name in QUALITIES)
        return {name: target for name, target in pairs if target is not None}

    def stricter(self, times: float) -> Goal:
        """The same goal with the losses allowed multiplied: 1 - (1 - target) * times."""
        moved = {name: 1 - (1 - target) * times for name, target in self.targets.items()}
        return Goal(
            moved.get("precision"), moved.get("recall"), self.confidence, guarantee=self.guarantee
        )


def days_to_next(forecast: Forecast, goal: Goal) -> int:
    """Days until the next sync, from 1 to 30.

    Precision and recall are asked apart and the earlier one holds. After a change of keys it is
    the next day; from an empty source, when the first arrival is to be expected.

    Args:
        forecast: Forecast made at the sync just done.
        goal: What is to be kept.
    """
    longest = min(len(forecast), MOST_DAYS)
    if "one-snapshot" in forecast.status or "rekey?" in forecast.status:
        return 1
    if forecast.stock == 0:
        wait = 1.0 / forecast.arrivals if forecast.arrivals > 0 else MOST_DAYS
        return min(max(ceil(wait), 1), longest)
    found = longest
    for name, target in goal.targets.items():
        path = planned_quality(forecast, name, goal.confidence)
        day = first_violation(path[:longest], target)
        if day is not None:
            found = min(found, day - 1 if goal.guarantee else day)
    return max(found, 1)


def first_violation(quality: Floats, threshold: float) -> int | None:
    """First day on which the forecast quality is below the threshold: the paper's rule.

    Args:
        quality: Forecast for 1, 2, ... days after the sync.
        threshold: Least quality wanted.

    Returns:
        The day, or None where the forecast does not reach so far.

    Examples:
        The paper's own: 0.92 on day 3, 0.89 on day 4.

        >>> first_violation(np.array([0.97, 0.95, 0.92, 0.89]), 0.9)
        4
    """
    below = np.flatnonzero(np.asarray(quality) < threshold)
    return int(below[0]) + 1 if len(below) else None


def planned_quality(forecast: Forecast, metric: str, confidence: float | None) -> Floats:
    """Quality that a schedule counts on, on each day: expected, or reached with a confidence.

    Args:
        forecast: Forecast made at a sync.
        metric: `precision` or `recall`.
        confidence: Probability with which it is reached; None for the expected quality.
    """
    if confidence is None:
        expected: Floats = getattr(forecast.expected, metric)
        return expected
    return forecast.floor(metric, confidence)


def reason_for(forecast: Forecast, goal: Goal, wait: int) -> str:
    """What asks for a sync after so many days.

    Args:
        forecast: Forecast made at the sync before.
        goal: What is to be kept.
        wait: Days until the next, as `days_to_next` says.

    Returns:
        `precision`, `recall` or both with `and` between, `longest` where no target is in danger,
        or what is the matter with the forecast: `unknown`, `rekey` or `empty`.
    """
    for word, reason in (("one-snapshot", "unknown"), ("rekey?", "rekey"), ("empty", "empty")):
        if word in forecast.status:
            return reason
    last = max(wait + 1 if goal.guarantee else wait, 1)
    asking = []
    for name, target in goal.targets.items():
        day = first_violation(planned_quality(forecast, name, goal.confidence), target)
        if day is not None and day <= last:
            asking.append(name)
    return " and ".join(asking) or "longest"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many syncs within so many days.

    Args:
        count: How many.
        days: Within how many days.

    Examples:
        At most 2 in 7 days, and there were some on days 0 and 3: the next is on day 7.

        >>> Limit(2, 7.0).earliest([0.0, 3.0])
        7.0
        >>> Limit(2, 7.0).earliest([3.0])
        3.0
    """

    count: int
    days: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.count < 1 or self.days <= 0:
            raise InvalidParameter(
                f"a limit must allow at least 1 sync in more than 0 days "
                f"(got {self.count} in {self.days})"
            )

    def earliest(self, past: Sequence[float]) -> float:
        """First time at which one more is allowed.

        Args:
            past: Times of the syncs so far, in order; at least one.
        """
        if len(past) < self.count:
            return past[-1]
        return max(past[-1], past[-self.count] + self.days)


def next_day(now: float, wait: float, past: Sequence[float], limits: Sequence[Limit]) -> float:
    """Day of the next sync: after the wait, but not before the limits allow.

    >>> next_day(3.0, 1.0, [0.0, 3.0], [Limit(2, 7.0)])
    7.0
    """
    return max([now + wait, *(limit.earliest(past) for limit in limits)])
