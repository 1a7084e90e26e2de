"""Terms, budgets and the policy of the settings, as the agenda needs them.

Each rule has terms of its own, under its number. Rules without a budget share the common one.

Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidSettings
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.named import policy_named
from recrawl.policies.recrawl.checkpoint import VERSION
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.terms import VisitTerms

if TYPE_CHECKING:
    from recrawl.policies.policy import Policy
    from recrawl.settings.page_weights import WeightsFile
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings

NOTHING = Budget(0.0)


def budgets(settings: Settings) -> list[Budget]:
    """The common budget, then those of rules that have their own."""
    own = [rule.budget for rule in settings.rules if rule.budget is not None]
    return [settings.budget, *own]


def terms(settings: Settings) -> list[VisitTerms]:
    """Terms of the pages of each rule, then those of pages without a rule, which nothing pays for.

    >>> from recrawl.settings.rules import Rule
    >>> from recrawl.settings.settings import Settings
    >>> rules = Rule("https://a.org/"), Rule("https://b.org/", budget=Budget(9.0))
    >>> [each.pool for each in terms(Settings("bot (me@example.org)", rules=rules))]
    [0, 1, 2]
    """
    found = []
    pools = 1
    for rule in settings.rules:
        own = rule.budget is not None
        found.append(
            VisitTerms(
                pool=pools if own else 0,
                weight=rule.weight,
                minimum=rule.minimum,
                maximum=rule.maximum,
                interval=rule.interval or 0.0,
                hours=rule.hours,
            )
        )
        pools += own
    return [*found, VisitTerms(pool=pools)]


def policy_of(settings: Settings) -> Policy[Any]:
    """What decides when pages are visited."""
    return policy_named(settings.policy, OBJECTIVES[settings.objective])


def fingerprint(settings: Settings) -> str:
    """Text that changes whenever a checkpoint no longer fits: rules, weights, objective, policy."""
    rules = [
        [*identity(rule), rule.budget is not None, rule.weight, *_filtered(rule)]
        for rule in settings.rules
    ]
    return json.dumps([rules, *learned_with(settings)])


def identity(rule: Rule) -> tuple[str, bool]:
    """What a rule is known by, wherever it stands: no two rules share it."""
    return rule.label, rule.exact


def learned_with(settings: Settings) -> list[str]:
    """What decides on what is learned, beside rules.

    What our policy has learned does not depend on the weights of single pages, so a file of them
    may change. Other policies have them in what they know.
    """
    named = [settings.objective, settings.policy]
    file = weights_file(settings)
    if isinstance(policy_of(settings), Recrawl):
        named.append(str(VERSION))
    elif file is not None:
        named.append(file.digest)
    return named


def weights_file(settings: Settings) -> WeightsFile | None:
    """The file of weights of single pages; None where the settings name none."""
    if settings.weights and settings.weights_file is None:
        raise InvalidSettings(
            f"weights names {settings.weights}, but it is not known where the settings are; open "
            "them by their path"
        )
    return settings.weights_file


def _filtered(rule: Rule) -> list[object]:
    """Filters of a rule that decide on which pages are its own; none where it has none."""
    filters = rule.filters
    decisive = [filters.include, filters.exclude, filters.drop_parameters, filters.traps]
    return decisive if any(decisive) and not rule.exact else []
