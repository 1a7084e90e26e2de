r"""What became of the words of a line: kept, removed, added.

A word is a run of letters and figures, with what stands within it (`don't`, `1,299.50`, `12:30`).
Scripts that put no spaces between words are taken by characters, each with its marks; where a link
leads is one word. White space and other signs stand by themselves, so that all pieces of a line
together are the line.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from recrawl.detect.diff.alignment import aligned
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from recrawl.detect.diff.alignment import Pair

# Han, Kana and Bopomofo; then Thai, Lao, Tibetan, Burmese and Khmer, whose marks follow a letter.
_SIGNS = "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_SIGNS += "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_LETTERS = "\u0e00-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3"
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
_MARKS += "\u0f71-\u0fbc\u102b-\u103e\u17b4-\u17d3\u200d\ufe00-\ufe0f"
# Signs of ASCII and Latin-1, the general ones, those of Chinese and Japanese, their wide forms.
_OTHER = r"\s!-/:-@\[-`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u2010-\u206f\u3000-\u3004"
_OTHER += r"\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_RUN = rf"[^{_OTHER}{_SIGNS}{_LETTERS}]++"
_PIECE = re.compile(
    rf"""\s++
      | (?P<word>{LINK}\S*+ | [{_SIGNS}{_LETTERS}][{_MARKS}]*+ | {_RUN}(?:['\u2019.,:/@_-]{_RUN})*)
      | .""",
    re.VERBOSE | re.DOTALL,
)


class Fate(StrEnum):
    """What became of words."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Run:
    """Words of a line that lie side by side and met the same fate.

    Args:
        fate: What became of them.
        text: The words, with the white space between them.
    """

    fate: Fate
    text: str


def pieces(line: str) -> list[str]:
    """Words, white space and signs of a line, in order; together they are the line.

    >>> pieces("It's 1,299.50 €.")
    ["It's", ' ', '1,299.50', ' ', '€', '.']
    >>> pieces("東京。")
    ['東', '京', '。']
    """
    return [found[0] for found in _PIECE.finditer(line)]


def words_in(line: str) -> list[str]:
    """Words of a line alone.

    >>> words_in("It's 1,299.50 €.")
    ["It's", '1,299.50', '€']
    """
    return [word for word in _PIECE.findall(line) if word]


def edits(old: str, new: str) -> tuple[Run, ...]:
    """What to do to the words of a line to have another line.

    Args:
        old: The line as it was.
        new: The line as it is.

    Examples:
        >>> for run in edits("Only 3 of 12 left.", "Only 2 of 12 left!"):
        ...     print(run.fate, repr(run.text))
        kept 'Only '
        removed '3'
        added '2'
        kept ' of 12 left'
        removed '.'
        added '!'
    """
    if old > new:  # so that each way is the other one reversed
        return turned(edits(new, old))
    before, after = pieces(old), pieces(new)
    runs: list[tuple[Fate, str]] = []
    start = start_new = 0
    for row, row_new, length in [*_stretches(before, after), (len(before), len(after), 0)]:
        runs.append((Fate.REMOVED, "".join(before[start:row])))
        runs.append((Fate.ADDED, "".join(after[start_new:row_new])))
        start, start_new = row + length, row_new + length
        kept = "".join(before[row:start])
        if (
            row
            and row_new
            and start < len(before)
            and start_new < len(after)
            and not words_in(kept)
        ):
            # No word: an island between two changes, which goes with them.
            runs += [(Fate.REMOVED, kept), (Fate.ADDED, kept)]
        else:
            runs.append((Fate.KEPT, kept))
    return _arranged(runs)


def turned(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The same words the other way round: what was added is removed."""
    other = {Fate.KEPT: Fate.KEPT, Fate.REMOVED: Fate.ADDED, Fate.ADDED: Fate.REMOVED}
    return _arranged((other[run.fate], run.text) for run in runs)


def alike(old: Counter[str], new: Counter[str]) -> float:
    """Share of the words of two lines that they have in common, from 0 to 1.

    >>> from collections import Counter
    >>> alike(Counter(["a", "b"]), Counter(["a", "c"]))
    0.5
    """
    total = old.total() + new.total()
    if len(old) > len(new):
        old, new = new, old
    common = sum(min(times, new[word]) for word, times in old.items() if word in new)
    return 2 * common / total if total else 1.0


def _stretches(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where pieces begin that are kept, on both sides, and how many there are."""
    pairs = _pairs(before, after)
    begin = 0
    for row in range(1, len(pairs) + 1):
        one, other = pairs[row - 1]
        if row == len(pairs) or pairs[row] != (one + 1, other + 1):
            yield (*pairs[begin], row - begin)
            begin = row


def _pairs(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Places of pieces that are kept: words, and the white space that touches them on both sides.

    Words are aligned without the space between them, which is like any other and leads nowhere.
    """
    rows = [row for row, piece in enumerate(before) if not piece.isspace()]
    rows_new = [row for row, piece in enumerate(after) if not piece.isspace()]
    found = aligned([before[row] for row in rows], [after[row] for row in rows_new])
    pairs: list[Pair] = []
    start = start_new = 0
    for one, other in [*found, (len(rows), len(rows_new))]:
        end = rows[one] if one < len(rows) else len(before)
        end_new = rows_new[other] if other < len(rows_new) else len(after)
        while start < end and start_new < end_new and before[start] == after[start_new]:
            pairs.append((start, start_new))
            start, start_new = start + 1, start_new + 1
        first, first_new = end, end_new
        while start < first and start_new < first_new and before[first - 1] == after[first_new - 1]:
            first, first_new = first - 1, first_new - 1
        pairs += zip(range(first, end), range(first_new, end_new), strict=True)
        if one < len(rows):
            pairs.append((end, end_new))
        start, start_new = end + 1, end_new + 1
    return pairs


def _arranged(runs: Iterable[tuple[Fate, str]]) -> tuple[Run, ...]:
    """Runs of words: between two kept ones first all that is removed, then all that is added."""
    there = (run for run in runs if run[1])
    found = []
    for kept, between in groupby(there, key=lambda run: run[0] is Fate.KEPT):
        stretch = list(between)
        for fate in (Fate.KEPT,) if kept else (Fate.REMOVED, Fate.ADDED):
            text = "".join(text for each, text in stretch if each is fate)
            found += [Run(fate, text)] if text else []
    return tuple(found)
