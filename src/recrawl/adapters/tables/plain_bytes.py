"""Files as plain bytes, whatever packs or encodes them: what formats read.

    file  ->  unpacked (gzip, bzip2, zstd, xz)  ->  UTF-16 as UTF-8, a byte order mark left out

Both are told by first bytes. A packed file may consist of several members or frames, and is
unpacked a piece at a time, so that memory is bounded however large it becomes.

Touches: files.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NoReturn

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Refuse = Callable[[str], NoReturn]

PACKED_SUFFIXES = (".gz", ".bz2", ".zst", ".xz")
LONGEST_MARK = 6  # bytes that tell how a file is packed or encoded

_PIECE = 1 << 16  # bytes that are unpacked at a time
_BUFFER = 1 << 20
# Of zstd, four bytes may stand for 128 KB: so these bytes for 64 MB at most.
_ZSTD_PIECE = 1 << 11
_XZ_MEMORY = 1 << 28  # bytes that a file may ask for to be unpacked; what xz -9 needs is a quarter


@dataclass(frozen=True, slots=True)
class Packing:
    """A way to pack a file.

    Args:
        name: What it is called.
        first_bytes: How such files begin.
        unpacker: Makes what unpacks one member, with the methods of `bz2.BZ2Decompressor`.
    """

    name: str
    first_bytes: bytes
    unpacker: Callable[[], Any]


class _Gzip:
    """Unpacks one member of a gzip file."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def needs_input(self) -> bool:
        return not self._unpacker.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._unpacker.decompress(self._unpacker.unconsumed_tail + data, most)


class _Zstd:
    """Unpacks one frame of a zstd file."""

    def __init__(self) -> None:
        self._unpacker = zstandard.ZstdDecompressor().decompressobj()
        self._left = b""

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def needs_input(self) -> bool:
        return not self._left

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data + self._left

    def decompress(self, data: bytes, most: int) -> bytes:
        """At least a piece, however much that is: the library knows no bound."""
        self._left += data
        found: list[bytes] = []
        while self._left and not self.eof and sum(map(len, found)) < most:
            piece, self._left = self._left[:_ZSTD_PIECE], self._left[_ZSTD_PIECE:]
            found.append(self._unpacker.decompress(piece))
        return b"".join(found)


_PACKINGS = (
    Packing("gzip", b"\x1f\x8b", _Gzip),
    Packing("bzip2", b"BZh", bz2.BZ2Decompressor),
    Packing("zstd", b"\x28\xb5\x2f\xfd", _Zstd),
    Packing("xz", b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
)
_BROKEN = (zlib.error, OSError, lzma.LZMAError, zstandard.ZstdError)


def packing_of(first: bytes) -> Packing | None:
    """How a file that begins with these bytes is packed; None if it is not."""
    return next((each for each in _PACKINGS if first.startswith(each.first_bytes)), None)


def unpacked(
    raw: IO[bytes], packing: Packing, damaged: Callable[[str], object]
) -> io.BufferedReader:
    """A packed file as it was before; closing it leaves the packed one open.

    Args:
        raw: The packed file.
        packing: How it is packed.
        damaged: Told what is wrong with the file; it ends there unless this raises.
    """
    return io.BufferedReader(_Pieces(_unpacked(raw, packing, damaged)), _BUFFER)


def plain_bytes(raw: io.BufferedReader, refuse: Refuse) -> io.BufferedReader:
    """A file, unpacked and in UTF-8; what is broken in it is refused in one sentence."""
    packing, plain = packing_of(raw.peek(LONGEST_MARK)), raw
    if packing is not None:
        whole = f"must be a whole {packing.name} file"
        pieces = _unpacked(raw, packing, lambda why: refuse(f"{whole} ({why})"))
        plain = io.BufferedReader(_Pieces(pieces, raw), _BUFFER)
    first = plain.peek(LONGEST_MARK)
    if first.startswith(codecs.BOM_UTF8):
        plain.read(len(codecs.BOM_UTF8))
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        plain = io.BufferedReader(_Pieces(_from_utf16(plain, refuse), plain), _BUFFER)
    return plain


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file, which closes the one that they are made of, if it is given."""

    def __init__(self, pieces: Iterator[bytes], file: IO[bytes] | None = None) -> None:
        self._file, self._pieces, self._left = file, pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()

    def readinto(self, into: Any, /) -> int:  # noqa: ANN401 - a buffer
        while not self._left:
            found = next(self._pieces, None)
            if found is None:
                return 0
            self._left = memoryview(found)
        count = min(len(into), len(self._left))
        into[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _unpacked(
    file: IO[bytes], packing: Packing, damaged: Callable[[str], object]
) -> Iterator[bytes]:
    """Bytes of a packed file, member after member."""
    unpacker = packing.unpacker()
    try:
        data = file.read(_PIECE)
        while True:
            yield unpacker.decompress(data, _BUFFER)
            data = b""
            if unpacker.eof:
                # Zeros between members and at the end are padding, as tapes need it.
                data = unpacker.unused_data.lstrip(b"\0")
                while not data and (data := file.read(_PIECE)):
                    data = data.lstrip(b"\0")
                if not data:
                    return
                unpacker = packing.unpacker()
            elif unpacker.needs_input and not (data := file.read(_PIECE)):
                damaged("its end is missing")
                return
    except _BROKEN as error:
        damaged(str(error).rstrip("."))


def _from_utf16(file: IO[bytes], refuse: Refuse) -> Iterator[bytes]:
    """Text in UTF-16 as UTF-8; its byte order mark is left out."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        while data := file.read(_PIECE):
            yield decoder.decode(data).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        refuse("must be whole UTF-16 text, as its first bytes announce")
