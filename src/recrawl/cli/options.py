"""What people type, as values; wrong words are refused in one sentence.

Touches: the clock.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter
from recrawl.units import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def moment(text: str) -> datetime:
    """Instant a person means; the present where they say nothing."""
    return instant(text) if text else datetime.now(UTC)


def size(text: str) -> int:
    """Bytes in a size such as `500M` or `2G`."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or not 0 < float(match[1]) < math.inf:
        message = f"memory must look like 500M or 2G (got {text!r})"
        raise InvalidParameter(message)
    return int(float(match[1]) * _UNITS[match[2].upper()])


def renamed(pairs: Sequence[str], ours: Sequence[str]) -> dict[str, str]:
    """Their name of each of our columns, from words such as `page=url`."""
    names: dict[str, str] = {}
    for pair in pairs:
        name, found, theirs = pair.partition("=")
        if not found or not theirs or name not in ours:
            message = (
                f"column must look like OURS=THEIRS with OURS one of {', '.join(ours)} "
                f"(got {pair!r})"
            )
            raise InvalidParameter(message)
        if name in names or theirs in names.values():
            message = f"column must be named once each (got {pair!r} after {' '.join(pairs)})"
            raise InvalidParameter(message)
        names[name] = theirs
    return names
