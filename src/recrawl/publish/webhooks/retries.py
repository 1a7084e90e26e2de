"""What follows from an attempt to deliver: on to the next event, again later, or never again.

Ten attempts in about three days, each gap five times as long as the one before, up to a day: after
5 s, 25 s, 2 min, 10 min, 52 min, 4 h, 22 h, a day, a day.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.entries.deliveries import DestinationMoved
from recrawl.parse.headers import retry_after
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.entries.records import Destination
    from recrawl.parse.messages import Response

MOST_ATTEMPTS = 10
_FIRST_SECONDS, _FACTOR = 5.0, 5.0
_JITTER = 0.2  # by which a gap is longer at most: those who failed together come apart
_OURS_SECONDS = 60.0  # where we lack memory or files
_GONE = 410


def is_delivered(response: Response) -> bool:
    """Whether a receiver took it: the status says so, whatever becomes of the rest."""
    return response.status // 100 == 2  # noqa: PLR2004 - 200 to 299


def gap_seconds(attempts: int, chance: float = 0.0) -> float:
    """Seconds to wait after so many attempts.

    Args:
        attempts: How many have failed.
        chance: From 0 to 1, which spreads those that wait.

    Examples:
        >>> [gap_seconds(attempts) for attempts in (1, 2, 3, 9)]
        [5.0, 25.0, 125.0, 86400.0]
        >>> round(sum(map(gap_seconds, range(1, MOST_ATTEMPTS))) / 3600)
        75
    """
    grown = _FIRST_SECONDS * _FACTOR ** min(attempts - 1, MOST_ATTEMPTS)
    return min(grown, SECONDS_A_DAY) * (1 + _JITTER * chance)


def wait_seconds(destination: Destination, now_seconds: float) -> float:
    """Seconds until the next attempt: never more than the longest gap, whatever a clock did."""
    if destination.next_at_seconds is None:
        return 0.0
    longest = SECONDS_A_DAY * (1 + _JITTER)
    return min(max(destination.next_at_seconds - now_seconds, 0.0), longest)


def after_attempt(
    before: Destination, number: int, response: Response, now_seconds: float, chance: float
) -> DestinationMoved:
    """Where a destination is after an attempt to deliver an event.

    Args:
        before: Where it was.
        number: Number of the event.
        response: What came of it.
        now_seconds: When.
        chance: From 0 to 1, which spreads those that wait.
    """
    done = replace(before, cursor=number, attempts=0, next_at_seconds=None, disabled=False)
    if is_delivered(response):
        return DestinationMoved(done, now_seconds)
    if response.status == _GONE:
        disabled = replace(before, next_at_seconds=None, disabled=True)
        return DestinationMoved(disabled, now_seconds)
    if response.problem == "overloaded":
        later = replace(before, next_at_seconds=now_seconds + _OURS_SECONDS)
        return DestinationMoved(later, now_seconds)
    attempts = before.attempts + 1
    if attempts >= MOST_ATTEMPTS:
        return DestinationMoved(done, now_seconds, given_up=what_failed(response))
    asked = retry_after(response.headers.get("retry-after", ""), now_seconds) or 0.0
    gap = max(gap_seconds(attempts, chance), min(asked, 1.0) * SECONDS_A_DAY)
    later = replace(before, attempts=attempts, next_at_seconds=now_seconds + gap)
    return DestinationMoved(later, now_seconds)


def what_failed(response: Response) -> str:
    """Why an attempt failed, in a few words.

    >>> from recrawl.parse.messages import Response
    >>> what_failed(Response("https://a.org/", status=500))
    'answered 500'
    """
    return f"answered {response.status}" if response.status else response.problem
