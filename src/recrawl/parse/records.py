"""Bounded reader of untrusted XML: records of a few elements with their fields.

Sitemaps and feeds are lists of like elements, so no tree is built: the parser tells of each start
and end, and what is asked for is kept. Nothing is loaded from elsewhere, libxml2 refuses entities
that multiply, and all else has its limit here:

    <urlset> <url> <loc>https://example.org/</loc> <lastmod>2026</lastmod> </url> ... </urlset>
    root     record  field                           field

Elements go by their local name, since writers get namespaces wrong. Only children of a record are
its fields: the `loc` of an image within a `url` is not the page's.

Pure.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from html.entities import html5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 50_000_000  # unpacked; the protocol of sitemaps allows 50 MB
MOST_RECORDS = 50_000

_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"  # of UTF-8
_STEP = 1 << 12  # small, for zlib copies what is left of it at the end of each member
_FED = 1 << 16
_DEEPEST = 1000
_MOST_ELEMENTS = 2_000_000  # honest ones are longer than 25 bytes, so 50 MB hold no more
_MOST_FIELDS = 20
_LONGEST = 4096  # letters of a field or an attribute; addresses and dates are shorter
_LONGEST_REASON = 200
_MOST_MENDED = 500_000  # each takes a hundred bytes on the way
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")  # letters of two bytes
# Sections of plain text stay as they are; of references, a name may follow.
_REFERENCE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:([A-Za-z][A-Za-z0-9]{1,31};)|(?!#|\w+;))", re.DOTALL
)
_PREDEFINED = {b"amp;", b"lt;", b"gt;", b"quot;", b"apos;"}
_PROLOG = re.compile(
    rb"\s*+(?:<\?.*?\?>|<!--.*?-->|<![A-Za-z][^>\[]*+(?:\[.*?\]\s*+)?>)", re.DOTALL
)
_ROOT = re.compile(rb"\s*+<(?:[\w.-]+:)?([\w.-]+)")
_HEAD = 1 << 12


@dataclass(frozen=True, slots=True)
class Field:
    """A child element of a record."""

    name: str
    text: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Records:
    """What was read of a document.

    Args:
        root: Local name of the outermost element; empty if there is none.
        records: Fields of each record, in order.
        outside: The first elements outside of records that have a `rel`, by their attributes.
        broken: Why this is not all; empty if it is.
    """

    root: str
    records: tuple[tuple[Field, ...], ...]
    broken: str
    outside: tuple[Mapping[str, str], ...] = ()


def read_records(body: bytes, names: frozenset[str], fields: frozenset[str]) -> Records:
    """Records of a document, as far as it can be read.

    If it breaks off, ampersands that are no references and references that only HTML knows are
    mended, and it is read again: those two are the faults that most broken documents have.

    Args:
        body: The document, unpacked.
        names: Elements that are records.
        fields: Children of theirs that are kept.

    Examples:
        >>> found = read_records(b"<r><i><a>1 & 2</a></i></r>", frozenset("i"), frozenset("a"))
        >>> found.records[0][0].text, found.broken
        ('1 & 2', '')
    """
    body = body.removeprefix(_MARK).lstrip()  # XML may not begin with a blank line; many do
    first = _read(body, names, fields)
    if not first.broken or len(first.records) >= MOST_RECORDS or body.startswith(_WIDE):
        return first
    mended = _REFERENCE.sub(_mended, body, _MOST_MENDED)
    if mended == body:
        return first
    again = _read(mended, names, fields)
    return again if len(again.records) >= len(first.records) else first


def unpacked(body: bytes) -> tuple[bytes, str]:
    """A body out of its gzip, if it is in one, up to `MOST_BYTES`; and why that is not all.

    >>> import gzip
    >>> unpacked(gzip.compress(b"abc")), unpacked(b"abc")
    ((b'abc', ''), (b'abc', ''))
    """
    if body.startswith(_GZIP):
        body, broken = _unzipped(body)
    else:
        broken = ""
    if len(body) > MOST_BYTES:
        return body[:MOST_BYTES], f"must be at most {MOST_BYTES} bytes unpacked (got more)"
    return body, broken


def root_of(body: bytes) -> str:
    """Local name of the outermost element, from the first few thousand bytes; empty if none.

    >>> root_of(b'<?xml version="1.0"?><!-- made by hand --><rdf:RDF>')
    'RDF'
    """
    head = body[:_HEAD]
    if head.startswith(_WIDE):
        wide = (
            "utf-16" if head.startswith(_WIDE[:2]) else "utf-16-le" if head[1] == 0 else "utf-16-be"
        )
        head = head[: len(head) // 2 * 2].decode(wide, "replace").encode()
    head = head.removeprefix(_MARK)
    place = 0
    while (match := _PROLOG.match(head, place)) is not None:
        place = match.end()
    match = _ROOT.match(head, place)
    return "" if match is None else match[1].decode("ascii", "replace")


def _unzipped(body: bytes) -> tuple[bytes, str]:
    """All members of a gzip, up to one byte more than the limit; and what is wrong with it."""
    parts: list[bytes] = []
    room, place = MOST_BYTES + 1, 0
    unpack = zlib.decompressobj(wbits=31)
    while room and place < len(body):
        step = body[place : place + _STEP]
        try:
            part = unpack.decompress(step, room)
        except zlib.error:
            return b"".join(parts), "must be whole gzip (got a damaged part)"
        parts.append(part)
        room -= len(part)
        place += len(step) - len(unpack.unused_data)
        if unpack.eof:
            if not body.startswith(_GZIP, place):  # the end, or zeros that some servers add
                return b"".join(parts), ""
            unpack = zlib.decompressobj(wbits=31)
    return b"".join(parts), "must be whole gzip (got only its beginning)"


def _mended(match: re.Match[bytes]) -> bytes:
    """A reference that XML knows too."""
    if not match[0].startswith(b"&"):
        return match[0]
    name = match[1]
    if name is None:
        return b"&amp;"
    letters = "" if name in _PREDEFINED else html5.get(name.decode("ascii"), "")
    return b"".join(b"&#%d;" % ord(letter) for letter in letters) or match[0]


def _read(body: bytes, names: frozenset[str], fields: frozenset[str]) -> Records:
    from lxml import etree  # type: ignore[import-untyped]  # ships no types

    found = _Collector(names, fields)
    parser = etree.XMLParser(
        target=found, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    broken = ""
    try:
        for place in range(0, len(body), _FED):
            parser.feed(body[place : place + _FED])
            if found.stopped:
                break
        else:
            parser.close()
    except etree.LxmlError as error:
        broken = f"must be whole XML (got {_shown(str(error))[:_LONGEST_REASON]})"
    stopped = found.stopped or broken
    return Records(_shown(found.root), tuple(found.records), stopped, tuple(found.outside))


def _shown(text: str) -> str:
    """Untrusted text in one line, without control characters."""
    return "".join(filter(str.isprintable, " ".join(text.split())))


def _short(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if len(value) <= _LONGEST}


@dataclass(slots=True)
class _Collector:
    """Target of the parser's events, which keeps the wanted elements."""

    names: frozenset[str]
    fields: frozenset[str]
    records: list[tuple[Field, ...]] = field(default_factory=list)
    outside: list[dict[str, str]] = field(default_factory=list)
    root: str = ""
    stopped: str = ""
    elements: int = 0
    depth: int = 0
    record_depth: int = 0  # 0 outside of records
    children: list[Field] = field(default_factory=list)
    child: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    letters: list[str] = field(default_factory=list)
    room: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        name = tag.rpartition("}")[2]
        if self.depth == 1:
            self.root = name[:_LONGEST]
        if self.depth > _DEEPEST:
            self.stopped = f"must be nested at most {_DEEPEST} deep (got more)"
        elif self.elements > _MOST_ELEMENTS:
            self.stopped = f"must have at most {_MOST_ELEMENTS} elements (got more)"
        elif not self.record_depth:
            if name in self.names:
                self.record_depth, self.children = self.depth, []
            elif "rel" in attributes and len(self.outside) < _MOST_FIELDS:
                self.outside.append(_short(attributes))
        elif (
            name in self.fields
            and self.depth == self.record_depth + 1
            and len(self.children) < _MOST_FIELDS
        ):
            self.child, self.letters, self.room = name, [], _LONGEST
            self.attributes = _short(attributes)

    def data(self, text: str) -> None:
        if self.child and self.room > 0:
            self.letters.append(text[: self.room])
            self.room -= len(text)

    def end(self, tag: str) -> None:
        del tag
        if self.depth == self.record_depth:
            self.record_depth = 0
            if len(self.records) < MOST_RECORDS:
                self.records.append(tuple(self.children))
            else:
                self.stopped = f"must have at most {MOST_RECORDS} entries (got more)"
        elif self.child and self.depth == self.record_depth + 1:
            self.children.append(Field(self.child, "".join(self.letters), self.attributes))
            self.child = ""
        self.depth -= 1

    def close(self) -> None:
        """Nothing is left to do."""
