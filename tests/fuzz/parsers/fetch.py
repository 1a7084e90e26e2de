"""Entries of `fetch/http/`: bodies in their encodings, and addresses to connect to."""

from __future__ import annotations

import gzip
import zlib

import brotli  # type: ignore[import-untyped] # ships no types
import zstandard

from recrawl.errors import FetchFailed
from recrawl.fetch.http.bodies import Body
from recrawl.fetch.http.decoders import DECODERS
from recrawl.fetch.http.guard import allowed
from recrawl.parse.messages import PROBLEMS
from tests.fuzz.parser import Parser

_LIMIT = 1 << 18
_TEXT = b"hello, hello, hello " * 20


def _read_body(data: bytes) -> None:
    """Read a body whole and in pieces: both give the same, or nothing."""
    header, _, raw = data.partition(b"\n")
    size = 1 + (len(raw) * 7919 + len(header)) % 97
    outcomes: list[bytes] = []
    failed = None
    for pieces in ([raw], [raw[at : at + size] for at in range(0, len(raw), size)]):
        try:
            body = Body(header.decode("latin-1"), raw_limit=4000, decoded_limit=_LIMIT)
            for piece in pieces:
                body.add(piece)
            outcomes.append(body.end())
            assert len(outcomes[-1]) <= _LIMIT
        except FetchFailed as error:
            failed = error
            outcomes.append(b"")  # which problem is found first may differ
    assert outcomes[0] == outcomes[1]
    if failed is not None:
        assert failed.problem in PROBLEMS
        raise failed


def _read_guard(data: bytes) -> None:
    for text in data.decode("latin-1").split("\n"):
        public, local = allowed(text), allowed(text, local=True)
        assert local or not public


_NAMES = tuple(name.encode() for name in DECODERS)
_PACKED = {
    b"gzip": gzip.compress(_TEXT, mtime=0),
    b"deflate": zlib.compress(_TEXT),
    b"br": brotli.compress(_TEXT),
    b"zstd": zstandard.compress(_TEXT),
}

PARSERS = (
    Parser(
        "bodies",
        _read_body,
        seeds=(
            *(name + b"\n" + packed for name, packed in _PACKED.items()),
            *(name + b"\n" + packed + b"rubbish" * 20 for name, packed in _PACKED.items()),
            b"x-gzip\n" + 2 * _PACKED[b"gzip"] + b"rubbish",
            b"gzip\n" + 70 * gzip.compress(b"", mtime=0),
            b"deflate\n" + zlib.compress(_TEXT)[2:-4],
            b"deflate\nx",
            b"gzip, br\n" + brotli.compress(_PACKED[b"gzip"]),
            b"zstd\n" + 2 * _PACKED[b"zstd"],
            b"zstd\n" + zstandard.ZstdCompressor(write_content_size=False).compress(_TEXT),
            b"identity,\n" + _TEXT,
            b"gzip, gzip, gzip\n",
            b"compress\nx",
            *(
                name + b"\n" + pack(bytes(1 << 20))
                for name, pack in (
                    (b"gzip", gzip.compress),
                    (b"br", brotli.compress),
                    (b"zstd", zstandard.compress),
                )
            ),
            b"\n" + b"x" * 4001,
        ),
        modules=("recrawl.fetch.http.bodies", "recrawl.fetch.http.decoders"),
        tokens=(*_NAMES, b", ", b"\n", *_PACKED.values(), b"\x28\xb5\x2f\xfd", b"\x1f\x8b"),
        raises=(FetchFailed,),
    ),
    Parser(
        "guard",
        _read_guard,
        seeds=(
            b"93.184.215.14\n127.0.0.1\n::ffff:10.0.0.1",
            b"64:ff9b::7f00:1\nfe80::1%eth0\n2001:db8::1\n2606:4700::1111",
            b"169.254.169.254\nfd00:ec2::254\n100.64.0.1\n224.0.0.1\n0.0.0.0\nx",
        ),
        modules=("recrawl.fetch.http.guard",),
        tokens=tuple(b": :: . % 127 10 fe80 2001 64:ff9b:: 2002: 192.168 0x 01 \n".split(b" ")),
    ),
)
