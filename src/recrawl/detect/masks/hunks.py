"""Where two fetches of a page differ: the stretches between lines that hold them together.

This is the first round of patience diff, and a stricter one: only unique lines hold that no other
unique line has crossed. So five links in another order are one stretch, to be masked as one, where
an alignment would keep some of them and call the others moved. In a large stretch the longest
increasing subsequence of unique lines holds, if few lines have left it.

Time is linear in the lines, except for sorting.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.detect.diff.patience import (
    Hunk,
    hunks_between,
    longest_increasing_subsequence,
    trim,
    unique_pairs,
)
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.diff.patience import Pair

_LARGE = 12  # lines of a stretch that is cut at what kept its order, if most lines did
_MOST_MOVED = 0.25  # share of unique lines that may have left it
_LARGEST = 60  # lines of a stretch that is always cut
_MOST_CHANCE_LINKS = 3  # links that two draws from many have in common by chance, one by one


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Where two fetches differ, from top to bottom.

    >>> found = hunks(("a", "x", "c", "d", "e"), ("a", "y", "c", "e", "d"))
    >>> [(hunk.start, hunk.end) for hunk in found]
    [(1, 2), (3, 5)]
    """
    whole = Hunk(0, len(old), 0, len(new))
    found: list[Hunk] = []
    for hunk in _cut(old, new, whole, _uncrossed(unique_pairs(old, new))):
        if min(hunk.end - hunk.start, hunk.new_end - hunk.new_start) > _LARGE:
            pairs = unique_pairs(old[hunk.start : hunk.end], new[hunk.new_start : hunk.new_end])
            in_order = longest_increasing_subsequence(pairs)
            few_moved = len(pairs) - len(in_order) <= _MOST_MOVED * len(pairs)
            if few_moved or hunk.end - hunk.start > _LARGEST:
                found += _cut(old, new, hunk, in_order)
                continue
        found.append(hunk)
    return _joined_by_links(old, found)


def link_directory(line: str) -> str:
    """Target of the link that a line begins with, up to its last `/`; empty for other lines.

    >>> link_directory(f"{LINK}/read/12?page=2 More") == f"{LINK}/read", link_directory("More")
    (True, '')
    """
    if not line.startswith(LINK):
        return ""
    path = line.partition(" ")[0].partition("?")[0]
    return path.rpartition("/")[0] or LINK


def _cut(old: Sequence[str], new: Sequence[str], hunk: Hunk, pairs: Sequence[Pair]) -> list[Hunk]:
    """A hunk cut at pairs, whose places count from its beginning; what is equal is left out."""
    down, down_new = hunk.start, hunk.new_start
    found = []
    for part in hunks_between(pairs, (hunk.end - down, hunk.new_end - down_new)):
        start, end, new_start, new_end = part
        moved = Hunk(start + down, end + down, new_start + down_new, new_end + down_new)
        left = trim(old, new, moved)
        if left.start < left.end or left.new_start < left.new_end:
            found.append(left)
    return found


def _uncrossed(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs that no other pair crosses: all before them lie before them on the other side, too."""
    least_after = []
    least = 1 << 62
    for _, other in reversed(pairs):
        least_after.append(least)
        least = min(least, other)
    found = []
    most_before = -1
    for pair, after in zip(pairs, reversed(least_after), strict=True):
        if most_before < pair[1] < after:
            found.append(pair)
        most_before = max(most_before, pair[1])
    return found


def _joined_by_links(old: Sequence[str], found: list[Hunk]) -> list[Hunk]:
    """Hunks joined where only links of their own directory are the same between them.

    Of a few links drawn from many, some are in both fetches by chance.
    """
    joined: list[Hunk] = []
    for hunk in found:
        if joined:
            last = joined[-1]
            beside = (
                *old[max(last.start, last.end - 1) : last.end],
                *old[hunk.start : hunk.end][:1],
            )
            directories = set(map(link_directory, beside)) - {""}
            between = old[last.end : hunk.start]
            if len(between) <= _MOST_CHANCE_LINKS and all(
                link_directory(line) in directories for line in between
            ):
                joined[-1] = Hunk(last.start, hunk.end, last.new_start, hunk.new_end)
                continue
        joined.append(hunk)
    return joined
