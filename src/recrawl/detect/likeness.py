r"""A likeness of a page in 64 bits: of pages that differ little, few bits differ.

Each pair of neighbouring words votes on all bits by the bits of its hash; the majority decides.
Two pages whose pairs have the cosine $\cos\theta$ differ in a bit with probability $\theta / \pi$,
so the share of bits that differ tells how much of the text does. It is a rough measure, for when
the old text is not at hand.

References:
    Charikar (2002). Similarity estimation techniques from rounding algorithms. Proceedings of the
    34th Annual ACM Symposium on Theory of Computing, 380-388.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_digest

from recrawl.detect.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

_BITS = 64
# Odd numbers with bits all over: they spread what differs in few bits over all of them.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_DOWN = np.uint64(29)
# Fitted to pages of 10 to 100 lines in words of very unequal frequency, of which words or lines
# were replaced or cut: tests/detect/test_likeness.py has them, and says how well it holds.
_STEEPNESS, _LEAST = 0.8, 0.002
_MOST_WORDS = 100_000  # of a page of a megabyte and more, its beginning


def likeness(lines: Sequence[str]) -> int:
    """64 bits that are alike where the words of lines are.

    >>> likeness(())
    0
    """
    # As bytes, all at once: to turn each word into bytes takes longer than to hash it.
    found = "\n".join(words(lines)[:_MOST_WORDS]).encode(errors="surrogatepass").split(b"\n")
    if found == [b""]:
        return 0
    hashes = np.frombuffer(b"".join(map(xxh3_64_digest, found)), ">u8").astype(np.uint64)
    following = np.append(hashes[1:], np.uint64(0))
    pairs = hashes * _FIRST + following * _SECOND
    pairs ^= pairs >> _DOWN
    pairs *= _SECOND
    pairs ^= pairs >> _DOWN
    votes = (
        np.unpackbits(pairs.astype(">u8").view(np.uint8))
        .reshape(-1, _BITS)
        .sum(axis=0, dtype=np.uint32)
    )
    return int.from_bytes(np.packbits(votes * 2 > len(pairs)).tobytes())


def estimated_share(one: int, other: int) -> float:
    """Share of the words that differ between two pages that are not the same, from likenesses.

    Args:
        one: Likeness of one page.
        other: Likeness of the other.

    Examples:
        >>> [round(estimated_share(0, 2**bits - 1), 3) for bits in (0, 1, 8, 32)]
        [0.002, 0.003, 0.063, 0.802]
    """
    apart = (one ^ other).bit_count()
    return min(_STEEPNESS * (1 - math.cos(math.pi * apart / _BITS)) + _LEAST, 1.0)
