r"""robots.txt as in RFC 9309: what a site allows us to fetch.

A file is cut down to what concerns us before anything else: the rules of the groups that name us,
or of those for all (`*`) where none does, and the sitemaps. So a file costs what its rules for us
cost, however many other crawlers it names. Protego finds the longest rule that matches; matching
takes time linear in the file and the address whatever the pattern, since it looks for the pieces
between wildcards one after the other, but it tries all rules with wildcards on every address. A
file with more of them than a sitemap of fifty thousand addresses could be held against is refused,
and with it the whole site: its owner can want no more than that.

A group names a crawler by its product token. `User-agent: bot/1.0` is `bot`, and `bo` is another
crawler.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

from protego import Protego

from recrawl.parse.addresses import canonical
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 500 * 1024  # what the standard wants read at least
MOST_SITEMAPS = 1000
LONGEST_DELAY = 1.0  # day; a longer one is meant to keep crawlers out, which Disallow does

_MOST_WILD = 1000  # rules with wildcards: a microsecond or more for each address
_AGENT = re.compile(r"\s*user[-\s]*agent\s*:?", re.IGNORECASE)
_RULE = re.compile(r"[^:]*:|\s*(?:allow|di[as]+l+[ao]w)\s", re.IGNORECASE)  # as people write it
_SITEMAP = re.compile(r"\s*site-?maps?(?:\s*:|\s)", re.IGNORECASE)
_HOST = re.compile(r"\s*host(?:\s*:|\s)", re.IGNORECASE)
_IDLE = re.compile(r"\s*(?:#|$)")
# Python ends lines at these too; the standard knows only line feed and carriage return.
_NO_LINE_ENDS = {
    ord(letter): quote(letter) for letter in "\x0b\x0c\x1c\x1d\x1e\x85\N{LINE SEPARATOR}\u2029"
}
_NOTHING = "User-agent: *\nDisallow: /\n"
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Robots:
    r"""What one site allows us.

    Args:
        body: The part of the file that concerns us; `read_robots` makes the same rules of it again.

    Examples:
        >>> robots = read_robots(b"User-agent: *\nDisallow: /private\nCrawl-delay: 43.2", "recrawl")
        >>> robots.allows("https://example.org/private/a")
        False
        >>> robots.delay
        0.0005
    """

    body: bytes
    _rules: Protego = field(compare=False, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return read_robots, (self.body, "*")

    def allows(self, address: str) -> bool:
        """Whether we may fetch a canonical address of this site."""
        return self._rules.can_fetch(address, "*")

    @property
    def delay(self) -> float | None:
        """Days that the site wants between two requests, or None where it says nothing."""
        seconds = self._rules.crawl_delay("*")
        return None if seconds is None else min(seconds / SECONDS_A_DAY, LONGEST_DELAY)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Addresses of sitemaps; those that are not whole are left out."""
        return tuple(dict.fromkeys(filter(None, map(canonical, self._rules.sitemaps))))


def read_robots(body: bytes, agent: str) -> Robots:
    """What a robots.txt, however broken, allows a crawler; what cannot be read says nothing.

    Args:
        body: The file.
        agent: Product token of the crawler, such as `recrawl`.

    Examples:
        >>> read_robots(b"Sitemap: https://example.org/sitemap.xml", "recrawl").sitemaps
        ('https://example.org/sitemap.xml',)
    """
    if len(body) > MOST_BYTES:  # half a rule would be another rule
        body = body[: 1 + max(body.rfind(end, 0, MOST_BYTES) for end in (b"\n", b"\r"))]
    text = body.decode("utf-8-sig", "replace").translate(_NO_LINE_ENDS)
    text = _for_agent(text, agent)
    return Robots(text.encode(), Protego.parse(text))


def robots_of_answer(status: int, body: bytes, agent: str) -> Robots:
    """What the answer to a request for a robots.txt allows a crawler.

    No such file: all is allowed. A server in trouble, or one that has had too many requests:
    nothing is, until it answers. A redirect comes here only if it leads nowhere, so there is no
    such file. Whoever gets no answer at all takes `NOTHING_ALLOWED`.

    >>> robots_of_answer(404, b"", "recrawl").allows("https://example.org/a")
    True
    >>> robots_of_answer(503, b"", "recrawl").allows("https://example.org/a")
    False
    """
    if status == _TOO_MANY_REQUESTS:
        return NOTHING_ALLOWED
    match status // 100:
        case 2:
            return read_robots(body, agent)
        case 3 | 4:
            return EVERYTHING_ALLOWED
        case _:
            return NOTHING_ALLOWED


def _for_agent(text: str, agent: str) -> str:
    """The lines of a file that concern a crawler, as a group for all."""
    token = product_token(agent)
    ours: list[str] = []
    others: list[str] = []
    sitemaps: list[str] = []
    named = False
    for names, line in _group_lines(text):
        named = named or token in names
        if _SITEMAP.match(line):
            sitemaps.append(line)
        elif line and token in names:
            ours.append(line)
        elif line and "*" in names:
            others.append(line)
    lines = ours if named else others
    if sum("*" in line or "$" in line for line in lines) > _MOST_WILD:
        return _NOTHING
    some = islice(sitemaps, MOST_SITEMAPS)
    return "\n".join(["User-agent: *", *lines, *some, ""]) if lines or sitemaps else ""


def _group_lines(text: str) -> Iterator[tuple[set[str], str]]:
    """Lines that say something, each with the crawlers that its group names.

    The line that names a crawler comes too, so that a group without rules is seen.
    """
    names: set[str] = set()
    closed = False
    for line in text.splitlines():
        agent = _AGENT.match(line)
        if agent:
            if closed:
                names, closed = set(), False
            names.add(product_token(line[agent.end() :]))
            yield names, ""
        elif not _IDLE.match(line):
            # Sitemaps and hosts are no part of a group: they may stand between its crawlers.
            if not (_SITEMAP.match(line) or _HOST.match(line)):
                closed = closed or _RULE.match(line) is not None
            yield names, line


def product_token(text: str) -> str:
    """Product token of a crawler, as groups name it: without version, in small letters.

    >>> product_token(" Sec-Bot/1.0 # ours"), product_token("*")
    ('sec-bot', '*')
    """
    name = re.split(r"[\s/;,(#]", text.strip(), maxsplit=1)[0].lower()
    return name if name == "*" else name.replace("*", "")


EVERYTHING_ALLOWED = read_robots(b"", "*")
NOTHING_ALLOWED = read_robots(_NOTHING.encode(), "*")


_VALID_DAYS = 1.0
_RETRY_DAYS = 1 / 24
_AHEAD_DAYS = 1 / 1440  # that clocks may disagree by: what comes later was never read


@dataclass(frozen=True, slots=True)
class Permission:
    """What an origin (scheme, host and port) allows us, and until when that is known.

    An origin whose robots.txt cannot be had because of its host (5xx, no response) allows nothing
    until it can; one that has none (4xx) allows everything.

    Args:
        robots: Its robots.txt.
        read_at: Instant at which it was read, in days after 1970.
        until: Instant at which to ask again.
        trouble: Why its robots.txt could not be had; empty where it could, or where there is none.
    """

    robots: Robots
    read_at: float
    until: float
    trouble: str = ""

    @classmethod
    def of(
        cls, status: int | None, body: bytes | None, at: float, agent: str, detail: str = ""
    ) -> Permission:
        """What a response means that came at an instant; no status where none came.

        >>> Permission.of(404, b"", 10.0, "recrawl").until
        11.0
        >>> Permission.of(500, b"", 10.0, "recrawl").trouble
        'cannot fetch robots.txt (status 500)'
        """
        robots = NOTHING_ALLOWED
        if status is not None:
            robots = robots_of_answer(status, body or b"", agent)
        if robots is not NOTHING_ALLOWED:
            return cls(robots, at, at + _VALID_DAYS)
        why = detail or ("no response" if status is None else f"status {status}")
        return cls(robots, at, at + _RETRY_DAYS, f"cannot fetch robots.txt ({why})")

    def holds(self, now: float) -> bool:
        """Whether it need not be asked again: read not long ago, and not by a clock ahead."""
        return self.read_at - _AHEAD_DAYS <= now < self.until
