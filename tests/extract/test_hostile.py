"""Pages made to take long: time is linear in their length, so that 20 MB take a few seconds.

`benchmarks/extraction.py` prints seconds and megabytes of the same pages at 20 MB.
"""

import time

import pytest

from recrawl.extract import LONGEST_CHUNK, chunks_of
from tests.extract.reading import content_of

# Pieces that are repeated: a twentieth of the largest page that is fetched.
REPEATED = {
    "paragraphs": "<p>a",
    "links": "<a href=/x1>a</a> ",
    "text": "word *and_ more [x] ",
    "open": "<",
    "comments": "<!-- x -->",
    "spaces": " ",
    "references": "&amp;&lt;",
    "scripts": "<script>a<b</script>",
    "drawings": "<svg><path d='M0'/></svg>",
    "JSON": "[",
    "lines": "a\n\n",
}
KINDS = {"JSON": "application/json", "lines": "text/plain"}
WHOLE = {
    "nesting": "<div>" * 300_000,
    "lists": "<ul><li>" * 240 + "<p>word " * 10_000,
    "quotations": "<blockquote>" * 240 + "<p>word " * 10_000,
    "definitions": "<dl><dt>a<dd>" * 240 + "<p>word " * 10_000,
    "wide table": "<table><tr>" + "<td>x" * 5_000 + "<tr><td>y" * 5_000,
    "spans": "<table><tr>" + "<td rowspan=65000 colspan=999>x" * 500 + "<tr><td>y" * 5_000,
    "items": "<ul>" + "<li>a" * 20_000,
    "navigation": "<div class=nav>x" * 240,
    "siblings": "x<nav></nav>" * 20_000,
    "different links": "".join(f"<a href=/x{number}>a</a> " for number in range(10_000)),
    "headings": "<h2>a</h2>b" * 10_000,
}
CASES = {
    **{name: piece * ((1 << 20) // len(piece)) for name, piece in REPEATED.items()},
    **WHOLE,
}


@pytest.mark.parametrize("name", CASES)
def test_no_page_takes_long(name):
    body = CASES[name].encode()

    began = time.process_time()
    content = content_of(body, KINDS.get(name, "text/html"))
    chunks = chunks_of(content)

    assert time.process_time() - began < 5
    assert max((len(chunk.markdown) for chunk in chunks), default=0) <= LONGEST_CHUNK
    assert len({chunk.id for chunk in chunks}) == len(chunks)
