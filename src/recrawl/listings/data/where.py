"""Which objects meet conditions on their attributes.

Numbers are compared as numbers, instants as instants, text as text: by `<` in alphabetical order.
An object that lacks the attribute meets no condition on it, not even `!=`.

Pure.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from recrawl.errors import InvalidInput, InvalidParameter
from recrawl.listings.data.attributes import Labels, not_found
from recrawl.parse.conditions import conditions
from recrawl.units import MICROSECONDS_A_DAY, instant, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Bools
    from recrawl.listings.data.attributes import Attribute, Numbers
    from recrawl.parse.conditions import Condition

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Objects that meet conditions.

    Args:
        wanted: Which they are.
        missing: How many objects lack each attribute that was asked for.
    """

    wanted: Bools
    missing: dict[str, int]


def where(attributes: Mapping[str, Attribute], text: str, objects: int) -> Selection:
    """Objects that meet all conditions of a text.

    Args:
        attributes: Columns by name.
        text: Conditions, as `make = BMW and year > 2002`.
        objects: How many objects there are.

    Examples:
        >>> from recrawl.listings.data.attributes import Numbers
        >>> cars = {"make": Labels.of(["BMW", "Fiat", ""]), "year": Numbers(np.array([3., 2., 1.]))}
        >>> found = where(cars, "make != Opel and year < 3", 3)
        >>> found.wanted, found.missing
        (array([False,  True, False]), {'make': 1, 'year': 0})
    """
    wanted = np.ones(objects, np.bool_)
    missing: dict[str, int] = {}
    for condition in conditions(text):
        column = attributes.get(condition.name)
        if column is None:
            message = not_found(condition.name, attributes)
            raise InvalidParameter(f"where, position {condition.place}: {message}")
        missing[condition.name] = int(np.count_nonzero(column.missing))
        wanted &= (
            _labels(column, condition)
            if isinstance(column, Labels)
            else _numbers(column, condition)
        )
    return Selection(wanted, missing)


def _refuse(condition: Condition, rule: str, got: str) -> NoReturn:
    raise InvalidParameter(f"where, position {condition.place}: {rule} (got {got!r})")


def _labels(column: Labels, condition: Condition) -> Bools:
    """Each word is looked at once, not each object."""
    words = column.words.tolist()
    values = condition.values
    if set(words) <= {"true", "false"}:
        values = tuple(value.lower() for value in values)
    if condition.operator == "in":
        met = [word in values for word in words]
    else:
        compare = _COMPARE[condition.operator]
        met = [bool(compare(word, values[0])) for word in words]
    return np.array([*met, False], np.bool_)[column.codes]  # code -1 is the last


def _numbers(column: Numbers, condition: Condition) -> Bools:
    read = _day if column.dated else _number
    values = [read(condition, text) for text in condition.values]
    if condition.operator == "in":
        return np.isin(column.numbers, values)
    met: Bools = _COMPARE[condition.operator](column.numbers, values[0])
    return met & ~column.missing


def _number(condition: Condition, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        _refuse(condition, f"{condition.name} must be compared with a number", text)
    return value


def _day(condition: Condition, text: str) -> float:
    try:
        return microseconds(instant(text)) / MICROSECONDS_A_DAY
    except InvalidInput:
        _refuse(condition, f"{condition.name} must be compared with a time in ISO 8601", text)
