"""Decompression by pushing: encoded bytes in, decoded bytes on to a sink in small pieces.

A decoder never holds more than a piece of what it has decoded, so that a sink which has enough can
stop it by raising, however much a few bytes would unpack to.

Pure.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

from recrawl.errors import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 1 << 16
_MOST_MEMBERS = 64  # of a gzip body: each costs a copy of what follows it
_LARGEST_WINDOW = 1 << 23  # of zstd: what the standard lets a server use for a web page


class Sink(Protocol):
    """Takes bytes."""

    def write(self, piece: bytes, /) -> int | None:
        """Take a piece; `FetchFailed` if it cannot be decoded or kept."""


class Decoder(Sink, Protocol):
    """Takes encoded bytes and hands on decoded ones."""

    def end(self) -> None:
        """Say that no more will come; `FetchFailed` if more should have."""


class _Gzip:
    """Decoder of gzip: members one after the other, and perhaps rubbish, which is ignored."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 1
        self._ended = False  # whether rubbish has come: all that follows is rubbish, too

    def write(self, piece: bytes, /) -> None:
        while piece and not self._ended:
            if self._member.eof:
                if not piece.startswith(b"\x1f"):
                    self._ended = True
                    return
                self._next_member()
            _inflate(self._member, piece, self._sink)
            piece = self._member.unused_data

    def end(self) -> None:
        if not self._member.eof:
            raise _cut_short("gzip")

    def _next_member(self) -> None:
        self._members += 1
        if self._members > _MOST_MEMBERS:
            detail = f"gzip body must have at most {_MOST_MEMBERS} members (got more)"
            raise FetchFailed("bad-encoding", detail)
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)


class _Deflate:
    """Decoder of deflate, with the header of zlib or, as many servers do it, without."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._head = b""
        self._stream: zlib._Decompress | None = None

    def write(self, piece: bytes, /) -> None:
        if self._stream is None:
            self._head += piece
            if len(self._head) < 2:  # noqa: PLR2004 - bytes of the header of zlib
                return
            piece, self._head = self._head, b""
            has_header = piece[0] & 15 == zlib.DEFLATED and (piece[0] << 8 | piece[1]) % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        if not self._stream.eof:
            _inflate(self._stream, piece, self._sink)

    def end(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise _cut_short("deflate")


def _inflate(stream: zlib._Decompress, piece: bytes, sink: Sink) -> None:
    """Decode what `piece` adds to the stream."""
    try:
        while True:
            decoded = stream.decompress(piece, _PIECE)
            if decoded:
                sink.write(decoded)
            piece = stream.unconsumed_tail
            # A full piece may have left more in the stream although all its input was taken.
            if not piece and len(decoded) < _PIECE:
                return
    except zlib.error as error:
        raise FetchFailed("bad-encoding", f"body is not gzip or deflate ({error})") from error


class _Brotli:
    """Decoder of brotli; more after its end is refused, as the library does within one piece."""

    def __init__(self, sink: Sink) -> None:
        import brotli  # type: ignore[import-untyped] # ships no types

        self._sink = sink
        self._stream = brotli.Decompressor()
        self._wrong = brotli.error

    def write(self, piece: bytes, /) -> None:
        stream = self._stream
        if piece and stream.is_finished():
            raise FetchFailed("bad-encoding", "body is not brotli (there is more after its end)")
        try:
            while not stream.is_finished():
                decoded = stream.process(piece, output_buffer_limit=_PIECE)
                if decoded:
                    self._sink.write(decoded)
                if len(decoded) < _PIECE and stream.can_accept_more_data():
                    return
                piece = b""
        except self._wrong as error:
            raise FetchFailed("bad-encoding", f"body is not brotli ({error})") from error

    def end(self) -> None:
        if not self._stream.is_finished():
            raise _cut_short("br")


class _Zstd:
    """Decoder of zstd: frames one after the other."""

    def __init__(self, sink: Sink) -> None:
        import zstandard

        self._wrong = zstandard.ZstdError
        self._tail = _Tail(sink)
        decoder = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        self._stream = decoder.stream_writer(self._tail)  # type: ignore[arg-type] # asks for a file, writes only

    def write(self, piece: bytes, /) -> None:
        try:
            self._stream.write(piece)
        except self._wrong as error:
            raise FetchFailed("bad-encoding", f"body is not zstd ({error})") from error

    def end(self) -> None:
        # The library does not say whether a frame is complete. If it is, a frame of our own
        # comes out as it went in; else its bytes are taken for the missing ones. It goes in two
        # parts, for the library reads a frame that comes in one by itself, whatever was before.
        self._tail.begin()
        try:
            self._stream.write(_PROBE[:4])
            self._stream.write(_PROBE[4:])
        except self._wrong as error:
            raise _cut_short("zstd") from error
        if self._tail.caught != _PROBED:
            raise _cut_short("zstd")


class _Tail:
    """Hands on what comes until told to catch it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.caught: bytes | None = None

    def begin(self) -> None:
        self.caught = b""

    def write(self, piece: bytes, /) -> int:
        if self.caught is None:
            self._sink.write(piece)
        else:
            self.caught += piece
        return len(piece)


# One frame of one raw block: magic number, a single segment of 8 bytes, the last block, its bytes.
_PROBED = b"complete"
_PROBE = bytes.fromhex("28b52ffd 20 08 410000") + _PROBED


def _cut_short(name: str) -> FetchFailed:
    return FetchFailed("bad-encoding", f"incomplete {name} stream")


DECODERS: dict[str, Callable[[Sink], Decoder]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
