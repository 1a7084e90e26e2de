"""Canonical form of many addresses at once.

Most addresses in an archive's index are canonical already, and a look at their bytes, all together,
can tell so for a hundredth of what reading each would cost. `canonical` reads the others.

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.parse.addresses import LONGEST_ADDRESS, canonical

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools

_CACHED = 1 << 14  # addresses that are read: a log names the same ones again and again

# Bits of a byte. What stays as it is in a host, and behind it; other bytes may be right, too.
_OF_HOST, _PLAIN = 128, 64
# Two bytes in a row that may begin what is rewritten or refused: dot segments, plain or escaped,
# and empty labels; numbers in base 16; international hosts ("xn--"). The first of two has a bit of
# 7, the second the same bit three places up.
_SECOND = 3
_FIRST_OF_PAIR = dict(zip(b"/.0-", (1, 1, 2, 4), strict=True))
_SECOND_OF_PAIR = dict(zip(b".%x-", (1, 1, 2, 4), strict=True))
_IN_HOST = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789.-")
_BEHIND_HOST = frozenset(b"_~/?&=+,;:@!$%()*ABCDEFGHIJKLMNOPQRSTUVWXYZ") | _IN_HOST
_BITS = bytes(
    _OF_HOST * (byte in _IN_HOST)
    | _PLAIN * (byte in _BEHIND_HOST)
    | _FIRST_OF_PAIR.get(byte, 0)
    | _SECOND_OF_PAIR.get(byte, 0) << _SECOND
    for byte in range(256)
)

_SECURE = np.frombuffer(b"https://", np.uint64)[0]
_PLAIN_SCHEME = np.frombuffer(b"http://\0", np.uint64)[0]
_SEVEN_BYTES = np.frombuffer(b"\xff\xff\xff\xff\xff\xff\xff\0", np.uint64)[0]
_LONGEST_LABEL = 63
_SLASH, _QUESTION, _DOT, _A, _Z = b"/?.az"


def canonical_texts(addresses: Texts) -> tuple[Texts, Bools]:
    """Canonical form of each address, and which have one; what has none is empty.

    >>> names, known = canonical_texts(Texts.of(["HTTP://a.org", "http://a.org/b", "mailto:c"]))
    >>> names.tolist(), known
    (['http://a.org/', 'http://a.org/b', ''], array([ True,  True, False]))
    """
    known = surely_canonical(addresses)
    others = np.flatnonzero(~known)
    if not len(others):
        return addresses, known
    read = [_read(text) for text in addresses.take(others).tolist()]
    known[others] = [text is not None for text in read]
    rows = np.arange(len(addresses))
    rows[others] = len(addresses) + np.arange(len(others))
    return Texts.joined([addresses, Texts.of([text or "" for text in read])]).take(rows), known


@lru_cache(maxsize=_CACHED)
def _read(text: str) -> str | None:
    return canonical(text)


def surely_canonical(addresses: Texts) -> Bools:
    """Which addresses are canonical for sure; others may be, too.

    >>> surely_canonical(Texts.of(["http://a.org/b?c=d", "http://a.org", "http://a.org/%7Eb/../c"]))
    array([ True, False, False])
    """
    starts, ends = addresses.offsets[:-1], addresses.offsets[1:]
    if not len(starts):
        return np.zeros(0, np.bool_)
    # Bytes behind the last address can be read, and end a host.
    data = np.append(addresses.data, np.zeros(8, np.uint8))
    first = np.ndarray((len(data) - 7,), np.uint64, buffer=data, strides=(1,))[starts]
    secure = first == _SECURE
    host = starts + np.where(secure, 8, 7)
    bits = np.frombuffer(data.tobytes().translate(_BITS), np.uint8)  # faster than a gather
    elsewhere = np.flatnonzero(bits < _OF_HOST)
    slash = elsewhere[np.searchsorted(elsewhere, np.minimum(host, len(data) - 1))]
    last = data[slash - 1]
    sure: Bools = (
        (secure | (first & _SEVEN_BYTES == _PLAIN_SCHEME))
        & (slash < ends)
        & (data[slash] == _SLASH)
        & (slash > host)
        & (slash - host <= _LONGEST_LABEL)
        & (data[np.minimum(host, len(data) - 1)] != _DOT)
        & (last >= _A)
        & (last <= _Z)  # not a number
        & (data[np.maximum(ends, 1) - 1] != _QUESTION)
        & (ends - starts <= LONGEST_ADDRESS)
    )
    doubtful = bits[:-8] < _PLAIN
    doubtful[:-1] |= (bits[1:-8] >> _SECOND & bits[:-9] & 7) != 0
    if doubtful.any():
        sure[np.searchsorted(starts, np.flatnonzero(doubtful), side="right") - 1] = False
    return sure
