"""Visits in WARC files, and in ARC files, of any crawler.

    response                      a visit, with the digest of what came
    revisit, identical payload    a visit, with the digest of what had come before
    revisit, not modified (304)   a visit that found the page unchanged

All other records are passed over. Files of one gzip member per record, of one for all, of zstd and
LZ4, and plain ones are read. After a record that cannot be read, reading goes on with the next.

Touches: files, through what it is given.
"""

from __future__ import annotations

import re
import warnings
from base64 import b32encode
from contextlib import suppress
from dataclasses import replace
from hashlib import sha1
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from recrawl.adapters.cdx.index_lines import DATE_DIGITS, dates
from recrawl.adapters.imports.foreign_visits import (
    EMPTY_DIGEST,
    NOT_MODIFIED,
    ROWS,
    UNKNOWN_STATUS,
    ForeignVisitRows,
    plain_digest,
)
from recrawl.adapters.imports.streams import SourceBytes
from recrawl.adapters.warc.arc import ArcAsWarc
from recrawl.errors import FetchFailed, InvalidTable
from recrawl.fetch.http.bodies import Body
from recrawl.parse.times import times
from recrawl.visits.rows import UNKNOWN_TIME

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of parts of itself
    from fastwarc.stream_io import FastWARCError
    from fastwarc.warc import ArchiveIterator, WarcHeader, WarcRecordType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastwarc.warc import HeaderMap, WarcRecord

    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading
    from recrawl.arrays.types import Ints

DAMAGED = "record that cannot be read", "records that cannot be read"

_READ = WarcRecordType.response | WarcRecordType.revisit
_LONGEST_HEAD = 1 << 20
_STARTS = (b"\x1f\x8b\x08", b"WARC/1.")
_SEARCHED = 1 << 20  # bytes at a time
_MOST_REPAIRS = 1000  # of one file: each reads some of it anew
_LARGEST_PAYLOAD = 1 << 26  # packed and unpacked: what is longer has no digest
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})(?:;[^\r\n]{0,1000})?\r\n")
_LEAST_STATUS, _MOST_STATUS = 100, 599
_KNOWN = 0  # a date that is read later
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_ZERO, _LAST = b"0T"
_BROKEN = (OSError, EOFError, ValueError, FastWARCError)


def read_warc(source: SourceBytes, reading: ImportReading) -> Iterator[ForeignVisits]:
    """Visits of a file, in its order."""
    rows, found = _RecordRows(), False
    for record in _records(source, reading):
        found = True
        rows.add(record, reading)
        if len(rows) >= ROWS:
            yield reading.vetted(rows.flush())
            if reading.progress is not None and source.whole:
                reading.progress(min(source.raw.tell() / source.whole, 1.0))
    if not found and reading.left_out[DAMAGED]:
        raise InvalidTable(f"{source.name}: no WARC record that can be read")
    if len(rows):
        yield reading.vetted(rows.flush())


def read_arc(source: SourceBytes, reading: ImportReading) -> Iterator[ForeignVisits]:
    """Visits of an ARC file, in its order."""
    stream = cast("IO[bytes]", ArcAsWarc(source.unpacked(reading)))
    # How long it becomes is not known: what is damaged is read no further.
    yield from read_warc(SourceBytes(source.name, stream, b"", 0), reading)


def _records(source: SourceBytes, reading: ImportReading) -> Iterator[WarcRecord]:
    """All records that can be read; what lies between two of them is counted."""
    start = 0
    for _ in range(_MOST_REPAIRS):
        last = 0
        # A file object, never a name: a name may be an address, which would be fetched.
        stream = cast("IO[bytes]", _Counted(source.raw, start))
        try:
            for record in ArchiveIterator(
                stream,
                record_types=_READ,
                parse_http=False,
                max_header_len=_LONGEST_HEAD,
                fsspec_args=False,
            ):
                last = record.stream_pos
                yield record
        except _BROKEN:
            reading.leave_out(DAMAGED)
        else:
            return
        if not source.whole:
            break  # what came from a pipe cannot be read anew
        found = _next_start(source.raw, start + last + 1)
        if found is None:
            return
        start = found
    reading.remark(f"{source.name} is damaged; the rest of it is left out.")


class _Counted:
    """Bytes of a source from one of them on, counted: a pipe cannot tell how far it was read."""

    def __init__(self, raw: IO[bytes], start: int) -> None:
        self._raw = raw
        self._count = 0
        if start:
            raw.seek(start)

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self._raw.read(size)
        self._count += len(found)
        return found

    def tell(self) -> int:
        """How many were read."""
        return self._count


def _next_start(raw: IO[bytes], place: int) -> int | None:
    """The next place at which a record may begin; None where there is none."""
    longest = max(map(len, _STARTS))
    while True:
        raw.seek(place)
        some = raw.read(_SEARCHED)
        found = [at for each in _STARTS if (at := some.find(each)) >= 0]
        if found:
            return place + min(found)
        if len(some) < _SEARCHED:
            return None
        place += len(some) - longest


class _RecordRows:
    """Visits that records tell of. Their times are read when there are many: that is cheap."""

    def __init__(self) -> None:
        self._rows = ForeignVisitRows()
        self._dates: list[str] = []
        self._modified: list[str] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, record: WarcRecord, reading: ImportReading) -> None:
        """Add the visit that a record tells of, if it does."""
        headers = record.headers
        try:
            record.parse_http(max_header_len=_LONGEST_HEAD)
        except _BROKEN:
            reading.leave_out(DAMAGED)
            return
        http = record.http_headers if record.is_http_parsed else None
        status = (http.status_code if http is not None else None) or UNKNOWN_STATUS
        if not _LEAST_STATUS <= status <= _MOST_STATUS:
            status = UNKNOWN_STATUS
        digest = plain_digest(headers.get(WarcHeader.WARC_PAYLOAD_DIGEST) or "")
        modified = "" if http is None else http.get("Last-Modified") or ""
        if record.record_type == WarcRecordType.revisit:
            profile = headers.get(WarcHeader.WARC_PROFILE) or ""
            # A host that answered 304 sent nothing: some crawlers write down the digest of that.
            if "not-modified" in profile or (digest == EMPTY_DIGEST and not status):
                status = NOT_MODIFIED
        elif http is None:
            return  # an answer of another protocol: DNS, FTP
        elif not digest and status // 100 == 2:  # noqa: PLR2004 - that a page came
            digest = _computed(record, http, reading)
        page = (headers.get(WarcHeader.WARC_TARGET_URI) or "").strip("<>")
        self._rows.add(page, 0, status, digest, last_modified=_KNOWN)
        self._dates.append(headers.get(WarcHeader.WARC_DATE) or "")
        self._modified.append(modified)

    def flush(self) -> ForeignVisits:
        """All visits as columns; none are left."""
        visits = self._rows.flush()
        at, wrong = times(self._dates, optional=False)
        at[wrong] = UNKNOWN_TIME
        modified = http_dates(self._modified)
        modified[visits.last_modified != _KNOWN] = UNKNOWN_TIME
        self._dates, self._modified = [], []
        return replace(visits, at=at, last_modified=modified)


def http_dates(texts: Sequence[str]) -> Ints:
    """Microseconds since 1970 of dates as HTTP writes them; `UNKNOWN_TIME` for what is none.

    >>> http_dates(["Fri, 02 Jan 1970 00:00:01 GMT", "soon"]).tolist()[0]
    86401000000
    """
    # Letters outside of Latin-1 have no place in a date, and become one that is in none.
    cells = np.array([text.encode("latin-1", "replace") for text in texts], "S30")
    letters = cells.view(np.uint8).reshape(len(cells), 30)
    number = _MONTHS.get
    month = np.array([number(text[8:11], 0) for text in texts], np.uint8)
    # As digits: year, month, day, hour, minute, second, as an index of archives writes them.
    digits = np.empty((len(cells), DATE_DIGITS), np.uint8)
    for place, column in enumerate((12, 13, 14, 15, 0, 0, 5, 6, 17, 18, 20, 21, 23, 24)):
        digits[:, place] = letters[:, column]
    digits[:, 4], digits[:, 5] = month // 10 + _ZERO, month % 10 + _ZERO
    starts = np.arange(len(cells)) * DATE_DIGITS
    at, right = dates(digits.ravel(), starts, starts + DATE_DIGITS)
    right &= (letters[:, 28] == _LAST) & (letters[:, 29] == 0) & (month > 0)
    return np.where(right, at, UNKNOWN_TIME)


def _computed(record: WarcRecord, http: HeaderMap, reading: ImportReading) -> str:
    """Digest of the unpacked payload, where its crawler has written none."""
    payload = record.reader.read(_LARGEST_PAYLOAD + 1)
    if len(payload) > _LARGEST_PAYLOAD:
        reading.remark("A body of more than 64 MB has no digest.")
        return ""
    if "chunked" in (http.get("Transfer-Encoding") or "").lower():
        payload = unchunked(payload)
    with suppress(FetchFailed):  # unpacked already, or damaged: its bytes as they are
        encoding = http.get("Content-Encoding") or ""
        body = Body(encoding, raw_limit=_LARGEST_PAYLOAD, decoded_limit=_LARGEST_PAYLOAD)
        body.add(payload)
        payload = body.end()
    return b32encode(sha1(payload, usedforsecurity=False).digest()).decode()


def unchunked(payload: bytes) -> bytes:
    r"""A body that was sent in chunks; as it is where it is none, since crawlers join them.

    >>> unchunked(b"5;x=1\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"), unchunked(b"hello!")
    (b'hello!', b'hello!')
    """
    parts: list[bytes] = []
    place = 0
    while found := _CHUNK.match(payload, place):
        size, place = int(found[1], 16), found.end()
        if not size:
            return b"".join(parts)
        parts.append(payload[place : place + size])
        if payload[place + size : place + size + 2] != b"\r\n":
            break
        place += size + 2
    return payload
