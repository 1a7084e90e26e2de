"""ARC files, the older archives of the web, told as WARC while they are read.

A record is one line and a block of bytes:

    http://example.com/ 192.0.2.1 20140216050221 text/html 1591

Pure.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ARC_BEGINS = b"filedesc:"

_HEAD = re.compile(rb"(\S+) \S+ ([0-9]{14}) .*?([0-9]{1,12})\s*")
_LONGEST_HEAD = 1 << 14
_BLOCK = 1 << 16


class ArcAsWarc:
    """The records of an ARC file as a WARC file has them.

    Args:
        stream: The unpacked ARC file.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._parts = _warc_parts(stream)
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        while not self._left:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._left = part
        size = len(self._left) if size < 0 else size
        taken, self._left = self._left[:size], self._left[size:]
        return taken


def _warc_parts(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(_LONGEST_HEAD):
        if not line.strip():
            continue
        head = _HEAD.fullmatch(line)
        if head is None:
            raise ValueError(f"not the header of an ARC record ({line[:60]!r})")
        left = int(head[3])
        told = not line.startswith(ARC_BEGINS)
        if told:
            yield _warc_head(head[1], head[2].decode(), left)
        while left and (block := stream.read(min(left, _BLOCK))):
            left -= len(block)
            if told:
                yield block
        if told:
            yield b"\r\n\r\n"


def _warc_head(address: bytes, date: str, length: int) -> bytes:
    year, month, day, hour, minute, second = (
        date[start:end] for start, end in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
    )
    lines = [
        b"WARC/1.0",
        b"WARC-Type: response",
        b"WARC-Target-URI: " + address,
        f"WARC-Date: {year}-{month}-{day}T{hour}:{minute}:{second}Z".encode(),
        b"Content-Type: application/http; msgtype=response",
        f"Content-Length: {length}".encode(),
    ]
    return b"\r\n".join([*lines, b"", b""])
