r"""Words and links of a page, and the share of them that differs between two readings.

A word is what stands between white space; where a script puts no spaces between words (Chinese,
Japanese, Thai, ...), each sign is one. A link's target is a word too. How much a page changed is
told by the words that it lost and got, in either order of reading:

$$ \text{share} = \frac{|A \setminus B| + |B \setminus A| + \text{moved}}{|A| + |B|} $$

where $A$ and $B$ hold each word as often as the readings do. Lines that stand in another order than
before have *moved*, at least as many as need be; their words count in both readings.

Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING

from recrawl.detect.text.lines import LINK
from recrawl.detect.text.signs import signs_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Thai, Lao, Myanmar, Khmer; Japanese and Chinese, also in halfwidth and beyond 16 bits. Korean has
# spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"{LINK}[^\s]*+|[{_UNSPACED}]|[^\s{_UNSPACED}]++")
_FIRST_UNSPACED = _UNSPACED[0]
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
# The way with the fewest words moved is looked for among so many lines; beyond, the fewest lines.
_MOST_WEIGHED = 10_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How many words and links a page has, or how many of them differ.

    Args:
        words: Words, links not among them.
        links: Links.
    """

    words: int
    links: int


def words(lines: Iterable[str]) -> list[str]:
    r"""Words of all lines, in their order.

    >>> words(("Two \x10/bags bags", "5個 bags"))
    ['Two', '\x10/bags', 'bags', '5', '個', 'bags']
    """
    return spaced(lines).split()


def spaced(lines: Iterable[str]) -> str:
    """Text of all lines with white space between words, in whatever script.

    >>> spaced(("5個", "bags"))
    '5 個 bags'
    """
    text = " ".join(lines)
    return " ".join(_WORD.findall(text)) if _has_unspaced(text) else text


def counted(lines: Iterable[str]) -> Counts:
    r"""How many words and links a page has.

    >>> counted(("Two \x10/bags bags",))
    Counts(words=2, links=1)
    """
    return _counts(Counter(words(lines)))


def differing(old: Iterable[str], new: Iterable[str]) -> Counts:
    r"""How many words and links only one of two readings has.

    >>> differing(("Two \x10/bags bags",), ("Ten \x10/bags bags here",))
    Counts(words=3, links=0)
    """
    before, after = Counter(words(old)), Counter(words(new))
    return _counts((before - after) + (after - before))


def share_changed(old: Sequence[str], new: Sequence[str]) -> float:
    """Share of the words that differ between two readings: 0 for none, 1 for all of them.

    The same words cut into lines otherwise are no difference.

    Args:
        old: Lines of one reading.
        new: Lines of the other.

    Examples:
        >>> share_changed(("a price of 5",), ("a price of 6",))
        0.25
        >>> share_changed(("one two", "three"), ("three", "one two"))  # one word has moved
        0.3333333333333333
        >>> share_changed(("one", "two"), ("one two",)), share_changed(("one",), ("two",))
        (0.0, 1.0)
    """
    if old == new:
        return 0.0
    total = 2 * _count(old)
    old, new = _trimmed(old, new)
    total += _count(new) - _count(old)  # all else is the same in both
    lines, lines_now = Counter(old), Counter(new)
    before = Counter(words((lines - lines_now).elements()))
    after = Counter(words((lines_now - lines).elements()))
    apart = before.total() + after.total() - 2 * (before & after).total()
    if not apart and words(old) == words(new):
        return 0.0
    moved = 2 * _moved(old, new)
    if not apart and not moved:
        moved = 2 * min(_elsewhere(old, new), _elsewhere(new, old))
    return min((apart + moved) / total, 1.0)


def _count(lines: Sequence[str]) -> int:
    """How many words lines have; white space within them is single."""
    text = "\n".join(lines)
    if not text or _has_unspaced(text):
        return len(words(lines))
    return text.count(" ") + len(lines)


def _has_unspaced(text: str) -> bool:
    return _UNSPACED_SIGN.search(signs_from(_FIRST_UNSPACED, text)) is not None


def _trimmed(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Two readings without the lines that both begin and end with."""
    most = min(len(old), len(new))
    start = _same(old, new, most)
    end = _same(reversed(old), reversed(new), most - start)
    return old[start : len(old) - end], new[start : len(new) - end]


def _same(old: Iterable[str], new: Iterable[str], most: int) -> int:
    """How many lines are the same from the first on, of at most so many."""
    return next(compress(range(most), map(ne, old, new)), most)


def _counts(found: Counter[str]) -> Counts:
    links = sum(count for word, count in found.items() if word[0] == LINK)
    return Counts(found.total() - links, links)


def _moved(old: Sequence[str], new: Sequence[str]) -> int:
    """Words of lines that both have once, in another order; as few as need be."""
    places = _once(new)
    shared = [(places[line], line) for line in _once(old) if line in places]
    order = [place for place, _ in shared]
    if all(map(int.__lt__, order, order[1:])):
        return 0
    if len(order) > _MOST_WEIGHED:
        share = 1 - _longest_rising(order, [1] * len(order)) / len(order)
        return round(share * len(words(line for _, line in shared)))
    weights = [len(words((line,))) for _, line in shared]
    return sum(weights) - _longest_rising(order, weights)


def _once(lines: Sequence[str]) -> dict[str, int]:
    """Places of the lines that are there once, in their order."""
    counts = Counter(lines)
    return {line: place for place, line in enumerate(lines) if counts[line] == 1}


def _longest_rising(order: list[int], weights: list[int]) -> int:
    """Most weight of places that rise from each to the next, by a tree of the best up to each."""
    ranks = {place: rank for rank, place in enumerate(sorted(order), start=1)}
    best = [0] * (len(order) + 1)
    most = 0
    for place, weight in zip(order, weights, strict=True):
        rank = ranks[place]
        sum_so_far, step = weight, rank - 1
        before = 0
        while step:
            before = max(before, best[step])
            step &= step - 1
        sum_so_far += before
        most = max(most, sum_so_far)
        step = rank
        while step < len(best):
            best[step] = max(best[step], sum_so_far)
            step += step & -step
    return most


def _elsewhere(old: Sequence[str], new: Sequence[str]) -> int:
    """Words of the lines of one reading that the other has not at all, or not at their place."""
    there = Counter(new)
    there.subtract(old)
    apart = [line for line in dict.fromkeys(old) if there[line] < 0]
    if apart:
        return len(words(apart))
    # Lines that are there more than once, in another order.
    return len(words(line for line, other in zip(old, new, strict=True) if line != other)) // 2
