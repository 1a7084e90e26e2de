"""Figures as people read them.

Pure.
"""

from __future__ import annotations

import math

from recrawl.units import duration


def every(days: float) -> str:
    """Mean interval in words; a dash where there is none.

    >>> [every(0.25), every(float("inf")), every(float("nan"))]
    ['6.0h', 'never', '-']
    """
    return "-" if math.isnan(days) else duration(days)


def percent(share: float) -> str:
    """Share in per cent; a dash where there is none.

    >>> [percent(0.256), percent(0.0004), percent(float("nan"))]
    ['26 %', '0 %', '-']
    """
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"
