"""The markup of a page in HTML, found in time linear in its length, without a tree.

A tree is where hostile pages win: on a megabyte of nested lists a good parser takes minutes. What a
reader sees needs none. This follows the tokens of the HTML standard: comments, scripts and the like
go with all that is in them, tags go alone. Nothing is tried twice: what has no end takes the rest
of the page with it.

Pure.
"""

from __future__ import annotations

import html
import re

_END = r"[ \t\n\f\r/>]"
_SPACE = r"[ \t\n\f\r]"
_VALUE = r"""(?: "[^"]*+" | '[^']*+' | [^ \t\n\f\r>"'][^ \t\n\f\r>]*+ )?+"""
_ATTRIBUTES = rf"""(?: (?:{_SPACE}|/)*+ [^ \t\n\f\r/>] [^ \t\n\f\r/>=]*+
    (?: {_SPACE}*+ = {_SPACE}*+ {_VALUE} )?+ )*+ (?:{_SPACE}|/)*+"""
# As most are written: found in a third of the time.
_TIDY = r"""(?: [ ][A-Za-z-]++ (?: ="[^"]*+" )?+ )*+"""
# Of these only the end tag is looked for; nobody sees what is in them.
_UNSEEN = "script|style|textarea|noscript|iframe|noembed|noframes"

# What may follow is looked at before anything is taken, and a title is not possessive: early
# releases of Python 3.11 do not give back what a possessive group took before it failed.
# Splits a page into text, title, name of an element of which nothing is seen, name of a tag (with
# the slash of an end tag), attributes, text, and so on; what a token lacks is None.
MARKUP = re.compile(
    rf"""<(?:
        (?=[sStTnNiI]) (?:
            (?i:title) (?={_END}) {_ATTRIBUTES} >
                ( [^<]*+ (?: (?! </(?i:title){_END} ) < [^<]*+ ){{0,999}} ) (?: </[^>]*+>? )?
          | ((?i:{_UNSEEN})) (?={_END}) {_ATTRIBUTES} >
                [^<]*+ (?: (?! </(?i:\2){_END} ) < [^<]*+ )*+ (?: </[^>]*+>? )?
        )
      | (/?[A-Za-z][^ \t\n\f\r/>]*+) (?: > | ( {_TIDY}(?=>) | {_ATTRIBUTES} ) > )
      | /?[A-Za-z] .*+
      | !-- (?: -?> | [^-]*+ (?: (?! --!?> ) - [^-]*+ )*+ (?: --!?> )? )
      | [!?/] [^>]*+ >?
    )""",
    re.VERBOSE | re.DOTALL,
)
# Of a page so split: how many parts a text and the token after it have, and where they are.
TOKEN_PARTS = 5
TITLE, NAME, ATTRIBUTES = 1, 3, 4

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
_COMMON = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&nbsp;": "\xa0",
    "&#39;": "'",
    "&#x27;": "'",
    "&ndash;": "\u2013",
    "&mdash;": "\u2014",
    "&hellip;": "…",
    "&rsquo;": "\u2019",
}


def resolved(text: str) -> str:
    """Text with its character references resolved.

    >>> resolved("1 &lt; 2 &amp;lt; &#233; &nosuch;")
    '1 < 2 &lt; é &nosuch;'
    """
    return _REFERENCE.sub(_letters, text) if "&" in text else text


def attribute(attributes: str, name: str) -> str:
    """Value of an attribute of a tag; empty where it has none.

    Args:
        attributes: All that stands in the tag after its name.
        name: Name of the attribute, in small letters.

    Examples:
        >>> attribute(' class=a HREF = "/b?c&amp;d"', "href")
        '/b?c&d'
        >>> attribute(" data-href='x'", "href")
        ''
    """
    start = attributes.find(f' {name}="')
    if start >= 0 and "'" not in attributes:  # no value can hold it: as most are written
        start += len(name) + 3
        return resolved(attributes[start : attributes.find('"', start)])
    for written, double, single, bare in _ATTRIBUTE.findall(attributes):
        if written == name or written.lower() == name:
            return resolved(double or single or bare)
    return ""


def attribute_count(attributes: str) -> int:
    """How many attributes stand in a tag.

    >>> attribute_count(' a b="c d" e=f')
    3
    """
    return len(_ATTRIBUTE.findall(attributes))


def _letters(reference: re.Match[str]) -> str:
    written = reference[0]
    return _COMMON.get(written) or html.unescape(written)
