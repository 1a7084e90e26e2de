"""Compression of what a store keeps, and decompression of what may claim to be any size.

Touches: threads.
"""

from __future__ import annotations

import threading

import zstandard

LARGEST_BODY = 1 << 26  # three times what a request may bring
_OWN = threading.local()
# Quick, and the same for all sizes: what zstd would choose by the size takes as long, and up to 1.3
# times the room on the pages of benchmarks/detection.py at 40 kB, nearly three times at 100 kB.
_BESIDE = zstandard.ZstdCompressionParameters.from_level(
    1, write_checksum=True, write_dict_id=False
)


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
    _check_size(packed, most, size)
    try:
        made: zstandard.ZstdDecompressor = _OWN.decompressor
    except AttributeError:
        made = _OWN.decompressor = zstandard.ZstdDecompressor()
    # Never more than was claimed: what a frame goes on with beyond that is an error to zstd.
    return made.decompress(packed)


def packed_beside(content: bytes, other: bytes) -> bytes:
    """Compress what is mostly parts of something else that will be at hand, with a checksum.

    >>> len(packed_beside(b"Tea costs 5 euros" * 9, b"<p>Tea costs 5 euros</p>" * 9)) < 40
    True
    """
    known = zstandard.ZstdCompressionDict(other, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(compression_params=_BESIDE, dict_data=known).compress(content)


def unpacked_beside(packed: bytes, other: bytes, most: int, size: int) -> bytes:
    """Decompress what was compressed beside something else; parameters as in `unpacked`.

    >>> unpacked_beside(packed_beside(b"Tea", b"<p>Tea"), b"<p>Tea", most=10, size=3)
    b'Tea'
    """
    _check_size(packed, most, size)
    known = zstandard.ZstdCompressionDict(other, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=known).decompress(packed)


def _check_size(packed: bytes, most: int, size: int | None) -> None:
    claimed = zstandard.frame_content_size(packed)
    if not 0 <= claimed <= most or size not in (None, claimed):
        expected = f"at most {most}" if size is None or size > most else str(size)
        raise ValueError(
            f"{claimed} bytes compressed in {len(packed)} where {expected} are expected"
        )
