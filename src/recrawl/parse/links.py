"""Links and feeds of an HTML page, in time linear in its length.

No tree is built: on a million letters of nested tags one parser takes minutes and another drops all
but the first few hundred. Only the tokens of the HTML standard are followed: comments, the text of
scripts and the like, quoted and bare values. A tag that the end of the page leaves open is none.

A link that a site marks by `nofollow` is left out; what a page asks for all of its links is read by
`recrawl.parse.robots_tags`. References are relative to the page's `base` if it has one.

Pure.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from html.entities import html5
from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical
from recrawl.parse.feeds import FEED_TYPES
from recrawl.parse.headers import content_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MOST_LINKS = 10_000

_MOST_REFERENCES = 10 * MOST_LINKS  # most of a hostile page's may be no addresses
_NAMES = frozenset({"a", "area", "base", "link"})
_SPACE = r"[ \t\n\f\r]"
_ATTRIBUTE = rf"""
    (?: {_SPACE} | / )*+
    (?P<name> [^ \t\n\f\r/>] [^ \t\n\f\r/>=]*+ )
    (?: {_SPACE}*+ = {_SPACE}*+
        (?: "(?P<double>[^"]*+)" | '(?P<single>[^']*+)'
          | (?P<bare>[^ \t\n\f\r>"'][^ \t\n\f\r>]*+) )?+
    )?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE, re.VERBOSE)
_ANY_ATTRIBUTE = re.sub(r"\?P<\w+>", "?:", _ATTRIBUTE)
# Nothing is tried twice: what has no end takes the rest of the page with it.
_TOKEN = re.compile(
    rf"""<(?:
        (?P<name>/?[A-Za-z][^ \t\n\f\r/>]*+) (?P<attributes>(?:{_ANY_ATTRIBUTE})*+)
            (?:{_SPACE}|/)*+ >
      | /?[A-Za-z] .*+
      | !-- (?: -?> | .*?--!?> | .*+ )
      | [!?/] [^>]*+ >?
    )""",
    re.VERBOSE | re.DOTALL,
)
_TEXT_ENDS = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
_LONGEST_MEANT = 1 << 14  # nobody means more, and each reference takes a microsecond
_REFERENCE = re.compile(r"&(?:#[0-9]{1,9};?|#[xX][0-9a-fA-F]{1,8};?|[A-Za-z][A-Za-z0-9]*+;?)")


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag: its name in lower case, and its attributes."""

    name: str
    attributes: Mapping[str, str]


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


def start_tags(page: str, names: frozenset[str]) -> Iterator[Tag]:
    """Start tags of some names, in order.

    >>> page = '<!-- <a href=/no> --><a title="<a href=/no>" HREF=/yes?a&amp;b>'
    >>> [tag.attributes["href"] for tag in start_tags(page, frozenset({"a"}))]
    ['/yes?a&b']
    """
    place = 0
    while (found := _TOKEN.search(page, place)) is not None:
        place = found.end()
        name = (found["name"] or "").lower()  # of an end tag, with its slash
        if name in names:
            yield Tag(name, _attributes(found["attributes"]))
        if name == "plaintext":
            return
        if name in _TEXT_ENDS:
            end = _TEXT_ENDS[name].search(page, place)
            place = len(page) if end is None else end.start()


def _followed(page: str, address: str, is_wanted: Callable[[Tag], bool]) -> tuple[str, ...]:
    base = ""
    references: dict[str, None] = {}
    for tag in start_tags(page, _NAMES):
        if tag.name == "base":
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


def _words(tag: Tag, name: str) -> set[str]:
    """Words of an attribute in lower case, separated by blanks or commas."""
    return set(tag.attributes.get(name, "").lower().replace(",", " ").split())


def _attributes(text: str) -> dict[str, str]:
    """Attributes of a tag; of two with one name the first counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTES.finditer(text):
        value = match["double"] or match["single"] or match["bare"] or ""
        if "&" in value and len(value) <= _LONGEST_MEANT:
            value = _REFERENCE.sub(_letters, value)
        found.setdefault(match["name"].lower(), value)
    return found


def _letters(match: re.Match[str]) -> str:
    """What a reference within an attribute stands for.

    Without a semicolon a name counts only if neither a letter nor `=` follows, so that `?a&copy=1`
    stays a query.
    """
    text = match[0]
    if text[1] == "#":
        return html.unescape(text)
    if not text.endswith(";") and match.string[match.end() : match.end() + 1] == "=":
        return text
    return html5.get(text[1:], text)
