"""Entries of `adapters/warc/`: what a killed crawl left, and headers of strangers on their way."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from recrawl.adapters.warc.erasing import _members
from recrawl.adapters.warc.fetches import OriginalRecord, RecordedFetch, WarcIndex, records_of
from recrawl.adapters.warc.folder import recover, whole_bytes
from recrawl.adapters.warc.records import escaped_uri
from recrawl.errors import CannotWrite
from recrawl.fetch.http.headers import headers_of
from recrawl.parse.addresses import canonical
from recrawl.parse.messages import Request, Response
from tests.adapters.warc.warcs import FastIterator
from tests.fuzz.checks import PAGE
from tests.fuzz.parser import Parser
from tests.fuzz.parsers.documents import HTML

_AT = 1_767_225_600_000


def _read_cut_file(data: bytes) -> None:
    """What is left of a cut file is a beginning of it, and whole."""
    whole = whole_bytes(io.BytesIO(data))
    assert 0 <= whole <= len(data)
    assert whole_bytes(io.BytesIO(data[:whole])) == whole
    if whole:
        gzip.decompress(data[:whole])
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        scratch = Path(folder) / "a.warc.gz.open"
        scratch.write_bytes(data)
        if whole and whole % 5 == 0:  # and a whole file of the name is there, too
            (Path(folder) / "a.warc.gz").touch()
        recover(scratch)
        left = sorted(path.name for path in Path(folder).iterdir())
        assert left == (["a.warc.gz"] if whole else [])
        assert not whole or (Path(folder) / left[0]).read_bytes() == data[:whole]


def _write_fetch(data: bytes) -> None:
    """Records of a fetch are read back as they were written, whatever the host has sent."""
    head, _, body = data.partition(b"\n\n")
    first, _, rest = head.partition(b"\n")
    pairs = [line.partition(b":")[::2] for line in rest.split(b"\n")]
    headers = headers_of([(name, value) for name, value in pairs])
    words = first.decode("utf-8", "replace")
    status = int(words[:3]) if words[:3].isdecimal() else 0
    address = canonical(words[3:]) or PAGE
    response = Response(address, status, headers, body, problem="" if status else "timeout",
                        detail=words)  # fmt: skip
    request = Request(address, etag=headers.get("etag", ""), modified=words, form=words[5:] or None)
    fetched = RecordedFetch(request, response, _AT)
    found = records_of(fetched, "bot (me@example.org)", lambda key: None)
    assert escaped_uri(words).isascii()
    again = records_of(fetched, "bot (me@example.org)", found.index.get)
    unchanged = RecordedFetch(request, replace(response, status=304, problem=""), _AT)
    later = records_of(unchanged, "bot", lambda key: next(iter(found.index.values()), None))
    for written in (*found.records, *again.records, *later.records):
        count = 0
        for read in FastIterator(io.BytesIO(written.packed()), parse_http=False):
            fields = list(read.headers)
            assert dict(fields)["WARC-Type"] == written.kind
            assert dict(fields)["WARC-Record-ID"] == f"<urn:uuid:{written.number}>"
            assert len(fields) == len(dict(fields))
            assert read.reader.read() == written.block
            count += 1
        assert count == 1


def _read_index(data: bytes) -> None:
    """A list of records that was damaged is refused in one sentence, or read."""
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        path = Path(folder) / "index.db"
        path.write_bytes(data)
        index = WarcIndex(path)
        try:
            for key in (b"0" * 16, b"1" * 16):
                found = index.find(key)
                assert found is None or isinstance(found.number, UUID)
        finally:
            index.close()


def _records() -> bytes:
    response = Response(PAGE, 200, {"etag": '"1"'}, HTML[0])
    found = records_of(RecordedFetch(Request(PAGE), response, _AT), "bot", lambda key: None)
    return b"".join(record.packed() for record in found.records)


def _index() -> bytes:
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        path = Path(folder) / "index.db"
        index = WarcIndex(path)
        for key in (b"0" * 16, b"1" * 16):
            index.put(key, OriginalRecord(UUID(int=1), PAGE, _AT, "sha1:A"))
        index.commit()
        index.close()
        return path.read_bytes()


_WARC = _records()


def _read_members(data: bytes) -> None:
    """Records lie end to end, from the beginning to the end of a file."""
    end = 0
    for member in _members(Path("a.warc.gz"), io.BytesIO(data)):
        assert member.begin == end < member.end
        end = member.end
        assert all(name == name.lower() for name in member.fields)


PARSERS = (
    Parser(
        "erased WARC records",
        _read_members,
        seeds=(
            _WARC,
            _WARC[:-3],
            gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n\r\nx") * 2,
            b"",
        ),
        modules=(
            "recrawl.adapters.warc.erasing:_members",
            "recrawl.adapters.warc.erasing:_fields",
        ),
        tokens=(_WARC, b"\x1f\x8b\x08"),
        raises=(CannotWrite,),
        longest=1 << 14,
    ),
    Parser(
        "cut WARC files",
        _read_cut_file,
        seeds=(_WARC, _WARC[:-3], gzip.compress(b"one") * 3, b"\x1f\x8b", b"", b"x"),
        modules=(
            "recrawl.adapters.warc.folder:whole_bytes",
            "recrawl.adapters.warc.folder:recover",
        ),
        real=("warc",),
        tokens=(_WARC, b"\x1f\x8b\x08"),
        raises=(CannotWrite,),
        longest=1 << 14,
    ),
    Parser(
        "WARC records",
        _write_fetch,
        seeds=(
            b'200https://example.org/a b\nETag: "1"\nContent-Type: text/html\n\n' + HTML[0],
            b'304\nETag: W/"2"\nLast-Modified: Fri, 02 Jan 1970 00:00:00 GMT\n\n',
            b"0no answer\n\n",
            b"999x\nContent-Encoding: gzip\nContent-Length: 23\nTransfer-Encoding: chunked\n\nx",
            b"200\nb\xc3\xa9d name: x\n" + b"h: " + b"x" * 3000 + b"\n" + b"a: b\n" * 90 + b"\n",
            b"200\n\n",
        ),
        modules=(
            "recrawl.adapters.warc.records",
            *(
                f"recrawl.adapters.warc.fetches:{name}"
                for name in (
                    *("records_of", "_response", "_unchanged", "_revisit", "_request"),
                    "_without_content",
                    *("_validators", "_version", "body_key", "version_key"),
                )
            ),
        ),
        tokens=(b"\r\n", b"WARC/1.1\r\n", b"Content-Length: 0\r\n\r\n", b": ", b"ETag: ", b"200"),
        real=("headers",),
        longest=1 << 15,
    ),
    Parser(
        "WARC index",
        _read_index,
        seeds=(_index(), b"", b"SQLite format 3\0", b"x" * 100),
        modules=("recrawl.adapters.warc.fetches:WarcIndex",),
        tokens=(b"records", b"key blob primary key", b"number", b"create table", b"null"),
        raises=(CannotWrite,),
        longest=1 << 15,
    ),
)
