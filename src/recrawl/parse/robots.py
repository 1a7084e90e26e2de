"""robots.txt as in RFC 9309: what a site allows crawlers to fetch.

Protego finds the group and the longest rule. Around it stands what the standard leaves to the
crawler: how much of the file is read, what an answer without a file means, and what a file may
cost. Matching takes time linear in the file and the address whatever the pattern, since Protego
looks for the pieces between wildcards one after the other; but it keeps a copy of each rule for
each crawler that a group names, and tries all that have wildcards on every address. So a file that
multiplies rules by crawlers is refused, as is one that has more wildcards for a crawler than a
sitemap of fifty thousand addresses could be held against, and with it the whole site: its owner can
want no more than that.

Pure.
"""

from __future__ import annotations

import re
from collections import Counter
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

# A group of 600 crawlers and 300 rules stays below it, and is read in a quarter of a second.
_MOST_COPIES = 1 << 18
_MOST_WILD = 1000  # rules with wildcards for one crawler: a microsecond or more for each address
_AGENT = re.compile(r"\s*user[-\s]*agent", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:dis)?allow\s*:", re.IGNORECASE)
_IDLE = re.compile(r"\s*(?:#|$)")
# Python ends lines at these too; the standard knows only line feed and carriage return.
_NO_LINE_ENDS = {
    ord(letter): quote(letter) for letter in "\x0b\x0c\x1c\x1d\x1e\x85\N{LINE SEPARATOR}\u2029"
}
_NOTHING = b"User-agent: *\nDisallow: /\n"
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Robots:
    r"""Rules of one site.

    Args:
        body: The file as it came; `read_robots` makes the same rules of it again.

    Examples:
        >>> robots = read_robots(b"User-agent: *\nDisallow: /private\nCrawl-delay: 43.2")
        >>> robots.allows("https://example.org/private/a", "recrawl")
        False
        >>> robots.delay("recrawl")
        0.0005
    """

    body: bytes
    _rules: Protego = field(compare=False, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return read_robots, (self.body,)

    def allows(self, address: str, agent: str) -> bool:
        """Whether the crawler named `agent` may fetch a canonical address of this site."""
        return self._rules.can_fetch(address, agent)

    def delay(self, agent: str) -> float | None:
        """Days that the site wants between two requests, or None where it says nothing."""
        seconds = self._rules.crawl_delay(agent)
        return None if seconds is None else min(seconds / SECONDS_A_DAY, LONGEST_DELAY)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Addresses of sitemaps; those that are not whole are left out."""
        named = islice(self._rules.sitemaps, MOST_SITEMAPS)
        return tuple(dict.fromkeys(filter(None, map(canonical, named))))


def read_robots(body: bytes) -> Robots:
    """Rules of a robots.txt, however broken; what cannot be read says nothing.

    >>> read_robots(b"Sitemap: https://example.org/sitemap.xml").sitemaps
    ('https://example.org/sitemap.xml',)
    """
    if len(body) > MOST_BYTES:  # half a rule would be another rule
        body = body[: 1 + max(body.rfind(end, 0, MOST_BYTES) for end in (b"\n", b"\r"))]
    text = body.decode("utf-8-sig", "replace").translate(_NO_LINE_ENDS)
    if _costs_too_much(text):
        text = _NOTHING.decode()
    return Robots(body, Protego.parse(text))


def robots_of_answer(status: int, body: bytes) -> Robots:
    """Rules that follow from the answer to a request for a robots.txt.

    No such file: all is allowed. A server in trouble, or one that has had too many requests:
    nothing is, until it answers. A redirect comes here only if it leads nowhere, so there is no
    such file. Whoever gets no answer at all takes `NOTHING_ALLOWED`.

    >>> robots_of_answer(404, b"").allows("https://example.org/a", "recrawl")
    True
    >>> robots_of_answer(503, b"").allows("https://example.org/a", "recrawl")
    False
    """
    if status == _TOO_MANY_REQUESTS:
        return NOTHING_ALLOWED
    match status // 100:
        case 2:
            return read_robots(body)
        case 3 | 4:
            return EVERYTHING_ALLOWED
        case _:
            return NOTHING_ALLOWED


def _costs_too_much(text: str) -> bool:
    """Whether Protego would copy too many rules, or try too many on each address."""
    copies, wild = 0, Counter[str]()
    for agents, rules, wild_rules in _groups(text):
        copies += len(agents) * (len(agents) // 8 + rules)  # comparisons count an eighth
        if copies > _MOST_COPIES:
            return True
        if wild_rules:
            wild.update(dict.fromkeys(agents, wild_rules))
    return max(wild.values(), default=0) > _MOST_WILD


def _groups(text: str) -> Iterator[tuple[list[str], int, int]]:
    """Crawlers of each group, its rules, or more, and how many of them have wildcards."""
    agents: list[str] = []
    rules = wild = 0
    closed = False
    for line in text.splitlines():
        agent = _AGENT.match(line)
        if agent:
            if closed:
                yield agents, rules, wild
                agents, rules, wild, closed = [], 0, 0, False
            agents.append(_name(line[agent.end() :]))
        elif not _IDLE.match(line):
            rules += 1
            wild += "*" in line or "$" in line
            # Protego too ends the list of crawlers here; at other lines it may go on.
            closed = closed or _RULE.match(line) is not None
    yield agents, rules, wild


def _name(text: str) -> str:
    """A crawler as Protego calls it."""
    name = text.partition("#")[0].strip(" \t:").lower()
    return name if name == "*" else name.replace("*", "")


EVERYTHING_ALLOWED = read_robots(b"")
NOTHING_ALLOWED = read_robots(_NOTHING)


_VALID_DAYS = 1.0
_RETRY_DAYS = 1 / 24


@dataclass(frozen=True, slots=True)
class Permission:
    """What a host allows, and until when that is known.

    A host whose robots.txt cannot be had because of the host (5xx, no response) allows nothing
    until it can; one that has none (4xx) allows everything.

    Args:
        robots: Its robots.txt.
        until: Instant at which to ask again, in days after 1970.
        trouble: Why its robots.txt could not be had; empty where it could, or where there is none.
    """

    robots: Robots
    until: float
    trouble: str = ""

    @classmethod
    def of(cls, status: int | None, body: bytes | None, at: float, detail: str = "") -> Permission:
        """What a response means that came at an instant; no status where none came.

        >>> Permission.of(404, b"", at=10.0).until
        11.0
        >>> Permission.of(500, b"", at=10.0).trouble
        'waiting for robots.txt (status 500)'
        """
        robots = NOTHING_ALLOWED if status is None else robots_of_answer(status, body or b"")
        if robots is not NOTHING_ALLOWED:
            return cls(robots, at + _VALID_DAYS)
        why = detail or ("no response" if status is None else f"status {status}")
        return cls(robots, at + _RETRY_DAYS, f"waiting for robots.txt ({why})")
