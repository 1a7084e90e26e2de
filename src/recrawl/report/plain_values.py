"""Figures and instants as JSON has them: None where there is none.

Pure.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from recrawl.units import instant_after_epoch

_DIGITS = 6


def plain_figure(value: float) -> float | None:
    """A figure with six digits.

    >>> [plain_figure(2 / 3), plain_figure(float("inf"))]
    [0.666667, None]
    """
    return float(f"{value:.{_DIGITS}g}") if isfinite(value) else None


def plain_instant(day: float) -> str | None:
    """The instant some days after 1970, in UTC.

    >>> [plain_instant(20_000.5), plain_instant(float("inf"))]
    ['2024-10-04T12:00:00Z', None]
    """
    instant = instant_after_epoch(day)
    if np.isnat(instant):
        return None
    return str(np.datetime_as_string(instant, unit="s", timezone="UTC"))
