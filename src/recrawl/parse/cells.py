"""Parsers of the columns of a visit log: texts in, numbers and a flag per wrong cell out.

Each function takes a column of texts and returns its values with a column that says which cells
are wrong; nothing is guessed. Times are read by `parse/times.py`.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidInput
from recrawl.visits.rows import UNKNOWN_CHANGE
from recrawl.visits.visit import answer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Answers, Bools, Changes

CHANGED_RULE = "must be true, false or empty"
STATUS_RULE = "must be an HTTP code, ok, failed, gone or empty"
PAGE_RULE = "must name a page"

# Also as spreadsheets write them in other languages; none of these words means the opposite in any.
CHANGE_WORDS: Mapping[str, int] = {
    **dict.fromkeys(("true", "1", "1.0", "t", "yes", "y"), 1),
    **dict.fromkeys(("false", "0", "0.0", "f", "no", "n"), 0),
    **dict.fromkeys(("wahr", "vrai", "vero", "verdadero", "verdadeiro", "waar"), 1),
    **dict.fromkeys(("falsch", "faux", "falso", "onwaar"), 0),
    **dict.fromkeys(("ja", "oui"), 1),
    **dict.fromkeys(("nein", "non", "nee"), 0),
    "": UNKNOWN_CHANGE,
}


def changes(texts: Sequence[str], words: Mapping[str, int] = CHANGE_WORDS) -> tuple[Changes, Bools]:
    """1, 0 or -1 for each of true, false and empty, and which cells are none of them.

    Args:
        texts: The cells.
        words: What each word means, in small letters.
    """
    codes = [words.get(text.strip().lower(), 2) for text in texts]
    values = np.array(codes, np.int8)
    return values, values == 2  # noqa: PLR2004 - the code for "none of them", two lines up


def answers(texts: Sequence[str]) -> tuple[Answers, Bools]:
    """Numbers of `AnswerKind`, and which cells mean none."""
    known: dict[str, int] = {}
    for text in set(texts):
        try:
            known[text] = answer_of(text)
        except InvalidInput:
            known[text] = 255
    values = np.array([known[text] for text in texts], np.uint8)
    return values, values == 255  # noqa: PLR2004 - the code for "none of them", above


def unnamed(texts: Sequence[str]) -> Bools:
    """Which cells are no name: blank, or with half of a letter that needs two numbers."""
    return np.array([not text.strip() or not _is_text(text) for text in texts], np.bool_)


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
