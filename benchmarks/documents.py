"""What reading PDF and Office documents costs, what it keeps of real manuals, what hostile ones do.

    python benchmarks/documents.py              manuals of Debian's documentation packages
    python benchmarks/documents.py --hostile    seconds and megabytes of hostile documents
    python benchmarks/documents.py --pages      what a page that is no document pays

Each document has a worker of its own, whose largest size is read once it is done; one that died
is shown as "-", and had at most the gigabyte that it may have.

Touches: reads `/usr/share`, starts one worker per document.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2

from recrawl.adapters.documents.converter import DocumentConverter
from recrawl.detect.text.lines import lines
from recrawl.parse.documents import document_kind
from tests.adapters.documents.test_reading import HOSTILE, nested_forms

if TYPE_CHECKING:
    from recrawl.adapters.documents.converter import Converted

MANUALS = (
    "doc/shared-mime-info/shared-mime-info-spec.pdf",
    "doc/libtasn1-doc/libtasn1.pdf",
    "developers-reference/developers-reference.pdf",
    "debian-reference/debian-reference.en.pdf",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of reading documents.")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--pages", action="store_true")
    asked = parser.parse_args()
    if asked.pages:
        pages()
    elif asked.hostile:
        hostile()
    else:
        manuals()


def manuals() -> None:
    print("pages      kB  CPU s  headings of outline  numbers left  manual")
    for name in MANUALS:
        path = Path("/usr/share") / name
        if not path.exists():
            continue
        body = path.read_bytes()
        found, _ = converted(body)
        html = found.html or ""
        with pypdfium2.PdfDocument(body) as document:
            count, outline = len(document), len(list(document.get_toc()))
        headings = len(re.findall("<h[1-6]>", html))
        numbers = sum(line.isdecimal() for line in lines(html))
        size = len(body) / 1000
        print(f"{count:5} {size:7.0f} {found.seconds:6.2f} {headings:10} of {outline:4}", end="")
        print(f" {numbers:16}  {path.stem}")


def hostile() -> None:
    print("  CPU s  seconds     MB  document: what is said of it")
    for name, make in {
        **{key: each[0] for key, each in HOSTILE.items()},
        "forms": nested_forms,
    }.items():
        body = make()
        began = time.monotonic()
        found, peak = converted(body)
        took = time.monotonic() - began
        print(f"{found.seconds:7.2f} {took:8.2f} {peak:>6}  {name}: {found.problem}")


def pages() -> None:
    page = b"<!doctype html><title>Tea</title>" + b"<p>Only 5 euros" * 2000
    began = time.process_time()
    for _ in range(1_000_000):
        document_kind(page)
    print(f"{(time.process_time() - began) * 1000:.0f} ns per page that is no document")


def converted(body: bytes) -> tuple[Converted, str]:
    """A document in a worker of its own, and the worker's largest size in MB while it lived."""
    with DocumentConverter() as converter:
        found = converter.convert(body)
        worker = converter._worker  # noqa: SLF001 - to look at it
        if worker is None:
            return found, "-"
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{worker.pid}/status").read_text())
    return found, f"{int(peak[1]) / 1000:.0f}" if peak else "-"


if __name__ == "__main__":
    main()
