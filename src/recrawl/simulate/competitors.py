"""Policies that a world can be visited by, by name: all of ours, and the oracles.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidParameter
from recrawl.policies import POLICIES
from recrawl.simulate.oracles import Clairvoyant, OptimalKnown

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.plan.objectives import Objective
    from recrawl.policies.policy import Policy
    from recrawl.simulate.world import World

# Each makes a policy that knows a world, for an objective.
ORACLES: dict[str, Callable[[World, Objective], Policy[Any]]] = {
    "optimal-known": lambda world, objective: OptimalKnown(world.rates, objective),
    "clairvoyant": Clairvoyant,
}

# Ours, what perfectly known rates would reach, and what most crawlers do.
DEFAULT_POLICIES = tuple(
    name
    for name in ("recrawl", "optimal-known", "uniform", "nutch")
    if name in {*POLICIES, *ORACLES}
)


def parse_policies(text: str) -> list[str]:
    """Names of policies, from words such as `uniform,nutch`, or `all`; refuse what is none.

    Examples:
        >>> parse_policies("uniform, optimal-known")
        ['uniform', 'optimal-known']
    """
    known = [*POLICIES, *ORACLES]
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return known
    for name in names or [text]:
        if name not in known:
            message = f"policy must be one of {', '.join(known)}, or all (got {name!r})"
            raise InvalidParameter(message)
    return list(dict.fromkeys(names))


def policy_named(name: str, world: World, objective: Objective) -> Policy[Any]:
    """A policy by its name."""
    return ORACLES[name](world, objective) if name in ORACLES else POLICIES[name](objective)
