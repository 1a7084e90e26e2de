"""Policies that a world can be visited by, by name: all of ours, and the oracles.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidParameter
from recrawl.plan.objectives import Freshness
from recrawl.policies import POLICIES, named
from recrawl.policies.named import split_parameters
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
    """Policies with their parameters, from words such as `uniform,nutch:more=0.2`, or `all`.

    Examples:
        >>> parse_policies("uniform, nutch:more=0.2")
        ['uniform', 'nutch:more=0.2']
    """
    known = [*POLICIES, *ORACLES]
    wanted = [each.strip() for each in text.split(",") if each.strip()]
    if wanted == ["all"]:
        return known
    for each in wanted or [text]:
        name, parameters = split_parameters(each)
        if name not in known:
            message = f"policy must be one of {', '.join(known)}, or all (got {name!r})"
            raise InvalidParameter(message)
        if name in ORACLES and parameters:
            raise InvalidParameter(f"{name} has no parameter {next(iter(parameters))!r}")
        if name in POLICIES:
            named.policy_named(each, Freshness())  # refuses what is no parameter of it
    return list(dict.fromkeys(wanted))


def policy_named(text: str, world: World, objective: Objective) -> Policy[Any]:
    """A policy by its name, with its parameters."""
    if text in ORACLES:
        return ORACLES[text](world, objective)
    return named.policy_named(text, objective)
