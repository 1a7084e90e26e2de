"""A short number for each address, by which a store finds it.

Pure.
"""

from __future__ import annotations

import xxhash

_BITS = 32


def key_of(address: str, seed: int) -> int:
    """Signed 32-bit hash of an address.

    Thirty-two bits are enough to find a page among many millions, but two addresses may share a
    key: whoever looks one up compares the address as well. The seed is each store's own, so
    that nobody can make up addresses that all share one.

    >>> key_of("https://example.org/", seed=1) == key_of("https://example.org/", seed=1)
    True
    >>> abs(key_of("https://example.org/", seed=2)) <= 2**31
    True
    """
    hashed = xxhash.xxh3_64_intdigest(address.encode(), seed)
    return (hashed & ((1 << _BITS) - 1)) - (1 << (_BITS - 1))
