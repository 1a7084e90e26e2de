"""Our WARC files beside those of warcio and FastWARC: the same responses, written by each.

    python benchmarks/warc.py
    python benchmarks/warc.py --responses 1000

Every fetch becomes a response and a request, and one in three has a body that came before and
becomes a revisit; all records have block digests, and those with a body payload digests. Each
writer runs in a process of its own, several times, and the fastest run counts. The peers keep what
they have written in a dictionary; ours keeps it in a file that outlives a crash, and syncs files.
`ours, records only` leaves that out.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from base64 import b32encode
from hashlib import sha1
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from recrawl.adapters.warc.fetches import RecordedFetch, records_of
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.adapters.warc.records import request_message, response_head
from recrawl.parse.messages import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.adapters.warc.fetches import OriginalRecord

AGENT = "recrawl-benchmark (bench@example.org)"
BODY_BYTES = 50_000
REPEATED = 3  # one response in so many has a body that came before
RUNS = 3
BEGAN = 1_800_000_000_000
SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def fetches(count: int) -> Iterator[RecordedFetch]:
    """The same fetches in every process; pages of words, which pack about as HTML does."""
    random = np.random.default_rng(7)
    words = [bytes(random.integers(97, 123, 1 + row % 9, np.uint8)) for row in range(5_000)]
    shares = 1 / np.arange(2, len(words) + 2)
    shares /= shares.sum()
    body = b""
    for number in range(count):
        if number % REPEATED != REPEATED - 1:
            chosen = random.choice(len(words), BODY_BYTES // 5, p=shares)
            body = b"<p>" + b" ".join([words[row] for row in chosen.tolist()]) + b"</p>"
        address = f"https://host{number % 50}.example.org/page/{number}"
        headers = {"content-type": "text/html", "server": "bench", "date": "today"}
        yield RecordedFetch(Request(address), Response(address, 200, headers, body), BEGAN + number)


def with_ours(folder: Path, made: Iterator[RecordedFetch]) -> None:
    with WarcFolder(folder, AGENT) as files:
        for fetch in made:
            files.write(fetch)


def with_our_records(folder: Path, made: Iterator[RecordedFetch]) -> None:
    index: dict[bytes, OriginalRecord] = {}
    with (folder / "a.warc.gz").open("wb") as file:
        for fetch in made:
            found = records_of(fetch, AGENT, index.get)
            file.write(b"".join(record.packed() for record in found.records))
            index.update(found.index)


def with_warcio(folder: Path, made: Iterator[RecordedFetch]) -> None:
    from warcio.statusandheaders import StatusAndHeadersParser
    from warcio.warcwriter import WARCWriter

    known: dict[str, tuple[str, str]] = {}
    heads = StatusAndHeadersParser(["HTTP/1.1"])
    requests = StatusAndHeadersParser(["GET"], verify=False)
    with (folder / "a.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.1")
        for fetch in made:
            address, body = fetch.request.address, fetch.response.body
            head = heads.parse(BytesIO(response_head(fetch.response)))
            digest = _digest(body)
            if digest in known:
                record = writer.create_revisit_record(address, digest, *known[digest], head)
            else:
                record = writer.create_warc_record(
                    address, "response", payload=BytesIO(body), length=len(body), http_headers=head
                )
                known[digest] = address, record.rec_headers.get_header("WARC-Date")
            asked = requests.parse(BytesIO(request_message(fetch.request, AGENT)))
            request = writer.create_warc_record(address, "request", http_headers=asked)
            writer.write_request_response_pair(request, record)


def with_fastwarc(folder: Path, made: Iterator[RecordedFetch]) -> None:
    with warnings.catch_warnings(action="ignore"):  # it warns of itself
        from fastwarc.stream_io import GzipWriter
        from fastwarc.warc import WarcRecord, WarcRecordType

    known: dict[bytes, str] = {}
    file = GzipWriter(str(folder / "a.warc.gz"), compression_level=6, fsspec_args=False)

    def write(
        kind: WarcRecordType, address: str, block: bytes, digest: bytes | None, **fields: str
    ) -> str:
        record = WarcRecord()
        urn = f"urn:uuid:{uuid4()}"
        record.init_headers(record_type=kind, record_urn=urn.removeprefix("urn:").encode())
        record.headers["WARC-Target-URI"] = address
        for name, value in fields.items():
            record.headers["WARC-" + name.replace("_", "-")] = value
        record.is_http = True
        record.set_bytes_content(block)
        record.write(file, checksum_data=True, payload_digest=digest)
        file.finish()  # or the whole file is one stream
        return urn

    for fetch in made:
        address, body, head = (
            fetch.request.address,
            fetch.response.body,
            response_head(fetch.response),
        )
        digest = sha1(body, usedforsecurity=False).digest()
        if digest in known:
            fields = {"Profile": SAME_BODY, "Refers_To": f"<{known[digest]}>"}
            urn = write(WarcRecordType.revisit, address, head, digest, **fields)
        else:
            urn = known[digest] = write(WarcRecordType.response, address, head + body, digest)
        request = request_message(fetch.request, AGENT)
        write(WarcRecordType.request, address, request, None, Concurrent_To=f"<{urn}>")
    file.close()


def _digest(body: bytes) -> str:
    return f"sha1:{b32encode(sha1(body, usedforsecurity=False).digest()).decode()}"


WRITERS: dict[str, Callable[[Path, Iterator[RecordedFetch]], None]] = {
    "ours": with_ours,
    "ours, records only": with_our_records,
    "warcio": with_warcio,
    "fastwarc": with_fastwarc,
}


def measure(name: str, count: int) -> None:
    """Write once, and print what it took; the fetches are made before."""
    made = list(fetches(count))
    Path("/proc/self/clear_refs").write_text("5")  # the most memory from here on
    before, cpu = _memory("VmRSS"), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[name](Path(folder), iter(made))
        spent, most = time.process_time() - cpu, _memory("VmHWM")
        size = sum(file.stat().st_size for file in Path(folder).glob("*.warc.gz*"))
        records = sum(_members(file.read_bytes()) for file in Path(folder).glob("*.warc.gz*"))
    figures = {"cpu": spent, "memory": most - before, "bytes": size, "records": records}
    print(json.dumps(figures))


def _members(raw: bytes) -> int:
    """Streams in a file, of which each must be one record."""
    count = 0
    while raw:
        stream = zlib.decompressobj(31)
        assert stream.decompress(raw).startswith(b"WARC/1.1")
        raw = stream.unused_data
        count += 1
    return count


def _memory(name: str) -> float:
    """Megabytes that this process has, or had at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--responses", type=int, default=3_000)
    parser.add_argument("--writer", choices=WRITERS)
    given = parser.parse_args()
    if given.writer is not None:
        measure(given.writer, given.responses)
        return
    print(f"{given.responses:,} responses of {BODY_BYTES:,} bytes, the fastest of {RUNS} runs")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in WRITERS}
    for _ in range(RUNS):
        for name in WRITERS:
            command = [sys.executable, __file__, "--responses", str(given.responses)]
            out = subprocess.check_output([*command, "--writer", name], env=os.environ)
            runs[name].append(json.loads(out))
    for name, figures in runs.items():
        best = min(figures, key=lambda run: run["cpu"])
        print(
            f"{name:<20}{best['records'] / best['cpu']:>8,.0f} records per CPU second "
            f"{1e3 * best['cpu'] / given.responses:>7.2f} ms of CPU per response "
            f"{best['memory']:>6.1f} MB of memory {best['bytes'] / 1e6:>6.1f} MB written "
            f"({best['records']:,.0f} records)"
        )


if __name__ == "__main__":
    main()
