"""Entries of `publish/`: cursors, and the manifest and log of a folder of copies."""

from __future__ import annotations

import tempfile
from pathlib import Path

from recrawl.entries.records import FeedRange
from recrawl.errors import CannotWrite, RecrawlError
from recrawl.publish.copies.file_names import LOG, MANIFEST, file_name, is_file_name
from recrawl.publish.copies.folder import CopyFolder
from recrawl.publish.cursors import cursor_text, position
from tests.fuzz.parser import Parser


def _read_cursor(data: bytes) -> None:
    """A cursor that is accepted is one of the kept events, or just before them."""
    kept = FeedRange("k3fqabcd", oldest=5, newest=9)
    text = data.decode("utf-8", "replace")
    number = position(text, kept, "a.db")
    assert kept.oldest - 1 <= number <= kept.newest
    assert cursor_text(kept.feed, number).split("-")[0] in text


def _read_name(data: bytes) -> None:
    """Any address has a file inside of the folder."""
    assert is_file_name(file_name(data.decode("utf-8", "replace"), ".html"))


def _read_manifest(data: bytes) -> None:
    """Whatever a manifest or a log names is a file inside of the folder."""
    with tempfile.TemporaryDirectory(prefix="recrawl-fuzz-") as name:
        first, _, second = data.partition(b"\x00")
        (Path(name) / MANIFEST).write_bytes(first)
        (Path(name) / LOG).write_bytes(second)
        folder = CopyFolder(Path(name), "html")
        assert all(map(is_file_name, folder._ours))


_ROW = b'{"page": 1, "file": "a.org/b.html", "version": "00", "size_bytes": 3}\n'

PARSERS = (
    Parser(
        "cursors",
        _read_cursor,
        seeds=(b"k3fqabcd-7", b"k3fqabcd-4", b" k3fqabcd-9\n", b"aaaaaaaa-1", b"k3fqabcd-10", b""),
        modules=("recrawl.publish.cursors",),
        tokens=(b"k3fqabcd", b"-", b"0", b"999999999999999999"),
        raises=(RecrawlError,),
        longest=200,
        longest_message=400,
    ),
    Parser(
        "file names",
        _read_name,
        seeds=(b"https://a.org/b", b"http://[::1]:8/../B?c#d", b"https://a.org/con/..", b"//", b""),
        modules=("recrawl.publish.copies.file_names",),
        tokens=(b"https://", b"/..", b"%2e", b"?", b"[", b"]", b"con", b"index", b".html"),
    ),
    Parser(
        "manifests",
        _read_manifest,
        seeds=(_ROW, _ROW * 3 + b"\x00a.org/c.html\n", b"\x00../x.html\na.org/b", b"{}", b"[[["),
        modules=("recrawl.publish.copies.folder",),
        tokens=(b'"page"', b'"file"', b"..", b"/", b"\n", b"\x00", b"[" * 50, b"1e999"),
        raises=(CannotWrite,),
        longest_message=400,
    ),
)
