r"""Patience diff: which items of two sequences are the same ones, in an order that both share.

An alignment is a list of pairs of equal items that do not cross. In each stretch between two pairs,
beginning with the whole of both sequences:

1. Equal items at both ends of the stretch are paired.
2. Items that occur once on both sides (`unique_pairs`) are hardly equal by chance. Where not all of
   them kept their order, those stay around which the most text stays: a heaviest increasing
   subsequence. They cut the stretch into smaller ones.
3. A stretch without such items gets a longest common subsequence where it is small enough, and else
   pairs the first "a" with the first "a", the second with the second, and so on.

Unlike patience diff as Bram Cohen first published it, step 2 weighs items instead of counting them,
and step 3 finds what is common where nothing is unique. Time is close to linear for any input.

Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import compress, count
from operator import ne
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Pair: TypeAlias = tuple[int, int]

_MOST_ROUNDS = 6  # stretches within stretches
# A table of this many bits takes about ten milliseconds and two megabytes.
_MOST_CELLS = 1 << 24
_FARTHEST_SLIDE = 50  # items


class Hunk(NamedTuple):
    """A stretch of two sequences in which they may differ: half-open ranges of both.

    Args:
        start: First item of the old sequence.
        end: First item after it.
        new_start: First item of the new sequence.
        new_end: First item after it.
    """

    start: int
    end: int
    new_start: int
    new_end: int


def patience_align(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Places of equal items, in the order of both sequences.

    Examples:
        >>> patience_align("a b c d".split(), "a c x d".split())
        [(0, 0), (2, 1), (3, 3)]
    """
    pairs: list[Pair] = []
    stretches = [(Hunk(0, len(old), 0, len(new)), 0)]
    while stretches:
        whole, depth = stretches.pop()
        hunk = trim(old, new, whole)
        pairs += zip(
            range(whole.start, hunk.start), range(whole.new_start, hunk.new_start), strict=True
        )
        pairs += zip(range(hunk.end, whole.end), range(hunk.new_end, whole.new_end), strict=True)
        if hunk.start == hunk.end or hunk.new_start == hunk.new_end:
            continue
        found, final = _anchors(old[hunk.start : hunk.end], new[hunk.new_start : hunk.new_end])
        anchors = [(hunk.start + one, hunk.new_start + other) for one, other in found]
        pairs += anchors
        if final or depth == _MOST_ROUNDS:
            continue
        start, new_start = hunk.start, hunk.new_start
        for end, new_end in (*anchors, (hunk.end, hunk.new_end)):
            if start < end and new_start < new_end:
                stretches.append((Hunk(start, end, new_start, new_end), depth + 1))
            start, new_start = end + 1, new_end + 1
    return sorted(pairs)


def hunks_between(pairs: Iterable[Pair], lengths: Pair) -> Iterator[Hunk]:
    """What lies between the pairs of an alignment, without the empty stretches.

    >>> list(hunks_between([(0, 0), (2, 1)], (3, 3)))
    [Hunk(start=1, end=2, new_start=1, new_end=1), Hunk(start=3, end=3, new_start=2, new_end=3)]
    """
    start = new_start = 0
    for end, new_end in (*pairs, lengths):
        if start < end or new_start < new_end:
            yield Hunk(start, end, new_start, new_end)
        start, new_start = end + 1, new_end + 1


def runs(pairs: Sequence[Pair]) -> Iterator[tuple[int, int, int]]:
    """Runs of pairs that follow each other on both sides: where each begins, and its length.

    >>> list(runs([(0, 0), (1, 1), (3, 2)]))
    [(0, 0, 2), (3, 2, 1)]
    """
    begin = 0
    for row in range(1, len(pairs) + 1):
        one, other = pairs[row - 1]
        if row == len(pairs) or pairs[row] != (one + 1, other + 1):
            yield (*pairs[begin], row - begin)
            begin = row


def trim(old: Sequence[str], new: Sequence[str], hunk: Hunk) -> Hunk:
    """A hunk without the equal items that both of its sides begin and end with.

    >>> trim("abcd", "axd", Hunk(0, 4, 0, 3))
    Hunk(start=1, end=3, new_start=1, new_end=2)
    """
    start, end, new_start, new_end = hunk
    old, new = old[start:end], new[new_start:new_end]
    least = min(len(old), len(new))
    first = next(compress(count(), map(ne, old, new)), least)
    last = next(compress(count(), map(ne, reversed(old), reversed(new))), least)
    last = min(last, least - first)
    return Hunk(start + first, end - last, new_start + first, new_end - last)


def unique_rows(items: Sequence[str]) -> dict[str, int]:
    """Items that occur once, and where.

    >>> unique_rows("abca")
    {'b': 1, 'c': 2}
    """
    rows = dict(zip(items, range(len(items)), strict=True))
    if len(rows) == len(items):
        return rows
    times = Counter(items)
    return {item: row for item, row in rows.items() if times[item] == 1}


def unique_pairs(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Places of items that occur once on both sides, in the order of the old one; they may cross.

    >>> unique_pairs("abcc", "cba")
    [(0, 2), (1, 1)]
    """
    if set(old).isdisjoint(new):
        return []
    rows = unique_rows(new)
    return [(row, rows[item]) for item, row in unique_rows(old).items() if item in rows]


def longest_increasing_subsequence(pairs: Sequence[Pair]) -> list[Pair]:
    """The most pairs whose second numbers increase, of pairs in the order of their first numbers.

    >>> longest_increasing_subsequence([(0, 5), (1, 2), (2, 9), (3, 3), (4, 4)])
    [(1, 2), (3, 3), (4, 4)]
    """
    ends: list[int] = []  # by length, the smallest number that a subsequence can end with
    rows: list[int] = []  # the pair that has it
    before: list[int] = []  # for each pair the one before it in its subsequence
    for row, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        rows[length : length + 1] = [row]
    return [pairs[row] for row in _traced(rows[-1] if rows else -1, before)]


def heaviest_increasing_subsequence(numbers: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Places of numbers, no two of them equal, that increase and together weigh the most.

    >>> heaviest_increasing_subsequence([3, 1, 2], [5, 1, 1])
    [0]
    >>> heaviest_increasing_subsequence([3, 1, 2], [5, 3, 3])
    [1, 2]
    """
    rank = {number: row for row, number in enumerate(sorted(numbers), start=1)}
    # A Fenwick tree of maxima: the heaviest subsequence that ends with a number of some rank or a
    # lower one, as its weight in the high bits and the place of its end (from 1) in the low ones.
    tree = [0] * (len(numbers) + 1)
    bits = len(numbers).bit_length()
    before: list[int] = []
    heaviest = 0
    for place, number in enumerate(numbers):
        found = 0
        row = rank[number] - 1
        while row:
            found = max(found, tree[row])
            row &= row - 1
        before.append((found & (1 << bits) - 1) - 1)
        found = (found >> bits) + weights[place] << bits | place + 1
        heaviest = max(heaviest, found)
        row = rank[number]
        while row < len(tree):
            tree[row] = max(tree[row], found)
            row += row & -row
    return _traced((heaviest & (1 << bits) - 1) - 1, before)


def longest_common_subsequence(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    r"""Pairs of a longest common subsequence, by a bit-parallel table.

    With $L_i(j)$ for the length of one of the first $i$ items of `old` and the first $j$ of `new`,
    $L_i(j) - L_i(j - 1)$ is 0 or 1. A row of these, as the bits of one number, follows from the row
    before by a sum: a carry runs from each place where the items are equal to where the length
    would have risen next.

    References:
        Hyyrö (2004). Bit-parallel LCS-length computation revisited. Proceedings of the 15th
        Australasian Workshop on Combinatorial Algorithms, 16-27.

    Examples:
        >>> longest_common_subsequence("abcbdab", "bdcaba")
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
    # Back from the last cell: left to where the length rose, then up while it had risen already.
    pairs, column = [], len(new) - 1
    for number in range(len(old) - 1, -1, -1):
        column = (~flat[number + 1] & (1 << column + 1) - 1).bit_length() - 1
        if column < 0:
            break
        if flat[number] >> column & 1:
            pairs.append((number, column))
            column -= 1
    return pairs[::-1]


def slide(pairs: Sequence[Pair], old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """The same alignment, each inserted or deleted block slid to where people would put it.

    After `A more C` became `A more B more C`, either `B more` or `more B` may be called new; both
    are right. A block begins with the rarest item that it can begin with: `A more [B more] C`. Git
    calls such blocks sliders.

    Examples:
        >>> slide([(0, 0), (1, 3), (2, 4)], "A m C".split(), "A m B m C".split())
        [(0, 0), (1, 1), (2, 4)]
    """
    inserted = _slid([(-1, -1), *pairs, (len(old), len(new))], new)
    deleted = _slid([(other, one) for one, other in inserted], old)
    return [(other, one) for one, other in deleted[1:-1]]


def _traced(last: int, before: Sequence[int]) -> list[int]:
    """From the last row of a chain back to its first, in ascending order."""
    found = []
    while last >= 0:
        found.append(last)
        last = before[last]
    return found[::-1]


def _anchors(old: Sequence[str], new: Sequence[str]) -> tuple[list[Pair], bool]:
    """Pairs that cut a stretch, and whether nothing more can be paired between them."""
    common = set(old).intersection(new)
    if not common:
        return [], True
    pairs = unique_pairs(old, new)
    if pairs:
        return _staying(pairs, old, new), False
    rows = [row for row, item in enumerate(old) if item in common]
    rows_new = [row for row, item in enumerate(new) if item in common]
    if len(rows) * len(rows_new) <= _MOST_CELLS:
        found = longest_common_subsequence(
            [old[row] for row in rows], [new[row] for row in rows_new]
        )
        return [(rows[one], rows_new[other]) for one, other in found], True
    return _by_occurrence(old, new), False


def _staying(pairs: Sequence[Pair], old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Unique pairs that stay in place if as little text as possible is said to have moved."""
    blocks: list[list[Pair]] = []  # of pairs within one stretch that is equal on both sides
    weights: list[int] = []
    end = offset = -1
    for one, other in pairs:
        if blocks and one < end and other - one == offset:
            blocks[-1].append((one, other))
            continue
        start, end = _equal_around(one, other, old, new)
        offset = other - one
        blocks.append([(one, other)])
        weights.append(sum(1 + len(item) for item in old[start:end]))
    staying = heaviest_increasing_subsequence([block[0][1] for block in blocks], weights)
    return [pair for row in staying for pair in blocks[row]]


def _equal_around(one: int, other: int, old: Sequence[str], new: Sequence[str]) -> Pair:
    """Where in `old` the stretch around a pair begins and ends that is equal on both sides."""
    start, end = one, one + 1
    offset = other - one
    while start and start + offset and old[start - 1] == new[start + offset - 1]:
        start -= 1
    while end < len(old) and end + offset < len(new) and old[end] == new[end + offset]:
        end += 1
    return start, end


def _by_occurrence(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Pairs of the first occurrence of an item with its first, the second with its second, ..."""
    places: dict[str, list[int]] = {}
    for row in range(len(new) - 1, -1, -1):
        places.setdefault(new[row], []).append(row)
    pairs = [(row, places[item].pop()) for row, item in enumerate(old) if places.get(item)]
    return longest_increasing_subsequence(pairs)


def _slid(pairs: Sequence[Pair], new: Sequence[str]) -> list[Pair]:
    """Pairs after blocks of `new` were slid that lie between two neighbours of the other side.

    The first and the last pair stand for what is before and after both sequences.
    """
    times = Counter(new)
    found = list(pairs)
    for row in range(1, len(found)):
        start, end = found[row - 1][1] + 1, found[row][1]
        if start == end or found[row][0] != found[row - 1][0] + 1:
            continue
        down, up = _room_below(found, row, new), _room_above(found, row, new)
        step = min(range(-up, down + 1), key=lambda step: (times[new[start + step]], abs(step)))
        for each in range(step):
            found[row + each] = (found[row + each][0], start + each)
        for each in range(-step):
            found[row - 1 - each] = (found[row - 1 - each][0], end - 1 - each)
    return found


def _room_below(pairs: Sequence[Pair], row: int, new: Sequence[str]) -> int:
    """By how many items the block before a pair can slide down: each that it takes, it gives."""
    start, (other, end) = pairs[row - 1][1] + 1, pairs[row]
    most = min(_FARTHEST_SLIDE, len(pairs) - 1 - row)
    for step in range(most):
        if pairs[row + step] != (other + step, end + step) or new[start + step] != new[end + step]:
            return step
    return most


def _room_above(pairs: Sequence[Pair], row: int, new: Sequence[str]) -> int:
    """By how many items it can slide up."""
    (one, last), end = pairs[row - 1], pairs[row][1]
    most = min(_FARTHEST_SLIDE, row - 1)
    for step in range(most):
        if (
            pairs[row - 1 - step] != (one - step, last - step)
            or new[last - step] != new[end - 1 - step]
        ):
            return step
    return most
