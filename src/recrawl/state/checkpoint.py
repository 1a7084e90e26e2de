"""The checkpoint of a crawl: what it had learned when it was last saved, by name.

A checkpoint is a flat mapping of names to arrays and plain values. What the policy knows of the
pages of a pool stands under the pool's number (`0.last`); the rest belongs to the crawl as a whole.
It fits as long as the settings put every page under the same rule, with the same weight, in the
same pool. Where it does not, all visits are replayed.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.objectives import Harmonic
from recrawl.policies.checkpoint import check_state, checked_array
from recrawl.policies.named import policy_named
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.pools import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

FINGERPRINT = "rules"
POLICY = "policy"  # by name and parameters
_SHOWN = 100  # characters of what is wrong with one
PAGES = "pages"  # of a pool: the page in each row of what the policy knows


def fitting(settings: Settings, store: ReadStore) -> SavedCheckpoint | None:
    """The last checkpoint of a store; None where there is none, or it does not fit the settings.

    A crawl that is divided has one for each slot, which fits the settings of the slot.
    """
    found = None if settings.divided else sound(store)
    if found is None or found.parts.get(FINGERPRINT) != fingerprint(settings):
        return None
    return found


def sound(store: ReadStore) -> SavedCheckpoint | None:
    """The last checkpoint of a store; None where there is none, or it contradicts itself.

    A checksum tells what is damaged. What somebody made up may have one, too.
    """
    found = store.checkpoint()
    if found is None:
        return None
    pages = store.page_count()
    try:
        for number in pool_numbers(found.parts):
            _check_pool(pool_parts(found.parts, number), found.parts, pages)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        store.remark_damage(f"{store.name} is damaged (its checkpoint: {str(error)[:_SHOWN]!a})")
        return None
    return found


def _check_pool(parts: Mapping[str, Any], crawl: Mapping[str, Any], pages: int) -> None:
    """Raise for what a pool cannot have learned."""
    policy = policy_named(str(crawl.get(POLICY, "recrawl")), Harmonic())
    rows = checked_array(parts, PAGES, "iu", 1)
    if len(rows) and not (rows.min() >= 0 and rows.max() < pages and np.bincount(rows).max() == 1):
        raise ValueError(f"{PAGES} are not different pages of the store")
    check_state(policy, parts, len(rows))


def pool_numbers(parts: Mapping[str, Any]) -> list[int]:
    """Numbers of the pools of which a checkpoint has something, ascending."""
    prefixes = {name.partition(".")[0] for name in parts if "." in name}
    return sorted(int(each) for each in prefixes if each.isdecimal() and each.isascii())


def is_ours(parts: Mapping[str, Any]) -> bool:
    """Whether a checkpoint is of our policy, which knows rates."""
    policy = policy_named(str(parts.get(POLICY, "recrawl")), Harmonic())
    return isinstance(policy, Recrawl)


def some_parts(store: ReadStore, *names: str) -> Mapping[str, Any]:
    """Arrays of the last checkpoint that hold whatever the settings say; those there are."""
    found = store.checkpoint(names)
    parts = found.parts if found is not None else {}
    return {name: part for name, part in parts.items() if _is_of_pages(part)}


def _is_of_pages(part: Any) -> bool:  # noqa: ANN401 - whatever was saved
    """Whether a part has a finite figure for each page."""
    return (
        isinstance(part, np.ndarray)
        and part.ndim == 1
        and part.dtype.kind in "uf"
        and bool(np.isfinite(part).all())
    )


def pool_parts(parts: Mapping[str, Any], number: int) -> dict[str, Any]:
    """What the policy knew of one pool, by the policy's own names; empty where it knew nothing."""
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)
    }


def with_pool(number: int, parts: dict[str, Any]) -> dict[str, Any]:
    """Parts of one pool under its number; arrays are copies, so that the policy may go on.

    Each part is taken out of what is given: what was made for this is not there twice.
    """
    named = {}
    for name in list(parts):
        part = parts.pop(name)
        named[f"{number}.{name}"] = part.copy() if isinstance(part, np.ndarray) else part
    return named
