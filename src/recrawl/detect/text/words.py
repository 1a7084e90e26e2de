r"""Words of a page in any script.

A word is what stands between white space. In scripts that put no spaces between words (Chinese,
Japanese, Thai, ...) each character is one. The target of a link is a word, too.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.detect.text.characters import characters_from
from recrawl.detect.text.lines import LINK

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
    if not text or _has_unspaced(text):
        return len(words(lines))
    return text.count(" ") + len(lines)


def space_words(lines: Iterable[str]) -> str:
    """Text of all lines with white space between all words, also where a script has none.

    >>> space_words(("5個", "bags"))
    '5 個 bags'
    """
    text = " ".join(lines)
    return " ".join(_WORD.findall(text)) if _has_unspaced(text) else text


def _has_unspaced(text: str) -> bool:
    return _UNSPACED_CHARACTER.search(characters_from(_FIRST_UNSPACED, text)) is not None
