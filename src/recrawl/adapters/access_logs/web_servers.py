r"""Lines of the common and the combined log format, as Apache, nginx and many others write them.

    192.0.2.1 - - [10/Oct/2025:13:55:36 -0700] "GET /a HTTP/1.1" 200 2326
    www.example.org:443 192.0.2.1 - - [10/Oct/...] "GET /a HTTP/1.1" 200 2326 "-" "agent" 0.004

A host may stand in front, and further fields behind. One of those that looks like an ETag is taken
for that of the answer; nginx writes the quotes in it as \x22, Apache as \".

Pure.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from recrawl.adapters.access_logs.requests import UNKNOWN_SIZE, LoggedRequest
from recrawl.units import microseconds

LINE = re.compile(
    rb"""(?P<before>[^\[\]"]{1,1000}?) \[(?P<time>[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}[^\]]{9,16})\] """
    rb""""(?P<request>(?:[^"\\]|\\.)*)" (?P<status>[0-9]{3}) (?P<size>[0-9]{1,15}|-)(?P<rest>.*)"""
)
_TIME = re.compile(
    r"([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}):([0-9]{2}):([0-9]{2}) ([+-])([0-9]{2})"
    r"([0-9]{2})"
)
# A quote that is never closed ends with the line: else each would be looked for to the very end.
_FIELD = re.compile(rb'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)|([^ "]+)')
_AGENT = re.compile(rb' "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"')  # behind the size
_ETAG = re.compile(r'(?:W/)?"([^"]{1,200}?)(?:-(?:gzip|br|zstd))?"')
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_WITH_HOST = 4  # words before the time: host, client, identity, user
_OF_COMBINED = 2  # fields behind the size: where the client came from, and what it is
_SECURE_PORT = "443"


class WebServerLines:
    """Reads lines.

    Args:
        site: Scheme and host of paths; empty where lines name their hosts.

    Attributes:
        nameless: Whether some line had a path and no host.
    """

    def __init__(self, site: str) -> None:
        self._site = site
        self.nameless = False

    def __call__(self, line: bytes) -> LoggedRequest | None:
        """The request of a line; None where it is malformed."""
        found = LINE.match(line)
        if found is None:
            return None
        at = _instant(found["time"].decode("latin-1"))
        words = _unescaped(found["request"]).split(" ")
        if at is None:
            return None
        if len(words) < 2 or not words[0].isalpha():  # noqa: PLR2004 - a method and a target
            return LoggedRequest("", at, words[0], int(found["status"]))  # what is no HTTP at all
        before = found["before"].decode("latin-1").split(" ")
        page = self._page(" ".join(words[1:-1] or words[1:]), before)
        size, agent = found["size"], _AGENT.match(found["rest"])
        return LoggedRequest(
            page,
            at,
            words[0],
            int(found["status"]),
            UNKNOWN_SIZE if size == b"-" else int(size),
            _etag(found["rest"]),
            agent="" if agent is None or agent[1] == b"-" else _unescaped(agent[1]),
            client=before[1 if _has_host(before) else 0],
        )

    def _page(self, target: str, before: list[str]) -> str:
        if not target.startswith("/"):
            return target  # whole, as a proxy is asked, or nothing that can be a page
        if self._site:
            return self._site + target
        host = _host(before)
        self.nameless = self.nameless or not host
        return host + target if host else ""


def _host(words: list[str]) -> str:
    """Scheme and host that a line begins with; empty where it begins with its client.

    >>> _host("www.example.org:443 192.0.2.1 - -".split()), _host("192.0.2.1 - me".split())
    ('https://www.example.org', '')
    """
    if not _has_host(words):
        return ""
    name, _, port = words[0].rpartition(":") if ":" in words[0] else (words[0], "", "")
    if not port:
        return f"https://{name}"
    return f"https://{name}" if port == _SECURE_PORT else f"http://{name}:{port}"


def _has_host(words: list[str]) -> bool:
    # Of the words "client identity user" the second is a dash with every server of today.
    return len(words) >= _WITH_HOST and words[1] != "-" and words[2] == "-"


@lru_cache(maxsize=1 << 10)
def _instant(text: str) -> int | None:
    """Microseconds since 1970 of a time such as `10/Oct/2025:13:55:36 -0700`."""
    found = _TIME.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[place]) for place in (1, 3, 4, 5, 6))
    offset = timedelta(hours=int(found[8]), minutes=int(found[9]))
    try:
        zone = timezone(-offset if found[7] == "-" else offset)
        moment = datetime(year, _MONTHS[found[2]], day, hour, minute, min(second, 59), tzinfo=zone)
        return microseconds(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def _unescaped(text: bytes) -> str:
    r"""Text without the escapes of servers.

    >>> _unescaped(rb"GET /a\x22b HTTP/1.1"), _unescaped(b"\xc3\xa9")
    ('GET /a"b HTTP/1.1', 'é')
    """
    if b"\\" in text:
        text = _ESCAPE.sub(lambda each: bytes([int(each[1], 16)]) if each[1] else each[2], text)
    return text.decode("utf-8", "replace")


def _etag(rest: bytes) -> str:
    r"""The last of the fields behind those of the combined format that looks like an ETag.

    >>> _etag(rb' "-" "curl" "W/\x2265f-1a\x22" 0.1'), _etag(rb' "\"1\"" "curl"')
    ('65f-1a', '')
    """
    if b"\\" not in rest:
        return ""
    fields = [_unescaped(quoted or plain) for quoted, plain in _FIELD.findall(rest)]
    extra = fields[_OF_COMBINED:] if rest.startswith(b' "') else fields
    found = [match[1] for field in extra if (match := _ETAG.fullmatch(field))]
    return found[-1] if found else ""
