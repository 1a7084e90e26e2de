"""What a crawl may expect of other settings: budgets, objective, weights and targets.

Nothing is changed: what is known of the copies stays as it is, and plans are made with the other
settings. Blocks, their order and who has a budget of its own must be the same.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.status.plans import Planner
from recrawl.inspect.status.targets import needed
from recrawl.settings.pools import budgets, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.copies import CopySample
    from recrawl.inspect.status.overview import PlanBasis
    from recrawl.inspect.status.plans import RulePlan
    from recrawl.inspect.status.values import BudgetOutlook
    from recrawl.settings.settings import Settings

CURVE = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)  # times the budget
_FEWEST = 5  # copies of a block that say what its target costs


@dataclass(frozen=True, slots=True)
class TargetOutlook:
    """What a target takes.

    Args:
        visits: Fewest visits a day that would do in the long run; nan where none do, or where too
            few copies were looked at.
        most: Share that can be reached at all, where that is less than is wanted; else nan.
    """

    visits: float = nan
    most: float = nan


@dataclass(frozen=True, slots=True)
class Expected:
    """What to expect of some settings in the long run.

    Args:
        budget: Visits a day that they allow.
        outlook: What all copies are worth then; None where there are none.
        rules: The same by block.
        targets: What the target of each block takes that has one, by its number.
    """

    budget: float
    outlook: BudgetOutlook | None
    rules: list[RulePlan]
    targets: dict[int, TargetOutlook]


def expected(settings: Settings, reader: ReadStore, basis: PlanBasis) -> Expected:
    """What to expect of some settings in the long run."""
    planner = Planner(settings, reader, basis.copies, basis.now)
    allowed = _allowed(settings, basis)
    found = planner.outlooks(allowed, basis.here, (1.0,))
    rules = planner.by_rule(allowed, basis.here)
    wanted = {row.rule: settings.rules[row.rule].target for row in rules}
    targets = {
        rule: _target(settings, reader, basis, planner, rule)
        for rule, target in wanted.items()
        if target is not None
    }
    return Expected(sum(allowed), found[0] if found else None, rules, targets)


def curve(settings: Settings, reader: ReadStore, basis: PlanBasis) -> Sequence[BudgetOutlook]:
    """What to expect of an eighth of the budget to eight times as much; nothing without copies."""
    planner = Planner(settings, reader, basis.copies, basis.now)
    return planner.outlooks(_allowed(settings, basis), basis.here, CURVE)


def _allowed(settings: Settings, basis: PlanBasis) -> list[float]:
    each = zip(budgets(settings), basis.pages, strict=True)
    return [budget.visits_a_day(pages) for budget, pages in each]


def _target(
    settings: Settings, reader: ReadStore, basis: PlanBasis, planner: Planner, rule: int
) -> TargetOutlook:
    target = settings.rules[rule].target
    assert target is not None  # noqa: S101 - asked before
    sample = basis.copies.of_rules.get(rule) or _sample_of(settings, reader, basis, rule)
    if sample is None or len(sample.rows) < _FEWEST:
        return TargetOutlook()
    found = needed(settings, sample, planner, target)
    return TargetOutlook(found.visits) if found.suffices else TargetOutlook(most=found.freshness)


def _sample_of(
    settings: Settings, reader: ReadStore, basis: PlanBasis, rule: int
) -> CopySample | None:
    """The copies of one block among those that were looked at; None where there are none."""
    pool = terms(settings)[rule].pool
    for sample in basis.copies.samples:
        if sample.pool == pool:
            rules, _ = basis.copies.rules_and_hosts(reader, sample.pages[sample.rows])
            ours = np.flatnonzero(rules == rule)
            of = round(sample.of * len(ours) / max(len(sample.rows), 1))
            return replace(sample, rows=sample.rows[ours], of=of) if len(ours) else None
    return None
