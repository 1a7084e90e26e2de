"""The site of a page: the registered domain of its address.

Pages under one registered domain are usually made by one system and change alike, so they share
a prior. What is no address has no site of its own; all such pages form one.

Pure.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bytes, Ints, Words

NO_SITE = ""

_BLOCK = 1 << 14  # pages at a time: their letters stay in the cache

_LONGEST_HOST = 255


def _word(letters: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(letters, sys.byteorder))


# The first eight letters of an address as one number: what to compare, and under which mask.
_CASE = _word(b"\x20" * 8)  # makes capital letters small
_SCHEMES = (
    (_word(b"http://\0"), _word(b"\xff" * 7 + b"\0")),
    (_word(b"https://"), _word(b"\xff" * 8)),
)
# What ends a host, eight times over; "/" and "?" differ in the one bit that is cleared for both.
_SLASH, _HASH, _BACKSLASH = (_word(letter * 8) for letter in (b"/", b"#", b"\\"))
_NO_QUESTION = ~_word(b"\x10" * 8)
_ONES, _TOPS = _word(b"\x01" * 8), _word(b"\x80" * 8)
_LOWER = np.frombuffer(bytes(range(256)).lower(), np.uint8)


def sites_of(pages: Texts | Sequence[str]) -> tuple[Ints, list[str]]:
    """Number of each page's site, and the sites: registered domains in order of appearance.

    >>> sites_of(["https://a.example.org/1", "http://example.org", "page 3"])
    (array([0, 0, 1]), ['example.org', ''])
    """
    pages = pages if isinstance(pages, Texts) else Texts.of(pages)
    hosts, first = numbered(_hosts(pages))
    numbers: dict[str, int] = {}
    site_of_host = np.array(
        [numbers.setdefault(registered_domain(host), len(numbers)) for host in first], np.int64
    )
    return site_of_host[hosts], list(numbers)


def numbered(texts: Texts) -> tuple[Ints, list[str]]:
    """Number of each text, from 0 in order of appearance, and the distinct texts.

    >>> numbered(Texts.of(["b", "a", "b"]))
    (array([0, 1, 0]), ['b', 'a'])
    """
    key, check = texts.hashes(seed=0)
    key ^= check.astype(np.uint64) * np.uint64(3)  # 64 well-mixed bits of both
    order = np.argsort(key)
    key = key[order]
    if not len(key):
        return np.empty(0, np.int64), []
    new = begins(key)
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    number = np.empty(len(key), np.int64)
    number[order] = rank[np.cumsum(new) - 1]
    return number, texts.take(np.sort(first)).tolist()


def _hosts(pages: Texts) -> Texts:
    """Authority of http and https addresses; empty for others."""
    starts, lengths = np.empty(len(pages), np.int64), np.empty(len(pages), np.int64)
    for first in range(0, len(pages), _BLOCK):
        rows = slice(first, first + _BLOCK)
        edges = pages.offsets[first : first + _BLOCK + 1]
        place, lengths[rows] = _host_places(pages.data[edges[0] : edges[-1]], edges - edges[0])
        starts[rows] = place + edges[0]
    hosts = pages.parts(starts, lengths)
    return Texts(_LOWER[hosts.data], hosts.offsets)


def _host_places(data: Bytes, offsets: Ints) -> tuple[Ints, Ints]:
    """Where each address's host begins, and how long it is; 0 where there is none."""
    starts, ends = offsets[:-1], offsets[1:]
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    head = np.ndarray((len(data) + 1,), np.uint64, buffer=padded, strides=(1,))[starts]
    head |= _CASE
    first = starts + np.select([head & mask == word for word, mask in _SCHEMES], [7, 8], 0)
    last = first.copy()
    words = np.ndarray((len(data) + 1,), "<u8", buffer=padded, strides=(1,))
    going = np.flatnonzero((first > starts) & (first < ends))
    for _ in range(0, _LONGEST_HOST, 8):
        if not len(going):
            break
        step = _letters_of_host(words[last[going]])
        last[going] = np.minimum(last[going] + step, ends[going])
        going = going[(step == 8) & (last[going] < ends[going])]  # noqa: PLR2004 - all eight
    np.minimum(last, first + _LONGEST_HOST, out=last)
    return first, last - first


def _letters_of_host(words: Words) -> Ints:
    """How many of eight letters, the first one lowest, come before one that ends a host.

    A byte of x is 0 where the lowest bit of `(x - 0x01..01) & ~x & 0x80..80` is: no loop over
    letters, and no table.

    References:
        Warren (2012). Hacker's Delight, 6-1.
    """
    ends = np.zeros(len(words), np.uint64)
    for different in ((words & _NO_QUESTION) ^ _SLASH, words ^ _HASH, words ^ _BACKSLASH):
        ends |= (different - _ONES) & ~different
    ends &= _TOPS
    lowest = ends & (~ends + np.uint64(1))
    # The exponent of a power of two is the number of its bit.
    bit = (lowest.astype(np.float64).view(np.int64) >> 52) - 1023
    return np.where(ends == 0, 8, bit >> 3)


def registered_domain(authority: str) -> str:
    """Registered domain of `user@host:port`; an IP address is a site of its own."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    host = host.partition(":")[0].rstrip(".")
    if not host:
        return NO_SITE
    if host.replace(".", "").isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> Any:  # noqa: ANN401 - the package has no types
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
