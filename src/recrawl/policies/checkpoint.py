"""What any policy has learned as named arrays and plain values, to keep and to go on from.

A policy may say itself what is to be kept of it (`Checkpointed`). The state of any other is a
dataclass of arrays, plain values and further such dataclasses, and all of it is kept, under the
names of its fields: `last`, `memory.recent.times`.

Pure.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.policies.pages import Pages
from recrawl.policies.policy import Checkpointed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recrawl.policies.policy import Policy

_ANY_GAP = 1.0  # days: of a state whose every value is replaced


def dump_state(policy: Policy[Any], state: Any) -> dict[str, Any]:  # noqa: ANN401 - the policy's own
    """Arrays and plain values by name; arrays may be the state's own.

    >>> from recrawl.policies.rivals.uniform import uniform
    >>> pages = Pages.of(["a"], np.array(["1970-01-03"], "datetime64[us]"))
    >>> policy = uniform()
    >>> dump_state(policy, policy.start(pages, pages.first_seen[0], gap=7.0))
    {'last': array([2.]), 'interval': array([nan]), 'gap': 7.0}
    """
    if isinstance(policy, Checkpointed):
        return policy.dump(state)
    return {name: getattr(part, field) for name, part, field in _leaves(state)}


def load_state(
    policy: Policy[Any], parts: Mapping[str, Any], addresses: Callable[[], Sequence[str]]
) -> Any:  # noqa: ANN401 - the policy's own
    """State of a policy from what was saved of it.

    Args:
        policy: The policy, with the same parameters.
        parts: What `dump_state` gave.
        addresses: Gives the addresses of all pages, in the order of their rows.
    """
    if isinstance(policy, Checkpointed):
        return policy.load(parts, addresses)
    state = _empty_state(policy)
    for name, part, field in list(_leaves(state)):
        value, now = parts[name], getattr(part, field)
        setattr(part, field, np.array(value) if isinstance(now, np.ndarray) else type(now)(value))
    return state


def check_state(policy: Policy[Any], parts: Mapping[str, Any], pages: int) -> None:
    """Raise unless `load_state` can go on from these parts with so many pages.

    Raises:
        LookupError: A part is missing.
        ValueError: A part is not of the kind or the size that the policy saves.
    """
    if isinstance(policy, Checkpointed):
        policy.check(parts, pages)
        return
    for name, part, field in _leaves(_empty_state(policy)):
        now = getattr(part, field)
        if isinstance(now, np.ndarray):
            found = checked_array(parts, name, now.dtype.kind, now.ndim)
            rows = len(now) or pages  # what has no rows before the first page has one for each
            if found.shape != (rows, *now.shape[1:]):
                raise ValueError(f"{name} has the shape {found.shape}")
        elif isinstance(now, int | float):
            checked_number(parts, name)
        elif type(parts[name]) is not type(now):
            raise ValueError(f"{name} is no {type(now).__name__}")


def checked_array(
    parts: Mapping[str, Any], name: str, kinds: str, dimensions: int
) -> np.ndarray[Any, Any]:
    """An array of a checkpoint; raises unless it has one of some kinds of type.

    >>> checked_array({"last": np.arange(3.0)}, "last", "iu", 1)
    Traceback (most recent call last):
        ...
    ValueError: last is no array of iu with 1 dimensions
    """
    found = parts[name]
    if (
        not isinstance(found, np.ndarray)
        or found.dtype.kind not in kinds
        or found.ndim != dimensions
    ):
        raise ValueError(f"{name} is no array of {kinds} with {dimensions} dimensions")
    return found


def checked_number(parts: Mapping[str, Any], name: str) -> float:
    """A finite number of a checkpoint; raises for anything else."""
    found = parts[name]
    if not isinstance(found, int | float) or not np.isfinite(float(found)):
        raise ValueError(f"{name} is not a number")
    return float(found)


def _empty_state(policy: Policy[Any]) -> Any:  # noqa: ANN401 - the policy's own
    nobody = Pages.of([], np.empty(0, "datetime64[us]"))
    return policy.start(nobody, np.datetime64(0, "us"), _ANY_GAP)


def _leaves(state: Any, prefix: str = "") -> Iterator[tuple[str, Any, str]]:  # noqa: ANN401
    """Name of each array and value, the dataclass that has it, and its field there."""
    for field in fields(state):
        value = getattr(state, field.name)
        if is_dataclass(value):
            yield from _leaves(value, f"{prefix}{field.name}.")
        elif value is not None:
            yield f"{prefix}{field.name}", state, field.name
