"""The checkpoint of a crawl: what it had learned when it was last saved, by name.

A checkpoint is a flat mapping of names to arrays and plain values. What the policy knows of the
pages of a pool stands under the pool's number (`0.last`); the rest belongs to the crawl as a whole.
It fits as long as the settings put every page under the same rule, with the same weight, in the
same pool. Where it does not, all visits are replayed.

Beside the whole, the checkpoint of a large crawl keeps a sample of each pool (`sample.0.last`), for
those who only look.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.objectives import Harmonic
from recrawl.policies.checkpoint import check_state, checked_array
from recrawl.policies.named import policy_named
from recrawl.policies.recrawl.checkpoint import CALIBRATION
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.sampling import KEPT_OF_SAMPLE, check_sample
from recrawl.settings.pools import budgets, fingerprint, terms
from recrawl.state.hints import HEARD
from recrawl.state.weights import SAVED_FACTORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Ints
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

FINGERPRINT = "rules"
POLICY = "policy"  # by name and parameters
_SHOWN = 100  # characters of what is wrong with one
PAGES = "pages"  # of a pool: the page in each row of what the policy knows
LAST = "last"  # of a pool: when each page was last visited
DRAWN = "drawn"  # of a sample: which rows were drawn at random
_SAMPLE = "sample"


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
        _remark(store, error)
        return None
    return found


def fitting_sample(settings: Settings, store: ReadStore) -> SavedCheckpoint | None:
    """What the last checkpoint keeps of some copies, by pool; None where it has none that fits.

    Beside it stands which pages each pool knows, and what was forecast and found of all of them.
    """
    pools = range(len(budgets(settings)))
    names = [
        *(FINGERPRINT, HEARD),
        *(f"{number}.{name}" for number in pools for name in (PAGES, CALIBRATION)),
    ]
    names += [f"{number}.{LAST}" for number in pools if may_be_late(settings)]
    names += SAVED_FACTORS
    kept = (*KEPT_OF_SAMPLE, PAGES, DRAWN)
    names += [f"{_SAMPLE}.{number}.{name}" for number in pools for name in kept]
    found = None if settings.divided else store.checkpoint(names)
    if found is None or found.parts.get(FINGERPRINT) != fingerprint(settings):
        return None
    pages = store.page_count()
    try:
        samples = samples_in(found.parts)
        for number, sample in samples.items():
            _check_whole(pool_parts(found.parts, number), pages)
            _check_sample(sample, pages)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        _remark(store, error)
        return None
    return found if samples else None


def may_be_late(settings: Settings) -> bool:
    """Whether some rule says how long pages may wait at most."""
    return any(each.interval or each.maximum < inf for each in terms(settings))


def samples_in(parts: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """What a checkpoint keeps of some copies, by the number of their pool."""
    inside = {
        name.removeprefix(f"{_SAMPLE}."): part
        for name, part in parts.items()
        if name.startswith(f"{_SAMPLE}.")
    }
    return {number: pool_parts(inside, number) for number in pool_numbers(inside)}


def with_samples(samples: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Samples as parts of a checkpoint."""
    return {
        f"{_SAMPLE}.{number}.{name}": part
        for number, sample in samples.items()
        for name, part in sample.items()
    }


def without_samples(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a checkpoint but its samples."""
    return {name: part for name, part in parts.items() if not name.startswith(f"{_SAMPLE}.")}


def _remark(store: ReadStore, error: Exception) -> None:
    store.remark_damage(f"{store.name} is damaged (its checkpoint: {str(error)[:_SHOWN]!a})")


def _check_whole(parts: Mapping[str, Any], pages: int) -> None:
    """Raise for what cannot be so of the whole pool that a sample is of."""
    rows = _check_rows(parts, pages)
    if LAST in parts:
        last = checked_array(parts, LAST, "f", 1)
        if last.shape != rows.shape or not np.isfinite(last).all():
            raise ValueError(f"{LAST} is not of the pages of the pool")


def _check_sample(parts: Mapping[str, Any], pages: int) -> None:
    """Raise for what cannot be so of a sample."""
    rows = _check_rows(parts, pages)
    check_sample(parts, len(rows), len(Recrawl().memories))
    drawn = checked_array(parts, DRAWN, "b", 1)
    if drawn.shape != rows.shape or (np.diff(rows) < 0).any():
        raise ValueError(f"{DRAWN} is not of the pages of the sample, which rise")


def _check_rows(parts: Mapping[str, Any], pages: int) -> Ints:
    """Raise unless what a pool has learned is of different pages; returns them."""
    rows = checked_array(parts, PAGES, "iu", 1)
    if len(rows) and not (rows.min() >= 0 and rows.max() < pages and np.bincount(rows).max() == 1):
        raise ValueError(f"{PAGES} are not different pages of the store")
    return rows


def _check_pool(parts: Mapping[str, Any], crawl: Mapping[str, Any], pages: int) -> None:
    """Raise for what a pool cannot have learned."""
    policy = policy_named(str(crawl.get(POLICY, "recrawl")), Harmonic())
    rows = _check_rows(parts, pages)
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
