"""Sitemaps: addresses of pages and of further sitemaps, with the date of the last change.

A sitemap is XML or plain text with an address a line, either of them maybe in gzip; an index is
XML and names further sitemaps. By the protocol a sitemap speaks for its own host alone.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical, host_of
from recrawl.parse.dates import w3c_date
from recrawl.parse.records import MOST_RECORDS, read_records, unpacked

if TYPE_CHECKING:
    from recrawl.parse.records import Records

_ROOTS = ("urlset", "sitemapindex")
_NAMES = frozenset({"url", "sitemap"})
_FIELDS = frozenset({"loc", "lastmod"})
_HEAD = 1 << 12
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class DatedAddress:
    """Address of a page or a sitemap, with the date of its last change.

    Args:
        address: Its address, canonical.
        modified: Epoch seconds at which it changed last by its site's word; nan if unsaid.
    """

    address: str
    modified: float = math.nan


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What was read of a sitemap, without repeats.

    Args:
        pages: Pages, if it is no index.
        sitemaps: Further sitemaps, if it is an index.
        foreign: How many entries were left out because they are on another host.
        broken: Why this is not all; empty if it is.
    """

    pages: tuple[DatedAddress, ...] = ()
    sitemaps: tuple[DatedAddress, ...] = ()
    foreign: int = 0
    broken: str = ""


def read_sitemap(body: bytes, address: str, *, anywhere: bool = False) -> Sitemap:
    """Addresses in a sitemap, as far as it can be read.

    Args:
        body: The sitemap as it came.
        address: Where it came from, canonical.
        anywhere: Whether to keep addresses on other hosts.

    Examples:
        >>> body = b"<urlset><url><loc>https://example.org/a</loc><lastmod>1970-01-02</lastmod>"
        >>> sitemap = read_sitemap(body + b"</url></urlset>", "https://example.org/sitemap.xml")
        >>> sitemap.pages
        (DatedAddress(address='https://example.org/a', modified=86400.0),)
        >>> read_sitemap(b"https://example.org/b", "https://example.org/sitemap.txt").pages
        (DatedAddress(address='https://example.org/b', modified=nan),)
    """
    body, cut = unpacked(body)
    if _is_text(body):
        entries, broken = _entries_of_text(body)
        is_index = False
    else:
        found = read_records(body, _NAMES, _FIELDS)
        entries, broken = _entries_of_records(found, address)
        is_index = found.root == "sitemapindex"
    kept: dict[str, DatedAddress] = {}
    foreign, host = 0, host_of(address)
    for entry in entries:
        if anywhere or host_of(entry.address) == host:
            kept.setdefault(entry.address, entry)
        else:
            foreign += 1
    pages, sitemaps = ((), tuple(kept.values())) if is_index else (tuple(kept.values()), ())
    return Sitemap(pages, sitemaps, foreign, cut or broken)


def _is_text(body: bytes) -> bool:
    """Whether a body is plain text; XML in letters of two bytes begins with a mark or a zero."""
    start = body[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    return not start.startswith((b"<", b"\0", b"\xff\xfe", b"\xfe\xff"))


def _entries_of_text(body: bytes) -> tuple[list[DatedAddress], str]:
    lines = body.decode("utf-8-sig", "replace").split("\n", MOST_RECORDS + 1)
    found = [
        DatedAddress(page) for page in map(canonical, lines[:MOST_RECORDS]) if page is not None
    ]
    broken = f"must have at most {MOST_RECORDS} lines (got more)"
    return found, broken if any(lines[MOST_RECORDS:]) else ""


def _entries_of_records(found: Records, address: str) -> tuple[list[DatedAddress], str]:
    entries = []
    for record in found.records:
        texts: dict[str, str] = {}
        for child in record:
            texts.setdefault(child.name, child.text)
        page = canonical(texts["loc"], address) if texts.get("loc", "").strip() else None
        if page is not None:
            modified = w3c_date(texts.get("lastmod", ""))
            entries.append(DatedAddress(page, math.nan if modified is None else modified))
    if not found.broken and found.root not in _ROOTS:
        return [], f"must be a sitemap (got <{found.root[:_LONGEST_NAME]}>)"
    return entries, found.broken
