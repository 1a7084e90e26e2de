r"""How many different texts there were, in little memory, however often each was seen.

Of the hashes of all texts only the smallest are kept. Below that number the count is exact; beyond
it, if the $k$-th smallest of $n$ hashes lies at the share $u$ of their range, $n$ is about
$(k - 1) / u$, with a relative error of about $1 / \sqrt{k}$. Two counts are joined by joining
their hashes.

References:
    Bar-Yossef, Jayram, Kumar, Sivakumar and Trevisan (2002). Counting distinct elements in a data
    stream. RANDOM 2002, 1-10.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = 512  # hashes: an error of 4 % beyond
_RANGE = 2.0**64


def hashed(text: str) -> int:
    """Hash of a text, as counts take it."""
    return xxhash.xxh3_64_intdigest(text.encode(errors="surrogatepass"))


class DistinctCount:
    """A count of different texts.

    Examples:
        >>> count = DistinctCount()
        >>> for text in ("a", "b", "a"):
        ...     count.add(text)
        >>> int(count), int(DistinctCount.read(count.dump()))
        (2, 2)
    """

    __slots__ = ("_hashes", "_most")

    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self._hashes = set(hashes)
        self._most = _RANGE
        self._shrink()

    def add(self, text: str) -> None:
        """Count a text; once more is nothing."""
        number = hashed(text)
        if number < self._most:
            self._hashes.add(number)
            if len(self._hashes) > 2 * _KEPT:
                self._shrink()

    def join(self, other: DistinctCount) -> None:
        """Count what another has counted, too."""
        self._hashes |= other._hashes
        self._shrink()

    def __int__(self) -> int:
        """How many there were, exactly up to 512."""
        self._shrink()
        if len(self._hashes) < _KEPT:
            return len(self._hashes)
        return round((_KEPT - 1) * _RANGE / max(self._hashes))

    def dump(self) -> bytes:
        """Bytes of the count, the same for the same texts."""
        self._shrink()
        return np.array(sorted(self._hashes), "<u8").tobytes()

    @classmethod
    def read(cls, data: bytes) -> DistinctCount:
        """A count from its bytes; what is beyond them is left out."""
        size = min(len(data) // 8, _KEPT)
        return cls(np.frombuffer(data, "<u8", size).tolist())

    def _shrink(self) -> None:
        if len(self._hashes) >= _KEPT:
            self._hashes = set(sorted(self._hashes)[:_KEPT])
            self._most = float(max(self._hashes))
