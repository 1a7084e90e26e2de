"""Where a stretch begins that was put into a sequence, where that is a matter of taste.

    A more C            was, and now is
    A more B more C     where either two may be new:

    A more [B more] C   as people see it: it begins with what is its own
    A [more B] more C   just as right, and hard to read

Pure.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.diff.alignment import Pair

_FARTHEST = 50  # items that a stretch is slid by


def settled(pairs: Sequence[Pair], old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """The same alignment, each stretch beginning with the rarest item that it may begin with.

    Examples:
        >>> settled([(0, 0), (1, 3), (2, 4)], "A m C".split(), "A m B m C".split())
        [(0, 0), (1, 1), (2, 4)]
    """
    put_in = _slid([(-1, -1), *pairs, (len(old), len(new))], new)
    taken_out = _slid([(other, one) for one, other in put_in], old)
    return [(other, one) for one, other in taken_out[1:-1]]


def _slid(pairs: Sequence[Pair], new: Sequence[str]) -> list[Pair]:
    """The same for stretches of `new` between neighbours of the other side; ends are pairs, too."""
    times = Counter(new)
    found = list(pairs)
    for row in range(1, len(found)):
        start, end = found[row - 1][1] + 1, found[row][1]
        if start == end or found[row][0] != found[row - 1][0] + 1:
            continue
        down, up = _down(found, row, new), _up(found, row, new)
        step = min(range(-up, down + 1), key=lambda step: (times[new[start + step]], abs(step)))
        for each in range(step):
            found[row + each] = (found[row + each][0], start + each)
        for each in range(-step):
            found[row - 1 - each] = (found[row - 1 - each][0], end - 1 - each)
    return found


def _down(pairs: Sequence[Pair], row: int, new: Sequence[str]) -> int:
    """By how many items the stretch before a pair can be slid down: it gives what it takes."""
    start, (other, end) = pairs[row - 1][1] + 1, pairs[row]
    most = min(_FARTHEST, len(pairs) - 1 - row)
    for step in range(most):
        if pairs[row + step] != (other + step, end + step) or new[start + step] != new[end + step]:
            return step
    return most


def _up(pairs: Sequence[Pair], row: int, new: Sequence[str]) -> int:
    """By how many items it can be slid up."""
    (one, last), end = pairs[row - 1], pairs[row][1]
    most = min(_FARTHEST, row - 1)
    for step in range(most):
        if (
            pairs[row - 1 - step] != (one - step, last - step)
            or new[last - step] != new[end - 1 - step]
        ):
            return step
    return most
