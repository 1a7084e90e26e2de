"""Which lines of two versions of a page match: unchanged, changed in place, or moved.

Four passes, each over the lines that the passes before have left:

1. Patience diff matches what is the same in the same order.
2. Blocks of lines that are found elsewhere have moved, if they are long enough to be recognised.
3. Lines between the same neighbours that share half of their words have changed.
4. Other lines that are found elsewhere, word for word or nearly so, have moved, with the changed
   lines beside them.

A short line that a page repeats, such as "Read more", is never said to have moved.

Time is bounded: where there are too many lines to compare each with each, fewer are compared.

Pure.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from recrawl.detect.diff.patience import (
    longest_increasing_subsequence,
    patience_align,
    slide,
    unique_rows,
)
from recrawl.detect.diff.word_diff import word_overlap, words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.detect.diff.patience import Pair

# A block of fewer bytes may well be another one that reads the same, such as a figure in a table.
_RECOGNISABLE_BYTES = 24
_CHANGED_OVERLAP = 0.5  # of the words of two lines, for one to be the other changed
_MOVED_OVERLAP = 0.6  # and for one to be the other moved and changed
_FEWEST_WORDS = 5  # of a line that can be recognised elsewhere though it changed
_FEW_WORDS = 3  # of lines that may change as a whole, such as a price
_SAME_PLACE_OVERLAP = 0.01  # of such lines: less than any overlap that counts, the last resort
_MOST_PAIRS = 400  # of lines in a gap that are all compared with each other
# Words looked at to compare lines: about a second or two.
_MOST_LOOKUPS = 3_000_000


class LineMatches(NamedTuple):
    """Lines of two versions that match.

    Args:
        partner: For each old line the new line that it matches; -1 for none.
        moved: Old lines that match a new line elsewhere.
    """

    partner: list[int]
    moved: set[int]


def match_lines(old: Sequence[str], new: Sequence[str]) -> LineMatches:
    """Match the lines of two versions.

    Examples:
        A line has changed, and another has moved:

        >>> old = ["Tea of the first picking", "From Japan", "Costs 5 euros", "Sold by weight"]
        >>> new = ["Sold by weight", "Tea of the first picking", "From Japan", "Costs 6 euros"]
        >>> match_lines(old, new)
        LineMatches(partner=[1, 2, 3, 0], moved={3})
    """
    matcher = _LineMatcher(old, new)
    in_order = slide(patience_align(old, new), old, new)
    matcher.pair(in_order)
    matcher.match_moved_blocks()
    matcher.match_changed(in_order)
    matcher.match_moved_lines()
    matcher.match_moved_and_changed()
    matcher.widen_moved()
    return LineMatches(matcher.partner, matcher.moved)


class _LineMatcher:
    """Lines, and the partners found so far."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self.partner = [-1] * len(old)
        self.moved: set[int] = set()
        self._old, self._new = old, new
        self._partner_new = [-1] * len(new)
        self._lookups = _MOST_LOOKUPS  # that are left
        self._counts: dict[str, Counter[str]] = {}
        self._elsewhere: set[str] = set()

    def pair(self, pairs: Iterable[Pair], *, moved: bool = False) -> None:
        """Make partners of lines."""
        for one, other in pairs:
            self.partner[one] = other
            self._partner_new[other] = one
            if moved:
                self.moved.add(one)

    def match_moved_blocks(self) -> None:
        """Match blocks that moved, grown from unmatched lines that are unique on both sides."""
        rows, rows_new = self._unmatched(), self._unmatched_new()
        unique = unique_rows([self._old[row] for row in rows])
        unique_new = unique_rows([self._new[row] for row in rows_new])
        for line, row in unique.items():
            if line not in unique_new:
                continue
            one, other = rows[row], rows_new[unique_new[line]]
            if not self._free(one, other):
                continue
            block = self._grown(one, other, self._equal)
            if _is_recognisable([self._old[row] for row, _ in block]):
                self.pair(block, moved=True)

    def match_changed(self, in_order: Sequence[Pair]) -> None:
        """Match lines between the same neighbours that share enough words, in their order."""
        self._elsewhere = {self._old[row] for row in self._unmatched()}
        self._elsewhere &= {self._new[row] for row in self._unmatched_new()}
        for one, other in pairwise([(-1, -1), *in_order, (len(self._old), len(self._new))]):
            rows = [row for row in range(one[0] + 1, other[0]) if self.partner[row] < 0]
            rows_new = [row for row in range(one[1] + 1, other[1]) if self._partner_new[row] < 0]
            if len(rows) * len(rows_new) <= _MOST_PAIRS:
                self.pair(self._best_in_order(rows, rows_new))
            else:
                self.pair(
                    longest_increasing_subsequence(
                        sorted(self._matches_by_words(rows, rows_new, _CHANGED_OVERLAP))
                    )
                )

    def match_moved_lines(self) -> None:
        """Match equal lines elsewhere, the first occurrence with the first, and so on."""
        places: dict[str, list[int]] = {}
        for row in reversed(self._unmatched_new()):
            places.setdefault(self._new[row], []).append(row)
        times, times_new = Counter(self._old), Counter(self._new)
        for row in self._unmatched():
            line = self._old[row]
            if places.get(line) and (
                times[line] == times_new[line] == 1 or _is_recognisable([line])
            ):
                self.pair([(row, places[line].pop())], moved=True)

    def match_moved_and_changed(self) -> None:
        """Match lines that have moved and changed a little."""
        rows = [row for row in self._unmatched() if self._long(self._old[row])]
        rows_new = [row for row in self._unmatched_new() if self._long(self._new[row])]
        self.pair(self._matches_by_words(rows, rows_new, _MOVED_OVERLAP), moved=True)

    def widen_moved(self) -> None:
        """Match changed neighbours of moved lines, which have moved with them."""
        for row in sorted(self.moved):
            block = self._grown(row, self.partner[row], self._is_changed)
            self.pair([pair for pair in block if pair[0] != row], moved=True)

    def _unmatched(self) -> list[int]:
        return [row for row, partner in enumerate(self.partner) if partner < 0]

    def _unmatched_new(self) -> list[int]:
        return [row for row, partner in enumerate(self._partner_new) if partner < 0]

    def _free(self, one: int, other: int) -> bool:
        """Whether both lines are there and have no partner."""
        there = 0 <= one < len(self._old) and 0 <= other < len(self._new)
        return there and self.partner[one] < 0 and self._partner_new[other] < 0

    def _equal(self, one: int, other: int) -> bool:
        return self._old[one] == self._new[other]

    def _is_changed(self, one: int, other: int) -> bool:
        return self._overlap(one, other) >= _CHANGED_OVERLAP

    def _grown(self, one: int, other: int, fits: Callable[[int, int], bool]) -> list[Pair]:
        """A pair with the unmatched neighbours before and after it that fit."""
        ends = []
        for step in (-1, 1):
            end = 0
            while self._free(one + end + step, other + end + step) and fits(
                one + end + step, other + end + step
            ):
                end += step
            ends.append(end)
        return [(one + step, other + step) for step in range(ends[0], ends[1] + 1)]

    def _best_in_order(self, rows: Sequence[int], rows_new: Sequence[int]) -> list[Pair]:
        """Pairs in order with the highest sum of scores, by dynamic programming."""
        by_place = len(rows) == len(rows_new)
        best = [[0.0] * (len(rows_new) + 1) for _ in range(len(rows) + 1)]
        value = [[0.0] * len(rows_new) for _ in rows]
        for one in range(len(rows) - 1, -1, -1):
            for other in range(len(rows_new) - 1, -1, -1):
                score = self._score(rows[one], rows_new[other], by_place and one == other)
                value[one][other] = score
                together = score + best[one + 1][other + 1] if score else 0.0
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

    def _score(self, one: int, other: int, same_place: bool) -> float:  # noqa: FBT001 - one of three facts
        """Word overlap of two lines; 0 where one is not the other changed."""
        overlap = self._overlap(one, other)
        if overlap >= _CHANGED_OVERLAP:
            return overlap
        by_place = (
            same_place
            and self._may_be_replaced(self._old[one])
            and self._may_be_replaced(self._new[other])
        )
        return _SAME_PLACE_OVERLAP if by_place else 0.0

    def _may_be_replaced(self, line: str) -> bool:
        """Whether a line is so short that it may be replaced as a whole, as a price is."""
        count = self._count(line).total()
        if line not in self._elsewhere or count == 1:
            return count <= _FEW_WORDS
        return count <= _FEW_WORDS and any(letter.isdigit() for letter in line)

    def _matches_by_words(
        self, rows: Sequence[int], rows_new: Sequence[int], least: float
    ) -> list[Pair]:
        """Pairs of lines with enough overlap, found by words that one line of each side has."""
        of_word = _single_words([(row, self._count(self._old[row])) for row in rows])
        of_word_new = _single_words([(row, self._count(self._new[row])) for row in rows_new])
        votes = Counter(
            (row, of_word_new[word]) for word, row in of_word.items() if word in of_word_new
        )
        pairs, taken = [], set()
        for (one, other), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
            if one in taken or ~other in taken or self._overlap(one, other) < least:
                continue
            pairs.append((one, other))
            taken |= {one, ~other}
        return pairs

    def _overlap(self, one: int, other: int) -> float:
        old, new = self._count(self._old[one]), self._count(self._new[other])
        self._lookups -= min(len(old), len(new)) + 1
        return word_overlap(old, new) if self._lookups > 0 else 0.0

    def _long(self, line: str) -> bool:
        return self._count(line).total() >= _FEWEST_WORDS

    def _count(self, line: str) -> Counter[str]:
        """Words of a line; none once the bound on lookups is reached."""
        found = self._counts.get(line)
        if found is None:
            found = self._counts[line] = Counter(words_in(line) if self._lookups > 0 else ())
            self._lookups -= found.total()
        return found


def _is_recognisable(lines: Sequence[str]) -> bool:
    """Whether lines are long enough to be recognised elsewhere."""
    return sum(1 + len(line.encode(errors="replace")) for line in lines) > _RECOGNISABLE_BYTES


def _single_words(counts: Sequence[tuple[int, Counter[str]]]) -> dict[str, int]:
    """Words that only one row has, and which row."""
    times = Counter(word for _, count in counts for word in count)
    return {word: row for row, count in counts for word in count if times[word] == 1}
