"""Visits in WARC and ARC files; warcio is the oracle."""

import gzip
from base64 import b32encode
from datetime import UTC, datetime
from hashlib import sha1

import brotli  # type: ignore[import-untyped] # ships no types
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.imports.foreign_visits import ImportReading
from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.adapters.warc.visits import DAMAGED, http_dates
from recrawl.errors import InvalidTable
from recrawl.parse.messages import Request, Response
from recrawl.units import http_text
from recrawl.visits.rows import UNKNOWN_TIME
from tests.adapters.imports.archives import (
    REAL,
    Visited,
    by_warcio,
    imported,
    needs_real_archives,
)

SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
AT = "2026-01-02T03:04:05Z"


def digest(body):
    return b32encode(sha1(body, usedforsecurity=False).digest()).decode()


class Archive:
    """A WARC file as others write it, each record packed by itself."""

    def __init__(self, path, *, packed=True):
        self.path = path
        self._packed = packed
        self._records = []

    def add(self, url, status="200 OK", body=b"hello", kind="response", http=(), **fields):
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in http), "", ""]
        block = ("\r\n".join(lines).encode() if status else b"") + body
        known = {
            "WARC-Type": kind,
            "WARC-Target-URI": url,
            "WARC-Date": AT,
            "WARC-Record-ID": f"<urn:uuid:{len(self._records):032}>",
            "Content-Type": f"application/http; msgtype={'response' if status else 'none'}",
            "Content-Length": len(block),
            **fields,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in known.items() if value != "")
        record = f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n"
        self._records.append(gzip.compress(record) if self._packed else record)
        return self

    def close(self):
        self.path.write_bytes(b"".join(self._records))
        return self.path


def declared(body):
    return {"WARC-Payload-Digest": f"sha1:{digest(body)}"}


@needs_real_archives
@pytest.mark.parametrize(
    "path", [path for path in REAL if "arc.gz" in path.name], ids=lambda path: path.name
)
def test_real_archives_hold_what_warcio_finds(path):
    assert (imported(path) if list(by_warcio(path)) else []) == list(by_warcio(path))


@needs_real_archives
def test_real_archives_are_not_empty():
    """Or the test above would say nothing."""
    found = [visit for path in REAL if "arc.gz" in path.name for visit in by_warcio(path)]

    assert len(found) > 150
    assert {visit.status for visit in found} >= {200, 302, 304}


def test_responses_and_revisits_are_visits_and_nothing_else_is(tmp_path):
    archive = Archive(tmp_path / "a.warc.gz")
    archive.add("http://a.org/", body=b"one", **declared(b"one"))
    archive.add("http://a.org/", body=b"", kind="revisit",
                **declared(b"one"), **{"WARC-Profile": SAME})  # fmt: skip
    archive.add("http://a.org/", "304 Not Modified", b"", "revisit",
                **{"WARC-Profile": NOT_MODIFIED})  # fmt: skip
    archive.add("http://a.org/old", "301 Moved Permanently")
    archive.add("http://a.org/gone", "404 Not Found")
    archive.add("http://a.org/", body=b"", kind="metadata")
    path = archive.close()

    when = AT.removesuffix("Z")
    assert imported(path) == [
        Visited("http://a.org/", when, 200, digest(b"one")),
        Visited("http://a.org/", when, 200, digest(b"one")),
        Visited("http://a.org/", when, 304, "", 0),
        Visited("http://a.org/old", when, 301, ""),
        Visited("http://a.org/gone", when, 404, ""),
    ]
    assert imported(path) == list(by_warcio(path))


def test_a_revisit_of_nothing_without_headers_is_a_304(tmp_path):
    """As Heritrix writes it: the digest is that of the empty body."""
    archive = Archive(tmp_path / "a.warc.gz")
    archive.add("http://a.org/", "", b"", "revisit",
                **declared(b""))  # fmt: skip

    (visit,) = imported(archive.close())

    assert visit[2:] == (304, "", 0)


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("", b"hello" * 50),
        ("gzip", gzip.compress(b"hello" * 50)),
        ("br", brotli.compress(b"hello" * 50)),
    ],
    ids=["plain", "gzip", "br"],  # gzip has the time in it
)
def test_a_digest_that_is_missing_is_made_of_what_a_reader_gets(tmp_path, coding, packed):
    """A page is the same however its bytes came."""
    http = [("Content-Encoding", coding)] if coding else []
    archive = Archive(tmp_path / "a.warc", packed=False)
    archive.add("http://a.org/", body=packed, http=[*http, ("Content-Length", str(len(packed)))])

    (visit,) = imported(archive.close())

    assert visit.digest == digest(b"hello" * 50)


def test_a_body_in_chunks_has_the_digest_of_the_body(tmp_path):
    body = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    archive = Archive(tmp_path / "a.warc", packed=False)
    archive.add("http://a.org/", body=body, http=[("Transfer-Encoding", "chunked")])

    (visit,) = imported(archive.close())

    assert visit.digest == digest(b"hello world")


def test_a_body_that_is_unpacked_already_has_its_own_digest(tmp_path):
    archive = Archive(tmp_path / "a.warc", packed=False)
    http = [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
    archive.add("http://a.org/", body=b"no gzip at all", http=http)

    (visit,) = imported(archive.close())

    assert visit.digest == digest(b"no gzip at all")


def test_a_body_of_many_bytes_has_no_digest(tmp_path, monkeypatch):
    monkeypatch.setattr("recrawl.adapters.warc.visits._LARGEST_PAYLOAD", 1000)
    archive = Archive(tmp_path / "a.warc", packed=False)
    archive.add("http://a.org/", body=b"x" * 1001).add("http://a.org/", body=b"x" * 1000)
    bomb = gzip.compress(b"x" * 1_000_000)
    archive.add("http://a.org/", body=bomb[:900], http=[("Content-Encoding", "gzip")])
    reading = ImportReading()

    found = imported(archive.close(), reading=reading)

    packed = digest(bomb[:900])  # as it came: it unpacks to more than may be unpacked
    assert [visit.digest for visit in found] == ["", digest(b"x" * 1000), packed]
    assert list(reading.remarks) == ["A body of more than 64 MB has no digest."]


def test_our_own_files_are_read(tmp_path):
    """What `recrawl crawl --warc` wrote: a page, the same again, a 304, and another page."""
    requests = [
        (Response("https://a.org/", 200, {"last-modified": http_text(86_400)}, b"one"), 10),
        (Response("https://a.org/", 200, {}, b"one"), 20),
        (Response("https://a.org/", 304, {}, b""), 30),
        (Response("https://a.org/", 200, {}, b"two"), 40),
        (Response("https://a.org/x", 0, {}, b"", problem="timeout"), 50),
    ]
    with WarcFolder(tmp_path, "bot (me@example.org)") as folder:
        for response, second in requests:
            folder.write(RecordedFetch(Request(response.address), response, second * 1000))

    found = imported(tmp_path)

    assert [visit[1:] for visit in found] == [
        ("1970-01-01T00:00:10", 200, digest(b"one"), -1),
        ("1970-01-01T00:00:20", 200, digest(b"one"), -1),
        ("1970-01-01T00:00:30", 304, "", 0),
        ("1970-01-01T00:00:40", 200, digest(b"two"), -1),
    ]


def test_dates_of_hosts_are_kept_for_pages(tmp_path):
    http = [("Last-Modified", "Fri, 02 Jan 1970 00:00:00 GMT")]
    archive = Archive(tmp_path / "a.warc.gz")
    archive.add("http://a.org/", http=http).add("http://a.org/b", "302 Found", http=http)

    from recrawl.adapters.imports.streams import open_source
    from recrawl.adapters.warc.visits import read_warc

    with open_source(archive.close()) as source:
        (visits,) = read_warc(source, ImportReading())

    assert visits.last_modified.tolist() == [86_400_000_000, UNKNOWN_TIME]


@given(st.integers(-2_208_988_800, 7_258_118_399))
def test_dates_as_http_writes_them(second):
    assert http_dates([http_text(second)]).tolist() == [second * 1_000_000]


@given(st.lists(st.text(max_size=32)))
def test_what_is_no_date_is_none(texts):
    assert (http_dates(texts) == UNKNOWN_TIME).all()


def test_a_damaged_record_is_counted_and_the_next_are_read(tmp_path):
    archive = Archive(tmp_path / "a.warc.gz")
    for number in range(50):
        archive.add(f"http://a.org/{number}", body=bytes([number]) * 3000)
    path = archive.close()
    whole = path.read_bytes()
    head = whole.index(gzip.compress(b"", mtime=0)[:3], len(whole) // 2) + 12
    path.write_bytes(whole[:head] + b"broken" + whole[head + 6 :])
    reading = ImportReading()

    found = imported(path, reading=reading)

    assert len(found) == 49
    assert [found[0].page, found[-1].page] == ["http://a.org/0", "http://a.org/49"]
    assert reading.left_out[DAMAGED] >= 1


def test_a_damaged_plain_file_is_read_on(tmp_path):
    archive = Archive(tmp_path / "a.warc", packed=False)
    for number in range(9):
        archive.add(f"http://a.org/{number}", body=bytes([65 + number]) * 300)
    path = archive.close()
    whole = path.read_bytes()
    place = whole.index(b"http://a.org/4")
    head = whole.rindex(b"WARC/1.", 0, place)
    path.write_bytes(whole[:head] + b"BROKEN" + whole[head:])
    reading = ImportReading()

    found = imported(path, kind="warc", reading=reading)

    assert [visit.page[-1] for visit in found] == list("012345678")
    assert reading.left_out[DAMAGED] == 1


def test_a_file_that_is_cut_off_is_read_so_far(tmp_path):
    archive = Archive(tmp_path / "a.warc.gz")
    for number in range(9):
        archive.add(f"http://a.org/{number}", body=bytes(range(256)) * (number + 1))
    path = archive.close()
    path.write_bytes(path.read_bytes()[:-200])

    assert len(imported(path)) in (8, 9)  # of the last one the head may be whole


def test_what_is_no_warc_at_all_is_refused(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(b"hello " * 100)

    with pytest.raises(InvalidTable, match=r"no WARC record that can be read"):
        imported(path, kind="warc")


def test_files_packed_by_zstd_are_read(tmp_path):
    plain = Archive(tmp_path / "a.warc", packed=False).add("http://a.org/").close()
    packed = tmp_path / "a.warc.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))

    assert imported(packed) == imported(plain) != []


def test_an_arc_file_is_read(tmp_path):
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
    head = b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain 14\n1 0 Somebody\n\n"
    line = f"http://a.org/ 192.0.2.1 20260102030405 text/html {len(answer)}\n".encode()
    path = tmp_path / "a.arc"
    path.write_bytes(head + b"\n" + line + answer + b"\n" + line + answer + b"\n")

    visit = Visited("http://a.org/", AT.removesuffix("Z"), 200, digest(b"hello"))
    assert imported(path) == [visit, visit]


def test_times_before_the_web_are_left_out(tmp_path):
    archive = Archive(tmp_path / "a.warc.gz")
    archive.add("http://a.org/", **{"WARC-Date": "0001-01-01T00:00:00Z"})
    archive.add("http://a.org/", **{"WARC-Date": "yesterday"}).add("http://a.org/b")
    now = datetime.now(UTC)
    archive.add("http://a.org/c", **{"WARC-Date": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"})

    assert [visit.page for visit in imported(archive.close())] == [
        "http://a.org/b",
        "http://a.org/c",
    ]
