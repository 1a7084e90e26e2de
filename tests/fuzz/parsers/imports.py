"""Entries of what `recrawl import` reads: archives, indexes, access logs, git."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.access_logs.requests import read_requests
from recrawl.adapters.access_logs.squid import parse_squid
from recrawl.adapters.access_logs.w3c import W3CLines
from recrawl.adapters.access_logs.web_servers import WebServerLines
from recrawl.adapters.cdx.index_lines import read_index
from recrawl.adapters.cdx.json_lines import read_json_index
from recrawl.adapters.git.commits import commits_in
from recrawl.adapters.git.world import GitWorld
from recrawl.adapters.imports.foreign_visits import COLUMNS, ImportReading, plain_digest
from recrawl.adapters.imports.sources import ImportReader, find_sources
from recrawl.adapters.imports.streams import SourceBytes
from recrawl.adapters.warc.visits import read_arc, read_warc
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidInput, StoreError
from recrawl.parse.addresses import canonical
from recrawl.parse.many_addresses import canonical_texts
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recrawl.adapters.imports.foreign_visits import ForeignVisits

_CDX = (
    b" CDX N b a m s k r M S V g\n"
    b"a 20140126200624 http://a.org/ text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 1 2 a\n"
    b"a 20140126200625 http://a.org/ warc/revisit - 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 1 2 a\n"
    b"org,a)/b 20140126200626 HTTP://A.org:80/../b text/html 301 sha1:00 - - 1 2 a\n"
)
_CDXJ = (
    b'org,a)/ 20140126200624 {"url": "http://a.org/", "status": "200", "digest": "sha1:AB"}\n'
    b'org,a)/ 20140126200625 {"url": "http://a.org/", "mime": "warc/revisit", "digest": '
    b'"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}\n'
)
_COMMON = (
    rb'192.0.2.1 - me [10/Oct/2025:13:55:36 -0700] "GET /a HTTP/1.1" 200 2326 "-" "x" "W/\x221\x22"'
    b"\n"
    rb'www.a.org:443 192.0.2.1 - - [10/Oct/2025:13:55:37 +0000] "GET /a HTTP/1.1" 200 2327'
    b"\n"
    rb'www.a.org 192.0.2.1 - - [10/Oct/2025:13:55:38 +0000] "HEAD http://b.org/ HTTP/1.1" 304 -'
    b"\n"
)
_SQUID = (
    b"1066036250.129   1050 192.0.2.1 TCP_MISS/200 7654 GET http://a.org/ - DIRECT/- -\n"
    b"1066036251.129 10 192.0.2.1 TCP_REFRESH_UNMODIFIED/200 7654 GET http://a.org/ - DIRECT/- -\n"
    b"1066036252.129 10 192.0.2.1 TCP_MEM_HIT/200 7654 GET http://a.org/ - NONE/- -\n"
)
_W3C = (
    b"#Version: 1.0\n#Fields: date time cs-method cs(Host) cs-uri-stem cs-uri-query sc-status "
    b"x-edge-result-type sc-content-len\n"
    b"2025-12-04\t21:02:31\tGET\ta.org\t/a\tb=c\t200\tMiss\t78\n"
    b"2025-12-04\t21:02:32\tGET\ta.org\t/a\t-\t200\tRefreshHit\t-\n"
)
_HTTP = b"HTTP/1.1 200 OK\r\nLast-Modified: Fri, 02 Jan 1970 00:00:00 GMT\r\n\r\nhello"
_WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/\r\nWARC-Date: "
    b"2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(_HTTP), _HTTP)
)
_PACKED = _HTTP.replace(b"\r\n\r\nhello", b"\r\nContent-Encoding: gzip\r\n\r\n") + gzip.compress(
    b"x"
)
_ARC = (
    b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain 5\n1 0 A\n\n"
    b"http://a.org/ 192.0.2.1 20260102030405 text/html %d\n%s\n" % (len(_PACKED), _PACKED)
)
_LOG_LINE = (
    b'{"visit": 1, "at": "2026-01-01", "address": "https://a.org/", "outcome": "first", '
    b'"status": 200}\n'
)
_GIT = (
    b"\x0186400\0\n:000000 100644 0000 a1a1 A\0a.md\0:000000 160000 0000 b1b1 A\0sub\0"
    b"\x0186500\0\n:100644 100644 a1a1 b2b2 M\0a.md\0"
    b"\x0186600\0\n:100644 100644 b2b2 b2b2 R100\0a.md\0b.md\0\x0186700\0\n"
    b":100644 000000 b2b2 0000 D\0b.md\0"
)


def _check(batches: Iterable[ForeignVisits]) -> int:
    """Whatever is read: pages are canonical, columns are equally long and can be written."""
    count = 0
    for visits in batches:
        names = visits.page.tolist()
        assert all(canonical(name) == name for name in names)
        columns = visits.columns()
        assert set(columns) == set(COLUMNS) - {"page"}
        lengths = {len(visits.digest), len(visits.status), len(visits.changed), len(visits.at)}
        assert lengths == {len(names)}
        assert set(visits.changed.tolist()) <= {-1, 0, 1}
        count += len(names)
    return count


def _blocks(data: bytes) -> list[bytes]:
    """Two blocks of whole lines."""
    cut = data.find(b"\n", len(data) // 2) + 1
    whole = data if data.endswith(b"\n") else data + b"\n"
    return [block for block in (whole[:cut], whole[cut:]) if block]


def _index(read: Callable[..., Iterable[ForeignVisits]]) -> Callable[[bytes], None]:
    def attempt(data: bytes) -> None:
        lines = data.count(b"\n") + 1
        assert _check(read(_blocks(data), ImportReading(), "index")) <= lines
        by_key = read(_blocks(data), ImportReading(by_key=True), "index")
        assert sum(len(visits.page.tolist()) for visits in by_key) <= lines

    return attempt


def _log(data: bytes) -> None:
    for parse in (WebServerLines(""), WebServerLines("https://a.org"), parse_squid, W3CLines("")):
        reading = ImportReading()
        assert _check(read_requests(_blocks(data), parse, "log", reading)) <= data.count(b"\n") + 1
        assert all(sentence.isprintable() for sentence in reading.sentences())


def _archive(read: Callable[..., Iterable[ForeignVisits]]) -> Callable[[bytes], None]:
    def attempt(data: bytes) -> None:
        source = SourceBytes("archive", io.BytesIO(data), data[:100], len(data))
        _check(read(source, ImportReading()))

    return attempt


def _git(data: bytes) -> None:
    """No change is of a page that is not there, and time does not run back."""
    world = GitWorld()
    for commit in commits_in(iter(data.split(b"\0"))):
        world.add(commit)
    assert len(world.path) == len(world.first_seen) == len(world.removed_at)
    assert all(0 <= page < len(world.path) for page in world.page)
    assert world.changed_at == sorted(world.changed_at)


def _any_source(data: bytes) -> None:
    """A file of any kind is told by its bytes, and read or refused."""
    plain_digest(data[:60].decode("latin-1"))
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        path = Path(folder) / "source"
        path.write_bytes(data)
        reader = ImportReader(ImportReading(site="https://a.org", any_name=False))
        for source in find_sources([str(path)])[0]:
            _check(reader.visits(source))


def _addresses(data: bytes) -> None:
    """Many at once are what each is alone."""
    texts = Texts.of([line.decode("utf-8", "replace") for line in data.split(b"\n")])
    names, known = canonical_texts(texts)
    alone = [canonical(text) for text in texts.tolist()]
    assert names.tolist() == [text or "" for text in alone]
    assert np.array_equal(known, [text is not None for text in alone])


_WORDS = (b"20140126200624", b"http://a.org/", b"-", b"200", b"304", b"warc/revisit", b" ", b"\r\n")

PARSERS = (
    Parser("cdx", _index(read_index), (_CDX, _CDX[27:]), ("recrawl.adapters.cdx.index_lines",),
           tokens=_WORDS, raises=(InvalidInput,)),
    Parser("cdxj", _index(read_json_index), (_CDXJ,), ("recrawl.adapters.cdx.json_lines",),
           tokens=(*_WORDS, b'"url": ', b"{", b"}")),
    Parser("access logs", _log, (_COMMON, _SQUID, _W3C),
           ("recrawl.adapters.access_logs.requests", "recrawl.adapters.access_logs.squid",
            "recrawl.adapters.access_logs.w3c", "recrawl.adapters.access_logs.web_servers"),
           tokens=(b"\\x22", b'\\"', b"[", b'"', b"- - ", b"#Fields: ", b"\t", b"TCP_HIT/000")),
    Parser("warc visits", _archive(read_warc), (_WARC, gzip.compress(_WARC) * 2),
           ("recrawl.adapters.warc.visits",), raises=(InvalidInput,), real=("warc",),
           tokens=(b"WARC/1.0\r\n", b"Content-Length: 99999999999999999999\r\n",
                   b"Content-Encoding: gzip\r\n", b"Transfer-Encoding: chunked\r\n",
                   b"WARC-Type: revisit\r\n", b"\x1f\x8b\x08")),
    Parser("arc visits", _archive(read_arc), (_ARC, gzip.compress(_ARC)),
           ("recrawl.adapters.warc.arc",), raises=(InvalidInput,), tokens=(b" 99999999999\n",)),
    Parser("git log", _git, (_GIT,), ("recrawl.adapters.git.commits", "recrawl.adapters.git.world"),
           tokens=(b"\x01", b"\0", b":", b"R050", b"160000", b"A\0", b"D\0")),
    Parser("any source", _any_source,
           (_CDX, _CDXJ, _COMMON, _SQUID, _W3C, _WARC, _ARC, gzip.compress(_CDX),
            b"org,a)/ 2026\tcdx-0.gz\t0\t99\t1\n", _LOG_LINE,
            b"page,visited_at,status,changed,digest\nhttps://a.org/,2026-01-01,200,,x\n"),
           ("recrawl.adapters.imports.foreign_visits", "recrawl.adapters.imports.sources",
            "recrawl.adapters.imports.streams", "recrawl.adapters.imports.visit_tables",
            "recrawl.adapters.cdx.zipnum"),
           raises=(InvalidInput, StoreError), tokens=(*_WORDS, b"PAR1", b"WARC/", b"filedesc:")),
    Parser("many addresses", _addresses,
           (b"http://a.org/b\nHTTP://A.org:80/../c?#d\nmailto:e\nhttps://xn--a.org/%2e%2e/f",),
           ("recrawl.parse.many_addresses",), real=("addresses",),
           tokens=(b"http://", b"https://", b"/.", b"..", b"xn--", b"0x7f", b"\n", b"@", b"?")),
)  # fmt: skip
