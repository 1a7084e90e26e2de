"""XML written to do harm costs little, and gives what can be had of it."""

import gzip
import time
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.records import MOST_BYTES, MOST_RECORDS, read_records, root_of, unpacked

NAMES, FIELDS = frozenset({"i"}), frozenset({"a", "b"})


def texts(body):
    """Texts of the fields of each record."""
    return [
        [child.text for child in record] for record in read_records(body, NAMES, FIELDS).records
    ]


def test_records_have_fields_with_texts_and_attributes():
    found = read_records(
        b'<r xmlns="u" xmlns:x="v"><i><a n="1">one</a><x:b> two </x:b><c/></i><x:i/></r>',
        NAMES,
        FIELDS,
    )

    assert found.root == "r"
    assert found.broken == ""
    assert [(f.name, f.text, f.attributes) for f in found.records[0]] == [
        ("a", "one", {"n": "1"}),
        ("b", " two ", {}),
    ]
    assert found.records[1] == ()


def test_only_children_of_a_record_are_its_fields():
    assert texts(b"<r><a>0</a><i><c><a>1</a></c><a>2<c>3</c></a></i></r>") == [["23"]]


def test_sections_and_references_are_text():
    assert texts(b"<r><i><a><![CDATA[1 & <2>]]>&lt;&#51;</a></i></r>") == [["1 & <2><3"]]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8-sig"])
def test_documents_say_their_encoding(encoding):
    name = encoding.removesuffix("-sig")
    body = f'<?xml version="1.0" encoding="{name}"?><r><i><a>é</a></i></r>'.encode(encoding)

    assert texts(body) == [["é"]]


def test_a_blank_line_before_the_declaration_does_no_harm():
    assert texts(b'\n\n<?xml version="1.0"?><r><i><a>1</a></i></r>') == [["1"]]


def test_what_came_before_a_break_is_kept():
    found = read_records(b"<r><i><a>1</a></i><i><a>2</a></j></r>", NAMES, FIELDS)

    assert [[child.text for child in record] for record in found.records] == [["1"]]
    assert found.broken.startswith("must be whole XML (got ")


def test_half_a_field_is_no_field():
    assert texts(b"<r><i><a>1</a></i><i><a>https://example.org/hal") == [["1"]]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (b"?x=1&y=2", "?x=1&y=2"),
        (b"a & b", "a & b"),
        (b"a&nbsp;b", "a\xa0b"),
        (b"a&eacute;&amp;&#38;", "aé&&"),
        (b"&nbsp;<![CDATA[&nbsp;&]]>", "\xa0&nbsp;&"),
    ],
)
def test_the_two_commonest_faults_are_mended(text, meant):
    found = read_records(b"<r><i><a>" + text + b"</a></i></r>", NAMES, FIELDS)

    assert found.records[0][0].text == meant
    assert found.broken == ""


def _laughs(core):
    lines = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12))
    return b'<!DOCTYPE r [<!ENTITY l0 "' + core + b'">' + lines + b"]>"


BOMBS = {
    "laughs": _laughs(b"lol") + b"<r><i><a>&l11;</a></i></r>",
    "laughs of elements": _laughs(b"<i><a>1</a></i>") + b"<r>&l11;</r>",
    "laughs in an attribute": _laughs(b"lol") + b'<r><i><a b="&l11;"/></i></r>',
    "one long entity": b'<!DOCTYPE r [<!ENTITY x "' + b"A" * 100_000 + b'">]><r><i>'
    b"" + b"<a>&x;</a>" * 50_000 + b"</i></r>",
    "defaults": b'<!DOCTYPE r [<!ATTLIST a x CDATA "' + b"A" * 100_000 + b'">]><r><i>'
    b"" + b"<a/>" * 500_000 + b"</i></r>",
    "depth": b"<r>" * 1_000_000,
    "breadth": b"<r>" + b"<x/>" * 1_000_000 + b"</r>",
    "elements": b"<r>" + b"<x/>" * 4_000_000 + b"</r>",
    "fields": b"<r><i>" + b"<a/>" * 1_000_000 + b"</i></r>",
    "records": b"<r>" + b"<i/>" * 1_000_000 + b"</r>",
    "attributes": b"<r " + b" ".join(b'a%d="1"' % n for n in range(300_000)) + b"/>",
    "text": b"<r><i><a>" + b"A" * 9_000_000 + b"</a></i></r>",
    "ampersands": b"<r><i><a>" + b"&" * 2_000_000 + b"</a></i></r>",
    "sections": b"<r>&<i><a>" + b"<![CDATA[" * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_little(name):
    tracemalloc.start()
    began = time.process_time()
    found = read_records(BOMBS[name], NAMES, FIELDS)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert seconds < 20  # a second or two on an idle machine without tracing
    assert peak < 100_000_000
    assert len(found.records) <= MOST_RECORDS
    assert all(len(child.text) <= 4096 for record in found.records for child in record)


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "rules").write_text('<!ENTITY y "secret">')
    body = (
        f'<!DOCTYPE r SYSTEM "{tmp_path}/rules" [<!ENTITY x SYSTEM "file://{secret}">'
        f'<!ENTITY % z SYSTEM "file://{tmp_path}/rules"> %z;]>'
        "<r><i><a>1&x;&y;</a></i></r>"
    ).encode()

    assert "secret" not in str(read_records(body, NAMES, FIELDS))


def test_records_are_counted():
    found = read_records(b"<r>" + b"<i/>" * (MOST_RECORDS + 1) + b"</r>", NAMES, FIELDS)

    assert len(found.records) == MOST_RECORDS
    assert found.broken == "must have at most 50000 entries (got more)"


@given(
    st.binary()
    | st.lists(
        st.sampled_from(
            [
                *(b"<r>", b"<i>", b"<a>", b"</a>", b"</i>", b"</r>", b"<a/>", b'<a b="'),
                *(b"&", b"&x;", b"&nbsp;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?", b"?>"),
                *(b"<!DOCTYPE r [", b"]>", b"\xff", b"\0", b"x", b" "),
                b'<?xml version="1.0" encoding="utf-7"?>',
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_are_records(body):
    found = read_records(body, NAMES, FIELDS)

    assert isinstance(found.broken, str)
    assert isinstance(root_of(body), str)


@given(st.lists(st.binary(max_size=50), min_size=1))
def test_members_of_gzip_follow_each_other(parts):
    packed = b"".join(map(gzip.compress, parts))

    assert unpacked(packed) == (b"".join(parts), "")
    assert unpacked(packed + b"\0" * 512) == (b"".join(parts), "")
    assert gzip.decompress(packed) == b"".join(parts)


@given(st.binary(min_size=20, max_size=2000), st.data())
def test_gzip_cut_short_gives_its_beginning(body, data):
    packed = gzip.compress(body)
    cut = data.draw(st.integers(2, len(packed) - 1))
    found, broken = unpacked(packed[:cut])

    assert body.startswith(found)
    assert broken == "must be whole gzip (got only its beginning)"


@given(st.binary())
def test_any_bytes_are_unpacked(body):
    found, broken = unpacked(b"\x1f\x8b\x08\x00" + body)

    assert isinstance(found, bytes)
    assert broken or found is not None


def test_a_bomb_of_gzip_ends_at_the_limit():
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(500)) + packer.flush()
    found, broken = unpacked(bomb)

    assert len(found) == MOST_BYTES
    assert broken == "must be at most 50000000 bytes unpacked (got more)"


@pytest.mark.parametrize(
    "body", ["<r xmlns='\x9b31m\u202e'><i>", "<r>\0</r>", "<r\u200d/>", "<r>\x1b[2J"], ids=ascii
)
def test_what_is_said_of_a_document_does_not_steer_a_terminal(body):
    """The parser quotes what it does not like, and control characters of Latin-1 are good XML."""
    found = read_records(body.encode(), NAMES, FIELDS)

    assert found.broken.isprintable()
    assert found.root.isprintable()


def test_the_limit_itself_is_allowed():
    assert unpacked(b"x" * MOST_BYTES)[1] == ""
    assert unpacked(gzip.compress(b"x" * MOST_BYTES, 1))[1] == ""
    assert unpacked(b"x" * (MOST_BYTES + 1))[1] != ""
    assert unpacked(gzip.compress(b"x" * (MOST_BYTES + 1), 1))[1] != ""


def test_many_empty_members_of_gzip_take_no_time():
    began = time.process_time()
    unpacked(gzip.compress(b"") * 200_000)

    assert time.process_time() - began < 10  # half a second on an idle machine


@pytest.mark.parametrize(
    ("body", "root"),
    [
        (b"<urlset>", "urlset"),
        (b'\xef\xbb\xbf <?xml version="1.0"?>\n<?x ?><!-- <rss> --><rdf:RDF a="b">', "RDF"),
        (b'<!DOCTYPE rss [ <!ENTITY a "<b>"> ]><rss>', "rss"),
        (b"<!DOCTYPE html><html>", "html"),
        ('<?xml version="1.0"?><feed>'.encode("utf-16"), "feed"),
        ("<feed>".encode("utf-16-le"), "feed"),
        ("<feed>".encode("utf-16-be"), "feed"),
        (b"<!-- endless", ""),
        (b"text", ""),
        (b"", ""),
        (b"<!--" * 5000, ""),
    ],
)
def test_the_outermost_element_is_seen_from_the_beginning(body, root):
    assert root_of(body) == root
