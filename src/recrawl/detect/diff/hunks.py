"""Where two readings of a page differ, in time linear in their lines but for sorting.

Lines that both have once, and that no other such line has crossed, hold the readings together; what
lies between two of them is one place. So lines that were shuffled are one place, and not a hundred.
Where few lines have crossed many, those that kept their order hold it together instead.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.detect.diff.alignment import rising
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pairs = list[tuple[int, int]]

# Larger places are cut at lines that kept their order, if these are most of those they have in
# common; the largest always.
_LARGE, _LARGEST = 12, 60
_MOST_MOVED = 0.25
_MOST_KIN = 3  # lines that are the same by chance, one after another


@dataclass(frozen=True, slots=True)
class Hunk:
    """A place where two readings differ: lines `start` to `end` of one, and of the other.

    Args:
        start: First line of it in the first reading.
        end: First line after it.
        other_start: First line of it in the second reading.
        other_end: First line after it.
    """

    start: int
    end: int
    other_start: int
    other_end: int


def hunks(first: Sequence[str], second: Sequence[str]) -> list[Hunk]:
    """Where two readings differ, from top to bottom.

    >>> found = hunks(("a", "x", "c", "d", "e"), ("a", "y", "c", "e", "d"))
    >>> [(hunk.start, hunk.end) for hunk in found]
    [(1, 2), (3, 5)]
    """
    found = []
    for place in _between(first, second, _uncrossed):
        one = first[place.start : place.end]
        other = second[place.other_start : place.other_end]
        if min(len(one), len(other)) > _LARGE:
            pairs = _once(one, other)
            kept = rising(pairs)
            if len(one) > _LARGEST or len(pairs) - len(kept) <= _MOST_MOVED * len(pairs):
                inside = _between(one, other, partial(_all, kept))
                found += [_lower(hunk, place.start, place.other_start) for hunk in inside]
                continue
        found.append(place)
    return _with_kin(first, found)


def kind_of(line: str) -> str:
    """Where a line that begins with a link leads, but for the last part; empty for other lines.

    >>> kind_of(f"{LINK}/read/12?page=2 More") == f"{LINK}/read", kind_of("More")
    (True, '')
    """
    if not line.startswith(LINK):
        return ""
    path = line.partition(" ")[0].partition("?")[0]
    return path.rpartition("/")[0] or LINK


def _with_kin(first: Sequence[str], found: list[Hunk]) -> list[Hunk]:
    """Hunks joined where all that is the same between them is links of their own kind.

    Of a few links drawn from many, some are there by chance in both readings.
    """
    kept: list[Hunk] = []
    for hunk in found:
        if kept:
            last = kept[-1]
            near = first[max(last.start, last.end - 1) : last.end], first[hunk.start : hunk.end][:1]
            kinds = {kind_of(line) for lines in near for line in lines} - {""}
            between = first[last.end : hunk.start]
            if len(between) <= _MOST_KIN and all(kind_of(line) in kinds for line in between):
                kept[-1] = Hunk(last.start, hunk.end, last.other_start, hunk.other_end)
                continue
        kept.append(hunk)
    return kept


def _between(
    first: Sequence[str], second: Sequence[str], choose: Callable[[Pairs], Pairs]
) -> list[Hunk]:
    pairs = choose(_once(first, second))
    found = []
    start = other_start = 0
    for end, other_end in (*pairs, (len(first), len(second))):
        hunk = _trimmed(first, second, Hunk(start, end, other_start, other_end))
        if hunk.start < hunk.end or hunk.other_start < hunk.other_end:
            found.append(hunk)
        start, other_start = end + 1, other_end + 1
    return found


def _once(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """Places of the lines that both readings have once, in the order of the first."""
    one, other = Counter(first), Counter(second)
    places = {line: place for place, line in enumerate(second) if other[line] == 1}
    return [
        (place, places[line])
        for place, line in enumerate(first)
        if one[line] == 1 and line in places
    ]


def _uncrossed(pairs: Pairs) -> Pairs:
    least_after = []
    least = 1 << 62
    for _, other in reversed(pairs):
        least_after.append(least)
        least = min(least, other)
    kept = []
    most = -1
    for pair, after in zip(pairs, reversed(least_after), strict=True):
        if most < pair[1] < after:
            kept.append(pair)
        most = max(most, pair[1])
    return kept


def _trimmed(first: Sequence[str], second: Sequence[str], hunk: Hunk) -> Hunk:
    start, end, other_start, other_end = hunk.start, hunk.end, hunk.other_start, hunk.other_end
    while start < end and other_start < other_end and first[start] == second[other_start]:
        start, other_start = start + 1, other_start + 1
    while start < end and other_start < other_end and first[end - 1] == second[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    return Hunk(start, end, other_start, other_end)


def _all(kept: Pairs, _: Pairs) -> Pairs:
    return kept


def _lower(hunk: Hunk, down: int, other_down: int) -> Hunk:
    return Hunk(
        hunk.start + down,
        hunk.end + down,
        hunk.other_start + other_down,
        hunk.other_end + other_down,
    )
