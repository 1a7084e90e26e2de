"""Which lines of two versions of a page stand for each other: the same, changed, moved.

First what is the same in the same order. Of the lines left, blocks that are found elsewhere have
moved, if they say enough to be known again; lines between the same neighbours that read alike have
changed; and then whatever else can be known again elsewhere, word for word or nearly so, has moved,
too. A short line that a page repeats, such as "Read more", is not known again: it comes and goes.

Time is bounded: where lines could be compared with too many others they are compared with fewer.

Pure.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from recrawl.detect.diff.alignment import aligned, rising
from recrawl.detect.diff.edits import alike, words_in
from recrawl.detect.diff.sliding import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.detect.diff.alignment import Pair

# A block of fewer bytes may well be another one that reads the same, such as a figure in a table.
_TELLING_BYTES = 24
_ALIKE = 0.5  # of the words of two lines, for one to be the other changed
_ALIKE_ELSEWHERE = 0.6  # and for one to be the other moved and changed
_FEWEST_WORDS = 5  # of a line that can be known again elsewhere though it changed
_FEW_WORDS = 3  # of lines that may change as a whole, such as a price
_ALIKE_BY_PLACE = 0.01  # less than any likeness that counts: the last resort
_MOST_PAIRS = 400  # of lines in a gap that are all compared with each other
# Words looked at to compare lines: about a second or two.
_MOST_LOOKS = 3_000_000


class Paired(NamedTuple):
    """Lines that stand for each other.

    Args:
        partner: For each old line the new one that stands for it; -1 for none.
        moved: Old lines whose partner is elsewhere.
    """

    partner: list[int]
    moved: set[int]


def paired(old: Sequence[str], new: Sequence[str]) -> Paired:
    """Lines of two versions that stand for each other.

    Examples:
        A line has changed, and another has moved:

        >>> old = ["Tea of the first picking", "From Japan", "Costs 5 euros", "Sold by weight"]
        >>> new = ["Sold by weight", "Tea of the first picking", "From Japan", "Costs 6 euros"]
        >>> paired(old, new)
        Paired(partner=[1, 2, 3, 0], moved={3})
    """
    search = _Search(old, new)
    in_order = settled(aligned(old, new), old, new)
    search.pair(in_order)
    search.find_blocks()
    search.find_changed(in_order)
    search.find_rest()
    search.find_alike()
    search.widen()
    return Paired(search.partner, search.moved)


class _Search:
    """Lines and the partners found so far."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self.partner = [-1] * len(old)
        self.moved: set[int] = set()
        self._old, self._new = old, new
        self._partner_new = [-1] * len(new)
        self._looks = _MOST_LOOKS
        self._counts: dict[str, Counter[str]] = {}
        self._elsewhere: set[str] = set()

    def pair(self, pairs: Iterable[Pair], *, moved: bool = False) -> None:
        """Make partners of lines."""
        for one, other in pairs:
            self.partner[one] = other
            self._partner_new[other] = one
            if moved:
                self.moved.add(one)

    def find_blocks(self) -> None:
        """Pair blocks that moved and say enough, grown from lines that are left once each."""
        rows, rows_new = self._left(), self._left_new()
        place, place_new = _single(rows, self._old), _single(rows_new, self._new)
        for one, other in [(row, place_new.get(line, -1)) for line, row in place.items()]:
            if other < 0 or not self._free(one, other):
                continue
            block = self._grown(one, other, self._equal)
            if _tells([self._old[row] for row, _ in block]):
                self.pair(block, moved=True)

    def find_changed(self, in_order: Sequence[Pair]) -> None:
        """Pair lines between the same neighbours that read alike, in their order."""
        self._elsewhere = {self._old[row] for row in self._left()}
        self._elsewhere &= {self._new[row] for row in self._left_new()}
        for one, other in pairwise([(-1, -1), *in_order, (len(self._old), len(self._new))]):
            rows = [row for row in range(one[0] + 1, other[0]) if self.partner[row] < 0]
            rows_new = [row for row in range(one[1] + 1, other[1]) if self._partner_new[row] < 0]
            if len(rows) * len(rows_new) <= _MOST_PAIRS:
                self.pair(self._closest(rows, rows_new))
            else:
                self.pair(rising(sorted(self._known_again(rows, rows_new, _ALIKE))))

    def find_rest(self) -> None:
        """Pair lines that are left and equal, the first with the first of them, and so on."""
        places: dict[str, list[int]] = {}
        for row in reversed(self._left_new()):
            places.setdefault(self._new[row], []).append(row)
        times, times_new = Counter(self._old), Counter(self._new)
        for row in self._left():
            line = self._old[row]
            if places.get(line) and (times[line] == times_new[line] == 1 or _tells([line])):
                self.pair([(row, places[line].pop())], moved=True)

    def find_alike(self) -> None:
        """Pair lines that have moved and changed a little."""
        rows = [row for row in self._left() if self._long(self._old[row])]
        rows_new = [row for row in self._left_new() if self._long(self._new[row])]
        self.pair(self._known_again(rows, rows_new, _ALIKE_ELSEWHERE), moved=True)

    def widen(self) -> None:
        """Pair neighbours of what has moved that have moved with it and changed."""
        for row in sorted(self.moved):
            block = self._grown(row, self.partner[row], self._alike)
            self.pair([pair for pair in block if pair[0] != row], moved=True)

    def _left(self) -> list[int]:
        return [row for row, partner in enumerate(self.partner) if partner < 0]

    def _left_new(self) -> list[int]:
        return [row for row, partner in enumerate(self._partner_new) if partner < 0]

    def _free(self, one: int, other: int) -> bool:
        """Whether both lines are there and have no partner."""
        there = 0 <= one < len(self._old) and 0 <= other < len(self._new)
        return there and self.partner[one] < 0 and self._partner_new[other] < 0

    def _equal(self, one: int, other: int) -> bool:
        return self._old[one] == self._new[other]

    def _alike(self, one: int, other: int) -> bool:
        return self._likeness(one, other) >= _ALIKE

    def _grown(self, one: int, other: int, fits: Callable[[int, int], bool]) -> list[Pair]:
        """A pair with its free neighbours before and after it that fit."""
        ends = []
        for step in (-1, 1):
            end = 0
            while self._free(one + end + step, other + end + step) and fits(
                one + end + step, other + end + step
            ):
                end += step
            ends.append(end)
        return [(one + step, other + step) for step in range(ends[0], ends[1] + 1)]

    def _closest(self, rows: Sequence[int], rows_new: Sequence[int]) -> list[Pair]:
        """Pairs in order that are as alike as can be, all together."""
        by_place = len(rows) == len(rows_new)
        best = [[0.0] * (len(rows_new) + 1) for _ in range(len(rows) + 1)]
        value = [[0.0] * len(rows_new) for _ in rows]
        for one in range(len(rows) - 1, -1, -1):
            for other in range(len(rows_new) - 1, -1, -1):
                alike = self._worth(rows[one], rows_new[other], by_place and one == other)
                value[one][other] = alike
                together = alike + best[one + 1][other + 1] if alike else 0.0
                best[one][other] = max(together, best[one + 1][other], best[one][other + 1])
        pairs, one, other = [], 0, 0
        while one < len(rows) and other < len(rows_new):
            here = best[one][other]
            if value[one][other] and here == value[one][other] + best[one + 1][other + 1]:
                pairs.append((rows[one], rows_new[other]))
                one, other = one + 1, other + 1
            elif here == best[one + 1][other]:
                one += 1
            else:
                other += 1
        return pairs

    def _worth(self, one: int, other: int, same_place: bool) -> float:  # noqa: FBT001 - one of three facts
        """How alike two lines are; 0 where one is not the other changed."""
        alike = self._likeness(one, other)
        if alike >= _ALIKE:
            return alike
        by_place = (
            same_place and self._is_value(self._old[one]) and self._is_value(self._new[other])
        )
        return _ALIKE_BY_PLACE if by_place else 0.0

    def _is_value(self, line: str) -> bool:
        """Whether a line may be what stands at a place now, rather than what moved there."""
        count = self._count(line).total()
        if line not in self._elsewhere or count == 1:
            return count <= _FEW_WORDS
        return count <= _FEW_WORDS and any(letter.isdigit() for letter in line)

    def _known_again(
        self, rows: Sequence[int], rows_new: Sequence[int], least: float
    ) -> list[Pair]:
        """Pairs of lines that are alike, known by words that are in one line of each side only."""
        of_word = _single_words([(row, self._count(self._old[row])) for row in rows])
        of_word_new = _single_words([(row, self._count(self._new[row])) for row in rows_new])
        votes = Counter(
            (row, of_word_new[word]) for word, row in of_word.items() if word in of_word_new
        )
        pairs, taken = [], set()
        for (one, other), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
            if one in taken or ~other in taken or self._likeness(one, other) < least:
                continue
            pairs.append((one, other))
            taken |= {one, ~other}
        return pairs

    def _likeness(self, one: int, other: int) -> float:
        old, new = self._count(self._old[one]), self._count(self._new[other])
        self._looks -= min(len(old), len(new)) + 1
        return alike(old, new) if self._looks > 0 else 0.0

    def _long(self, line: str) -> bool:
        return self._count(line).total() >= _FEWEST_WORDS

    def _count(self, line: str) -> Counter[str]:
        """Words of a line; none where enough has been looked at."""
        found = self._counts.get(line)
        if found is None:
            found = self._counts[line] = Counter(words_in(line) if self._looks > 0 else ())
            self._looks -= found.total()
        return found


def _tells(lines: Sequence[str]) -> bool:
    """Whether lines say enough to be known again."""
    return sum(1 + len(line.encode(errors="replace")) for line in lines) > _TELLING_BYTES


def _single(rows: Iterable[int], lines: Sequence[str]) -> dict[str, int]:
    """Lines that are in these rows once, and where."""
    times = Counter(lines[row] for row in rows)
    return {lines[row]: row for row in rows if times[lines[row]] == 1}


def _single_words(counts: Sequence[tuple[int, Counter[str]]]) -> dict[str, int]:
    """Words that are in one row only, and in which."""
    times = Counter(word for _, count in counts for word in count)
    return {word: row for row, count in counts for word in count if times[word] == 1}
