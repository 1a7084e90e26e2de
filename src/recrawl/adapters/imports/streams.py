"""Bytes of a source, unpacked as they are read, in blocks of whole lines.

    raw file, or the standard input  ->  unpacked by its first bytes  ->  blocks of whole lines

Files of several gzip members are read as one. Nothing is read ahead by more than a block, and a
line that is too long is left out, however long it is. A file that is damaged or cut off is read as
far as it goes.

Touches: files, the standard input.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from recrawl.adapters.imports.foreign_visits import MALFORMED
from recrawl.adapters.tables.inputs import STANDARD_INPUT, STANDARD_INPUT_NAME
from recrawl.adapters.tables.plain_bytes import packing_of, unpacked
from recrawl.errors import InvalidTable, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recrawl.adapters.imports.foreign_visits import ImportReading

FIRST_BYTES = 1 << 14  # of the unpacked bytes: tell what a source is
_BLOCK = 1 << 21  # half as large costs a sixth more per line of an index: see benchmarks/imports.py
_LONGEST_LINE = 1 << 20


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

    def unpacked(self, reading: ImportReading) -> IO[bytes]:
        """Its bytes as they were before they were packed, if they were; as far as they go."""
        return self._unpacked(lambda why: reading.remark(self._damaged(why)))

    def _unpacked(self, damaged: Callable[[str], object]) -> IO[bytes]:
        packing = packing_of(self.first)
        return self.raw if packing is None else unpacked(self.raw, packing, damaged)

    def _damaged(self, why: str) -> str:
        return f"{self.name} is damaged ({why}); the rest of it is left out."

    def peek(self) -> bytes:
        """The first unpacked bytes; call before anything is read."""
        beginning = SourceBytes(self.name, io.BytesIO(self.first), self.first, 0)
        # It is cut off, as it must be.
        return beginning._unpacked(lambda _: None).read(FIRST_BYTES)

    def line_blocks(self, reading: ImportReading) -> Iterator[bytes]:
        """Blocks of whole lines, each line with its end."""
        left, too_long, stream = b"", False, self.unpacked(reading)
        while chunk := self._read(stream, reading):
            end = chunk.rfind(b"\n") + 1
            if end:
                begin = chunk.index(b"\n") + 1 if too_long else 0
                yield b"".join((left, memoryview(chunk)[begin:end]))  # one copy of it, not two
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
        except OSError as error:
            reading.remark(self._damaged(reason(error)))
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
        yield _checked(STANDARD_INPUT_NAME, stream, cast("Any", stream).peek(FIRST_BYTES), 0)
        return
    try:
        with path.open("rb") as file:
            first = file.read(FIRST_BYTES)
            whole = file.seek(0, io.SEEK_END)
            file.seek(0)
            yield _checked(name, file, first, whole)
    except OSError as error:
        raise InvalidTable(f"{name} cannot be read ({reason(error)})") from None


def _checked(name: str, raw: IO[bytes], first: bytes, whole: int) -> SourceBytes:
    if not first:
        raise InvalidTable(f"{name} is empty; it should hold visits")
    return SourceBytes(name, raw, first, whole)
