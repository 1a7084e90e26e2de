"""A column of texts end to end, with two hashes per text for grouping without sorting text.

A log names its page on every row. Comparing or sorting millions of such names costs far more
than everything else we do with them, so each name is read once, as whole words, into two
numbers. Rows are grouped by the first (`key`, 64 bits); the second (`check`, 32 bits) is made
independently and distinguishes two names that share a key.

    data     h t t p s : / / a / 1 h t t p s : / / a / 2
    offsets  0                     11                    22

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import begins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bytes, Checks, Ints, Words

_WORDS = 8  # words read at a time; a gather of 64 bytes costs no more than one of 8
_WIDTH = 8 * _WORDS
_LONG_RUN = 64  # texts: more than that are sooner copied as one range than one by one
_BLOCK = 8192  # texts at a time: their words stay in the cache
_PARTS = 65536  # texts at a time: enough of each length

# Odd constants with well-spread bits (fractions of the golden ratio and of sqrt 3).
_KEY_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_CHECK_FACTOR = np.uint64(0xBB67AE8584CAA73B)
_KEY_SHIFT = np.uint64(32)

# Row n keeps the first n bytes of a text's words and clears what lies behind.
_MASKS = (
    np.where(np.arange(_WIDTH) < np.arange(_WIDTH + 1)[:, np.newaxis], 255, 0)
    .astype(np.uint8)
    .view(f"V{_WIDTH}")
    .ravel()
)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """UTF-8 texts end to end.

    Examples:
        >>> names = Texts.of(["/a", "/b", "/a"])
        >>> names.tolist()
        ['/a', '/b', '/a']
        >>> key, check = names.hashes(seed=7)
        >>> key[0] == key[2], key[0] == key[1]
        (np.True_, np.False_)
    """

    data: Bytes
    offsets: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Lay Python strings end to end."""
        encoded = [text.encode(errors="replace") for text in texts]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(
            np.frombuffer(b"".join(encoded), np.uint8), np.concatenate([[0], np.cumsum(lengths)])
        )

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """Lay several such columns end to end."""
        lengths = [np.diff(part.offsets) for part in parts]
        return cls(
            np.concatenate(
                [np.empty(0, np.uint8)]
                + [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
            ),
            np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))]),
        )

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    def take(self, rows: Ints) -> Texts:
        """Only the named rows, in the order named."""
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        if len(rows) == len(self) and not len(breaks):
            return self
        if len(breaks) * _LONG_RUN <= len(rows):
            return self._runs(rows, breaks)
        return self.parts(self.offsets[:-1][rows], np.diff(self.offsets)[rows])

    def _runs(self, rows: Ints, breaks: Ints) -> Texts:
        """The named rows, which are in few runs of neighbours: each is copied as a whole."""
        edges = pairwise([0, *breaks.tolist(), len(rows)])
        runs = [rows[start:end] for start, end in edges if end > start]
        offsets = self.offsets
        return Texts.joined([Texts(self.data, offsets[run[0] : run[-1] + 2]) for run in runs])

    def parts(self, starts: Ints, lengths: Ints) -> Texts:
        """Ranges of the bytes as texts of their own."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        data = np.empty(offsets[-1], np.uint8)
        for first in range(0, len(starts), _PARTS):
            rows = slice(first, first + _PARTS)
            some = lengths[rows]
            # Ranges of one length are items of as many bytes, and copied as such: byte by byte
            # takes three times as long.
            order = np.argsort(some)
            edges = np.flatnonzero(begins(some[order]))
            for same in np.split(order, edges[1:]):
                if width := int(some[same[0]]):
                    into = _items(data, width)
                    into[offsets[rows][same]] = _items(self.data, width)[starts[rows][same]]
        return Texts(data, offsets)

    def tolist(self) -> list[str]:
        """Return Python strings."""
        whole = self.data.tobytes()
        edges = pairwise(self.offsets.tolist())
        return [whole[start:end].decode(errors="replace") for start, end in edges]

    def hashes(self, seed: int) -> tuple[Words, Checks]:
        """Two independent hashes of each text: `key` and `check`, which is never 0.

        Both depend on `seed`, so that names that collide cannot be prepared.
        """
        key, check = np.empty(len(self), np.uint64), np.empty(len(self), np.uint32)
        # Words may be read past a text's end. Where that is past the data's end, too, pad it.
        inside = int(np.searchsorted(self.offsets[1:], len(self.data) - _WIDTH, side="right"))
        tail = self.offsets[inside:]
        padded = np.concatenate([self.data[tail[0] : tail[-1]], np.zeros(_WIDTH, np.uint8)])
        for rows, data, offsets in (
            (slice(0, inside), self.data, self.offsets[: inside + 1]),
            (slice(inside, None), padded, tail - tail[0]),
        ):
            key[rows], check[rows] = _hashes(data, offsets, np.uint64(seed))
        return key, check


def _items(data: Bytes, width: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """The items of so many bytes that begin at each byte."""
    return np.ndarray((len(data) - width + 1,), f"V{width}", buffer=data, strides=(1,))


def _hashes(data: Bytes, offsets: Ints, seed: np.uint64) -> tuple[Words, Checks]:
    """Hash texts that can all be read in steps of 64 bytes."""
    count = len(offsets) - 1
    key, check = np.empty(count, np.uint64), np.empty(count, np.uint32)
    if count:
        items = _items(data, _WIDTH)  # reading a text's words is one gather
        for start in range(0, count, _BLOCK):
            rows = slice(start, start + _BLOCK)
            key[rows], check[rows] = _block(items, offsets[start : start + _BLOCK + 1], seed)
    return key, check


def _block(
    items: np.ndarray[tuple[int], np.dtype[np.void]], offsets: Ints, seed: np.uint64
) -> tuple[Words, Words]:
    """Hash one block: 64 bytes of every text at a time, word by word."""
    starts, left = offsets[:-1], np.diff(offsets)
    lengths = left.astype(np.uint64)
    factor = _CHECK_FACTOR ^ (seed << np.uint64(1))
    key, check = np.full((2, len(left)), seed)
    rows: Ints | slice = slice(None)
    while True:
        words = items[starts].view(np.uint64).reshape(-1, _WORDS)
        words &= _MASKS.take(np.minimum(left, _WIDTH)).view(np.uint64).reshape(-1, _WORDS)
        some_key, some_check = key[rows], check[rows]
        for word in np.ascontiguousarray(words.T):
            some_key ^= word
            some_key *= _KEY_FACTOR
            some_key ^= some_key >> _KEY_SHIFT
            some_check += word
            some_check *= factor
        key[rows], check[rows] = some_key, some_check

        longer = np.flatnonzero(left > _WIDTH)
        if not len(longer):
            # Lengths come last: added first, a longer text that ends in zeros could make up for
            # another first letter. The upper half is the better mixed one; 0 is kept for "nothing
            # yet".
            check = (check ^ lengths) * factor
            return (key ^ lengths) * _KEY_FACTOR, check >> np.uint64(32) | np.uint64(1)
        rows = longer if isinstance(rows, slice) else rows[longer]
        starts, left = starts[longer] + _WIDTH, left[longer] - _WIDTH
