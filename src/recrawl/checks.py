"""Checks of numbers and names that callers choose, with one wording for all of them.

Each takes parameters by name and raises `InvalidParameter` for the first that is wrong. Comparisons
are written so that nan fails them.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterable

_WHOLE = 100  # per cent


def check_positive(**parameters: float) -> None:
    """Check that parameters are positive and finite.

    >>> check_positive(share=0.5, gap=-1.0)
    Traceback (most recent call last):
    recrawl.errors.InvalidParameter: gap must be a positive, finite number (got -1.0)
    """
    for name, value in parameters.items():
        if not 0 < value < inf:
            raise InvalidParameter(f"{name} must be a positive, finite number (got {value})")


def check_fraction(**parameters: float) -> None:
    """Check that parameters lie strictly between 0 and 1.

    >>> check_fraction(level=95)
    Traceback (most recent call last):
    recrawl.errors.InvalidParameter: level must be between 0 and 1 (got 95); write 0.95 for 95 %
    """
    for name, value in parameters.items():
        if not 0 < value < 1:
            meant = f"; write {value / 100:g} for {value:g} %" if 1 < value < _WHOLE else ""
            raise InvalidParameter(f"{name} must be between 0 and 1 (got {value}){meant}")


def check_at_least(least: float, **parameters: float) -> None:
    """Check that parameters are not below a bound."""
    for name, value in parameters.items():
        if not value >= least:
            raise InvalidParameter(f"{name} must be at least {least:g} (got {value})")


def check_order(**parameters: float) -> None:
    """Check that parameters are positive and rise in the order given."""
    check_positive(**parameters)
    values = list(parameters.values())
    if values != sorted(values):
        names = ", ".join(parameters)
        raise InvalidParameter(f"{names} must increase in this order (got {values})")


def check_choice(choices: Iterable[str], **parameters: str) -> None:
    """Check that parameters are among the names that there are.

    >>> check_choice(("half", "none"), singularity="all")
    Traceback (most recent call last):
    recrawl.errors.InvalidParameter: singularity must be one of half, none (got 'all')
    """
    names = list(choices)
    for name, value in parameters.items():
        if value not in names:
            raise InvalidParameter(f"{name} must be one of {', '.join(names)} (got {value!r})")
