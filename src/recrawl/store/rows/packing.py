"""Compression of what a store keeps, and decompression of what may claim to be any size.

Touches: threads.
"""

from __future__ import annotations

import threading

import zstandard

_OWN = threading.local()


def packed(content: bytes) -> bytes:
    """Compress, by this thread's compressor: creating one takes longer than compressing a page."""
    try:
        made: zstandard.ZstdCompressor = _OWN.compressor
    except AttributeError:
        made = _OWN.compressor = zstandard.ZstdCompressor()
    return made.compress(content)


def unpacked(packed: bytes, most: int, size: int | None = None) -> bytes:
    """Decompress what may claim to be any size.

    Args:
        packed: One frame of zstd, as we write it.
        most: Most bytes that it may become.
        size: Bytes that it must become; None if that is not recorded.

    Raises:
        ValueError: It has another size.

    Examples:
        >>> unpacked(zstandard.compress(b"hello"), most=10)
        b'hello'
        >>> unpacked(zstandard.compress(bytes(1_000_000)), most=10)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: 1000000 bytes compressed in ... where at most 10 are expected
    """
    claimed = zstandard.frame_content_size(packed)
    if not 0 <= claimed <= most or size not in (None, claimed):
        expected = f"at most {most}" if size is None or size > most else str(size)
        raise ValueError(
            f"{claimed} bytes compressed in {len(packed)} where {expected} are expected"
        )
    try:
        made: zstandard.ZstdDecompressor = _OWN.decompressor
    except AttributeError:
        made = _OWN.decompressor = zstandard.ZstdDecompressor()
    # Never more than was claimed: what a frame goes on with beyond that is an error to zstd.
    return made.decompress(packed)
