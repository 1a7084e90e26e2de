r"""Words of a page in any script.

A word is what stands between white space. In scripts that put no spaces between words (Chinese,
Japanese, Thai, ...) each character is one. The target of a link is a word, too.

Pure.
"""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.text.characters import characters_from, code_points
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

# Thai, Lao, Myanmar, Khmer; Japanese and Chinese, also in halfwidth and beyond 16 bits. Korean has
# spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"{LINK}[^\s]*+|[{_UNSPACED}]|[^\s{_UNSPACED}]++")
_FIRST_UNSPACED = _UNSPACED[0]
# All are from the first to the second of these codes, or from the third on.
_LOWEST, _LOW_END, _HIGH = np.uint32(0x0E00), np.uint32(0x1800), np.uint32(0x2E80)
_LOW_CODES = _LOW_END - _LOWEST
_SPACE = ord(" ")
_FEW_LINES = 16  # that show of many long pages that they are long
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")


def words(lines: Iterable[str]) -> list[str]:
    r"""Words of all lines, in their order.

    >>> words(("Two \x10/bags bags", "5個 bags"))
    ['Two', '\x10/bags', 'bags', '5', '個', 'bags']
    """
    return space_words(lines).split()


def word_count(lines: Sequence[str]) -> int:
    """Number of words of lines in which white space is single, as it is in lines of a page.

    >>> word_count(("two words", "個"))
    3
    """
    text = "\n".join(lines)
    if not text or text.isascii():
        return text.count(" ") + len(lines)
    codes = code_points(text)
    if _may_have_unspaced(codes) and _has_unspaced(text):
        return len(words(lines))
    return int(np.count_nonzero(codes == _SPACE)) + len(lines)


def space_words(lines: Iterable[str]) -> str:
    """Text of all lines with white space between all words, also where a script has none.

    >>> space_words(("5個", "bags"))
    '5 個 bags'
    """
    text = " ".join(lines)
    if text.isascii() or not _may_have_unspaced(code_points(text)):
        return text
    return " ".join(_WORD.findall(text)) if _has_unspaced(text) else text


def letters_beside_links(lines: Sequence[str], most: int) -> int:
    r"""Characters of lines of a page, joined by line breaks, without targets of links.

    Args:
        lines: The lines.
        most: Of a page that has more, any larger number is returned.

    Examples:
        >>> letters_beside_links(("Two \x10/bags bags", "\x10/more"), 99)
        10
    """
    letters, middle = 0, len(lines) // 2  # menus come first, and have few letters
    for line in lines[middle : middle + _FEW_LINES]:
        link = line.find(LINK)
        letters += link if link >= 0 else len(line)
        if letters > most:
            return letters
    letters, done, count = -1, 0, 4 * _FEW_LINES
    while done < len(lines) and letters <= most:
        text = f"{' '.join(lines[done : done + count])} "
        targets = text.split(LINK)[1:]
        letters += len(text) - len(targets) - sum(map(str.find, targets, repeat(" ")))
        done, count = done + count, 2 * count
    return max(letters, 0)


def _may_have_unspaced(codes: npt.NDArray[np.uint32]) -> bool:
    """Whether any code is in the ranges of scripts without spaces; typographic signs are not."""
    return bool(((codes - _LOWEST < _LOW_CODES) | (codes >= _HIGH)).any())


def _has_unspaced(text: str) -> bool:
    return _UNSPACED_CHARACTER.search(characters_from(_FIRST_UNSPACED, text)) is not None
