"""Detector of walls: responses with status 200 that are not the page.

A bot wall, a consent wall, a soft 404, an error, a login, an empty page: taken for the page it
would be a change now and another when the page comes back. A wall is recognised by traces of its
software in the source, or by a title or line that says so and nothing else, and always by how
little other text there is: a long text about such pages is a page.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.detect.text.lines import LINK
from recrawl.detect.text.words import letters_beside_links
from recrawl.detect.walls.phrases import (
    BOT_MARKS,
    BOT_PHRASES,
    CONSENT_MARKS,
    CONSENT_PHRASES,
    ERROR_MARKS,
    ERROR_PHRASES,
    GUARD_MARKS,
    GUARD_WORDS,
    LOGIN_PHRASES,
    MISSING_PHRASES,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Letters of visible text, targets of links not among them; a word of English has about six.
_LONGEST = 5_000
_MARKED = 1_200  # with a mark in the source
_SAID = 500  # said in a line
_TITLED = 1_200  # said by the title: menus and footers stand around it
_MOST_LINES = 1_000
_LONGEST_LINE = 200
_CLIENT_ERROR = 400

_TARGET = re.compile(rf"{LINK}\S*")
_CUTS = re.compile(r" [|\u2013\u2014·•»«/-] | ?[|·•»«\u2013\u2014] ?")
_MARKS = " \t.,:!…。\uff01"
_SIGH = re.compile(
    r"(?:oops|uups|ups|sorry|whoops|uh[- ]oh|hmm+|error|fehler|erreur|ошибка)[!.,…:]* +"
)
_PASSWORD = re.compile(rb"<input[^>]{0,300}type\s*=\s*[\"']?password", re.IGNORECASE)
# In the source, which is searched as bytes: turning them into small letters takes far less time.
_BOT_MARKS, _CONSENT_MARKS, _ERROR_MARKS, _GUARD_MARKS = (
    tuple(mark.encode("ascii") for mark in marks)
    for marks in (BOT_MARKS, CONSENT_MARKS, ERROR_MARKS, GUARD_MARKS)
)


def _whole(phrases: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases))


# Each with the most letters of a page that is such a wall.
_PHRASES = (
    ("bot", _whole(BOT_PHRASES), _SAID),
    ("consent", _whole(CONSENT_PHRASES), _TITLED),
    ("soft-404", _whole(MISSING_PHRASES), _TITLED),
    ("error", _whole(ERROR_PHRASES), _TITLED),
    ("login", _whole(LOGIN_PHRASES), _SAID),
)


def detect_wall(
    status: int, headers: Mapping[str, str], lines: Sequence[str], page: str | bytes
) -> str:
    """Kind of wall that a response is: bot, consent, soft-404, error, login or empty; "" for none.

    Args:
        status: Status of the response.
        headers: Its headers, names in small letters.
        lines: What a reader sees of it, by `recrawl.detect.text.lines.lines`.
        page: Its source, or that in UTF-8.

    Examples:
        >>> detect_wall(200, {}, ("Shop | Page not found", "Home", "Sorry!"), "")
        'soft-404'
        >>> detect_wall(200, {}, ("Why pages are not found", "An essay. " * 300), "")
        ''
    """
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return "bot"
    if not lines:
        return "empty"
    letters = letters_beside_links(lines, _LONGEST)
    if len(lines) > _MOST_LINES or letters > _LONGEST:
        return ""
    raw = page if isinstance(page, bytes) else page.encode(errors="surrogatepass")
    source = raw.lower()
    if letters > _TITLED:
        return _marked_error(source)
    text = _TARGET.sub("", "\n".join(lines)).lower()
    found = text and (_marked(text, source) or _said(text))
    is_login = status < _CLIENT_ERROR and _PASSWORD.search(source)
    return "" if found == "login" and not is_login else found


def _marked(text: str, source: bytes) -> str:
    """Kind of wall by traces in the source."""
    letters = len(text)
    if letters <= _MARKED and any(mark in source for mark in _BOT_MARKS):
        return "bot"
    if (
        letters <= _SAID
        and any(word in text for word in GUARD_WORDS)
        and any(mark in source for mark in _GUARD_MARKS)
    ):
        return "bot"
    if error := _marked_error(source):
        return error
    if letters <= _TITLED and b"<form" in source and any(mark in source for mark in _CONSENT_MARKS):
        return "consent"
    return ""


def _marked_error(source: bytes) -> str:
    return "error" if any(mark in source for mark in _ERROR_MARKS) else ""


def _said(text: str) -> str:
    """Kind of wall by what a title or a line says."""
    letters = len(text)
    if letters > _TITLED:
        return ""
    first, *others = text.split("\n")
    title = " ".join(first.split())
    # A title may have the name of the site before a colon.
    parts = [*_CUTS.split(title)[:8], title, title.rpartition(": ")[2]]
    if letters <= _SAID:
        parts += [" ".join(line.split()) for line in others]
    parts = [form for part in parts if len(part) <= _LONGEST_LINE for form in _bare(part)]
    for name, phrases, most in _PHRASES:
        if letters > most or not any(map(phrases.fullmatch, parts)):
            continue
        if name != "consent" or "cookie" in text:
            return name
    return ""


def _bare(part: str) -> tuple[str, ...]:
    """A phrase without punctuation around it, and also without an "oops" before it."""
    part = part.strip(_MARKS)
    sigh = _SIGH.match(part)
    return (part, part[sigh.end() :].strip(_MARKS)) if sigh else (part,)
