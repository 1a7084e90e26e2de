"""Feeds in RSS 0.9x, 1.0, 2.0 and Atom.

The dialects differ in names only, so one reader takes them all: an `item` or an `entry` has a link
and maybe a date. Links may lead to any host.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical
from recrawl.parse.dates import mail_date, w3c_date
from recrawl.parse.headers import content_type
from recrawl.parse.records import read_records, root_of, unpacked
from recrawl.parse.sitemaps import DatedAddress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recrawl.parse.records import Field

FEED_TYPES = ("application/rss+xml", "application/atom+xml")

_ROOTS = ("rss", "feed", "RDF")
_NAMES = frozenset({"item", "entry"})
# The last change before the first publication.
_DATES = ("updated", "modified", "date", "pubDate", "published", "issued")
_FIELDS = frozenset({"link", "guid", *_DATES})
_HEAD = 1 << 12
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Feed:
    """What was read of a feed, without repeats.

    Args:
        entries: What it points to, in its order.
        broken: Why this is not all; empty if it is.
        links: Where links of the feed itself lead, as they are written, by `rel`; the first counts.
    """

    entries: tuple[DatedAddress, ...] = ()
    broken: str = ""
    links: Mapping[str, str] = field(default_factory=dict)


def read_feed(body: bytes, address: str) -> Feed:
    """Entries of a feed, as far as it can be read.

    Args:
        body: The feed as it came.
        address: Where it came from, canonical; links may be relative to it.

    Examples:
        >>> item = b"<item><link>/a</link><pubDate>Fri, 2 Jan 1970 00:00 GMT</pubDate></item>"
        >>> read_feed(b"<rss>" + item + b"</rss>", "https://example.org/feed").entries
        (DatedAddress(address='https://example.org/a', modified=86400.0),)
    """
    body, cut = unpacked(body)
    found = read_records(body, _NAMES, _FIELDS)
    if not found.broken and found.root not in _ROOTS:
        return Feed((), f"must be a feed (got <{found.root[:_LONGEST_NAME]}>)")
    entries: dict[str, DatedAddress] = {}
    for record in found.records:
        pages = (canonical(text, address) for text in _links(record) if text.strip())
        page = next(filter(None, pages), None)
        if page is not None:
            entries.setdefault(page, DatedAddress(page, _modified(record)))
    links = {each["rel"]: each.get("href", "") for each in reversed(found.outside)}
    return Feed(tuple(entries.values()), cut or found.broken, links)


def looks_like_feed(mime: str, body: bytes) -> bool:
    """Whether a body is a feed, by its outermost element.

    Args:
        mime: Content-Type of the answer; it decides where the beginning shows no element.
        body: The body, or its first few thousand bytes.

    Examples:
        >>> looks_like_feed("text/html", b'<?xml version="1.0"?><rss version="2.0">')
        True
        >>> looks_like_feed("application/rss+xml", b"<!DOCTYPE html><html>")
        False
    """
    head = unpacked(body[:_HEAD])[0][:_HEAD].lstrip()
    root = root_of(head)
    if root == "RDF":  # other things than feeds are written in it, too
        return b"/rss/" in head or b"netscape.com/rdf" in head
    if root:
        return root in _ROOTS
    return head.startswith(b"<") and content_type(mime)[0] in FEED_TYPES


def _links(record: tuple[Field, ...]) -> Iterator[str]:
    """What may be the address of an entry, the likeliest first."""
    for child in record:
        if child.name == "link" and child.attributes.get("rel", "alternate") == "alternate":
            yield child.text if child.text.strip() else child.attributes.get("href", "")
    for child in record:
        if child.name == "guid" and child.attributes.get("isPermaLink", "true") == "true":
            # A bare name would pass for a page beside the feed.
            yield child.text if child.text.strip().startswith(("http:", "https:")) else ""


def _modified(record: tuple[Field, ...]) -> float:
    """Epoch seconds of an entry's last change; nan if it has no date that can be read."""
    for name in _DATES:
        for child in record:
            if child.name == name:
                moment = w3c_date(child.text)
                moment = mail_date(child.text) if moment is None else moment
                if moment is not None:
                    return moment
    return math.nan
