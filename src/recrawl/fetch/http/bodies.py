"""A body as it comes, decompressed piece by piece within its limits.

A few kilobytes can unpack to gigabytes. So every decoder hands on small pieces, and the end of the
chain counts them and stops at the limit: whatever is sent, no more is unpacked than may be kept.
Between two decoders stands the same limit, for what the first unpacks may be gigabytes of which the
second makes nothing.

    raw pieces -> decoder of the last encoding -> limit -> decoder of the first -> kept pieces

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING

from recrawl.errors import FetchFailed
from recrawl.fetch.http.decoders import DECODERS

if TYPE_CHECKING:
    from recrawl.fetch.http.decoders import Decoder, Sink

ACCEPTED = "gzip, br, zstd"  # what we ask for; `deflate` is understood too

_DEEPEST = 2


class Body:
    """Collects one body.

    Args:
        encoding: The `Content-Encoding` header.
        raw_limit: Most bytes to take.
        decoded_limit: Most bytes to keep.

    Examples:
        >>> import gzip
        >>> body = Body("gzip", raw_limit=1000, decoded_limit=1000)
        >>> body.add(gzip.compress(b"hello"))
        >>> body.end()
        b'hello'
        >>> small = Body("gzip", raw_limit=1000, decoded_limit=4)
        >>> small.add(gzip.compress(b"hello"))
        Traceback (most recent call last):
            ...
        recrawl.errors.FetchFailed: body must unpack to at most 4 bytes (got more)
    """

    def __init__(self, encoding: str, *, raw_limit: int, decoded_limit: int) -> None:
        self.raw_bytes = 0
        self._raw_limit = raw_limit
        self._kept = BytesIO()  # whose value needs no second copy
        self._decoders: list[Decoder] = []  # the one that takes what comes is the last
        first: Sink = _Limited(self._kept, decoded_limit)
        for name in _names(encoding):
            decoder = DECODERS[name](first)
            self._decoders.append(decoder)
            first = _Limited(decoder, decoded_limit)
        # What comes over the wire has a limit of its own.
        self._first: Sink = self._decoders[-1] if self._decoders else first

    @property
    def is_encoded(self) -> bool:
        """Whether more may be kept than was taken."""
        return bool(self._decoders)

    def add(self, piece: bytes) -> None:
        """Take the next bytes from the wire, and decode them."""
        self.count(piece)
        self.decode(piece)

    def count(self, piece: bytes) -> None:
        """Count bytes from the wire that are to be decoded later."""
        self.raw_bytes += len(piece)
        if self.raw_bytes > self._raw_limit:
            detail = f"body must have at most {self._raw_limit} bytes (got {self.raw_bytes})"
            raise FetchFailed("too-large", detail)

    def decode(self, piece: bytes) -> None:
        """Decode the next bytes, which were counted."""
        self._first.write(piece)

    def end(self) -> bytes:
        """The whole body, decoded."""
        if self.raw_bytes:  # an answer without a body may still name an encoding
            for decoder in reversed(self._decoders):
                decoder.end()
        return self._kept.getvalue()


@lru_cache(maxsize=100)  # hosts send one of few
def _names(encoding: str) -> tuple[str, ...]:
    """Encodings in the order in which they were applied."""
    names = [name.strip().lower() for name in encoding.split(",")] if encoding else []
    names = [name for name in names if name not in {"", "identity"}]
    if len(names) > _DEEPEST or any(name not in DECODERS for name in names):
        known = ", ".join(DECODERS)
        detail = f"content-encoding must be at most {_DEEPEST} of {known} (got {encoding[:80]!r})"
        raise FetchFailed("bad-encoding", detail)
    return tuple(names)


class _Limited:
    """What may be handed on, as far as a body may go."""

    def __init__(self, sink: Sink, limit: int) -> None:
        self._sink = sink
        self._left = limit
        self._limit = limit

    def write(self, piece: bytes, /) -> int:
        self._left -= len(piece)
        if self._left < 0:
            detail = f"body must unpack to at most {self._limit} bytes (got more)"
            raise FetchFailed("too-large", detail)
        self._sink.write(piece)
        return len(piece)
