"""The address that a page calls its canonical one: `rel=canonical` of a header or of its head.

    Link: <https://example.org/a>; rel="canonical"
    <link rel="canonical" href="/a">

It counts in the head of a page only: what stands in the body may be a reader's comment. A page that
names two different ones names none. Whether to believe it is for others to say: pages name their
home page, pages that are gone, and each other.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical
from recrawl.parse.encodings import decoded
from recrawl.parse.headers import content_type
from recrawl.parse.links import start_tags

if TYPE_CHECKING:
    from recrawl.parse.messages import Response

_LONGEST = 4096  # letters of a header that are read
_HEAD = 1 << 20  # bytes of a page in which its head must end
_PAGES = frozenset({"", "text/html", "application/xhtml+xml"})
_NAMES = frozenset({"base", "body", "link"})
_SIGN = re.compile(rb"canonical", re.IGNORECASE)
_LINK = re.compile(r"<([^>]*+)>((?:\s*+;\s*+[\w*-]++\s*+(?:=\s*+(?:\"[^\"]*+\"|[^\s;,\"]*+))?+)*+)")
_REL = re.compile(r";\s*+rel\s*+=\s*+(?:\"([^\"]*+)\"|([^\s;,\"]++))", re.IGNORECASE)


def canonical_link(response: Response) -> str | None:
    """Canonical address that a response names for its page; None where it names none, or several.

    >>> from recrawl.parse.messages import Response
    >>> page = b"<title>A</title><link rel=canonical href=/a><p>..."
    >>> canonical_link(Response("https://example.org/a?from=mail", status=200, body=page))
    'https://example.org/a'
    """
    named = _in_header(response.headers.get("link", ""), response.address)
    header = response.headers.get("content-type", "")
    if content_type(header)[0] in _PAGES and _SIGN.search(response.body, 0, _HEAD):
        named |= _in_head(decoded(response.body[:_HEAD], header), response.address)
    return next(iter(named)) if len(named) == 1 else None


def _in_header(text: str, address: str) -> set[str]:
    found = set()
    for target, parameters in _LINK.findall(text[:_LONGEST]):
        rels = {word for pair in _REL.findall(parameters) for word in "".join(pair).lower().split()}
        link = canonical(target, address) if "canonical" in rels else None
        if link is not None:
            found.add(link)
    return found


def _in_head(page: str, address: str) -> set[str]:
    base, references = "", list[str]()
    for tag in start_tags(page, _NAMES):
        if tag.name == "body":
            break
        reference = tag.attributes.get("href", "")
        if tag.name == "base":
            base = base or reference
        elif reference and "canonical" in tag.attributes.get("rel", "").lower().split():
            references.append(reference)
    base = (canonical(base, address) if base else None) or address
    return {link for each in references if (link := canonical(each, base)) is not None}
