"""Packed files are unpacked a piece at a time, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.adapters.tables.plain_bytes import packing_of, plain_bytes
from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Callable

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "xz": lzma.compress,
}


def refuse(sentence):
    raise InvalidTable(sentence)


def unpacked(content):
    with plain_bytes(io.BufferedReader(io.BytesIO(content)), refuse) as plain:
        return plain.read()


@pytest.mark.parametrize("kind", PACKERS)
@settings(max_examples=30)
@given(members=st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_all_members_are_unpacked(kind, members):
    content = b"".join(PACKERS[kind](b"x" + member) for member in members)

    assert unpacked(content) == b"".join(b"x" + member for member in members)


@pytest.mark.parametrize("kind", PACKERS)
def test_a_member_may_be_large_and_hold_another(kind):
    """Pieces of any size come out in order."""
    text = b"".join(b"%d\n" % number for number in range(50_000))

    assert unpacked(PACKERS[kind](text)) == text
    assert unpacked(PACKERS[kind](text) + PACKERS[kind](text[:1000])) == text + text[:1000]


@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_zeros_after_a_member_are_padding(kind):
    assert unpacked(PACKERS[kind](b"abc") + bytes(512)) == b"abc"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_file_without_its_end_is_refused(kind):
    """Wherever it is cut: half a log must not pass for a whole one."""
    content = PACKERS[kind](bytes(range(256)) * 3)
    mark = 6 if kind == "xz" else 4
    for end in range(mark, len(content)):
        with pytest.raises(InvalidTable, match=f"^must be a whole {kind} file \\("):
            unpacked(content[:end])


@pytest.mark.parametrize("kind", PACKERS)
def test_a_damaged_file_is_refused_or_unpacked(kind):
    """One sentence for every byte that may be wrong; checksums find most of them."""
    content = PACKERS[kind](b"page,visited_at\n" * 30)
    refused = 0
    for place in range(6, len(content)):
        broken = content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
        try:
            unpacked(broken)
        except InvalidTable as error:
            refused += "\n" not in str(error)
    assert refused > (len(content) - 6) / 2


@pytest.mark.parametrize("kind", PACKERS)
def test_what_follows_a_member_must_be_another(kind):
    with pytest.raises(InvalidTable, match=f"must be a whole {kind} file"):
        unpacked(PACKERS[kind](b"abc") + b"and more")


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_takes_no_more_memory_than_a_file(kind):
    """128 megabytes of zeros, packed into a few kilobytes, read a megabyte at a time."""
    content = PACKERS[kind](bytes(1 << 24)) * 8
    tracemalloc.start()
    try:
        with plain_bytes(io.BufferedReader(io.BytesIO(content)), refuse) as plain:
            found = 0
            while block := plain.read(1 << 20):
                found += len(block)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found == 1 << 27
    assert peak < 80 << 20


def test_memory_that_an_xz_file_may_ask_for_is_bounded():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 30}]
    content = lzma.compress(b"abc", filters=filters)

    with pytest.raises(InvalidTable, match="must be a whole xz file"):
        unpacked(content)


def test_what_is_not_packed_stays_as_it_is():
    assert packing_of(b"page,visited_at") is None
    assert unpacked(b"page") == b"page"
    assert unpacked(b"") == b""
    assert unpacked(b"\xef\xbb\xbfpage") == b"page"
    assert unpacked(gzip.compress("pagé".encode("utf-16"))) == "pagé".encode()
