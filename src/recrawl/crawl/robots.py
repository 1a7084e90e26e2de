"""What a host's robots.txt allows, and for how long that is known.

A host whose robots.txt cannot be had because of the host (5xx, no answer) allows nothing until it
can; one that has none (4xx) allows everything.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.parse.robots import NOTHING_ALLOWED, robots_of_answer

if TYPE_CHECKING:
    from recrawl.parse.robots import Robots

MOST_HOPS = 5
_KEPT_DAYS = 1.0
_RETRY_DAYS = 1 / 24


@dataclass(frozen=True, slots=True)
class Permission:
    """What a host allows.

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
        """What an answer means that came at an instant; no status where none came.

        >>> Permission.of(404, b"", at=10.0).until
        11.0
        >>> Permission.of(500, b"", at=10.0).trouble
        'robots.txt must be had before pages are (got status 500)'
        """
        robots = NOTHING_ALLOWED if status is None else robots_of_answer(status, body or b"")
        if robots is not NOTHING_ALLOWED:
            return cls(robots, at + _KEPT_DAYS)
        why = detail or ("no answer" if status is None else f"got status {status}")
        trouble = f"robots.txt must be had before pages are ({why})"
        return cls(robots, at + _RETRY_DAYS, trouble)
