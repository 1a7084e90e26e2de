"""What extractors keep of real documentation, what they lose of single edits, and what they cost.

    python benchmarks/extraction.py              pages of Debian's documentation packages
    python benchmarks/extraction.py --hostile    seconds and megabytes of ours on hostile pages

Pages, independent counts and edits are those of `tests/extract/documentation.py`; what each writes
is read by a Markdown parser of others. Peers take part where they are installed: `pip install
trafilatura html-to-markdown readability-lxml`. They are no requirement of ours, for some of what
they need in turn has other licences. CPU time is the sum over all pages, in one run in which all
take turns.

Touches: reads `/usr/share`, starts one process per hostile page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recrawl.extract import read_content
from tests.extract.documentation import (
    EDITS,
    KINDS,
    edited,
    kept,
    moved,
    pages,
    parts_of,
    parts_of_markdown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "https://docs.example.org/"
MOST_MOVED = 0.2
MEGABYTES = 20
HOSTILE = """
import json, resource, sys, time
from recrawl.extract import chunks_of, read_content
piece, times, kind = json.load(sys.stdin)
body = (piece * times).encode()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
content = read_content(body, kind, "https://example.org/")
read = time.process_time() - began
chunks_of(content)
cut = time.process_time() - began - read
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([len(body) / 1e6, read, cut, grown / 1024]))
"""


def ours(page: bytes, name: str) -> str:
    content = read_content(page, "text/html", ADDRESS + name)
    assert content is not None
    return content.markdown


def extractors() -> dict[str, Callable[[bytes, str], str]]:
    """Ours, and the peers that are installed."""
    found: dict[str, Callable[[bytes, str], str]] = {"recrawl": ours}
    if find_spec("trafilatura"):
        import trafilatura

        found["trafilatura"] = lambda page, _: (
            trafilatura.extract(page, output_format="markdown", include_links=True) or ""
        )
    if find_spec("html_to_markdown"):
        from html_to_markdown import convert
        from resiliparse.extract.html2text import extract_plain_text

        def written(page: str) -> str:
            result = convert(page)
            return result if isinstance(result, str) else str(getattr(result, "content", "") or "")

        found["html-to-markdown"] = lambda page, _: written(page.decode(errors="replace"))
        if find_spec("readability"):
            from readability import Document

            found["readability"] = lambda page, _: written(
                Document(page.decode(errors="replace")).summary()
            )
        found["resiliparse (text)"] = lambda page, _: extract_plain_text(
            page.decode(errors="replace"), main_content=True, list_bullets=True
        )
    return found


def measure() -> None:
    some = [(manual, path.name, path.read_bytes()) for manual, path in pages()]
    found = extractors()
    counts = {name: Counter[str]() for name in found}
    seconds = Counter[str]()
    for number, (manual, name, page) in enumerate(some):
        parts = parts_of(page, manual, name)
        kind = list(EDITS)[number % len(EDITS)]
        versions = edited(page, manual, name, kind)
        for peer, extract in found.items():
            began = time.process_time()
            written = extract(page, name)
            seconds[peer] += time.process_time() - began
            counts[peer] += kept(parts, parts_of_markdown(written))
            if versions is not None:
                counts[peer] += _edit(*(extract(each, name) for each in versions))
    size = sum(len(page) for *_, page in some)
    print(f"{len(some)} pages, {size / 1e6:.1f} MB")
    rows = [(kind, f"{kind} kept", kind) for kind in KINDS]
    rows += [("navigation left in", "outside kept", "outside")]
    rows += [("edits lost", "lost", "edits"), ("> 20 % of blocks moved", "many", "edits")]
    print(f"{'':24}" + "".join(f"{peer:>20}" for peer in found))
    for label, part, whole in rows:
        shares = (counts[peer][part] / max(counts[peer][whole], 1) for peer in found)
        print(f"{label:24}" + "".join(f"{share:20.3f}" for share in shares))
    for label, unit in (("ms of CPU per 40 kB", 40e6 / size), ("CPU over ours", 0)):
        per = unit or 1 / seconds["recrawl"]
        print(f"{label:24}" + "".join(f"{seconds[peer] * per:20.2f}" for peer in found))


def _edit(before: str, after: str) -> Counter[str]:
    blocks = [text.split("\n\n") for text in (before, after)]
    went, came = moved(*blocks)
    many = max(went, came) > max(MOST_MOVED * len(blocks[0]), 1)
    return Counter(edits=1, lost=int(before == after), many=int(many))


def hostile() -> None:
    from tests.extract.test_hostile import KINDS as MEDIA
    from tests.extract.test_hostile import REPEATED, WHOLE

    print(f"{'':20}{'MB':>8}{'read s':>10}{'cut s':>10}{'grown MB':>10}")
    cases = [(name, piece, (MEGABYTES << 20) // len(piece)) for name, piece in REPEATED.items()]
    for name, piece, times in [*cases, *((name, page, 1) for name, page in WHOLE.items())]:
        done = subprocess.run(
            [sys.executable, "-c", HOSTILE],
            input=json.dumps([piece, times, MEDIA.get(name, "text/html")]),
            capture_output=True,
            text=True,
            check=True,
        )
        size, read, cut, grown = json.loads(done.stdout)
        print(f"{name:20}{size:8.1f}{read:10.2f}{cut:10.2f}{grown:10.0f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hostile", action="store_true")
    if parser.parse_args().hostile:
        hostile()
    else:
        measure()
