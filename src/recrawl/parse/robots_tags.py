"""Robots tags: what a page asks of crawlers by `X-Robots-Tag` and `<meta name="robots">`.

    X-Robots-Tag: noarchive, unavailable_after: 25 Jun 2027 15:00:00 PST
    X-Robots-Tag: other-bot: noindex, nofollow
    <meta name="robots" content="noindex">  <meta name="our-bot" content="noarchive">

As search engines have it, all tags that concern a crawler hold together, wherever they stand: those
for all, and those that name it. So the most restrictive one counts. A tag counts anywhere in the
page, not only in its head, but not in comments and scripts.

    noindex, nofollow, noarchive    as they say; `none` is the first two, `nocache` the last
    unavailable_after: DATE         `noarchive` from that date on; without a date it says nothing
    others                          say nothing: `all`, `nosnippet`, `noimageindex`, `noai`, ...

Most pages have no such tag. They cost one look for `<meta` with a name of interest in it, and those
that have one are read up to the last of these.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from recrawl.parse.dates import http_date, mail_date, w3c_date
from recrawl.parse.encodings import decoded
from recrawl.parse.headers import content_type
from recrawl.parse.links import start_tags
from recrawl.parse.robots import product_token
from recrawl.visits.status import NO_TAG, RobotsTag

if TYPE_CHECKING:
    from recrawl.parse.messages import Response

HEADER = "x-robots-tag"
HEADER_JOINT = "; "  # between repeated headers: a comma would put one into the list of the other

_LONGEST = 4096  # letters of a header or of a tag that are read
_PAGES = frozenset({"", "text/html", "application/xhtml+xml"})
_META = frozenset({"meta"})
_NAMED = re.compile(r"\s*([A-Za-z*][^\s:,;]*)\s*:\s*(.*)", re.DOTALL)
_EVERYBODY = ("*", "robots")
_UNTIL = "unavailable_after"
_WITH_VALUE = (_UNTIL, "max-snippet", "max-image-preview", "max-video-preview")
_TAGS = {
    "noindex": RobotsTag.NOINDEX,
    "nofollow": RobotsTag.NOFOLLOW,
    "none": RobotsTag.NOINDEX | RobotsTag.NOFOLLOW,
    "noarchive": RobotsTag.NOARCHIVE,
    "nocache": RobotsTag.NOARCHIVE,
}


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """What a page asks.

    Args:
        tags: What it asks from now on.
        unavailable_after: Epoch seconds from which on it asks for `noarchive`, too; infinite for
            never.

    Examples:
        >>> RobotsTags(RobotsTag.NOINDEX, unavailable_after=100.0).at(100.0).label
        'noindex, noarchive'
    """

    tags: RobotsTag = NO_TAG
    unavailable_after: float = inf

    def __or__(self, other: RobotsTags) -> RobotsTags:
        """Ask what both ask."""
        return RobotsTags(
            self.tags | other.tags, min(self.unavailable_after, other.unavailable_after)
        )

    def at(self, seconds: float) -> RobotsTag:
        """What it asks at an instant."""
        expired = seconds >= self.unavailable_after
        return self.tags | RobotsTag.NOARCHIVE if expired else self.tags


NO_TAGS = RobotsTags()


def read_robots_tags(response: Response, agent: str) -> RobotsTags:
    """What a response asks of a crawler.

    Args:
        response: The response.
        agent: Product token of the crawler, such as `recrawl`.

    Examples:
        >>> from recrawl.parse.messages import Response
        >>> page = b'<meta name="robots" content="noindex, nosnippet">'
        >>> headers = {"x-robots-tag": "other-bot: noarchive; nofollow"}
        >>> read_robots_tags(Response("https://a.org/", 200, headers, page), "recrawl").tags.label
        'noindex, nofollow'
    """
    token, found = _token_of(agent), NO_TAGS
    if HEADER in response.headers:
        for header in response.headers[HEADER][:_LONGEST].split(HEADER_JOINT.strip()):
            found |= _listed(header, token)
    mime = response.headers.get("content-type", "")
    if response.body and content_type(mime)[0] in _PAGES:
        for content in _contents(response.body, mime, token):
            found |= _listed(content, token)
    return found


_token_of = lru_cache(maxsize=10)(product_token)  # of a crawler, which has one


def _listed(text: str, token: str) -> RobotsTags:
    """What a list asks of a crawler; a name before a colon says for whom the rest of it is."""
    found, ours = NO_TAGS, True
    pieces = text[:_LONGEST].split(",")
    for place, piece in enumerate(pieces):
        rule, named = piece, _NAMED.match(piece)
        if named and named[1].lower() not in _WITH_VALUE:
            ours = named[1] in _EVERYBODY or product_token(named[1]) == token
            rule = named[2]
            named = _NAMED.match(rule)
        if not ours:
            continue
        if named and named[1].lower() == _UNTIL:
            found |= RobotsTags(unavailable_after=_date(named[2], pieces[place + 1 : place + 2]))
        elif not named:
            for word in rule.lower().split():
                found |= RobotsTags(_TAGS.get(word, NO_TAG))
    return found


def _date(text: str, more: list[str]) -> float:
    """Epoch seconds of a date, of which a comma may have cut off the rest; infinite for none."""
    for date in (text, ",".join([text, *more])):
        for read in (mail_date, w3c_date, http_date):
            seconds = read(date)
            if seconds is not None:
                return seconds
    return inf


def _contents(body: bytes, mime: str, token: str) -> list[str]:
    """Contents of the tags of a page that are for a crawler or for all."""
    plain = body.lower()
    if b"\0" in plain[:_LONGEST]:  # two bytes for each letter
        plain = plain.replace(b"\0", b"")
    end = 0
    for found in _candidates(token).finditer(plain):
        end = found.end()
    if not end:
        return []
    # Up to the next tag. A letter takes a byte at least, and two where half of them were left out.
    after = plain.find(b"<", end, end + _LONGEST)
    end = end + _LONGEST if after < 0 else after
    page = decoded(body[: 2 * end], mime)[:end]
    names = ("robots", token)
    return [
        tag.attributes.get("content", "")
        for tag in start_tags(page, _META)
        if tag.attributes.get("name", "").strip().lower() in names
    ]


@lru_cache(maxsize=64)
def _candidates(token: str) -> re.Pattern[bytes]:
    """What may be a tag for a crawler or for all, up to the name."""
    name = rb"|".join(map(re.escape, (b"robots", token.encode(errors="replace") or b"robots")))
    return re.compile(rb"<meta[\s/][^<]{0,%d}?(?:%s)" % (_LONGEST, name))
