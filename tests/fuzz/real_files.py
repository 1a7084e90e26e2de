"""Examples from real files, where there are some beside the project: nothing of them is kept here.

A folder of archived web pages (WARC, CDX) stands in `../shared/data/archives` on some machines.
"""

from __future__ import annotations

import gzip
import io
from functools import cache
from pathlib import Path

from tests.adapters.warc.warcs import FastIterator

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "archives"

_LONGEST = 1 << 16
_MOST = 40  # of a kind


@cache
def real_files() -> dict[str, tuple[bytes, ...]]:
    """Examples by kind: html, headers, robots, addresses, warc; none where there is no folder."""
    found: dict[str, dict[bytes, None]] = {
        kind: {} for kind in ("html", "headers", "robots", "addresses", "warc")
    }
    for path in sorted(FOLDER.glob("*.warc.gz")):
        raw = path.read_bytes()
        if len(raw) <= _LONGEST:
            found["warc"][raw] = None
        for kind, example in _messages(raw):
            if len(found[kind]) < _MOST:
                found[kind][example[:_LONGEST]] = None
    for path in sorted(FOLDER.glob("*.cdx*")):
        raw = path.read_bytes()
        text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        words = [word for word in text.split() if word.startswith((b"http://", b"https://"))]
        for start in range(0, min(len(words), 400), 20):
            found["addresses"][b"\n".join(words[start : start + 20])] = None
    return {kind: tuple(examples) for kind, examples in found.items()}


def _messages(raw: bytes) -> list[tuple[str, bytes]]:
    """Heads and bodies of the responses in a WARC file."""
    found: list[tuple[str, bytes]] = []
    for record in FastIterator(io.BytesIO(raw)):
        if record.http_headers is None:
            continue
        head = "\n".join(f"{name}: {value}" for name, value in record.http_headers)
        body = record.reader.read(_LONGEST)
        address = record.headers.get("WARC-Target-URI") or ""
        found.append(("headers", head.encode()))
        if address.endswith("/robots.txt"):
            found.append(("robots", body))
        elif "html" in (record.http_content_type or ""):
            found.append(("html", body))
    return found
