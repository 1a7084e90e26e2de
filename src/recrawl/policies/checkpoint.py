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
    nobody = Pages.of([], np.empty(0, "datetime64[us]"))
    state = policy.start(nobody, np.datetime64(0, "us"), _ANY_GAP)
    for name, part, field in list(_leaves(state)):
        value, now = parts[name], getattr(part, field)
        setattr(part, field, np.array(value) if isinstance(now, np.ndarray) else type(now)(value))
    return state


def _leaves(state: Any, prefix: str = "") -> Iterator[tuple[str, Any, str]]:  # noqa: ANN401
    """Name of each array and value, the dataclass that has it, and its field there."""
    for field in fields(state):
        value = getattr(state, field.name)
        if is_dataclass(value):
            yield from _leaves(value, f"{prefix}{field.name}.")
        elif value is not None:
            yield f"{prefix}{field.name}", state, field.name
