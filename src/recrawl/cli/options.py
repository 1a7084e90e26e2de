"""Parsing of option values.

Touches: the clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recrawl.errors import InvalidInput, InvalidInstant, InvalidParameter
from recrawl.units import SECONDS_A_DAY, days, instant

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALWAYS_THERE = ("page", "visited_at", "rate_per_day")  # columns
_COUNT = re.compile(r" *[0-9]{1,9} *")  # nobody makes more visits


def moment(text: str) -> datetime:
    """Parse an instant; the current time if the text is empty."""
    return instant(text) if text else datetime.now(UTC)


def past(text: str, name: str) -> float:
    """Epoch seconds of an instant (`2026-01-05`) or of a time ago (`3d`)."""
    words = text.strip()
    try:
        if words[:1].isdigit() and words[-1:].isalpha() and words[-1:] != "Z":
            return datetime.now(UTC).timestamp() - days(words) * SECONDS_A_DAY
        return instant(words).timestamp()
    except InvalidInput:
        message = f"{name} must be a time such as 2026-01-05, or 3d for 3 days ago (got {text!r})"
        raise InvalidInstant(message) from None


def renamed(pairs: Sequence[str], ours: Sequence[str], site: str = "") -> dict[str, str]:
    """Name in the file of each of our columns, from pairs such as `page=url`.

    Args:
        pairs: The pairs; `status=` says that the file has no such column.
        ours: Our columns.
        site: The file's column with the site of a page; empty if it has none.
    """
    names: dict[str, str] = {}
    for pair in pairs:
        name, found, theirs = pair.partition("=")
        if not found or name not in ours or (not theirs and name in _ALWAYS_THERE):
            raise InvalidParameter(
                f"column must look like OURS=THEIRS with OURS one of {', '.join(ours)} "
                f"(got {pair!r})"
            )
        if name in names or (theirs and theirs in names.values()):
            raise InvalidParameter(f"column {pair!r} is mapped twice (in {' '.join(pairs)!r})")
        names[name] = theirs
    return names | ({"site": site} if site else {})


def share(text: str, name: str) -> float:
    """Parse a share between 0 and 1, such as `0.2` or `20%`."""
    value = _percentage(text)
    if value is None or not 0 < value < 1:
        bounds = "" if value is None else ", above 0 and below 100 %"
        raise InvalidParameter(f"{name} must be a share such as 0.2 or 20%{bounds} (got {text!r})")
    return value


def fraction(text: str) -> float:
    """Parse a number that may be a percentage, for an option whose range its verb checks.

    >>> fraction("0.95"), fraction("95%")
    (0.95, 0.95)
    """
    value = _percentage(str(text))  # a default is a number already
    if value is None:
        import typer

        raise typer.BadParameter(f"must be a share such as 0.95 or 95% (got {text!r})")
    return value


def _percentage(text: str) -> float | None:
    """The number, of a percentage its hundredth; None where it is none."""
    words = text.strip()
    try:
        return float(words.removesuffix("%")) / (100 if words.endswith("%") else 1)
    except ValueError:
        return None


def counts(text: str) -> tuple[int, int]:
    """Changes and gaps, from `4/10`."""
    changes, _, gaps = text.partition("/")
    if not (_COUNT.fullmatch(changes) and _COUNT.fullmatch(gaps)):
        raise InvalidParameter(f"seen must look like 4/10, changes out of gaps (got {text!r})")
    return int(changes), int(gaps)
