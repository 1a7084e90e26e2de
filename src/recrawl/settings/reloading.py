"""Settings that are read again while a crawl runs: what applies at once, and what needs a restart.

Whatever changes what visits taught (weights, the objective, the policy, blocks that are gone, own
budgets that come or go, filters that leave out what was visited) needs all visits to be replayed,
which is for a restart. The rest applies.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.pools import identity, policy_of

if TYPE_CHECKING:
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings

_WEIGHTS = ("weights", "weights_file")
_NEEDS_RESTART = ("objective", "policy", "store", "slots")
_WRITTEN = {
    "feed_keep": "keep in [feed]",
    "feed_chunks": "chunks in [feed]",
    "recipients": "[[notify]]",
}
_WRITTEN |= {"listings": "[[listing]]", "webhooks": "[[webhook]]", "push": "[push]"}


@dataclass(frozen=True, slots=True)
class ReloadedSettings:
    """Settings that were read again.

    Args:
        settings: What the crawl goes on with.
        applied: What changed and applies, as people write it.
        restart: What changed and needs a restart.
    """

    settings: Settings
    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()


def reload_settings(old: Settings, new: Settings, *, regroups: bool = True) -> ReloadedSettings:
    """What becomes of settings that were read again.

    Args:
        old: What the crawl runs with.
        new: What was read.
        regroups: Whether blocks that are new and filters that have changed apply; where they give
            pages with visits another rule, they need a restart as well.

    Examples:
        >>> from recrawl.settings.rules import Rule
        >>> from recrawl.settings.settings import Settings
        >>> old = Settings("bot (me@example.org)", rules=(Rule("https://a.org/"),))
        >>> rules = Rule("https://a.org/", weight=2.0), Rule("https://b.org/")
        >>> found = reload_settings(old, Settings("bot (me@example.org)", delay=1.0, rules=rules))
        >>> found.applied, found.restart
        (('delay', 'https://b.org/ (new)'), ('weight of https://a.org/',))
        >>> [rule.weight for rule in found.settings.rules]
        [1.0, 1.0]
    """
    names = [each.name for each in fields(old) if each.init and each.name != "rules"]
    changed = [name for name in names if getattr(old, name) != getattr(new, name)]
    waits = [name for name in changed if name in _NEEDS_RESTART]
    if not isinstance(policy_of(old), Recrawl):  # others have weights in what they know
        waits += [name for name in changed if name in _WEIGHTS]
    if "listings" in changed and not _keeps_details(old, new):
        waits.append("listings")
    rules, applied, restart = _merged(old, new, regroups=regroups)
    kept = {name: getattr(old, name) for name in waits}
    return ReloadedSettings(
        replace(new, rules=rules, **kept),
        (*(_WRITTEN.get(name, name) for name in changed if name not in waits), *applied),
        (*(_WRITTEN.get(name, name) for name in waits), *restart),
    )


def _keeps_details(old: Settings, new: Settings) -> bool:
    """Whether the detail pages of all listings are still wanted, with the same weight."""
    had, have = (
        {rule.listing: rule.weight for rule in each.rules if rule.listing} for each in (old, new)
    )
    return all(have.get(name) == weight for name, weight in had.items())


def _merged(
    old: Settings, new: Settings, *, regroups: bool
) -> tuple[tuple[Rule, ...], list[str], list[str]]:
    """Rules of both, and what of them applies or needs a restart."""
    before = {identity(rule): rule for rule in old.rules if not rule.listing}
    after = {identity(rule): rule for rule in new.rules if not rule.listing}
    rules: list[Rule] = []
    applied: list[str] = []
    restart: list[str] = []
    for name, rule in after.items():
        was = before.get(name)
        if was is None:
            (applied if regroups else restart).append(f"{rule.label} (new)")
            rules += [rule] if regroups else []
            continue
        fits = rule
        if rule.weight != was.weight:
            restart.append(f"weight of {rule.label}")
            fits = replace(fits, weight=was.weight)
        if (rule.budget is None) != (was.budget is None):
            restart.append(f"budget of {rule.label}")
            fits = replace(fits, budget=was.budget)
        if rule.filters != was.filters and not regroups:
            restart.append(f"filters of {rule.label}")
            fits = replace(fits, filters=was.filters)
        if fits != was:
            applied.append(rule.label)
        rules.append(fits)
    gone = [rule for name, rule in before.items() if name not in after]
    restart += [f"{rule.label} (removed)" for rule in gone]
    return tuple(sorted((*rules, *gone), key=lambda rule: rule.exact)), applied, restart
