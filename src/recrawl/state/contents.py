"""Which pages of a host have the same content, found by signature.

Each page has a key: the signature of its text mixed with its host, or 0 without content. The keys
of all pages are sorted now and then; what came since is in a dictionary. A page's own key says
whether what either of them holds is still so.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.growing import append_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recrawl.arrays.types import Ints

KEYS = "content_keys"  # name in a checkpoint
_SPREAD = 0x9E3779B97F4A7C15  # an odd number with bits all over
_WRAP = (1 << 64) - 1
_FEWEST_TO_SORT, _PART_TO_SORT = 10_000, 8
_LOOKED_AT = 100  # pages with one key: any number may show the same error


class ContentIndex:
    """Pages by what they show.

    Examples:
        >>> index = ContentIndex()
        >>> index.grow(2)
        >>> index.put(0, host=7, signature=b"12345678")
        >>> list(index.same(b"12345678", host=7)), list(index.same(b"12345678", host=8))
        ([0], [])
    """

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self._sorted: Ints = np.empty(0, np.int64)  # pages, by their keys
        self._sorted_keys = np.empty(0, np.uint64)
        self._recent: dict[int, list[int]] = {}
        self._count = 0

    def grow(self, pages: int) -> None:
        """Make room for pages that were found."""
        self._keys = append_rows(self._keys, np.zeros(pages, np.uint64))

    def load(self, pages: Ints, hosts: Ints, signatures: Ints) -> None:
        """Take up what a store knows: pages, their hosts, and first bytes of their signatures."""
        known = pages < len(self._keys)
        spread = hosts.astype(np.uint64) * np.uint64(_SPREAD)
        self._keys[pages[known]] = np.maximum(signatures.view(np.uint64) ^ spread, 1)[known]
        self._sort()

    def resume(self, parts: Mapping[str, Any]) -> bool:
        """Take up the keys of a checkpoint; whether it has them."""
        keys = parts.get(KEYS)
        if keys is None or keys.dtype != self._keys.dtype:
            return False
        rows = min(len(keys), len(self._keys))
        self._keys[:rows] = keys[:rows]
        self._sort()
        return True

    def dump(self) -> dict[str, Any]:
        """Keys for a checkpoint."""
        return {KEYS: self._keys.copy()}

    def put(self, page: int, *, host: int, signature: bytes) -> None:
        """Note what a page shows now."""
        key = _key(signature, host)
        if int(self._keys[page]) == key:
            return
        self._keys[page] = key
        self._recent.setdefault(key, []).append(page)
        self._count += 1
        if self._count > max(_FEWEST_TO_SORT, len(self._keys) // _PART_TO_SORT):
            self._sort()

    def same(self, signature: bytes, host: int) -> Iterator[int]:
        """Pages of a host that show what has this signature, the oldest first, up to a bound."""
        key = _key(signature, host)
        first = int(np.searchsorted(self._sorted_keys, np.uint64(key), "left"))
        end = int(np.searchsorted(self._sorted_keys, np.uint64(key), "right"))
        found = self._sorted[first : min(end, first + _LOOKED_AT)].tolist()
        for page in dict.fromkeys(found + self._recent.get(key, [])[:_LOOKED_AT]):
            if int(self._keys[page]) == key:
                yield page

    def _sort(self) -> None:
        order = np.argsort(self._keys, kind="stable")
        self._sorted_keys = self._keys[order]
        self._sorted = order
        self._recent.clear()
        self._count = 0


def _key(signature: bytes, host: int) -> int:
    number = int.from_bytes(signature[:8].ljust(8, b"\0"), "little")
    return max(number ^ (host * _SPREAD & _WRAP), 1)
