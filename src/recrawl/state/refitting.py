"""A checkpoint made to fit settings that have changed, where no visit need be replayed for it.

Rules are numbered by their place in the settings, and so are the budgets of their own that some
have. A block that is added, taken away or moved changes the numbers of others. What was learned
still holds as long as every page that anything was learned of is paid for by the same budget, with
the same weight, and no page with visits has found or lost its rule.

Touches: a store, through what it is given.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.records import SavedCheckpoint
from recrawl.settings.pools import identity, learned_with
from recrawl.settings.rules import NO_RULE
from recrawl.state.checkpoint import (
    FINGERPRINT,
    PAGES,
    pool_numbers,
    pool_parts,
    sound,
    without_samples,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

    # The budget that pays for a page, by its owner or none, and the weight of the page.
    Terms = tuple[tuple[str, bool] | None, float]


def refitted(
    settings: Settings, store: ReadStore, before: Ints, now: Ints
) -> SavedCheckpoint | None:
    """The last checkpoint as these settings number things; None where visits must be replayed.

    Args:
        settings: What is asked of the crawl now.
        store: Where the checkpoint is.
        before: Number of each page's rule when it was saved.
        now: The same by these settings.
    """
    found = sound(store)
    old = None if found is None else _rules_of(found.parts.get(FINGERPRINT), settings)
    if found is None or old is None:
        return None
    new = [(identity(rule), rule.budget is not None, rule.weight) for rule in settings.rules]
    learned = [pool_parts(found.parts, number)[PAGES] for number in pool_numbers(found.parts)]
    known = np.unique(np.concatenate([np.empty(0, np.int64), *learned]))
    if not _alike(_terms(old), _terms(new), before[known], now[known]):
        return None
    moved = np.flatnonzero((before == NO_RULE) != (now == NO_RULE))
    if not np.isnan(store.latest_visits(moved)).all():
        return None
    pools = [[each[0] for each in rules if each[1]] for rules in (old, new)]
    number = {
        place + 1: pools[1].index(own) + 1 for place, own in enumerate(pools[0]) if own in pools[1]
    }
    parts = without_samples(found.parts)  # the next checkpoint draws others
    return SavedCheckpoint(_renumbered(parts, {0: 0, **number}), found.visit)


def _rules_of(
    text: object, settings: Settings
) -> list[tuple[tuple[str, bool], bool, float]] | None:
    """Rules that a checkpoint was saved with, but for filters; None where the policy was another.

    What filters change is which pages have a rule, which is asked of the pages.
    """
    try:
        rules, *policy = json.loads(str(text))
        if policy != learned_with(settings):
            return None
        return [
            ((str(name), bool(exact)), bool(own), float(weight))
            for name, exact, own, weight, *_ in rules
        ]
    except (ValueError, TypeError, RecursionError):  # nobody wrote it so
        return None


def _terms(rules: Sequence[tuple[tuple[str, bool], bool, float]]) -> list[Terms]:
    """What each rule means for what is learned of its pages."""
    return [(name if own else None, weight) for name, own, weight in rules]


def _alike(old: Sequence[Terms], new: Sequence[Terms], before: Ints, now: Ints) -> bool:
    """Whether pages have rules that mean the same, before and now."""
    for was, becomes in {*zip(before.tolist(), now.tolist(), strict=True)}:
        if not (0 <= was < len(old) and 0 <= becomes < len(new) and old[was] == new[becomes]):
            return False
    return True


def _renumbered(parts: Mapping[str, Any], number: Mapping[int, int]) -> dict[str, Any]:
    """Parts of a checkpoint whose pools have other numbers; those of pools that are gone go."""
    found = {}
    for name, part in parts.items():
        pool, dot, rest = name.partition(".")
        if dot and pool.isascii() and pool.isdecimal():
            if int(pool) in number:
                found[f"{number[int(pool)]}.{rest}"] = part
        else:
            found[name] = part
    return found
