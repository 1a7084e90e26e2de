r"""Share of the words that differ between two versions of a page, from 0 to 1.

$$ \text{share} = \frac{|A \setminus B| + |B \setminus A| + \text{moved}}{|A| + |B|} $$

where $A$ and $B$ are the multisets of words of the two versions. Lines in another order have
*moved*: as few as possible, and their words count in both versions. It is 0 only where both have
the same words in the same order.

Pure.
"""

from __future__ import annotations

from collections import Counter
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

from recrawl.detect.diff.gist import gist_of_words
from recrawl.detect.diff.patience import (
    Hunk,
    heaviest_increasing_subsequence,
    longest_increasing_subsequence,
    trim,
)
from recrawl.detect.diff.word_counts import count_words
from recrawl.detect.text.words import word_count, words

if TYPE_CHECKING:
    from collections.abc import Sequence

# Among more lines than this, as few lines as possible have moved instead of as few words.
_MOST_WEIGHED = 10_000


class WordChange(NamedTuple):
    """How the words of two versions differ.

    Attributes:
        share: Share of the words that differ: 0 for none, 1 for all of them.
        gist: Kind of the change, one of `recrawl.detect.diff.gist.GISTS`.
    """

    share: float
    gist: str


def share_changed(old: Sequence[str], new: Sequence[str]) -> float:
    """Share of the words that differ between two versions; see `word_change`."""
    return word_change(old, new).share


def word_change(old: Sequence[str], new: Sequence[str]) -> WordChange:
    """Share of the words that differ between two versions, and the kind of the change.

    Where line breaks fall makes no difference.

    Args:
        old: Lines of the old version.
        new: Lines of the new version.

    Examples:
        >>> word_change(("a price of 5",), ("a price of 6",))
        WordChange(share=0.25, gist='figures')
        >>> share_changed(("one two", "three"), ("three", "one two"))  # one word has moved
        0.3333333333333333
        >>> share_changed(("one", "two"), ("one two",)), share_changed(("one",), ("two",))
        (0.0, 1.0)
    """
    if old == new:
        return _SAME
    hunk = trim(old, new, Hunk(0, len(old), 0, len(new)))
    same = (*old[: hunk.start], *old[hunk.end :])
    old, new = old[hunk.start : hunk.end], new[hunk.new_start : hunk.new_end]
    total = 2 * word_count(same) + word_count(old) + word_count(new)
    gone, come, moved = _lines_that_differ(old, new)
    counts = count_words(gone, come)
    differing = counts.differing
    if not differing and words(old) == words(new):
        return _SAME
    moved *= 2
    if not differing and not moved:
        moved = 2 * min(_displaced_words(old, new), _displaced_words(new, old))
    share = min((differing + moved) / total, 1.0)
    gist = gist_of_words(counts.gone, counts.come, share)
    return WordChange(share, gist or "moved")


_SAME = WordChange(0.0, "same")


def _lines_that_differ(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Lines that either version has more often than the other, and how many words have moved.

    Steps are over all lines at once: one of Python for each would take most of the time.
    """
    in_old, in_new = set(old).__contains__, set(new).__contains__
    gone, come = list(filterfalse(in_new, old)), list(filterfalse(in_old, new))
    common, common_new = list(filter(in_new, old)), list(filter(in_old, new))
    if common == common_new:
        return gone, come, 0
    lines, lines_new = Counter(common), Counter(common_new)
    for line in lines:
        gone += [line] * (lines[line] - lines_new[line])
        come += [line] * (lines_new[line] - lines[line])
    unique = [line for line in lines if lines[line] == lines_new[line] == 1]
    return gone, come, _moved_words(common, common_new, unique)


def _moved_words(old: Sequence[str], new: Sequence[str], unique: list[str]) -> int:
    """Words of unique lines that must have moved for the others to keep their order."""
    rows, rows_new = (dict(zip(each, range(len(each)), strict=True)) for each in (old, new))
    lines = sorted(unique, key=rows.__getitem__)
    order = list(map(rows_new.__getitem__, lines))
    if all(map(int.__lt__, order, order[1:])):
        return 0
    if len(lines) > _MOST_WEIGHED:
        pairs = list(zip(map(rows.__getitem__, lines), order, strict=True))
        share = 1 - len(longest_increasing_subsequence(pairs)) / len(pairs)
        return round(share * len(words(lines)))
    weights = [len(words((line,))) for line in lines]
    staying = heaviest_increasing_subsequence(order, weights)
    return sum(weights) - sum(weights[place] for place in staying)


def _displaced_words(old: Sequence[str], new: Sequence[str]) -> int:
    """Words of lines that the other version does not have, or has at another place.

    Only for versions that have the same words, in lines of other lengths or in another order.
    """
    surplus = Counter(new)
    surplus.subtract(old)
    missing = [line for line in dict.fromkeys(old) if surplus[line] < 0]
    if missing:
        return len(words(missing))
    # The lines are the same ones, some of them more than once.
    return len(words(line for line, other in zip(old, new, strict=True) if line != other)) // 2
