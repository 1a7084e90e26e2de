"""Fast search for many characters in a text at once.

Python keeps Latin-1 text as one byte per character, in which a character is found at once. In other
text, searching for dozens of characters one by one, or by a pattern, would take longer than all
else that is done to it. Here such text becomes an array of UTF-16 code units.

Pure.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    _Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_SPACE = ord(" ")
_LAST_LATIN = "\xff"
_NUMBERS = 1 << 16
_SHORT = 4_096  # letters, in fewer of which two spaces are found faster than an array is made
_BYTES, _WIDE = "latin-1", "utf-16-le"


def is_latin(text: str) -> bool:
    """Whether all characters of a text are Latin-1.

    >>> is_latin("naïve"), is_latin("5 €")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode(_BYTES)  # far faster than a loop over characters
    except UnicodeEncodeError:
        return False
    return True


def characters_from(first: str, text: str) -> str:
    """Characters of a text with the code of `first`, which is not Latin-1, or a higher one.

    >>> characters_from("\u0e00", "5 € for a 本")
    '€本'
    """
    if is_latin(text):
        return ""
    codes = np.frombuffer(text.encode(_WIDE, "surrogatepass"), "<u2")
    return codes[codes >= ord(first)].tobytes().decode(_WIDE, "surrogatepass")


def normalize_spaces(text: str, *, spaces: str, unseen: str) -> str:
    r"""A text with single spaces and without invisible characters.

    Args:
        text: The text.
        spaces: Characters that count as spaces, besides the space; none beyond 16 bits.
        unseen: Characters that are left out; none beyond 16 bits.

    Examples:
        >>> normalize_spaces("a\n  b\u2009€ \xadc", spaces="\n\u2009", unseen="\xad\ufeff")
        'a b € c'
    """
    wide = not is_latin(text)
    first = "\1" if wide else "\0"  # half of the bytes of wide text are 0: slow to search for
    for characters, instead in ((unseen, ""), (spaces, " ")):
        for character in _between(first, _LAST_LATIN, characters):
            if character in text:
                text = text.replace(character, instead)
    if not wide and len(text) < _SHORT and "  " not in text:
        return text
    encoding = _WIDE if wide else _BYTES
    kind = "<u2" if wide else "u1"
    codes: _Codes = np.frombuffer(text.encode(encoding, "surrogatepass"), kind)
    if wide:
        codes = _replaced(codes, spaces, unseen)
    again = codes == _SPACE
    again[:-1] &= again[1:]
    again[-1:] = False
    left: bytes = codes[~again].tobytes()
    return left.decode(encoding, "surrogatepass")


@cache
def _between(first: str, last: str, characters: str) -> tuple[str, ...]:
    return tuple(character for character in characters if first <= character <= last)


def _replaced(codes: _Codes, spaces: str, unseen: str) -> _Codes:
    """Codes with some replaced by spaces and others left out; most texts have none of them."""
    there = np.zeros(_NUMBERS, np.bool_)
    there[codes[codes - 1 >= ord(_LAST_LATIN)]] = True  # and 0: there is nothing before it
    blank, gone = (
        [ord(character) for character in characters if there[ord(character)]]
        for characters in (spaces, unseen)
    )
    if gone:
        codes = codes[~np.isin(codes, gone)]
    if blank:
        codes = np.where(np.isin(codes, blank), codes.dtype.type(_SPACE), codes)
    return codes
