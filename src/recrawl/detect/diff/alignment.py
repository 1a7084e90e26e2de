"""Which items of two sequences stand for each other, in the order of both.

Equal items are paired so that no two pairs cross. Common beginnings and ends come first, then items
that are there once on both sides, which are hardly equal by chance; where not all can keep their
order, those do around which the most stays. Between these the longest common subsequence is found
where it can be had cheaply, and else one that is long enough.

Time grows hardly faster than the length, whatever the items are.

Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Pair: TypeAlias = tuple[int, int]

# Between items of which there is one each there are others within the gap, and so on.
_DEEPEST = 6
# A table of so many bits takes about ten milliseconds and two megabytes.
_MOST_CELLS = 1 << 24


def aligned(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Places of items that are equal, in the order of both sequences.

    Examples:
        >>> aligned("a b c d".split(), "a c x d".split())
        [(0, 0), (2, 1), (3, 3)]
    """
    pairs: list[Pair] = []
    gaps = [((0, 0), (len(old), len(new)), 0)]
    while gaps:
        (start, start_new), (end, end_new), depth = gaps.pop()
        while start < end and start_new < end_new and old[start] == new[start_new]:
            pairs.append((start, start_new))
            start, start_new = start + 1, start_new + 1
        while start < end and start_new < end_new and old[end - 1] == new[end_new - 1]:
            end, end_new = end - 1, end_new - 1
            pairs.append((end, end_new))
        if start == end or start_new == end_new:
            continue
        found, final = _anchors(old[start:end], new[start_new:end_new])
        anchors = [(start + one, start_new + other) for one, other in found]
        if final or depth == _DEEPEST:
            pairs += anchors
            continue
        # Each anchor is the beginning of the gap after it, where it is paired.
        edges = [(start, start_new), *anchors, (end, end_new)]
        gaps += [(one, other, depth + 1) for one, other in pairwise(edges)]
    return sorted(pairs)


def _anchors(old: Sequence[str], new: Sequence[str]) -> tuple[list[Pair], bool]:
    """Pairs to go by, and whether there can be no others between them."""
    count, count_new = Counter(old), Counter(new)
    single = {item for item, times in count.items() if times == count_new.get(item) == 1}
    if single:
        place = {item: row for row, item in enumerate(new) if item in single}
        pairs = [(row, place[item]) for row, item in enumerate(old) if item in single]
        return _staying(pairs, old, new), False
    rows = [row for row, item in enumerate(old) if item in count_new]
    rows_new = [row for row, item in enumerate(new) if item in count]
    if len(rows) * len(rows_new) <= _MOST_CELLS:
        common = longest([old[row] for row in rows], [new[row] for row in rows_new])
        return [(rows[one], rows_new[other]) for one, other in common], True
    return _by_rank(old, new), False


def _staying(pairs: Sequence[Pair], old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Of pairs of items that are there once those that stay if as little as need be moves."""
    blocks: list[list[Pair]] = []
    weights: list[int] = []
    reach = offset = -1
    for one, other in pairs:
        if blocks and one < reach and other - one == offset:
            blocks[-1].append((one, other))
            continue
        start, reach = _around(one, other, old, new)
        offset = other - one
        blocks.append([(one, other)])
        weights.append(sum(1 + len(item) for item in old[start:reach]))
    kept = heaviest([block[0][1] for block in blocks], weights)
    return [pair for row in kept for pair in blocks[row]]


def _around(one: int, other: int, old: Sequence[str], new: Sequence[str]) -> Pair:
    """Where in `old` the stretch around a pair begins and ends that is equal on both sides."""
    start, end = one, one + 1
    offset = other - one
    while start and start + offset and old[start - 1] == new[start + offset - 1]:
        start -= 1
    while end < len(old) and end + offset < len(new) and old[end] == new[end + offset]:
        end += 1
    return start, end


def heaviest(numbers: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Places of numbers, no two of them equal, that rise and weigh the most together.

    >>> heaviest([3, 1, 2], [5, 1, 1]), heaviest([3, 1, 2], [5, 3, 3])
    ([0], [1, 2])
    """
    rank = {number: row for row, number in enumerate(sorted(numbers), start=1)}
    # A tree of the heaviest rise that ends at a rank or before; each with the place of its end.
    tree = [(0, -1)] * (len(numbers) + 1)
    before: list[int] = []
    best = (0, -1)
    for place, number in enumerate(numbers):
        row = rank[number] - 1
        heaviest_before = (0, -1)
        while row:
            heaviest_before = max(heaviest_before, tree[row])
            row &= row - 1
        before.append(heaviest_before[1])
        found = (heaviest_before[0] + weights[place], place)
        best = max(best, found)
        row = rank[number]
        while row < len(tree):
            tree[row] = max(tree[row], found)
            row += row & -row
    chosen = []
    place = best[1]
    while place >= 0:
        chosen.append(place)
        place = before[place]
    return chosen[::-1]


def _by_rank(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Pairs of the first of each item with the first of the other side, the second, and so on."""
    places: dict[str, list[int]] = {}
    for row in range(len(new) - 1, -1, -1):
        places.setdefault(new[row], []).append(row)
    pairs = [(row, places[item].pop()) for row, item in enumerate(old) if places.get(item)]
    return rising(pairs)


def rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The most pairs whose second numbers rise; their first ones must.

    >>> rising([(0, 5), (1, 2), (2, 9), (3, 3), (4, 4)])
    [(1, 2), (3, 3), (4, 4)]
    """
    ends: list[int] = []  # smallest second number that a rise of each length can end with
    rows: list[int] = []  # the pair that has it
    before: list[int] = []  # for each pair the one before it in its rise
    for row, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        rows[length : length + 1] = [row]
    chosen = []
    row = rows[-1] if rows else -1
    while row >= 0:
        chosen.append(pairs[row])
        row = before[row]
    return chosen[::-1]


def longest(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    r"""Pairs of a longest common subsequence.

    With $L_i(j)$ for the length of one of the first $i$ items of `old` and the first $j$ of `new`,
    $L_i(j) - L_i(j - 1)$ is 0 or 1. A row of these, as the bits of one number, follows from the row
    before by a sum: a carry runs from each place where the items are equal to where the length
    would have risen next.

    References:
        Hyyrö (2004). Bit-parallel LCS-length computation revisited. Proceedings of the 15th
        Australasian Workshop on Combinatorial Algorithms, 16-27.

    Examples:
        >>> longest("abcbdab", "bdcaba")
        [(1, 0), (4, 1), (5, 3), (6, 4)]
    """
    where: dict[str, int] = {}
    for column, item in enumerate(new):
        where[item] = where.get(item, 0) | 1 << column
    ones = (1 << len(new)) - 1
    flat = [ones]  # bits of columns in which the length does not rise
    for item in old:
        row = flat[-1]
        equal = row & where.get(item, 0)
        flat.append((row + equal | row - equal) & ones)
    pairs, column = [], len(new) - 1
    for number in range(len(old) - 1, -1, -1):
        # Beyond the last rise nothing is lost by going left, while it was there a row before, up.
        column = (~flat[number + 1] & (1 << column + 1) - 1).bit_length() - 1
        if column < 0:
            break
        if flat[number] >> column & 1:
            pairs.append((number, column))
            column -= 1
    return pairs[::-1]
