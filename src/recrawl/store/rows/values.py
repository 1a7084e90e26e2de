"""Values of a row, checked as they are read: SQLite checks types only when a row is written.

Each raises `ValueError` for what we never write, which is then told as damage.

Pure.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, TypeVar

_Value = TypeVar("_Value")

# Milliseconds from the year 1 to the year 9999, as far as calendars go.
FIRST_INSTANT, LAST_INSTANT = -62_135_596_800_000, 253_402_300_799_999
MOST = (1 << 53) - 1  # a whole number that a float holds, too
_LARGEST_FIGURE = 1e15


def exactly(kind: type[_Value], value: Any) -> _Value:  # noqa: ANN401 - whatever a file holds
    """A value of one type.

    >>> exactly(str, b"a")
    Traceback (most recent call last):
        ...
    ValueError: a value that must be str is bytes
    """
    if type(value) is not kind:
        raise ValueError(f"a value that must be {kind.__name__} is {type(value).__name__}")
    return value


def maybe(kind: type[_Value], value: Any) -> _Value | None:  # noqa: ANN401 - as above
    """The same, or None."""
    return None if value is None else exactly(kind, value)


def number(value: Any, least: int = 0, most: int = MOST) -> int:  # noqa: ANN401 - as above
    """A whole number between two others."""
    if not least <= exactly(int, value) <= most:
        raise ValueError(f"a number from {least} to {most} is {value}")
    return int(value)


def instant(value: Any) -> float:  # noqa: ANN401 - as above
    """Epoch seconds of an instant in milliseconds."""
    return number(value, FIRST_INSTANT, LAST_INSTANT) / 1000


def maybe_instant(value: Any) -> float | None:  # noqa: ANN401 - as above
    """The same, or None."""
    return None if value is None else instant(value)


def figure(value: Any, least: float = -_LARGEST_FIGURE) -> float:  # noqa: ANN401 - as above
    """A finite number that is not absurdly large."""
    if not (isfinite(exactly(float, value)) and least <= value <= _LARGEST_FIGURE):
        raise ValueError(f"a figure of at least {least:g} is {value}")
    return float(value)


def maybe_figure(value: Any, least: float = -_LARGEST_FIGURE) -> float | None:  # noqa: ANN401
    """The same, or None."""
    return None if value is None else figure(value, least)


def texts_by_name(text: Any) -> dict[str, str]:  # noqa: ANN401 - as above
    """A JSON object of texts.

    >>> texts_by_name('{"a": "b"}'), texts_by_name('{}')
    ({'a': 'b'}, {})
    >>> texts_by_name('{"a": 1}')
    Traceback (most recent call last):
        ...
    ValueError: a value that must be str is int
    """
    found = exactly(dict, json.loads(exactly(str, text)))
    return {name: exactly(str, value) for name, value in found.items()}
