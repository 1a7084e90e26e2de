"""Where a page leads: its links and its feeds.

Sites say which links a crawler shall not follow, by `nofollow` on the link or for the page, and
both are kept to. References are relative to the page's `base` if it has one.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical
from recrawl.parse.feeds import FEED_TYPES
from recrawl.parse.headers import content_type
from recrawl.parse.tags import start_tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.parse.tags import Tag

MOST_LINKS = 10_000

_MOST_REFERENCES = 10 * MOST_LINKS  # most of a hostile page's may be no addresses
_NAMES = frozenset({"a", "area", "base", "link", "meta"})


def links(page: str, address: str) -> tuple[str, ...]:
    """Canonical addresses that a page links to, in order, at most `MOST_LINKS`.

    These are the links that people see, and the address that the page calls its canonical one.

    Args:
        page: HTML.
        address: Where it came from, canonical.

    Examples:
        >>> links("<a href=b>, <a href=c rel=nofollow>, <a href=#top>", "https://example.org/a")
        ('https://example.org/b', 'https://example.org/a')
    """
    return _followed(page, address, _is_link)


def feeds_of(page: str, address: str) -> tuple[str, ...]:
    """Canonical addresses of the feeds that a page names.

    >>> head = "<link rel=alternate type=application/rss+xml href=/feed>"
    >>> feeds_of(head, "https://example.org/a")
    ('https://example.org/feed',)
    """
    return _followed(page, address, _is_feed)


def _followed(page: str, address: str, is_wanted: Callable[[Tag], bool]) -> tuple[str, ...]:
    base = ""
    references: dict[str, None] = {}
    for tag in start_tags(page, _NAMES):
        if tag.name == "meta":
            if _forbids_links(tag):
                return ()
        elif tag.name == "base":
            base = base or tag.attributes.get("href", "")
        elif is_wanted(tag) and len(references) < _MOST_REFERENCES:
            references[tag.attributes["href"]] = None
    base = (canonical(base, address) if base else None) or address
    found: dict[str, None] = {}
    for reference in references:
        link = canonical(reference, base)
        if link is not None:
            found[link] = None
        if len(found) == MOST_LINKS:
            break
    return tuple(found)


def _is_link(tag: Tag) -> bool:
    if "href" not in tag.attributes or tag.name == "base":
        return False
    rel = _words(tag, "rel")
    return "canonical" in rel if tag.name == "link" else "nofollow" not in rel


def _is_feed(tag: Tag) -> bool:
    if tag.name != "link" or "href" not in tag.attributes:
        return False
    mime = content_type(tag.attributes.get("type", ""))[0]
    return "alternate" in _words(tag, "rel") and mime in FEED_TYPES


def _forbids_links(tag: Tag) -> bool:
    words = _words(tag, "content")
    return _words(tag, "name") == {"robots"} and not words.isdisjoint({"nofollow", "none"})


def _words(tag: Tag, name: str) -> set[str]:
    """Words of an attribute in lower case, separated by blanks or commas."""
    return set(tag.attributes.get(name, "").lower().replace(",", " ").split())
