"""The text of a page in HTML without its tags, in time linear in its length.

A tree is where hostile pages win: on a megabyte of nested lists a good parser takes minutes. Text
needs none. This follows the tokens of the HTML standard: comments, scripts and the like go with all
that is in them, tags go alone, and a tag within a line leaves no gap.

Pure.
"""

from __future__ import annotations

import html
import re

_SPACE = r"[ \t\n\f\r]"
_VALUE = r"""(?: "[^"]*+" | '[^']*+' | [^ \t\n\f\r>"'][^ \t\n\f\r>]*+ )?+"""
_ATTRIBUTES = rf"""(?: (?:{_SPACE}|/)*+ [^ \t\n\f\r/>] [^ \t\n\f\r/>=]*+
    (?: {_SPACE}*+ = {_SPACE}*+ {_VALUE} )?+ )*+ (?:{_SPACE}|/)*+"""
# Of these only the end tag is looked for; nobody sees what is in them.
_UNSEEN = "script|style|title|textarea|noscript|iframe|noembed|noframes"
_IN_LINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "ins", "kbd", "mark"),
        *("q", "s", "samp", "small", "span", "strong", "sub", "sup", "u"),
    )
)
# Nothing is tried twice: what has no end takes the rest of the page with it.
_MARKUP = re.compile(
    rf"""<(?:
        (?=[sStTnNiI]) (?P<unseen>(?i:{_UNSEEN})) (?=[ \t\n\f\r/>]) {_ATTRIBUTES} >
            (?: .*?</(?i:(?P=unseen))(?=[ \t\n\f\r/>])[^>]*+>? | .*+ )
      | /?(?P<name>[A-Za-z][^ \t\n\f\r/>]*+) (?: > | {_ATTRIBUTES} > )
      | /?[A-Za-z] .*+
      | !-- (?: -?> | .*?--!?> | .*+ )
      | [!?/] [^>]*+ >?
    )""",
    re.VERBOSE | re.DOTALL,
)
# Longer ones mean nothing, and turning a million digits into a number takes for ever.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};?)")


def plain_text(page: str) -> str:
    """Text of a page in HTML, white space collapsed.

    >>> plain_text("<title>T</title><p>One<p>t<b>w</b>o &lt; 3<!-- no --><script>'<p>'</script>")
    'One two < 3'
    """
    text = _MARKUP.sub(_gap, page)
    if "&" in text:
        text = _REFERENCE.sub(_letters, text)
    return " ".join(text.split())


def _gap(markup: re.Match[str]) -> str:
    name = markup["name"]
    return "" if name is not None and name.lower() in _IN_LINE else " "


def _letters(reference: re.Match[str]) -> str:
    return html.unescape(reference[0])
