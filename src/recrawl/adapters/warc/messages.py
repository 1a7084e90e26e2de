"""HTTP messages as they are written into WARC files.

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
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from recrawl.fetch.bodies import ACCEPTED
from recrawl.parse.messages import ACCEPT, FORM_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.parse.messages import Request, Response

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_KEPT_AS = "x-crawl-"  # as other crawlers that keep decoded bodies call them
_LEFT_OUT = "x-crawl-headers-left-out"
_NOT_MODIFIED = 304

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))

# FastWARC refuses a whole file for one head above 32 KiB, unless its caller knows better.
_MOST_BYTES = 30_000


def asked(request: Request, agent: str) -> bytes:
    r"""A request as it was sent.

    >>> from recrawl.parse.messages import Request
    >>> head = asked(Request("https://example.org/a?b", etag='"1"'), "me (me@example.org)")
    >>> head.split(b"\r\n")[:3]
    [b'GET /a?b HTTP/1.1', b'Host: example.org', b'User-Agent: me (me@example.org)']
    >>> head.split(b"\r\n")[5:]
    [b'If-None-Match: "1"', b'', b'']
    >>> asked(Request("https://a.org/", form="q=tea"), "me").split(b"\r\n")[-3:]
    [b'Content-Length: 5', b'', b'q=tea']
    """
    address = in_one_word(request.address).partition("#")[0]
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


def answered(answer: Response) -> bytes:
    r"""Status and headers of an answer, as they hold for its decoded body.

    >>> from recrawl.parse.messages import Response
    >>> headers = {"content-encoding": "gzip", "content-length": "23", "vary": "a\r\nb"}
    >>> answered(Response("https://a.org/", 200, headers, b"hello")).split(b"\r\n")[:3]
    [b'HTTP/1.1 200 OK', b'x-crawl-content-encoding: gzip', b'x-crawl-content-length: 23']
    >>> answered(Response("https://a.org/", 200, headers, b"hello")).split(b"\r\n")[3:]
    [b'vary: ab', b'content-length: 5', b'', b'']
    """
    length = str(len(answer.body))
    as_it_came = not (answer.headers.keys() & {"content-encoding", "transfer-encoding"})
    headers = [
        (name, value)
        if name not in _OF_THE_WIRE or (as_it_came and value == length)
        else (_KEPT_AS + name, value)
        for name, value in answer.headers.items()
    ]
    if answer.status != _NOT_MODIFIED and ("content-length", length) not in headers:
        headers.append(("content-length", length))
    return _head(f"HTTP/1.1 {answer.status} {_phrase(answer.status)}", headers)


def in_one_word(address: str) -> str:
    r"""An address without anything that could end it or its line.

    >>> in_one_word("https://a.org/b c\r\nd")
    'https://a.org/b%20c%0D%0Ad'
    """
    if address.isascii() and address.isprintable() and " " not in address:
        return address
    return quote(address, safe=_PRINTABLE, errors="replace")


def one_line(text: str) -> bytes:
    r"""Text as bytes that cannot end a line.

    >>> one_line("a\r\nb: \xe9\x85")
    b'ab: \xc3\xa9'
    """
    line = text if text.isprintable() else text.translate(_CONTROLS)
    return line.encode(errors="replace")


def _head(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """A first line and headers; the last headers are left out where there are too many."""
    lines, left_out = [one_line(first)], 0
    room = _MOST_BYTES - len(lines[0])
    for name, value in headers:
        line = one_line(f"{name}: {value.strip()}")
        if not _NAME.fullmatch(name) or (len(line) > room and name != "content-length"):
            left_out += 1
            continue
        lines.append(line)
        room -= len(line) + 2
    if left_out:
        lines.append(one_line(f"{_LEFT_OUT}: {left_out}"))
    return b"\r\n".join([*lines, b"", b""])


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
