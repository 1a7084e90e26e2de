"""HTML tokenizer as one regular expression, linear in the length of a page.

Visible text needs no tree, and trees are where hostile pages win: on a megabyte of nested lists a
good parser takes minutes. This follows the tokens of the HTML standard: comments, scripts and the
like are one token with all that is in them, tags are one each. Nothing is tried twice: what has no
end takes the rest of the page with it. What is in a token is looked at apart: pages repeat their
tokens, and those of their site.

Pure.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache

_END = r"[ \t\n\f\r/>]"
_SPACE = r"[ \t\n\f\r]"
_VALUE = r"""(?: "[^"]*+" | '[^']*+' | [^ \t\n\f\r>"'][^ \t\n\f\r>]*+ )?+"""
# Attributes of a tag, in verbose patterns: up to what ends the last of them.
ATTRIBUTE_LIST = rf"""(?: (?:{_SPACE}|/)*+ [^ \t\n\f\r/>] [^ \t\n\f\r/>=]*+
    (?: {_SPACE}*+ = {_SPACE}*+ {_VALUE} )?+ )*+"""
_ATTRIBUTES = rf"{ATTRIBUTE_LIST} (?:{_SPACE}|/)*+"
# A comment, after its `<`.
COMMENT = r"!-- (?: -?> | [^-]*+ (?: (?! --!?> ) - [^-]*+ )*+ (?: --!?> )? )"
# As most are written: an attribute, and the rest of a tag; found in a third of the time.
_PLAIN = rf"""{_SPACE}++[^ \t\n\f\r/>="']++="[^"]*+" """
_PLAIN_REST = rf"""(?:{_PLAIN}){{0,50}} [^>="']*+ >"""
# Of these only the end tag is looked for; nobody sees what is in them.
_UNSEEN = ("script", "style", "textarea", "noscript", "iframe", "noembed", "noframes")


def _whole(name: str, *, inside: str) -> str:
    """An element with all that is in it, up to its own end tag."""
    text = rf"[^<]*+ (?: (?! </(?i:{name}){_END} ) < [^<]*+ )"
    end = rf"(?: </(?i:{name})[^>]*+>? )?"
    return rf"(?i:{name}) (?={_END}) {_ATTRIBUTES} > {inside.format(text)} {end}"


# What may follow is looked at before anything is taken, and a title is not possessive: early
# releases of Python 3.11 do not give back what a possessive group took before it failed.
def _markup(group: str) -> str:
    """Pattern of a token, whose parts are in groups that open with `group`."""
    return rf"""<(?:
        (?=[sStTnNiI]) (?:
            {_whole("title", inside=f"{group} {{}}{{{{0,999}}}} )")}
          | {"|".join(_whole(name, inside="{}*+") for name in _UNSEEN)}
        )
      | a (?:{_PLAIN}){{0,50}}? {_SPACE}++href="{group}[^"]++)" {_PLAIN_REST}
      | img (?:{_PLAIN}){{0,50}}? {_SPACE}++alt="{group}[^"]++)" {_PLAIN_REST}
      | {group}/?[A-Za-z][^ \t\n\f\r/>]*+)
            (?: > | (?<![aAgG]) {_PLAIN_REST} | {group} {_ATTRIBUTES} ) > )
      | /?[A-Za-z] .*+
      | {COMMENT}
      | [!?/] [^>]*+ >?
    )"""


# Splits a page into text, token, text, and so on.
TOKEN = re.compile(f"({_markup('(?:')})", re.VERBOSE | re.DOTALL)
# Parts of a token that was so found: title, where a link leads, what an image says, name of another
# tag (with the slash of an end tag), its attributes; what a token lacks is None. Of most attributes
# nobody wants to know: only those of tags are kept that may be links or images, by their last
# letter, and of those that are not written as most are.
TOKEN_PARTS = re.compile(_markup("("), re.VERBOSE | re.DOTALL)
# How a token begins of which nothing is seen, whether it ends or not: there is no need to look at
# all of it again.
UNSEEN_TOKEN = re.compile(rf"<(?: [!?] | (?i:{'|'.join(_UNSEEN)}) {_END} )", re.VERBOSE)

# Attributes of a tag that is closed, and its end.
_CLOSED_LIST = rf"""(?: (?:{_SPACE}|/)*+ [^ \t\n\f\r/>"'=] [^ \t\n\f\r/>="']*+
    (?: {_SPACE}*+ = {_SPACE}*+
        (?: "[^"]*+" | '[^']*+' | [^ \t\n\f\r>"'] [^ \t\n\f\r>"']*+ ) )?+ )*+ (?:{_SPACE}|/)*+ >"""


def _closed_whole(name: str) -> str:
    """A closed element with all that is in it."""
    text = rf"[^<]*+ (?: (?! </(?i:{name}){_END} ) < [^<]*+ )*+"
    return rf"(?i:{name}) (?={_END}) {_CLOSED_LIST} {text} </(?i:{name})[^>]*+>"


_CLOSED = re.compile(
    rf"""<(?:
        {"|".join(map(_closed_whole, ("title", *_UNSEEN)))}
      | (?! (?i:title|{"|".join(_UNSEEN)}) {_END} ) /?[A-Za-z][^ \t\n\f\r/>"'=]*+ {_CLOSED_LIST}
      | !-- (?: -?> | [^-]*+ (?: (?! --!?> ) - [^-]*+ )*+ --!?> )
      | (?! !-- | /[A-Za-z] ) [!?/] [^>]*+ >
    )""",
    re.VERBOSE | re.DOTALL,
)

_ATTRIBUTE = re.compile(
    rf"""(?:{_SPACE}|/)*+ ([^ \t\n\f\r/>] [^ \t\n\f\r/>=]*+)
    (?: {_SPACE}*+ = {_SPACE}*+
        (?: "([^"]*+)" | '([^']*+)' | ([^ \t\n\f\r>"'][^ \t\n\f\r>]*+) )?+ )?+""",
    re.VERBOSE,
)
# A tag and its attributes, whether it ends or not.
TAG_BEGUN = re.compile(rf"<[A-Za-z][^ \t\n\f\r/>]*+({_ATTRIBUTES})", re.VERBOSE)
# Longer ones mean nothing, and turning a million digits into a number takes for ever.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};?)")
_MOST_REFERENCES = 10_000


def is_closed(token: str) -> bool:
    """Whether a token ends where it ends whatever follows it in a page.

    Others may reach farther: the end of a comment, or the quote that closes a value, is looked for
    up to the end of the page.

    >>> is_closed('<a href="/b">'), is_closed('<a href="/b>'), is_closed("<!-- no end")
    (True, False, False)
    """
    return _CLOSED.fullmatch(token) is not None


def resolved(text: str) -> str:
    """Text with its character references resolved.

    >>> resolved("1 &lt; 2 &amp;lt; &#233; &nosuch;")
    '1 < 2 &lt; é &nosuch;'
    """
    return _REFERENCE.sub(_letters, text) if "&" in text else text


def attribute(attributes: str, name: str) -> str:
    """Value of an attribute of a tag as it is written; empty where it has none.

    Args:
        attributes: All that stands in the tag after its name.
        name: Name of the attribute, in small letters.

    Examples:
        >>> attribute(' class=a HREF = "/b?c&amp;d"', "href")
        '/b?c&amp;d'
        >>> attribute(" data-href='x'", "href")
        ''
    """
    start = attributes.find(f' {name}="')
    if start >= 0 and "'" not in attributes:  # no value can hold it: as most are written
        start += len(name) + 3
        return attributes[start : attributes.find('"', start)]
    for written, *values in _ATTRIBUTE.findall(attributes):
        if written == name or written.lower() == name:
            return "".join(values)  # one at most
    return ""


def attribute_count(attributes: str) -> int:
    """How many attributes stand in a tag.

    >>> attribute_count(' a b="c d" e=f')
    3
    """
    return len(_ATTRIBUTE.findall(attributes))


def _letters(reference: re.Match[str]) -> str:
    return _letters_of(reference[0])


@lru_cache(_MOST_REFERENCES)  # pages have few, and they have them again and again
def _letters_of(written: str) -> str:
    return html.unescape(written)
