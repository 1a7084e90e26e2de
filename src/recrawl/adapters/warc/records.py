"""Records of a WARC file, and the HTTP messages in them: what they say, and their bytes.

A record is some lines of fields, an empty line and a block of bytes. Each is compressed by itself,
so that a reader can begin at any of them, and a file that ends in the middle of one has lost that
one alone.

Bodies come decoded, so headers that tell how they came over the wire no longer hold, and a reader
who believed them would unpack what is not packed. They stay, under names that nobody acts on:

    content-encoding: gzip          x-crawl-content-encoding: gzip
    content-length: 512             x-crawl-content-length: 512
                                    content-length: 1843

No header that a host sends can end its line, and all together stay below what readers take.

Pure.
"""

from __future__ import annotations

import re
import zlib
from base64 import b32encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from recrawl.fetch.http.bodies import ACCEPTED
from recrawl.parse.messages import ACCEPT, FORM_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from recrawl.parse.messages import Request, Response

VERSION = "WARC/1.1"
FIELDS_TYPE = "application/warc-fields"
REQUEST_TYPE = "application/http; msgtype=request"
RESPONSE_TYPE = "application/http; msgtype=response"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GZIP = 31  # of zlib: a stream with the head and the check of gzip
# Sixty pages in HTML, of 49 kB on the mean, took 0.29, 0.33, 0.66 and 1.76 ms each at levels 1, 3,
# 6 and 9, and became 18.5, 17.2, 15.3 and 15.1 % of their size: they are written once, and kept.
_LEVEL = 6

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_KEPT_AS = "x-crawl-"  # as other crawlers that keep decoded bodies call them
_LEFT_OUT = "x-crawl-headers-left-out"
_NOT_MODIFIED = 304

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))

# FastWARC refuses a whole file for one head above 32 KiB, unless its caller knows better.
_MOST_BYTES = 30_000


@dataclass(frozen=True, slots=True)
class Record:
    r"""One record.

    Args:
        kind: Its type, such as `response`.
        at: When its fetch began, in whole milliseconds after 1970.
        content_type: What the block is.
        block: Its bytes.
        fields: Further fields.
        address: Address that was fetched; empty where it is about none.
        number: What others call it by.

    Examples:
        >>> from uuid import UUID
        >>> record = Record("metadata", 1500, FIELDS_TYPE, b"a: b", number=UUID(int=1))
        >>> print(record.plain().decode().replace("\r", "").rstrip())
        WARC/1.1
        WARC-Type: metadata
        WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>
        WARC-Date: 1970-01-01T00:00:01.500Z
        WARC-Block-Digest: sha1:5SIWYIWHMO2UCCAEUVOHBWIGKZHMB5M2
        Content-Type: application/warc-fields
        Content-Length: 4
        <BLANKLINE>
        a: b
    """

    kind: str
    at: int
    content_type: str
    block: bytes
    fields: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    number: UUID = field(default_factory=uuid4)

    def plain(self) -> bytes:
        """Its bytes before they are compressed."""
        fields = {
            "WARC-Type": self.kind,
            "WARC-Record-ID": record_urn(self.number),
            "WARC-Date": warc_date(self.at),
            **({"WARC-Target-URI": escaped_uri(self.address)} if self.address else {}),
            **self.fields,
            "WARC-Block-Digest": sha1_digest(self.block),
            "Content-Type": self.content_type,
            "Content-Length": str(len(self.block)),
        }
        head = field_lines(fields)
        return b"".join([VERSION.encode(), b"\r\n", head, b"\r\n", self.block, b"\r\n\r\n"])

    def packed(self) -> bytes:
        """Its bytes in a file."""
        stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        return stream.compress(self.plain()) + stream.flush()


def field_lines(fields: Mapping[str, str]) -> bytes:
    r"""Lines of fields, none of which can end its line.

    >>> field_lines({"software": "recrawl", "said": "a\r\nb: c"})
    b'software: recrawl\r\nsaid: ab: c\r\n'
    """
    return b"".join(single_line(f"{name}: {value}") + b"\r\n" for name, value in fields.items())


def record_urn(number: UUID) -> str:
    """A record as others refer to it."""
    return f"<urn:uuid:{number}>"


def warc_date(at: int) -> str:
    """Milliseconds after 1970 as a record writes them.

    >>> warc_date(1_700_000_000_250)
    '2023-11-14T22:13:20.250Z'
    """
    instant = _EPOCH + timedelta(milliseconds=at)
    return f"{instant.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def sha1_digest(block: bytes) -> str:
    """Digest of some bytes in the one spelling that all readers check.

    >>> sha1_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    # Readers know no other well. Nothing is compared by it here: see `body_key`.
    digest = sha1(block, usedforsecurity=False).digest()
    return f"sha1:{b32encode(digest).decode()}"


def request_message(request: Request, agent: str) -> bytes:
    r"""A request as it was sent.

    >>> from recrawl.parse.messages import Request
    >>> request = Request("https://example.org/a?b", etag='"1"')
    >>> head = request_message(request, "me (me@example.org)")
    >>> head.split(b"\r\n")[:3]
    [b'GET /a?b HTTP/1.1', b'Host: example.org', b'User-Agent: me (me@example.org)']
    >>> head.split(b"\r\n")[5:]
    [b'If-None-Match: "1"', b'', b'']
    >>> request_message(Request("https://a.org/", form="q=tea"), "me").split(b"\r\n")[-3:]
    [b'Content-Length: 5', b'', b'q=tea']
    """
    address = escaped_uri(request.address).partition("#")[0]
    host, slash, path = address.partition("://")[2].partition("/")
    headers = [
        ("Host", host),
        ("User-Agent", agent),
        ("Accept", ACCEPT),
        ("Accept-Encoding", ACCEPTED),
    ]
    if request.etag and request.etag.isprintable():
        headers.append(("If-None-Match", request.etag))
    if request.modified and request.modified.isprintable():
        headers.append(("If-Modified-Since", request.modified))
    target = f"{slash or '/'}{path} HTTP/1.1"
    if request.form is None:
        return _head(f"GET {target}", headers)
    body = request.form.encode()
    headers += [("Content-Type", FORM_TYPE), ("Content-Length", str(len(body)))]
    return _head(f"POST {target}", headers) + body


def response_head(response: Response) -> bytes:
    r"""Status and headers of a response, as they hold for its decoded body.

    >>> from recrawl.parse.messages import Response
    >>> headers = {"content-encoding": "gzip", "content-length": "23", "vary": "a\r\nb"}
    >>> response_head(Response("https://a.org/", 200, headers, b"hello")).split(b"\r\n")[:3]
    [b'HTTP/1.1 200 OK', b'x-crawl-content-encoding: gzip', b'x-crawl-content-length: 23']
    >>> response_head(Response("https://a.org/", 200, headers, b"hello")).split(b"\r\n")[3:]
    [b'vary: ab', b'content-length: 5', b'', b'']
    """
    length = str(len(response.body))
    as_it_came = not (response.headers.keys() & {"content-encoding", "transfer-encoding"})
    headers = [
        (name, value)
        if name not in _OF_THE_WIRE or (as_it_came and value == length)
        else (_KEPT_AS + name, value)
        for name, value in response.headers.items()
    ]
    if response.status != _NOT_MODIFIED and ("content-length", length) not in headers:
        headers.append(("content-length", length))
    return _head(f"HTTP/1.1 {response.status} {_phrase(response.status)}", headers)


def escaped_uri(address: str) -> str:
    r"""An address without anything that could end it or its line.

    >>> escaped_uri("https://a.org/b c\r\nd")
    'https://a.org/b%20c%0D%0Ad'
    """
    if address.isascii() and address.isprintable() and " " not in address:
        return address
    return quote(address, safe=_PRINTABLE, errors="replace")


def single_line(text: str) -> bytes:
    r"""Text as bytes that cannot end a line.

    >>> single_line("a\r\nb: \xe9\x85")
    b'ab: \xc3\xa9'
    """
    line = text if text.isprintable() else text.translate(_CONTROLS)
    return line.encode(errors="replace")


def _head(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """A first line and headers; the last headers are left out where there are too many."""
    lines, left_out = [single_line(first)], 0
    room = _MOST_BYTES - len(lines[0])
    for name, value in headers:
        line = single_line(f"{name}: {value.strip()}")
        if not _NAME.fullmatch(name) or (len(line) > room and name != "content-length"):
            left_out += 1
            continue
        lines.append(line)
        room -= len(line) + 2
    if left_out:
        lines.append(single_line(f"{_LEFT_OUT}: {left_out}"))
    return b"\r\n".join([*lines, b"", b""])


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
