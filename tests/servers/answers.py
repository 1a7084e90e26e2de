"""What a `FaultServer` may do on a path: answer rightly, wrongly, late, or not at all."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from functools import cache
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped] # ships no types
import zstandard

from tests.servers.faults import head

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.servers.faults import Behaviour, Wire

HTML = {"Content-Type": "text/html; charset=utf-8"}


def _raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "x-gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}


# Right answers.


def page(body: bytes, *, etag: str = "", modified: str = "", **headers: str) -> Behaviour:
    """A page that answers 304 to whoever has it already; `content_type=` and the like add headers.

    Weak and strong tags are compared weakly, as they are for `If-None-Match`.
    """
    named = HTML | {name.replace("_", "-").title(): value for name, value in headers.items()}
    named |= {"ETag": etag} if etag else {}
    named |= {"Last-Modified": modified} if modified else {}

    async def behave(wire: Wire) -> None:
        asked = wire.request.headers
        if "if-none-match" in asked:
            known = {tag.strip().removeprefix("W/") for tag in asked["if-none-match"].split(",")}
            fresh = bool(etag) and etag.removeprefix("W/") in known
        else:
            fresh = bool(modified) and asked.get("if-modified-since") == modified
        if fresh:
            await wire.send(
                head(304, {name: named[name] for name in named if name != "Content-Type"})
            )
        else:
            await wire.answer(200, named, body)

    return behave


def status(code: int, body: bytes = b"", **headers: str) -> Behaviour:
    """Any status; `retry_after="120"` and the like add headers."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}

    async def behave(wire: Wire) -> None:
        await wire.answer(code, HTML | named, body)

    return behave


def redirect(target: str, code: int = 301) -> Behaviour:
    """A redirect; to its own path it is a loop."""
    return status(code, b"moved", location=target)


def packed(body: bytes, *names: str, label: str | None = None) -> Behaviour:
    """A body in one or more encodings, labelled rightly unless told otherwise."""
    for name in names:
        body = PACK[name](body)
    return status(200, body, content_encoding=", ".join(names) if label is None else label)


def raw_deflated(body: bytes) -> Behaviour:
    """Deflate without the header of zlib, as many servers send it."""
    return status(200, _raw_deflate(body), content_encoding="deflate")


def chunked(pieces: Sequence[bytes]) -> Behaviour:
    """A body without a length, in chunks."""
    framed = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return raw(
        head(200, HTML | {"Transfer-Encoding": "chunked"}) + framed + b"0\r\n\r\n", keep=True
    )


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Something else at each request; the last one for ever."""
    left = list(behaviours)

    async def behave(wire: Wire) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(wire)

    return behave


# Late answers.


def late(behaviour: Behaviour, seconds: float) -> Behaviour:
    """Nothing at all for a while, then what `behaviour` does."""

    async def behave(wire: Wire) -> None:
        await asyncio.sleep(seconds)
        await behaviour(wire)

    return behave


def never() -> Behaviour:
    """Takes the request and is silent until the other side gives up."""
    return late(hang_up(), 3600.0)


def dripping(body: bytes, seconds: float, *, headers_too: bool = False) -> Behaviour:
    """A body, or all of the answer, one byte at a time."""

    async def behave(wire: Wire) -> None:
        first = head(200, HTML | {"Content-Length": str(len(body))})
        if not headers_too:
            await wire.send(first)
        for byte in first + body if headers_too else body:
            await wire.send(bytes([byte]))
            await asyncio.sleep(seconds)

    return behave


# Broken connections.


def hang_up(before: bytes = b"") -> Behaviour:
    """Sends some bytes, or none, and ends the connection politely."""
    return raw(before)


def reset(before: bytes = b"") -> Behaviour:
    """Sends some bytes, or none, and ends the connection rudely."""

    async def behave(wire: Wire) -> None:
        await wire.send(before)
        await asyncio.sleep(0.05)  # else the end overtakes what was sent
        wire.reset()

    return behave


# Wrong answers.


def raw(answer: bytes, *, keep: bool = False) -> Behaviour:
    """These very bytes, then, unless told otherwise, the end of the connection."""

    async def behave(wire: Wire) -> None:
        await wire.send(answer)
        wire.keep = keep

    return behave


def wrong_length(body: bytes, announced: int) -> Behaviour:
    """A `Content-Length` that is more or less than what comes."""
    return raw(head(200, HTML | {"Content-Length": str(announced)}) + body)


def wrong_chunk() -> Behaviour:
    """A chunk whose length is no number."""
    return raw(head(200, {"Transfer-Encoding": "chunked"}) + b"5\r\nhello\r\nzz\r\nworld\r\n")


def endless() -> Behaviour:
    """A body that does not end."""

    async def behave(wire: Wire) -> None:
        await wire.send(head(200, HTML))
        while True:
            await wire.send(b"a" * 65_536)

    return behave


def bomb(size: int, *names: str) -> Behaviour:
    """A small body that unpacks to `size` zeros; made when first asked for: it takes a while."""

    async def behave(wire: Wire) -> None:
        await _bomb(size, names)(wire)

    return behave


@cache
def _bomb(size: int, names: tuple[str, ...]) -> Behaviour:
    return packed(bytes(size), *names)


def many_headers(count: int, length: int = 1) -> Behaviour:
    """As many headers of such a length."""
    return status(200, b"hello", **{f"x_{number}": "a" * length for number in range(count)})
