"""Shapes of addresses: what is alike in those that one program makes up.

A calendar that links to the next month for ever, a shop whose filters combine, a page that adds a
folder to its own address: each makes addresses without end, and all of them have one *shape*. The
shape of an address is its path and the names of its parameters, with what varies left out:

    /calendar/2031-04             /calendar/#-#        numbers, and what looks random, are #
    /news/a-long-title-of-news    /news/*              titles are *
    /shop?color=red&size=4        /shop?color&size     values are left out, names sorted
    /shop?a=1&b=2&c=3             /shop?...            of three and more parameters, names are, too

Pure.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from recrawl.parse.addresses import origin_of

LONGEST_SHAPE = 200

_TITLE_LETTERS = 24  # from which on a segment is a title
_TITLE_HYPHENS = 2
_RANDOM = re.compile(r"(?=[A-Za-z]*+[0-9])(?=[0-9]*+[A-Za-z])[0-9A-Za-z]{16,}")
_NUMBER = re.compile(r"[0-9]++")
_FEW_PARAMETERS = 2
_MOST_PARAMETERS = 50
_MOST_REPEATS = 3
_MOST_SEGMENTS = 30
_LETTER = re.compile(r"[A-Za-z]")


def shape_of(address: str) -> str:
    """Shape of a canonical address, within its origin.

    >>> shape_of("https://a.org/calendar/2031-04?view=month&day=3")
    '/calendar/#-#?day&view'
    >>> shape_of("https://a.org/news/a-long-title-of-news/"), shape_of("https://a.org/")
    ('/news/*/', '/')
    """
    path, _, query = address[len(origin_of(address)) :].partition("?")
    shape = "/".join(map(_segment, path.split("/")))
    names = {unquote_plus(pair.partition("=")[0]) for pair in query.split("&", _MOST_PARAMETERS)}
    if query:
        few = len(names) <= _FEW_PARAMETERS
        shape += "?" + (
            "&".join(sorted(_NUMBER.sub("#", name) for name in names)) if few else "..."
        )
    return shape[:LONGEST_SHAPE]


def _segment(text: str) -> str:
    """What is alike in segments of paths.

    >>> [_segment(each) for each in ("2031-04", "9f86d081884c7d659a", "one-two-three", "about-us")]
    ['#-#', '#', '*', 'about-us']
    """
    if _RANDOM.fullmatch(text):
        return "#"
    shape = _NUMBER.sub("#", text)
    is_title = text.count("-") + text.count("_") >= _TITLE_HYPHENS and _LETTER.search(text)
    return "*" if is_title or len(shape) >= _TITLE_LETTERS else shape


def repeats(address: str) -> str:
    """Folders that stand in a canonical address three times in a row; empty where none do.

    A link such as `b/` on a page that answers under any address leads to `/b/b/b/b/`, and so on.
    Numbers do not count: `/1/1/1` may be a date, or a place on a map. More than 30 folders count as
    such, too.

    >>> repeats("https://a.org/x/a/b/a/b/a/b/"), repeats("https://a.org/a/b/a/b/")
    ('a/b', '')
    """
    path = address[len(origin_of(address)) :].partition("?")[0]
    segments = [each for each in path.split("/") if each]
    if len(segments) > _MOST_SEGMENTS:
        return "/".join(segments[-2:])
    for size in range(1, len(segments) // _MOST_REPEATS + 1):
        alike = 0
        for place, (one, other) in enumerate(zip(segments, segments[size:], strict=False), 1):
            alike = alike + 1 if one == other else 0
            begin = place - size * (_MOST_REPEATS - 1)
            folders = "/".join(segments[begin : begin + size])
            if alike >= size * (_MOST_REPEATS - 1) and _LETTER.search(folders):
                return folders
    return ""
