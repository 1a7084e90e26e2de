"""Signs of a text, looked for all at once.

Text of Latin letters alone takes a byte a letter, in which a sign is found at once. In other text,
to look for dozens of signs one by one, or at each letter by a pattern, takes longer than all else
that is done to it. Here such text becomes an array of numbers of 16 bits, two for a rare sign.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    _Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_SPACE = ord(" ")
_LAST_LATIN = "\xff"
_NUMBERS = 1 << 16
_BYTES, _WIDE = "latin-1", "utf-16-le"


def is_latin(text: str) -> bool:
    """Whether all letters of a text are among the first 256.

    >>> is_latin("naïve"), is_latin("5 €")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode(_BYTES)  # far faster than looking at each letter
    except UnicodeEncodeError:
        return False
    return True


def characters_from(first: str, text: str) -> str:
    """The signs of a text, in their order, without those before one that is not Latin.

    >>> characters_from("\u0e00", "5 € for a 本")
    '€本'
    """
    if is_latin(text):
        return ""
    codes = np.frombuffer(text.encode(_WIDE, "surrogatepass"), "<u2")
    return codes[codes >= ord(first)].tobytes().decode(_WIDE, "surrogatepass")


def normalize_spaces(text: str, *, spaces: str, unseen: str) -> str:
    r"""A text with one space wherever some stood together, and without what nobody sees.

    Args:
        text: The text.
        spaces: Signs that count as spaces, besides the space.
        unseen: Signs that are left out; as spaces, none of them beyond 16 bits.

    Examples:
        >>> normalize_spaces("a\n  b\u2009€ \xadc", spaces="\n\u2009", unseen="\xad\ufeff")
        'a b € c'
    """
    wide = not is_latin(text)
    first = "\1" if wide else "\0"  # half of the bytes of wide text are 0: it takes long to find
    for signs, instead in ((unseen, ""), (spaces, " ")):
        for sign in signs:
            if first <= sign <= _LAST_LATIN and sign in text:
                text = text.replace(sign, instead)
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


def _replaced(codes: _Codes, spaces: str, unseen: str) -> _Codes:
    """Signs with a space for each of some, and without others; most texts have none of them."""
    there = np.zeros(_NUMBERS, np.bool_)
    there[codes[codes - 1 >= ord(_LAST_LATIN)]] = True  # and 0: there is nothing before it
    blank, gone = ([ord(sign) for sign in signs if there[ord(sign)]] for signs in (spaces, unseen))
    if gone:
        codes = codes[~np.isin(codes, gone)]
    if blank:
        codes = np.where(np.isin(codes, blank), codes.dtype.type(_SPACE), codes)
    return codes
