"""Hours of the day in which something may be fetched, in UTC.

They are a pair: the first hour in which it is allowed, and the hour at which that ends. `(22, 6)`
is a night, and the same hour twice is a whole day, as is `(0, 24)`.

Pure.
"""

from __future__ import annotations

from math import floor, inf
from typing import TypeAlias

Hours: TypeAlias = tuple[int, int]

_HOURS_A_DAY = 24
_ROUNDING = 1e-6  # hours: the instant at which hours begin is inside them


def next_open(hours: Hours | None, at: float) -> float:
    """Return the first instant from `at` on that lies within some hours, in days after 1970.

    From ten in the evening to six in the morning:

    >>> [round(next_open((22, 6), 100 + hour / 24) % 1 * 24, 6) for hour in (23, 5, 7)]
    [23.0, 5.0, 22.0]

    Args:
        hours: The hours; None for all day.
        at: An instant, in days after 1970.
    """
    if hours is None:
        return at
    first, end = hours
    hour = (at - floor(at)) * _HOURS_A_DAY + _ROUNDING
    length = (end - first) % _HOURS_A_DAY or _HOURS_A_DAY
    return at if (hour - first) % _HOURS_A_DAY < length else next_start(hours, at)


def next_start(hours: Hours | None, at: float) -> float:
    """Return the first instant after `at` at which some hours begin; infinite without hours.

    >>> next_start((8, 10), 20.0) == 20 + 8 / 24
    True
    """
    if hours is None:
        return inf
    day, first = floor(at), hours[0]
    hour = (at - day) * _HOURS_A_DAY + _ROUNDING
    return day + first / _HOURS_A_DAY + (1 if hour >= first else 0)
