"""How well a rule that estimates change intervals does so, and with how many visits.

Objects change as a Poisson process with a known mean interval. A rule visits each of them when it
wants to, with no budget, until it wants no more or the sampling period ends; then its estimate is
compared with the truth.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from recrawl.checks import check_positive
from recrawl.policies.rivals.interval import DatedRule, IntervalRule, VisitRows

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

_SAME_DAY = 1e-9  # what rounding may take from the end of the period


@runtime_checkable
class EstimatingRule(IntervalRule[Any], Protocol):
    """Estimates the days between changes."""

    def estimate(self, memory: Any, rows: Ints) -> Floats:  # noqa: ANN401 - the rule's own memory
        """Days between changes of some pages."""
        ...


@dataclass(frozen=True, slots=True)
class IntervalStudy:
    """Estimates of many objects with one mean interval.

    Args:
        interval: Days between changes, the truth.
        bias: Mean estimate over the truth, less 1.
        deviation: Standard deviation of the estimates over the truth.
        visits: Visits per object, the first included.
        stopped: Share of objects that the rule had done with before the period ended.
    """

    interval: float
    bias: float
    deviation: float
    visits: float
    stopped: float


def study_intervals(
    rule: EstimatingRule,
    interval: float,
    *,
    period: float,
    objects: int,
    random: np.random.Generator,
) -> IntervalStudy:
    """Let a rule visit objects that change on average once in an interval.

    A rule that goes by dates is told when objects last changed, at the first visit, too; any other
    only whether they changed since the visit before.

    Args:
        rule: Says when to visit, and what it estimates.
        interval: Days between changes.
        period: Days from the first visit on after which there is none.
        objects: How many objects.
        random: Where chance comes from.

    References:
        Malcolm and Armitage. Bandwidth efficient web object change interval estimation. Section 3.

    Examples:
        Visited every 16 days for 80 days, an object that changes twice a day is always found
        changed: it seems to change at any moment.

        >>> from recrawl.policies.rivals.malcolm import MalcolmPolicy
        >>> rule = MalcolmPolicy(shortest=16.0, soft=16.0)
        >>> random = np.random.default_rng(0)
        >>> study = study_intervals(rule, 0.5, period=80.0, objects=3, random=random)
        >>> study.bias, study.visits
        (-1.0, 6.0)
    """
    check_positive(interval=interval, period=period, objects=objects)
    now, visits, dated = np.zeros(objects), np.ones(objects), isinstance(rule, DatedRule)
    if isinstance(rule, DatedRule):
        wait, memory = rule.begin_dated(now, random.exponential(interval, objects))
    else:
        wait, memory = rule.begin(now)
    while len(rows := np.flatnonzero(now + wait <= period + _SAME_DAY)):
        gaps = wait[rows]
        chance = -np.expm1(-gaps / interval)
        changed = random.random(len(rows)) < chance
        # The last change of a gap lies as far back as a first one would lie ahead.
        age = -interval * np.log1p(-chance * random.random(len(rows)))
        now[rows] += gaps
        visits[rows] += 1
        known = np.where(changed, age, np.nan) if dated else np.full(len(rows), np.nan)
        seen = VisitRows(now[rows], gaps, gaps, changed, known, gap=interval)
        wait[rows] = rule.after(memory, rows, seen)
    estimates = rule.estimate(memory, np.arange(objects)) / interval
    return IntervalStudy(
        interval=interval,
        bias=float(estimates.mean()) - 1,
        deviation=float(estimates.std()),
        visits=float(visits.mean()),
        stopped=float(np.isinf(wait).mean()),
    )
