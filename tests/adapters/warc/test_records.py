"""Records of WARC files, as other programs read them."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.warc.records import FIELDS_TYPE, Record, field_lines, sha1_digest, warc_date
from tests.adapters.warc.warcs import read

texts = st.text(max_size=40) | st.sampled_from(["\r\n", "a\r\nb: c\r\n\r\n", "\0", "\ud800"])


def test_two_records_are_two_members():
    one = Record("metadata", 0, FIELDS_TYPE, b"a: b\r\n").packed()
    two = Record("metadata", 1, FIELDS_TYPE, b"c: d\r\n").packed()
    stream = zlib.decompressobj(31)
    stream.decompress(one + two)

    assert stream.unused_data == two
    assert [record.body for record in read(one + two)] == [b"a: b\r\n", b"c: d\r\n"]


def test_a_digest_is_the_one_that_everybody_knows():
    """Of "hello", from other programs."""
    assert sha1_digest(b"hello") == "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"


@given(st.integers(0, 4_000_000_000_000))
def test_instants_are_written_to_the_millisecond(at):
    from datetime import datetime

    assert round(datetime.fromisoformat(warc_date(at)).timestamp() * 1000) == at


@given(st.binary(max_size=300), texts, texts, st.integers(0, 4_000_000_000_000))
def test_whatever_is_written_comes_back(block, address, value, at):
    address = f"http://a.org/{address}"
    fields = {"WARC-Filename": f"a{value}b"}
    record = Record("metadata", at, FIELDS_TYPE, block, fields, address)

    (found,) = read(record.packed())

    assert found.body == block
    assert found.fields["warc-date"] == warc_date(at)
    assert set(found.fields) == {
        "warc-type",
        "warc-record-id",
        "warc-date",
        "warc-target-uri",
        "warc-filename",
        "warc-block-digest",
        "content-type",
        "content-length",
    }
    assert gzip.decompress(record.packed()) == record.plain()


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), texts))
def test_a_field_is_a_line(fields):
    assert field_lines(fields).count(b"\n") == len(fields)
