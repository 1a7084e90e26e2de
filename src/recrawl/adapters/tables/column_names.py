"""Names of columns as people write them: which one is meant, and whether they are names at all.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.errors import InvalidInstant
from recrawl.units import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_LEAST = 3  # letters by which a part of a name is told
_MARKS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")
_ADDRESS = re.compile(r"/|[a-z]+://", re.IGNORECASE)


def plain_name(name: str) -> str:
    """A column's name without what people vary in it: case, blanks and marks.

    >>> plain_name(" Content-Hash"), plain_name("Changed?")
    ('content_hash', 'changed')
    """
    return _MARKS.sub("_", name.lower()).strip("_")


def likely_name(header: Sequence[str], usual: Sequence[str], taken: Collection[str]) -> str:
    """The only column whose name is like one of the usual ones; empty for none, or several.

    Args:
        header: Names of the columns.
        usual: Names that the column usually has, the most usual ones first.
        taken: Names that are of other columns.

    >>> likely_name(["url", "t", "changed"], ["visited_at", "time"], ["url", "changed"])
    't'
    """
    found = [
        name
        for name in dict.fromkeys(header)
        if name not in taken and _is_like(plain_name(name), usual)
    ]
    return found[0] if len(found) == 1 else ""


def _is_like(name: str, usual: Sequence[str]) -> bool:
    """Whether a name has a part of a usual one in it, or is how one of the first two begins."""
    parts = [part for each in usual for part in each.split("_") if len(part) >= _LEAST]
    short = name != "" and any(each.startswith(name) for each in usual[:2])
    return short or any(part in name for part in parts)


def looks_like_data(header: Sequence[str]) -> bool:
    """Whether what should be names of columns is a row: it has a time, a number or an address.

    >>> looks_like_data(["/a", "2026-01-01", ""]), looks_like_data(["url", "t", "changed"])
    (True, False)
    """
    return any(map(_is_value, header))


def _is_value(name: str) -> bool:
    if _NUMBER.fullmatch(name) or _ADDRESS.match(name):
        return True
    if not name[:1].isdigit():
        return False
    try:
        instant(name)
    except InvalidInstant:
        return False
    return True
