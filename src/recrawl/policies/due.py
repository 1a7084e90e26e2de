"""When the value of a visit reaches the price.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Instants

_FIRST = 2.0**-10  # days, about a minute and a half
_FARTHEST = 2.0**17  # days, 359 years: beyond it a page counts as never due
_STRIDE = 8.0
_MOST_STEPS = 100
_FINE = 1e-11  # days: instants are no finer
_HALVE = 6  # every so many steps, whatever the curve looks like


def due_at_price(value_at: Callable[[Floats], Floats], last: Floats, price: float) -> Instants:
    """Instants at which values that grow with time reach the price.

    Goes further and further until the value is reached, then closes in from both sides, by
    straight lines with halvings in between, to less than a microsecond.

    Args:
        value_at: Value of a visit to each page, so many days after 1970: one row per page.
        last: When each page was last visited, in days after 1970.
        price: What a visit must be worth.

    Returns:
        One instant per page, at its last visit where a visit is worth the price at once; NaT where
        it is not in 350 years.

    Examples:
        A value that grows by 2 a day reaches 3 after a day and a half, one that stays at 1 never:

        >>> def value_at(now):
        ...     return np.where(np.arange(2) == 0, 2 * now, 1.0)
        >>> due_at_price(value_at, np.zeros(2), 3.0)
        array(['1970-01-02T12:00:00.000000', 'NaT'], dtype='datetime64[us]')
    """
    low, high = np.zeros(len(last)), np.full(len(last), _FIRST)
    under, over = np.full(len(last), -np.inf), value_at(last + high) - price
    while (far := (over < 0) & (high < _FARTHEST)).any():
        low, under = np.where(far, high, low), np.where(far, over, under)
        high = np.where(far, _STRIDE * high, high)
        over = np.where(far, value_at(last + high) - price, over)
    before = np.zeros(len(last), np.bool_)
    for number in range(_MOST_STEPS):
        if not ((high - low > _FINE + 1e-12 * high) & (over >= 0)).any():
            break
        middle = _between(low, high, under, over, number)
        off = value_at(last + middle) - price
        enough = off >= 0
        # An end that stays for the second time counts for half: both must move (Illinois method).
        share = np.where((enough == before) & (number > 0), 0.5, 1.0)
        under, over = np.where(enough, under * share, off), np.where(enough, off, over * share)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        before = enough
    return instants_after_epoch(np.where(over >= 0, last + high, np.inf))


def _between(low: Floats, high: Floats, under: Floats, over: Floats, number: int) -> Floats:
    """Where a straight line meets the price, or half-way where there is none."""
    half = (low + high) / 2
    if number % _HALVE == _HALVE - 1:
        return half
    with np.errstate(divide="ignore", invalid="ignore"):
        line = low + (high - low) * (-under / (over - under))
    # A little beyond an end that is all but right: then the other end comes close, too.
    little = np.minimum(_FINE, (high - low) / 2)
    return np.where((line > low) & (line < high), np.clip(line, low + little, high - little), half)
