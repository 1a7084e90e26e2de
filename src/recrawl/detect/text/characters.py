"""Fast search for many characters in a text at once.

Python keeps Latin-1 text as one byte per character, in which a character is found at once. In other
text, searching for dozens of characters one by one, or by a pattern, would take longer than all
else that is done to it. Here such text becomes an array of UTF-16 code units.

Pure.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_Code = TypeVar("_Code", np.uint8, np.uint32)
_SPACE = ord(" ")
_LAST_LATIN = "\xff"
_NUMBERS = 1 << 16
_SHORT = 4_096  # letters, in fewer of which two spaces are found faster than an array is made
_BYTES = "latin-1"


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
    codes = code_points(text)
    return _text_of(codes[codes >= ord(first)])


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """Code points of a text, in a fifth of the time that an encoding of it takes.

    >>> code_points("a€").tolist()
    [97, 8364]
    """
    return np.array(text).reshape(1).view(np.uint32) if text else np.zeros(0, np.uint32)


def _text_of(codes: npt.NDArray[np.uint32]) -> str:
    """Text of code points."""
    if not len(codes) or not codes[-1]:  # NumPy leaves NULs out that end a text
        return codes.tobytes().decode("utf-32-le", "surrogatepass")
    return str(codes.view(f"U{len(codes)}")[0])


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
    if wide:
        return _text_of(_single_spaced(_replaced(code_points(text), spaces, unseen)))
    latin = np.frombuffer(text.encode(_BYTES), np.uint8)
    return _single_spaced(latin).tobytes().decode(_BYTES)


def _single_spaced(codes: npt.NDArray[_Code]) -> npt.NDArray[_Code]:
    """Codes without spaces that another one follows."""
    again = codes == _SPACE
    again[:-1] &= again[1:]
    again[-1:] = False
    found: npt.NDArray[_Code] = codes[~again]
    return found


@cache
def _between(first: str, last: str, characters: str) -> tuple[str, ...]:
    return tuple(character for character in characters if first <= character <= last)


def _replaced(codes: npt.NDArray[np.uint32], spaces: str, unseen: str) -> npt.NDArray[np.uint32]:
    """Codes with some replaced by spaces and others left out; most texts have none of them."""
    there = np.zeros(_NUMBERS, np.bool_)
    high = codes[codes - 1 >= ord(_LAST_LATIN)]  # and 0: there is nothing before it
    there[np.minimum(high, _NUMBERS - 1)] = True
    blank, gone = (
        [ord(character) for character in characters if there[ord(character)]]
        for characters in (spaces, unseen)
    )
    if gone:
        codes = codes[~np.isin(codes, gone)]
    if blank:
        codes = np.where(np.isin(codes, blank), codes.dtype.type(_SPACE), codes)
    return codes
