"""One WARC file: written under a name that ends in `.open`, and renamed when it is closed.

A process may be killed in the middle of a record. What lies before that is whole, and `recover`
cuts the rest off.

Touches: files.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from recrawl.errors import CannotWrite, reason

if TYPE_CHECKING:
    from pathlib import Path

OPEN = ".open"

_GZIP = 31  # of zlib: a stream with the head and the check of gzip
_PIECE = 1 << 16


class WarcFile:
    """A file of records that is being written.

    Args:
        path: Its name once it is closed; there must be no such file.

    Attributes:
        size: Bytes of the records in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._scratch = path.with_name(path.name + OPEN)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            self._handle = os.open(self._scratch, flags, 0o644)
            _sync_folder(path.parent)
        except OSError as error:
            raise self._refused(error) from None

    def write(self, raw: bytes) -> None:
        """Append whole records, and hand them to the system at once; all of them, or none."""
        left = memoryview(raw)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, self.size)
            raise self._refused(error) from None
        self.size += len(raw)

    def sync(self) -> None:
        """Wait until all is on disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Give the file its name; without records there is none."""
        try:
            try:
                os.fsync(self._handle)
            finally:
                os.close(self._handle)
            if self.size:
                self._scratch.rename(self.path)
            else:
                self._scratch.unlink()
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> CannotWrite:
        return CannotWrite(f"{self.path}: there must be room to write ({reason(error)})")


def _sync_folder(folder: Path) -> None:
    """Have the names of its files on disk: what is in a file that has none is lost."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def recover(scratch: Path) -> None:
    """Cut a file that nobody writes any more to its whole records, and give it its name."""
    path = scratch.with_name(scratch.name.removesuffix(OPEN))
    try:
        with scratch.open("rb") as file:
            whole = whole_bytes(file)
        if not whole:
            scratch.unlink()
            return
        os.truncate(scratch, whole)
        if path.exists():
            raise CannotWrite(f"{path}: must not be there twice (there is {scratch.name}, too)")
        scratch.rename(path)
    except OSError as error:
        raise CannotWrite(f"{scratch}: must be a file to go on with ({reason(error)})") from None


def whole_bytes(file: IO[bytes]) -> int:
    """Bytes up to the end of the last whole record.

    >>> import gzip, io
    >>> one, two = gzip.compress(b"one"), gzip.compress(b"two")
    >>> whole_bytes(io.BytesIO(one + two)) == len(one + two)
    True
    >>> whole_bytes(io.BytesIO(one + two[:-1])) == len(one)
    True
    """
    whole = read = 0
    stream = zlib.decompressobj(_GZIP)
    while piece := file.read(_PIECE):
        read += len(piece)
        while piece:
            try:
                stream.decompress(piece, _PIECE)
            except zlib.error:
                return whole
            if stream.eof:
                piece = stream.unused_data
                whole = read - len(piece)
                stream = zlib.decompressobj(_GZIP)
            else:
                piece = stream.unconsumed_tail
    return whole
