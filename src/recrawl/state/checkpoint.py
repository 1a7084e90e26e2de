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
PAGES = "pages"  # of a pool: the page in each row of what the policy knows


def fitting(settings: Settings, store: ReadStore) -> SavedCheckpoint | None:
    """The last checkpoint of a store; None where there is none, or it does not fit the settings."""
    found = store.checkpoint()
    if found is None or found.parts.get(FINGERPRINT) != fingerprint(settings):
        return None
    return found


def is_ours(parts: Mapping[str, Any]) -> bool:
    """Whether a checkpoint is of our policy, which knows rates."""
    policy = policy_named(parts.get(POLICY, "recrawl"), Harmonic())
    return isinstance(policy, Recrawl)


def some_parts(store: ReadStore, *names: str) -> Mapping[str, Any]:
    """Parts of the last checkpoint that hold whatever the settings say; those there are."""
    found = store.checkpoint(names)
    return found.parts if found is not None else {}


def pool_parts(parts: Mapping[str, Any], number: int) -> dict[str, Any]:
    """What the policy knew of one pool, by the policy's own names; empty where it knew nothing."""
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)
    }


def with_pool(number: int, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of one pool under its number; arrays are copies, so that the policy may go on."""
    return {
        f"{number}.{name}": part.copy() if isinstance(part, np.ndarray) else part
        for name, part in parts.items()
    }
