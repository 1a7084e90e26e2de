"""Bodies are unpacked whole or not at all, however they are cut on their way."""

import gzip
import tracemalloc
import zlib
from contextlib import suppress
from itertools import product

import brotli  # type: ignore[import-untyped] # ships no types
import pytest
import zstandard
from hypothesis import assume, given
from hypothesis import strategies as st

from recrawl.errors import FetchFailed
from recrawl.fetch.http.bodies import Body
from tests.servers.answers import PACK

PLAIN = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": zstandard.decompress,
}

FRAME = bytes.fromhex("28b52ffd 00 58")  # the head of a zstd frame that does not tell its size

names = st.lists(st.sampled_from(sorted(PACK)), max_size=2)
bodies = st.one_of(
    st.binary(max_size=2000),
    st.tuples(st.binary(max_size=50), st.integers(0, 4000)).map(lambda pair: pair[0] * pair[1]),
)


def unpacked(encoding, raw, *, step=1 << 16, limit=1_000_000):
    body = Body(encoding, raw_limit=1_000_000, decoded_limit=limit)
    for start in range(0, len(raw), step):
        body.add(raw[start : start + step])
    return body.end()


def problem_of(encoding, raw, **more):
    with pytest.raises(FetchFailed) as caught:
        unpacked(encoding, raw, **more)
    return caught.value.problem


def test_encodings_are_undone_from_the_last_to_the_first():
    raw = brotli.compress(gzip.compress(b"hello"))

    assert unpacked("gzip, br", raw) == b"hello"
    assert problem_of("br, gzip", raw) == "bad-encoding"


def test_names_of_encodings_have_no_case_and_identity_is_none():
    assert unpacked(" GZip ,identity,", gzip.compress(b"hello")) == b"hello"
    assert unpacked("identity", b"hello") == b"hello"
    assert unpacked("", b"hello") == b"hello"


def test_limits_are_the_most_that_is_taken():
    assert unpacked("", bytes(1_000_000)) == bytes(1_000_000)
    assert problem_of("", bytes(1_000_001)) == "too-large"
    assert unpacked("gzip", gzip.compress(bytes(500)), limit=500) == bytes(500)
    assert problem_of("gzip", gzip.compress(bytes(501)), limit=500) == "too-large"


@given(bodies, names, st.sampled_from([1, 2, 7, 100, 1 << 16]))
def test_what_was_packed_comes_out_however_it_is_cut(body, chain, step):
    raw = body
    for name in chain:
        raw = PACK[name](raw)

    assert unpacked(", ".join(chain), raw, step=step) == body


@given(bodies, st.sampled_from(sorted(PLAIN)), st.data())
def test_a_part_of_a_stream_is_no_body(body, name, data):
    raw = PACK[name](body)
    cut = data.draw(st.integers(1, max(len(raw) - 1, 1)))
    assume(cut < len(raw))  # nothing at all is one byte of brotli

    assert problem_of(name, raw[:cut]) == "bad-encoding"


@pytest.mark.parametrize("name", PLAIN)
def test_every_part_of_a_small_stream_is_no_body(name):
    for body in (b"", b"a", b"hello world" * 30):
        raw = PACK[name](body)
        for cut in range(1, len(raw)):
            assert problem_of(name, raw[:cut]) == "bad-encoding"


@given(st.binary(min_size=1, max_size=200), st.sampled_from(sorted(PLAIN)))
def test_rubbish_is_unpacked_as_others_do_or_refused(rubbish, name):
    """An oracle: what each library makes of the whole at once."""
    try:
        theirs = PLAIN[name](rubbish)
    except (zlib.error, brotli.error, zstandard.ZstdError, OSError, EOFError):
        theirs = None
    if theirs is not None:
        assert unpacked(name, rubbish) == theirs
    else:
        with suppress(FetchFailed):  # and nothing else
            unpacked(name, rubbish)


def test_members_of_gzip_and_frames_of_zstd_follow_each_other():
    assert unpacked("gzip", gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"
    assert unpacked("zstd", PACK["zstd"](b"a") + PACK["zstd"](b"b")) == b"ab"


def test_rubbish_after_the_end_is_ignored():
    """Servers pad; browsers do not mind."""
    assert unpacked("gzip", gzip.compress(b"hello") + b"\0" * 100) == b"hello"
    assert unpacked("deflate", zlib.compress(b"hello") + b"\0" * 100) == b"hello"


@pytest.mark.parametrize("step", [1, 10, 1000])
def test_members_of_gzip_after_rubbish_are_rubbish_however_it_is_cut(step):
    """Else one body would be two pages, by where the network happens to cut it."""
    member = gzip.compress(b"hello")

    assert unpacked("gzip", member + b"rubbish" + member, step=step) == b"hello"


@pytest.mark.parametrize("step", [1, 10, 1000])
def test_rubbish_after_the_end_of_brotli_is_refused_however_it_is_cut(step):
    """The library cannot tell it from damage where it comes in one piece with the end."""
    raw = brotli.compress(b"hello") + b"\0" * 100

    assert problem_of("br", raw, step=step) == "bad-encoding"


@pytest.mark.parametrize("sizes", list(product((1, 31_000, 131_072), repeat=3)))
def test_blocks_of_zstd_come_out_whole_whatever_their_sizes(sizes):
    """What the library has decoded and not yet handed on at the end must not be lost."""
    last = len(sizes) - 1
    blocks = [_repeated(size, is_last=place == last) for place, size in enumerate(sizes)]

    assert unpacked("zstd", FRAME + b"".join(blocks)) == bytes(sum(sizes))
    for count in range(last):
        assert problem_of("zstd", FRAME + b"".join(blocks[: count + 1])) == "bad-encoding"


def test_a_thousand_members_are_refused():
    """Each would cost a copy of all that follows."""
    assert problem_of("gzip", gzip.compress(b"") * 1000) == "bad-encoding"


def test_a_window_beyond_the_standard_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    raw = stream.compress(b"hello") + stream.flush()

    assert problem_of("zstd", raw) == "bad-encoding"


@pytest.mark.parametrize("name", PLAIN)
def test_a_bomb_stops_at_the_limit_whatever_the_size_of_its_pieces(name):
    raw = PACK[name](bytes(50_000_000))
    for step in (100, len(raw)):
        tracemalloc.start()
        try:
            assert problem_of(name, raw, step=step) == "too-large"
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 2_000_000


def test_a_bomb_of_repeated_blocks_stops_too():
    """A block of zstd that repeats one byte 131,072 times takes four bytes."""
    raw = FRAME + _repeated(131_072, is_last=False) * 10_000
    tracemalloc.start()
    try:
        assert problem_of("zstd", raw) == "too-large"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 2_000_000


def test_a_bomb_within_a_bomb_stops_although_nothing_comes_out():
    """A little zstd holds a hundred megabytes of gzip, of which each five bytes are nothing."""
    head, nothing = PACK["gzip"](b"")[:10], b"\0\0\0\xff\xff" * 26_000
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    raw = packer.compress(head) + b"".join(packer.compress(nothing) for _ in range(1000))

    assert len(raw) < 100_000
    assert problem_of("gzip, zstd", raw) == "too-large"


def _repeated(size, *, is_last):
    """A block of zstd that repeats a zero."""
    return (size << 3 | 1 << 1 | is_last).to_bytes(3, "little") + b"\0"
