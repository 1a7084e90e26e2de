"""When the value of a visit reaches the price.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Instants, Ints

_FIRST = 2.0**-10  # days, about a minute and a half
_FARTHEST = 2.0**17  # days, 359 years: beyond it a page counts as never due
_STRIDE = 8.0
_MOST_STEPS = 100
_FINE = 1e-11  # days: instants are no finer
_HALVE = 6  # every so many steps, whatever the curve looks like


def due_at_price(
    value_at: Callable[[Floats, Ints], Floats], last: Floats, price: float
) -> Instants:
    """Instants at which values that grow with time reach the price.

    Goes further and further until the value is reached, then closes in from both sides, by
    straight lines with halvings in between, to less than a microsecond. A page that is done is
    left alone, so that one that takes long does not cost the time of all.

    Args:
        value_at: Value of a visit to some pages, each so many days after 1970: takes the instants,
            and the rows of the pages among all.
        last: When each page was last visited, in days after 1970.
        price: What a visit must be worth.

    Returns:
        One instant per page, at its last visit where a visit is worth the price at once; NaT where
        it is not in 350 years.

    Examples:
        A value that grows by 2 a day reaches 3 after a day and a half, one that stays at 1 never:

        >>> def value_at(now, rows):
        ...     return np.where(rows == 0, 2 * now, 1.0)
        >>> due_at_price(value_at, np.zeros(2), 3.0)
        array(['1970-01-02T12:00:00.000000', 'NaT'], dtype='datetime64[us]')
    """
    every = np.arange(len(last))
    low, high = np.zeros(len(last)), np.full(len(last), _FIRST)
    under, over = np.full(len(last), -np.inf), value_at(last + high, every) - price
    while len(far := np.flatnonzero((over < 0) & (high < _FARTHEST))):
        low[far], under[far] = high[far], over[far]
        high[far] *= _STRIDE
        over[far] = value_at(last[far] + high[far], far) - price
    before = np.zeros(len(last), np.bool_)
    for number in range(_MOST_STEPS):
        rough = np.flatnonzero((high - low > _FINE + 1e-12 * high) & (over >= 0))
        if not len(rough):
            break
        middle = _between(low[rough], high[rough], under[rough], over[rough], number)
        off = value_at(last[rough] + middle, rough) - price
        enough = off >= 0
        # An end that stays for the second time counts for half: both must move (Illinois method).
        share = np.where((enough == before[rough]) & (number > 0), 0.5, 1.0)
        under[rough], over[rough] = (
            np.where(enough, under[rough] * share, off),
            np.where(enough, off, over[rough] * share),
        )
        low[rough], high[rough] = (
            np.where(enough, low[rough], middle),
            np.where(enough, middle, high[rough]),
        )
        before[rough] = enough
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
