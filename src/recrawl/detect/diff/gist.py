"""Kind of a change of a page, in one word.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Stores hold the place of a word, so that a word keeps it for ever: a new one comes at the end.
GISTS = ("same", "moved", "figures", "added", "removed", "edited", "rewritten")
_REWRITTEN = 0.5  # of the words
_ASCII_DIGIT = re.compile("[0-9]")
_NO_DIGIT = re.compile("(?:^| )[^ 0-9]++(?: |$)")  # a word without any of these


def gist_of_words(removed: Iterable[str], added: Iterable[str], share: float) -> str:
    """Kind of a change by the words that came and went; empty where none did.

    Args:
        removed: Words that are no longer there; no more of them are looked at than tell it.
        added: Words that were not there before.
        share: Share of the words that differ.

    Returns:
        One of `GISTS`: `figures` where only words with digits came and went; `rewritten` where half
        of the words differ; `added` or `removed` where words did nothing else; else `edited`.

    Examples:
        >>> gist_of_words({"5"}, {"6"}, share=0.3), gist_of_words((), {"new", "words"}, share=0.3)
        ('figures', 'added')
    """
    gone, come = iter(removed), iter(added)
    first_gone, first_come = next(gone, ""), next(come, "")
    if not first_gone and not first_come:
        return ""
    if all(map(_has_digit, filter(None, (first_gone, first_come)))):
        rest = [*gone, *come]
        if not _NO_DIGIT.search(" ".join(rest)) or all(map(_has_digit, rest)):
            return "figures"
    if share >= _REWRITTEN:
        return "rewritten"
    if not first_gone:
        return "added"
    return "edited" if first_come else "removed"


def _has_digit(word: str) -> bool:
    # Nearly all words have digits of these ten or none.
    return _ASCII_DIGIT.search(word) is not None or (
        not word.isascii() and any(letter.isdigit() for letter in word)
    )
