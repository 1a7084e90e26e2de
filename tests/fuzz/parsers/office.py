"""Entries of `adapters/documents/`: what is ours there; libraries are tried in their worker."""

from __future__ import annotations

import re
from io import BytesIO

from recrawl.adapters.documents.messages import receive_document, receive_reply
from recrawl.adapters.documents.pdf_text import PdfLine, pdf_html
from recrawl.parse.documents import document_kind
from tests.adapters.documents import made
from tests.fuzz.checks import as_text
from tests.fuzz.parser import Parser

_TAGS = re.compile(r"</?(?:title|ul|li|p|h[1-6])>")
_PLACE = 8  # letters of a line that say where it stands


def _read_kind(data: bytes) -> None:
    kind = document_kind(data)
    assert not kind or data.lstrip()[:2] in (b"%P", b"PK", b"\xd0\xcf")


def _read_pdf_lines(data: bytes) -> None:
    pages = [
        [_line(line) for line in page.split("\n") if line[_PLACE:].strip()]
        for page in as_text(data).split("\f")
    ]
    outline = {"Green tea": 2} if b"1." in data else {}
    html = pdf_html(pages, "T", outline)
    assert html == pdf_html(pages, "T", outline)
    assert "<" not in _TAGS.sub("", html)


def _line(text: str) -> PdfLine:
    numbers = [ord(letter) % 100 for letter in text[:_PLACE]]
    left, width, bottom, size = numbers[0], 5 * numbers[1], 8 * numbers[2], 1 + numbers[3] / 5
    return PdfLine(text[_PLACE:], left, left + width, bottom, size)


def _read_messages(data: bytes) -> None:
    reply = receive_reply(BytesIO(data))
    assert reply is None or len(reply.text.encode(errors="replace")) <= 3 * len(data)
    body = receive_document(BytesIO(data))
    assert body is None or len(body) <= len(data)


_PAGE = (
    b"aaaa    THE BOOK 1\naaab    1. Green tea\naaac    tea is well-\naaad    known . . . . 12\n"
)

PARSERS = (
    Parser(
        "document kinds",
        _read_kind,
        seeds=tuple(body[:3000] for body in made.one_of_each().values()),
        modules=("recrawl.parse.documents",),
        tokens=(b"%PDF-", b"PK\x03\x04", b"word/document.xml", b"[Content_Types].xml", b"mimetype"),
    ),
    Parser(
        "pdf lines",
        _read_pdf_lines,
        seeds=(_PAGE + b"\f" + _PAGE.replace(b"BOOK 1", b"BOOK 2"), "aaaa    • tea\n".encode() * 9),
        modules=("recrawl.adapters.documents.pdf_text",),
        tokens=(b"\f", b"\n", b"-\n", b"\x02", b". . . . ", b"aaaa    ", b"iv", b"<p>"),
    ),
    Parser(
        "document messages",
        _read_messages,
        seeds=(b"\x01" + bytes(8) + bytes(7) + b"\x03tea", bytes(7) + b"\x03tea"),
        modules=("recrawl.adapters.documents.messages",),
    ),
)
