"""Policies by name and parameters: `nutch`, `nutch:more=0.2:longest=90d`.

Parameters are the plain fields of a policy and of the parts that it is made of (rule, learner,
division), under their own names. A colon stands before each, so that a list of policies can be
separated by commas.

Pure.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidInput, InvalidParameter
from recrawl.plan.objectives import Freshness
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import days

if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import Field

    from recrawl.plan.objectives import Objective
    from recrawl.policies.policy import Policy
    from recrawl.policies.recrawl.prior_sums import AssumedRates

OURS = "recrawl"
_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_NONE = "none"


def policy_named(text: str, objective: Objective) -> Policy[Any]:
    """A policy by its name, with the parameters that follow it.

    Args:
        text: Name and parameters.
        objective: What a fresh copy is for; policies that do not value visits ignore it.

    Examples:
        >>> from recrawl.plan.objectives import Freshness
        >>> policy_named("malcolm:stop=100:soft=36h", Freshness()).rule.soft
        1.5
        >>> policy_named("aduana:speed=2", Freshness())
        Traceback (most recent call last):
            ...
        recrawl.errors.InvalidParameter: aduana has no parameter 'speed'; it has scale
    """
    name, wanted = split_parameters(text)
    policy = Recrawl(objective) if name == OURS else _from_catalogue(name, objective)
    known = parameters(policy)
    for key in wanted:
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(f"{name} has no parameter {key!r}; {has}")
    changed: Policy[Any] = _with_parameters(policy, wanted)
    return changed


def with_assumed(text: str, assumed: AssumedRates) -> str | None:
    """A policy that begins with these rates; None where it begins with others already.

    Args:
        text: Name and parameters.
        assumed: Rates of pages before any is visited.

    Examples:
        >>> from recrawl.policies.recrawl.prior_sums import AssumedRates
        >>> with_assumed("recrawl:fade=0.5", AssumedRates(0.1875, 0.75))
        'recrawl:fade=0.5:prior_rate=0.1875:prior_shape=0.75'
    """
    name, wanted = split_parameters(text)
    policy = policy_named(text, Freshness())
    if not isinstance(policy, Recrawl):
        raise InvalidParameter(f"{name} assumes no rates; recrawl and bank do")
    if "prior_rate" in wanted or "prior_shape" in wanted:
        return None
    return f"{text}:prior_rate={assumed.prior_rate}:prior_shape={assumed.prior_shape}"


def _from_catalogue(name: str, objective: Objective) -> Policy[Any]:
    from recrawl.policies.catalogue import POLICIES  # slow to load: most crawls have ours

    if name not in POLICIES:
        raise InvalidParameter(f"policy must be one of {', '.join(POLICIES)} (got {name!r})")
    return POLICIES[name](objective)


def split_parameters(text: str) -> tuple[str, dict[str, str]]:
    """A name, and the words for its parameters.

    >>> split_parameters("nutch:more=0.2:longest=90d")
    ('nutch', {'more': '0.2', 'longest': '90d'})
    """
    name, *parts = (part.strip() for part in text.split(":"))
    wanted: dict[str, str] = {}
    for part in parts:
        key, equals, value = (word.strip() for word in part.partition("="))
        if not (key and equals and value) or key in wanted:
            message = "parameters of a policy must look like nutch:key=value:key=value, each once"
            raise InvalidParameter(f"{message} (got {text!r})")
        wanted[key] = value
    return name, wanted


def parameters(policy: Policy[Any]) -> dict[str, Any]:
    """Parameters of a policy and of its parts, by name, as they are.

    >>> from recrawl.plan.objectives import Freshness
    >>> from recrawl.policies import POLICIES
    >>> parameters(POLICIES["azar-floor"](Freshness()))
    {'guess': 1.0, 'floor': 0.4, 'randomised': False, 'seed': 0, 'least_days': 1.0}
    """
    found: dict[str, Any] = {}
    for part in _parts(policy).values():
        found |= _plain(part)
    return found | _plain(policy)


def _parts(policy: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass will do
    """What a policy is made of, but for its objective."""
    parts = {field.name: getattr(policy, field.name) for field in _fields(policy)}
    return {
        name: part for name, part in parts.items() if is_dataclass(part) and name != "objective"
    }


def _plain(part: Any) -> dict[str, Any]:  # noqa: ANN401
    values = {field.name: getattr(part, field.name) for field in _fields(part)}
    return {
        name: value
        for name, value in values.items()
        if value is None or isinstance(value, bool | int | float | str)
    }


def _fields(part: Any) -> tuple[Field[Any], ...]:  # noqa: ANN401
    return fields(part) if is_dataclass(part) else ()


def _with_parameters(policy: Any, wanted: Mapping[str, str]) -> Any:  # noqa: ANN401
    """The policy with other parameters, each in the part that it is of."""
    if not wanted:
        return policy
    changed = {name: replace(part, **_read(part, wanted)) for name, part in _parts(policy).items()}
    return replace(policy, **changed, **_read(policy, wanted))


def _read(part: Any, wanted: Mapping[str, str]) -> dict[str, Any]:  # noqa: ANN401
    """Values of those parameters that are of a part."""
    values, types = _plain(part), {field.name: str(field.type) for field in _fields(part)}
    return {
        key: _value(key, text, values[key], may_be_none=_NONE in types[key].lower())
        for key, text in wanted.items()
        if key in values
    }


def _value(key: str, text: str, now: Any, *, may_be_none: bool) -> Any:  # noqa: ANN401
    """The value of a parameter, of the kind that it has now."""
    if may_be_none and text == _NONE:
        return None
    if isinstance(now, bool):
        if text not in _FLAGS:
            raise InvalidParameter(f"{key} must be yes or no (got {text!r})")
        return _FLAGS[text]
    if isinstance(now, str):
        return text
    try:
        number = _number(text)
    except (InvalidInput, ValueError):
        kind = "a whole number" if isinstance(now, int) else "a number, or a time such as 90d"
        raise InvalidParameter(f"{key} must be {kind} (got {text!r})") from None
    if isinstance(now, int) and not isinstance(number, int):
        raise InvalidParameter(f"{key} must be a whole number (got {text!r})")
    return number


def _number(text: str) -> int | float:
    """A number, or the days of a duration."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return days(text)
