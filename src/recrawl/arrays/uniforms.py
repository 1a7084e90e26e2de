"""Deterministic uniforms: pseudo-random numbers from a seed, a page and the number of the draw.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints, Words

# Odd constants without a pattern in their bits.
_STRIDES = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xAEF17502108EF2D9)
_BITS_OF_A_FLOAT = 53


def hash_uniform(seed: int, rows: Ints | Words, turn: Ints) -> Floats:
    """A uniform number above 0 and at most 1 for each page, by number or hash, and turn.

    >>> some = hash_uniform(1, np.arange(10_000), np.zeros(10_000, np.int64))
    >>> bool(abs(some.mean() - 0.5) < 0.01), bool(abs(some.var() - 1 / 12) < 0.002)
    (True, True)
    """
    word = np.full(len(rows), seed & (2**64 - 1), np.uint64)
    for number, stride in zip((rows, turn, rows), _STRIDES, strict=True):
        word = _stirred(word + (number.astype(np.uint64) + np.uint64(1)) * np.uint64(stride))
    upper = (word >> np.uint64(64 - _BITS_OF_A_FLOAT)).astype(np.float64)
    return (upper + 1) * 2.0**-_BITS_OF_A_FLOAT


def _stirred(word: Words) -> Words:
    """Every bit of the word spread over all others."""
    for shift, stride in zip((29, 32, 31), _STRIDES, strict=True):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(stride)
    return word ^ (word >> np.uint64(30))
