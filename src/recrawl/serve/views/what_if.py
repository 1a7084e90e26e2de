"""What other budgets, objectives, weights and targets would bring, before anybody sets them.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter, InvalidSettings
from recrawl.inspect.status.what_if import expected
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.report.words import tenths, visits_text
from recrawl.settings.reloading import reload_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.overview import PlanBasis
    from recrawl.inspect.status.what_if import Expected, TargetOutlook
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings

_MOST_BLOCKS = 50  # that a form holds
_LARGEST = 1e6  # weight
_PER_CENT = 100.0


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block of the settings, as it is and as it would be.

    Args:
        number: Its number.
        label: Its address.
        budget: Its own budget as the form has it; empty where it has none.
        weight: Its weight as the form has it.
        target: Its target in per cent as the form has it; empty for none.
        copies: How many copies it has, about; 0 where it has none.
        visits: Visits a day that it gets now.
        visits_then: Visits a day that it would get.
        fresh: Share of its copies that is fresh in the long run, as it is.
        fresh_then: The same as it would be.
        says: What its target takes; empty where it has none.
    """

    number: int
    label: str
    budget: str
    weight: str
    target: str
    copies: int
    visits: float | None
    visits_then: float | None
    fresh: float | None
    fresh_then: float | None
    says: str


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """What other settings would bring.

    Args:
        at: The instant that plans rest on, in days after 1970.
        now: What the settings bring as they are.
        then: What the others would bring.
        budget: The budget as the form has it.
        objective: The objective as the form has it.
        blocks: Blocks of the settings.
        more_blocks: How many there are besides.
        lines: Lines of recrawl.toml that would do it; empty where nothing is different.
        restart: Whether a crawl must be started anew for them.
        problem: What is wrong with what was asked; empty for nothing.
    """

    at: float
    now: Expected
    then: Expected
    budget: str
    objective: str
    blocks: list[BlockRow]
    more_blocks: int
    lines: list[str]
    restart: bool
    problem: str


def budget_text(budget: Budget) -> str:
    """A budget as settings have it.

    >>> budget_text(Budget(120.0)), budget_text(Budget(0.5, "page"))
    ('120/1d', '0.5/page/1d')
    """
    return f"{budget.visits:g}/page/1d" if budget.each == "page" else f"{budget.visits:g}/1d"


def read_what_if(
    settings: Settings, reader: ReadStore, basis: PlanBasis, asked: Mapping[str, str]
) -> WhatIfView:
    """What other settings would bring.

    Args:
        settings: The settings as they are.
        reader: The store.
        basis: What plans rest on.
        asked: What a form sent: `budget`, `objective`, and `budget-3`, `weight-3`, `target-3`
            of block 3.
    """
    problem, other = "", settings
    try:
        other = _other(settings, asked)
    except (InvalidParameter, InvalidSettings) as error:
        problem = str(error)
    now = expected(settings, reader, basis)
    then = now if other == settings else expected(other, reader, basis)
    lines = _lines(settings, other)
    return WhatIfView(
        at=basis.now,
        now=now,
        then=then,
        budget=asked.get("budget", "").strip() or budget_text(settings.budget),
        objective=other.objective,
        blocks=_blocks(other, now, then, asked),
        more_blocks=max(len(settings.rules) - _MOST_BLOCKS, 0),
        lines=lines,
        restart=bool(lines) and bool(reload_settings(settings, other).restart),
        problem=problem,
    )


def _other(settings: Settings, asked: Mapping[str, str]) -> Settings:
    """The settings that a form asks for."""
    budget = asked.get("budget", "").strip()
    objective = asked.get("objective", "") or settings.objective
    if objective not in OBJECTIVES:
        names = ", ".join(OBJECTIVES)
        raise InvalidParameter(f"objective must be one of {names} (got {objective!r})")
    rules = tuple(
        _rule(rule, number, asked) if number < _MOST_BLOCKS else rule
        for number, rule in enumerate(settings.rules)
    )
    return replace(
        settings,
        budget=_budget(budget, settings.budget),
        objective=objective,
        rules=rules,
        listings=tuple(
            replace(each, weight=rules[settings.detail_rules[each.name]].weight)
            if each.name in settings.detail_rules
            else each
            for each in settings.listings
        ),
    )


def _budget(text: str, before: Budget) -> Budget:
    if not text or text == budget_text(before):
        return before
    found = Budget.read(text)
    if found.each == "change":
        raise InvalidParameter(f"budget must look like 120/1d or 0.5/page/1d (got {text!r})")
    return found


def _rule(rule: Rule, number: int, asked: Mapping[str, str]) -> Rule:
    weight = _figure(asked.get(f"weight-{number}", ""), "weight", rule.weight, _LARGEST)
    if not weight:
        raise InvalidParameter("weight must be more than 0")
    wanted = asked.get(f"target-{number}")
    target = rule.target
    if wanted is not None:
        share = _figure(wanted, "target", 0.0, _PER_CENT) / _PER_CENT
        target = share or None
        if share == 1.0:
            raise InvalidParameter("target must be less than 100 %: no budget keeps all fresh")
    budget = rule.budget
    if budget is not None:
        budget = _budget(asked.get(f"budget-{number}", "").strip(), budget)
    return replace(rule, weight=weight, target=target, budget=budget)


def _figure(text: str, name: str, before: float, most: float) -> float:
    if not text.strip():
        return before
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise InvalidParameter(f"{name} must be a number from 0 to {most:g} (got {text!r})")
    return found


def _blocks(
    settings: Settings, now: Expected, then: Expected, asked: Mapping[str, str]
) -> list[BlockRow]:
    before, after = ({row.rule: row for row in each.rules} for each in (now, then))
    found = []
    for number, rule in enumerate(settings.rules[:_MOST_BLOCKS]):
        was, will = before.get(number), after.get(number)
        target = "" if rule.target is None else f"{_PER_CENT * rule.target:g}"
        found.append(
            BlockRow(
                number,
                rule.label,
                budget="" if rule.budget is None else budget_text(rule.budget),
                weight=asked.get(f"weight-{number}") or f"{rule.weight:g}",
                target=asked.get(f"target-{number}", target),
                copies=0 if was is None else round(was.copies),
                visits=None if was is None else was.visits,
                visits_then=None if will is None else will.visits,
                fresh=None if was is None else was.fresh,
                fresh_then=None if will is None else will.fresh,
                says=_says(rule, then.targets.get(number)),
            )
        )
    return found


def _says(rule: Rule, outlook: TargetOutlook | None) -> str:
    """What a target takes, in words."""
    if rule.target is None or outlook is None:
        return ""
    if not isnan(outlook.most):
        return f"at most {tenths(outlook.most)} can be reached"
    if isnan(outlook.visits):
        return "too few copies to say"
    return f"takes {visits_text(outlook.visits)} visits per day"


def _lines(old: Settings, new: Settings) -> list[str]:
    """Lines of recrawl.toml that say what is different."""
    lines = []
    if new.budget != old.budget:
        lines.append(f'budget = "{budget_text(new.budget)}"  # was "{budget_text(old.budget)}"')
    if new.objective != old.objective:
        lines.append(f'objective = "{new.objective}"  # was "{old.objective}"')
    for was, will in zip(old.rules, new.rules, strict=True):
        changed = _block_lines(was, will)
        if changed and will.listing:
            lines += ["", "[[listing]]", f"name = {_quoted(will.listing)}", *changed]
        elif changed:
            kind = "[[page]]" if will.exact else "[[site]]"
            lines += ["", kind, f"address = {_quoted(will.address)}", *changed]
    return lines[1:] if lines[:1] == [""] else lines


def _block_lines(was: Rule, will: Rule) -> list[str]:
    lines = []
    if will.budget is not None and was.budget is not None and will.budget != was.budget:
        before = budget_text(was.budget)
        lines.append(f'budget = "{budget_text(will.budget)}"  # was "{before}"')
    if will.weight != was.weight:
        lines.append(f"weight = {will.weight:g}  # was {was.weight:g}")
    if will.target != was.target:
        before = "none" if was.target is None else f"{was.target:g}"
        after = "# target" if will.target is None else f"target = {will.target:g}"
        lines.append(f"{after}  # was {before}")
    return lines


def _quoted(text: str) -> str:
    """A text as TOML has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
