"""Bytes of a source, unpacked as they are read, in blocks of whole lines.

    raw file, or the standard input  ->  unpacked by its first bytes  ->  blocks of whole lines

Files of several gzip members are read as one. Nothing is read ahead by more than a block, and a
line that is too long is left out, however long it is. A file that is damaged or cut off is read as
far as it goes.

Touches: files, the standard input.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

import zstandard

from recrawl.adapters.imports.foreign_visits import MALFORMED
from recrawl.errors import InvalidTable, reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recrawl.adapters.imports.foreign_visits import ImportReading

STANDARD_INPUT = "-"
FIRST_BYTES = 1 << 14  # of the unpacked bytes: tell what a source is
_BLOCK = 1 << 21  # half as large costs a sixth more per line of an index: see benchmarks/imports.py
_LONGEST_LINE = 1 << 20
_MOST_WINDOW = 1 << 27  # of zstd: what its own command takes by default
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, ValueError)


class _Nothing(io.RawIOBase):
    """A standard input that is closed."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: Any, /) -> int:  # noqa: ANN401 - a buffer
        return 0


class SourceBytes:
    """The bytes of one source.

    Args:
        name: What it is called in messages.
        raw: Its bytes as they are stored.
        first: How they begin.
        whole: How many there are; 0 where that is unknown.
    """

    def __init__(self, name: str, raw: IO[bytes], first: bytes, whole: int) -> None:
        self.name = name
        self.raw = raw
        self.first = first
        self.whole = whole

    def unpacked(self) -> IO[bytes]:
        """Its bytes as they were before they were packed, if they were."""
        if self.first.startswith(_PACKED[0]):
            return cast("IO[bytes]", gzip.GzipFile(fileobj=self.raw))
        if self.first.startswith(_PACKED[1]):
            return cast("IO[bytes]", bz2.BZ2File(self.raw))
        if self.first.startswith(_PACKED[2]):
            return cast("IO[bytes]", lzma.LZMAFile(self.raw))
        if self.first.startswith(_PACKED[3]):
            reader = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW)
            return cast("IO[bytes]", reader.stream_reader(self.raw, read_across_frames=True))
        return self.raw

    @property
    def packed(self) -> bool:
        """Whether its bytes are packed."""
        return self.first.startswith(_PACKED)

    def peek(self) -> bytes:
        """The first unpacked bytes; call before anything is read."""
        if not self.packed:
            return self.first
        beginning = SourceBytes(self.name, io.BytesIO(self.first), self.first, 0)
        stream, found = beginning.unpacked(), b""
        try:
            while len(found) < FIRST_BYTES and (more := stream.read(1 << 10)):
                found += more
        except BROKEN:
            pass  # cut off, as it must be
        return found

    def line_blocks(self, reading: ImportReading) -> Iterator[bytes]:
        """Blocks of whole lines, each line with its end."""
        left, too_long, stream = b"", False, self.unpacked()
        while chunk := self._read(stream, reading):
            end = chunk.rfind(b"\n") + 1
            if end:
                block = chunk[:end] if too_long else left + chunk[:end]
                yield block[chunk.index(b"\n") + 1 :] if too_long else block
                left, too_long = chunk[end:], False
            elif not too_long:
                left += chunk
            if len(left) > _LONGEST_LINE:
                reading.leave_out(MALFORMED)
                left, too_long = b"", True
        if left:
            yield left + b"\n"

    def _read(self, stream: IO[bytes], reading: ImportReading) -> bytes:
        try:
            chunk = stream.read(_BLOCK)
        except BROKEN as error:
            why = reason(error) if isinstance(error, OSError) else str(error) or "it is cut off"
            reading.remark(f"{self.name} is damaged ({why}): what comes after that is left out.")
            return b""
        if reading.progress is not None and self.whole:
            reading.progress(min(self.raw.tell() / self.whole, 1.0))
        return chunk


@contextmanager
def open_source(path: Path) -> Iterator[SourceBytes]:
    """Open a file, or the standard input for `-`; refuse what cannot be read, or is empty."""
    name = str(path)
    if name == STANDARD_INPUT:
        # Looked at, and neither read nor closed: it is opened again to be read.
        stream = sys.stdin.buffer if sys.stdin is not None else io.BufferedReader(_Nothing())
        yield _checked("standard input", stream, cast("Any", stream).peek(FIRST_BYTES), 0)
        return
    try:
        with path.open("rb") as file:
            first = file.read(FIRST_BYTES)
            whole = file.seek(0, io.SEEK_END)
            file.seek(0)
            yield _checked(name, file, first, whole)
    except OSError as error:
        raise InvalidTable(f"{name}: must be a readable file ({reason(error)})") from None


def _checked(name: str, raw: IO[bytes], first: bytes, whole: int) -> SourceBytes:
    if not first:
        raise InvalidTable(f"{name}: must hold visits (got an empty file)")
    return SourceBytes(name, raw, first, whole)
