"""WARC files as two other programs read them, and as one of them indexes them."""

from __future__ import annotations

import io
import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from warcio.archiveiterator import (  # type: ignore[import-untyped] # ships no types
    ArchiveIterator as SlowIterator,
)
from warcio.indexer import Indexer  # type: ignore[import-untyped] # ships no types

from recrawl.adapters.warc.folder import OPEN

with warnings.catch_warnings(action="ignore"):  # it warns of itself
    from fastwarc.warc import ArchiveIterator

FastIterator: Any = ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_FIELDS = "offset,length,http:status,warc-type,warc-target-uri,warc-date,warc-payload-digest"


class Read(NamedTuple):
    """One record; names of fields are lower-case."""

    kind: str
    fields: dict[str, str]
    first: str  # line of the HTTP message; empty where there is none
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def address(self) -> str:
        return self.fields["warc-target-uri"]


def read(raw: bytes) -> list[Read]:
    """Records of a file, of which two readers must say the same, and find all digests right."""
    fast, slow = list(_fast(raw)), list(_slow(raw))
    assert fast == slow
    return slow


def read_folder(folder: Path) -> list[Read]:
    """Records of all files of a folder, in the order in which they were begun."""
    return [record for path in files_in(folder) for record in read(path.read_bytes())]


def files_in(folder: Path) -> list[Path]:
    """Files that are closed."""
    return sorted(folder.glob("*.warc.gz"), key=lambda path: path.name.split("-")[1:3])


def left_open(folder: Path) -> list[Path]:
    """Files that are, or were, being written."""
    return sorted(folder.glob(f"*{OPEN}"))


def indexed(folder: Path) -> list[dict[str, str]]:
    """What an index of the folder says of responses and revisits."""
    inputs, lines = [str(path) for path in files_in(folder)], folder / "index.jsonl"
    Indexer(_FIELDS, inputs, str(lines)).process_all()
    records = map(json.loads, lines.read_text().splitlines())
    lines.unlink()
    return [record for record in records if record["warc-type"] in ("response", "revisit")]


def of_kind(records: Iterable[Read], *kinds: str) -> list[Read]:
    return [record for record in records if record.kind in kinds]


def _fast(raw: bytes) -> Iterable[Read]:
    for record in FastIterator(io.BytesIO(raw), parse_http=False):
        fields = {name.lower(): value for name, value in record.headers.items()}
        assert record.verify_block_digest()
        message: Any = None
        if record.is_http:
            record.parse_http()
            message = record.http_headers
        if fields["warc-type"] == "response":
            assert record.verify_payload_digest()
        body = record.reader.read()
        yield Read(
            fields["warc-type"],
            fields,
            (message.status_line or "").rstrip() if message is not None else "",
            _texts(message.items_bytes()) if message is not None else [],
            body,
        )


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Headers in the encoding in which they were written; this reader takes them for Latin-1."""
    return [(name.decode(), value.decode()) for name, value in headers]


def _slow(raw: bytes) -> Iterable[Read]:
    for record in SlowIterator(io.BytesIO(raw), check_digests="raise"):
        message = record.http_headers
        yield Read(
            record.rec_type,
            {name.lower(): value for name, value in record.rec_headers.headers},
            _first_line(message) if message is not None else "",
            list(message.headers) if message is not None else [],
            record.content_stream().read(),
        )


def _first_line(message: Any) -> str:
    return f"{message.protocol} {message.statusline}".rstrip()
