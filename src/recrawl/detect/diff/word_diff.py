r"""Word diff of two lines: runs of words that were kept, removed or added.

A word is a run of letters and digits with what joins them (`don't`, `1,299.50`, `12:30`). In
scripts that put no spaces between words each character is one, with its combining marks; so is the
target of a link. White space and punctuation are pieces of their own, so that all pieces of a
line joined together are the line.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from recrawl.detect.diff.patience import Hunk, patience_align, runs, trim
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from recrawl.detect.diff.patience import Pair

# Han, Kana and Bopomofo; then Thai, Lao, Tibetan, Burmese and Khmer, whose marks follow a letter.
_IDEOGRAPHS = "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_IDEOGRAPHS += "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3"
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
_MARKS += "\u0f71-\u0fbc\u102b-\u103e\u17b4-\u17d3\u200d\ufe00-\ufe0f"
# White space and punctuation: ASCII, Latin-1, general, Chinese and Japanese, fullwidth.
_PUNCTUATION = r"\s!-/:-@\[-`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u2010-\u206f\u3000-\u3004"
_PUNCTUATION += r"\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_CHARACTER = rf"[{_IDEOGRAPHS}{_UNSPACED}][{_MARKS}]*+"
_RUN = rf"[^{_PUNCTUATION}{_IDEOGRAPHS}{_UNSPACED}]++"
_PIECE = re.compile(
    rf"""\s++
      | (?P<word>{LINK}\S*+ | {_CHARACTER} | {_RUN}(?:['\u2019.,:/@_-]{_RUN})*)
      | .""",
    re.VERBOSE | re.DOTALL,
)


class EditKind(StrEnum):
    """What a word diff does to words."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


_REVERSED = {
    EditKind.KEPT: EditKind.KEPT,
    EditKind.REMOVED: EditKind.ADDED,
    EditKind.ADDED: EditKind.REMOVED,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """A run of words that were all kept, all removed or all added.

    Args:
        kind: Which of the three.
        text: The words, with the white space between them.
    """

    kind: EditKind
    text: str


def pieces(line: str) -> list[str]:
    """Words, white space and punctuation of a line, in order; joined, they are the line.

    >>> pieces("It's 1,299.50 €.")
    ["It's", ' ', '1,299.50', ' ', '€', '.']
    >>> pieces("東京。")
    ['東', '京', '。']
    """
    return [found[0] for found in _PIECE.finditer(line)]


def words_in(line: str) -> list[str]:
    """Words of a line, without white space and punctuation.

    >>> words_in("It's 1,299.50 €.")
    ["It's", '1,299.50', '€']
    """
    return [word for word in _PIECE.findall(line) if word]


def word_diff(old: str, new: str) -> tuple[Edit, ...]:
    """Word diff of two lines; the diff the other way round is its reverse.

    Args:
        old: The line as it was.
        new: The line as it is.

    Examples:
        >>> for edit in word_diff("Only 3 of 12 left.", "Only 2 of 12 left!"):
        ...     print(edit.kind, repr(edit.text))
        kept 'Only '
        removed '3'
        added '2'
        kept ' of 12 left'
        removed '.'
        added '!'
    """
    if old > new:
        return reverse(word_diff(new, old))
    before, after = pieces(old), pieces(new)
    edits: list[tuple[EditKind, str]] = []
    start = start_new = 0
    ends = len(before), len(after)
    for row, row_new, length in [*runs(_kept_pieces(before, after)), (*ends, 0)]:
        edits.append((EditKind.REMOVED, "".join(before[start:row])))
        edits.append((EditKind.ADDED, "".join(after[start_new:row_new])))
        start, start_new = row + length, row_new + length
        kept = "".join(before[row:start])
        inside = row and row_new and start < ends[0] and start_new < ends[1]
        if inside and not words_in(kept):
            # A comma or a space between two changed words belongs to the change.
            edits += [(EditKind.REMOVED, kept), (EditKind.ADDED, kept)]
        else:
            edits.append((EditKind.KEPT, kept))
    return _merged(edits)


def reverse(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The word diff from the new line to the old one."""
    return _merged((_REVERSED[edit.kind], edit.text) for edit in edits)


def word_overlap(old: Counter[str], new: Counter[str]) -> float:
    """Dice coefficient of the words of two lines: the share that they have in common.

    >>> from collections import Counter
    >>> word_overlap(Counter(["a", "b"]), Counter(["a", "c"]))
    0.5
    """
    total = old.total() + new.total()
    if len(old) > len(new):
        old, new = new, old
    common = sum(min(times, new[word]) for word, times in old.items() if word in new)
    return 2 * common / total if total else 1.0


def _kept_pieces(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Places of pieces that are kept: words, and the white space that touches them on both sides.

    Only words are aligned: one space is like any other, and would pair what does not belong
    together. Between two aligned words white space is kept at either end of what lies there.
    """
    rows = [row for row, piece in enumerate(before) if not piece.isspace()]
    rows_new = [row for row, piece in enumerate(after) if not piece.isspace()]
    words = patience_align([before[row] for row in rows], [after[row] for row in rows_new])
    aligned = [(rows[one], rows_new[other]) for one, other in words]
    pairs: list[Pair] = []
    start = start_new = 0
    for end, end_new in [*aligned, (len(before), len(after))]:
        left = trim(before, after, Hunk(start, end, start_new, end_new))
        pairs += zip(range(start, left.start), range(start_new, left.new_start), strict=True)
        pairs += zip(range(left.end, end), range(left.new_end, end_new), strict=True)
        pairs.append((end, end_new))
        start, start_new = end + 1, end_new + 1
    return pairs[:-1]  # without the pair of both ends


def _merged(edits: Iterable[tuple[EditKind, str]]) -> tuple[Edit, ...]:
    """Edits in normal form: between two that keep, one that removes, then one that adds."""
    found = []
    there = (edit for edit in edits if edit[1])
    for is_kept, group in groupby(there, key=lambda edit: edit[0] is EditKind.KEPT):
        together = list(group)
        for kind in (EditKind.KEPT,) if is_kept else (EditKind.REMOVED, EditKind.ADDED):
            text = "".join(text for each, text in together if each is kind)
            found += [Edit(kind, text)] if text else []
    return tuple(found)
