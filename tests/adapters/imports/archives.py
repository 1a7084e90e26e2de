"""Archives to import: real ones, where they are, and what warcio reads in them."""

from __future__ import annotations

import warnings
from base64 import b32encode
from hashlib import sha1
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from warcio.archiveiterator import (  # type: ignore[import-untyped] # ships no types
    ArchiveIterator,
)

from recrawl.adapters.imports.foreign_visits import ImportReading
from recrawl.adapters.imports.sources import ImportReader, find_sources
from recrawl.parse.addresses import canonical
from tests.fuzz.real_files import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REAL = sorted(FOLDER.glob("*"))
needs_real_archives = pytest.mark.skipif(not REAL, reason="needs real archives beside the project")


class Visited(NamedTuple):
    """A visit as tests compare it."""

    page: str
    at: str
    status: int
    digest: str
    changed: int = -1


def imported(*names: object, kind: str = "", reading: ImportReading | None = None) -> list[Visited]:
    """Visits that sources hold."""
    reader = ImportReader(reading or ImportReading())
    found: list[Visited] = []
    for source in find_sources([str(name) for name in names], kind)[0]:
        for visits in reader.visits(source):
            times = np.datetime_as_string(visits.at.view("datetime64[us]"), unit="s")
            columns = (visits.page.tolist(), times.tolist(), visits.status.tolist())
            more = (visits.digest.tolist(), visits.changed.tolist())
            found += map(Visited, *columns, *more)
    return found


def by_warcio(path: Path) -> Iterator[Visited]:
    """Visits that warcio finds in a WARC or ARC file."""
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for record in ArchiveIterator(file, arc2warc=True):
            if record.rec_type not in ("response", "revisit"):
                continue
            fields, http = record.rec_headers, record.http_headers
            page = canonical(fields.get_header("WARC-Target-URI"))
            if page is None:
                continue
            status = int(http.get_statuscode()) if http and http.get_statuscode() else 0
            digest = (fields.get_header("WARC-Payload-Digest") or "").removeprefix("sha1:")
            if not digest:
                body = sha1(record.content_stream().read(), usedforsecurity=False)
                digest = b32encode(body.digest()).decode()
            changed = -1
            if "not-modified" in (fields.get_header("WARC-Profile") or ""):
                status, changed = 304, 0
            shown = status == 0 or 200 <= status < 300
            at = fields.get_header("WARC-Date")[:19]
            yield Visited(page, at, status, digest if shown else "", changed)
