"""The start tags of an HTML page, one after the other, in time linear in its length.

Links need no tree, and trees are where hostile pages win: on a million letters of nested tags one
parser takes minutes and another drops all but the first few hundred. So this follows only the
tokens of the HTML standard: comments, the text of scripts and the like, quoted and bare values.
A tag that the end of the page leaves open is none.

Pure.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from html.entities import html5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
