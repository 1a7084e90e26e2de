r"""64-bit simhash of a page's text: similar texts have similar bits.

Each shingle of two words votes on every bit by the bits of its hash; the majority decides. Two
pages whose shingles have the cosine $\cos\theta$ differ in a bit with probability $\theta / \pi$,
so the share of bits that differ estimates the share of words that do. The estimate is rough; it is
for pages whose old text is not kept.

References:
    Charikar (2002). Similarity estimation techniques from rounding algorithms. Proceedings of the
    34th Annual ACM Symposium on Theory of Computing, 380-388.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.text.words import space_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_BITS = 64
_SPACE = ord(" ")
# Odd multipliers with bits all over, which spread a difference of few bits over all of them.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_DOWN = np.uint64(29)
# Fitted to pages of 10 to 100 lines in words of very unequal frequency, of which words or lines
# were replaced or cut: tests/detect/test_simhash.py has them, and says how well it holds.
_STEEPNESS, _LEAST = 0.8, 0.002
_MOST_LETTERS = 1_000_000  # longer pages are hashed by their beginning


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Integer hash: each bit depends on nearly all bits of its input."""
    for _ in range(2):
        numbers ^= numbers >> _DOWN
        numbers *= _SECOND
    return numbers ^ (numbers >> _DOWN)


# Hash of two neighbouring bytes, as a table: hashing each letter would take too long.
_OF_PAIR = _mixed(np.arange(1, (1 << 16) + 1, dtype=np.uint64) * _FIRST)


def simhash(lines: Sequence[str]) -> int:
    """Simhash of the words of lines.

    >>> simhash(())
    0
    """
    text = space_words(lines)[:_MOST_LETTERS]
    if not text:
        return 0
    hashes = _hashes(text)
    pairs = _mixed(hashes * _FIRST + np.append(hashes[1:], np.uint64(0)) * _SECOND)
    return int.from_bytes(np.packbits(_votes(pairs) * 2 > len(pairs)).tobytes())


def _hashes(text: str) -> npt.NDArray[np.uint64]:
    """One hash per word: the sum of the hashes of its pairs of bytes, spaces beside it included."""
    letters = np.frombuffer(f" {text} ".encode(errors="surrogatepass"), np.uint8)
    spaces = np.flatnonzero(letters == _SPACE)
    pairs = letters[:-1].astype(np.uint16) << 8 | letters[1:]
    return np.add.reduceat(_OF_PAIR.take(pairs), spaces[:-1])


def _votes(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """How many numbers have each bit set, the highest bit first."""
    # Eight counters of a byte are added at once, of as many numbers as a byte can count.
    bits = np.unpackbits(numbers.astype(">u8").view(np.uint8)).view(np.uint64).reshape(-1, 8)
    counts = np.add.reduceat(bits, range(0, len(bits), 255))
    votes: npt.NDArray[np.int64] = counts.view(np.uint8).reshape(-1, _BITS).sum(axis=0, dtype=int)
    return votes


def estimated_share(one: int, other: int) -> float:
    """Share of the words that differ between two pages that are not the same, from their simhashes.

    Args:
        one: Simhash of one page.
        other: Simhash of the other.

    Examples:
        >>> [round(estimated_share(0, 2**bits - 1), 3) for bits in (0, 1, 8, 32)]
        [0.002, 0.003, 0.063, 0.802]
    """
    apart = (one ^ other).bit_count()
    return min(_STEEPNESS * (1 - math.cos(math.pi * apart / _BITS)) + _LEAST, 1.0)
