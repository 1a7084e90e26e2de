"""Reading archives and indexes beside the barest loops over the same files: CPU time, in one run.

    python benchmarks/imports.py
    python benchmarks/imports.py --archives ../shared/data/archives

    WARC     records of FastWARC, and nothing done with them
    CDX      lines of a file, each split at its blanks, and nothing done with the fields
    CDXJ     the same, and the object of each line read by `json`

Ours makes columns of visits: pages under their canonical names, times, statuses, digests. The bare
loop and ours take turns, and of each the fastest run counts; `ratio` is how fast ours is where the
bare loop is 1. A last row has what `recrawl import` takes with the Parquet file that it writes.

Touches: a temporary folder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.imports.foreign_visits import COLUMNS, ImportReading
from recrawl.adapters.imports.sources import ImportReader, find_sources
from recrawl.adapters.tables.outputs import to_file

with warnings.catch_warnings(action="ignore"):  # it warns of itself
    from fastwarc.warc import ArchiveIterator, WarcRecordType

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 7
TARGET = 0.6
RECORD = (
    "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://host{host}.example.org/page/{number}"
    "\r\nWARC-Date: 2026-01-{day:02}T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:{number:032}>\r\n"
    "WARC-IP-Address: 192.0.2.1\r\nWARC-Payload-Digest: sha1:{digest}\r\n"
    "WARC-Block-Digest: sha1:{digest}\r\nContent-Type: application/http; msgtype={kind}\r\n"
    "Content-Length: {length}\r\n\r\n"
)
HEAD = (
    b"HTTP/1.1 200 OK\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nServer: nginx\r\nContent-Type: "
    b"text/html; charset=utf-8\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: "
    b'"6955b900-1a2b"\r\nCache-Control: max-age=600\r\nVary: Accept-Encoding\r\n\r\n'
)
LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)


def digests(count: int, random: np.random.Generator) -> list[str]:
    rows = LETTERS[random.integers(0, 32, (count, 32))]
    return [row.tobytes().decode() for row in rows]


def write_warc(path: Path, pages: int, body_bytes: int) -> None:
    """A request and a response for each page, each record packed by itself, as crawlers do."""
    random = np.random.default_rng(7)
    words = [bytes(random.integers(97, 123, 1 + row % 9, np.uint8)) for row in range(5_000)]
    shares = 1 / np.arange(2, len(words) + 2)
    shares /= shares.sum()
    with path.open("wb") as file:
        for number, digest in enumerate(digests(pages, random)):
            chosen = random.choice(len(words), body_bytes // 5, p=shares)
            body = b"<p>" + b" ".join([words[row] for row in chosen.tolist()])
            request = b"GET /page HTTP/1.1\r\nHost: example.org\r\nUser-Agent: bench\r\n\r\n"
            for kind, block in (("request", request), ("response", HEAD + body)):
                about = {"host": number % 50, "number": number, "day": 1 + number % 28}
                head = RECORD.format(kind=kind, digest=digest, length=len(block), **about)
                file.write(gzip.compress(head.encode() + block + b"\r\n\r\n", 6))


def write_indexes(folder: Path, lines: int) -> None:
    """Four captures of each page, as an index of several crawls has them."""
    random = np.random.default_rng(8)
    paths = random.integers(0, 40, lines)
    with (
        (folder / "index.cdx").open("w") as cdx,
        (folder / "index.cdxj").open("w") as cdxj,
    ):
        for number, digest in enumerate(digests(lines, random)):
            page, day = number // 4, 1 + number % 28
            path = f"some/path/{'x' * int(paths[page])}/page-{page}.html?q={page}"
            key = f"org,example{page % 97})/{path}"
            at, address = f"202601{day:02}030405", f"https://www.example{page % 97}.org/{path}"
            file = f"crawl-data/CC-MAIN-2026/segments/17/warc/CC-MAIN-{page % 100:05}.warc.gz"
            cdx.write(f"{key} {at} {address} text/html 200 {digest} - - 34054 620049 {file}\n")
            fields = {
                "url": address,
                "mime": "text/html",
                "status": "200",
                "digest": digest,
                "length": "34054",
                "offset": "620049",
                "filename": file,
            }
            cdxj.write(f"{key} {at} {json.dumps(fields)}\n")
    (folder / "index.cdx.gz").write_bytes(gzip.compress((folder / "index.cdx").read_bytes(), 6))


def bare_warc(path: Path) -> int:
    kinds, count = WarcRecordType.response | WarcRecordType.revisit, 0
    with path.open("rb") as file:
        for _ in ArchiveIterator(file, record_types=kinds, fsspec_args=False):
            count += 1
    return count


def bare_lines(path: Path) -> int:
    count = 0
    opened = gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115 - below
    with opened as file:
        for line in file:
            line.split(b" ")
            count += 1
    return count


def bare_objects(path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for line in file:
            json.loads(line.split(b" ", 2)[2])
            count += 1
    return count


def ours(path: Path, write: Path | None = None) -> int:
    reader, count = ImportReader(ImportReading()), 0
    (source,), _ = find_sources([str(path)])
    if write is None:
        return sum(len(visits) for visits in reader.visits(source))
    with to_file(write, COLUMNS) as out:
        for visits in reader.visits(source):
            out.write(visits.page, visits.columns())
            count += len(visits)
    return count


def compare(name: str, path: Path, bare: Callable[[Path], int], write: Path | None = None) -> float:
    """Print a row, and return the ratio."""
    best = {"bare": np.inf, "ours": np.inf}
    for _ in range(RUNS):
        counts = []
        for who, work in (("bare", bare), ("ours", lambda path: ours(path, write))):
            began = time.process_time()
            counts.append(work(path))
            best[who] = min(best[who], time.process_time() - began)
        assert counts[0] == counts[1] > 0, f"{name}: both must read the same ({counts})"
    per = {who: 1e6 * seconds / counts[0] for who, seconds in best.items()}
    ratio = best["bare"] / best["ours"]
    print(f"{name:34} {counts[0]:>9,} {per['bare']:>8.2f} {per['ours']:>8.2f} {ratio:>6.2f}")
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--records", type=int, default=2_000)
    parser.add_argument("--archives", type=Path, help="folder of real archives to read, too")
    asked = parser.parse_args()
    print(f"{'':34} {'visits':>9} {'bare us':>8} {'ours us':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory(prefix="recrawl-imports-") as name:
        folder = Path(name)
        for size in (5_000, 50_000):
            warc = folder / f"{size}.warc.gz"
            write_warc(warc, asked.records, size)
            compare(f"WARC, bodies of {size:,} bytes", warc, bare_warc)
        write_indexes(folder, asked.lines)
        compare("CDX", folder / "index.cdx", bare_lines)
        compare("CDX, gzip", folder / "index.cdx.gz", bare_lines)
        compare("CDXJ", folder / "index.cdxj", bare_objects)
        if asked.archives:
            real = (asked.archives / "pywb_iana.warc.gz").read_bytes()
            (folder / "iana.warc.gz").write_bytes(real * 20)
            compare("WARC, pywb_iana 20 times", folder / "iana.warc.gz", bare_warc)
        written = folder / "visits.parquet"
        compare("CDX, with the file written", folder / "index.cdx", bare_lines, written)


if __name__ == "__main__":
    main()
