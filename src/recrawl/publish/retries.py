"""What follows from an attempt to deliver: on to the next event, again later, or never again.

Ten attempts in about three days, each gap five times as long as the one before, up to a day: after
5 s, 25 s, 2 min, 10 min, 52 min, 4 h, 22 h, a day, a day.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recrawl.entries.deliveries import DestinationMoved
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import Destination

MOST_ATTEMPTS = 10
_FIRST_SECONDS, _FACTOR = 5.0, 5.0
_JITTER = 0.2  # by which a gap is longer at most: those who failed together come apart
_OURS_SECONDS = 60.0
_LONGEST_GAP_SECONDS = SECONDS_A_DAY * (1 + _JITTER)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of an attempt to deliver.

    Args:
        problem: Why it failed, in a few words; empty where it did not.
        gone: Whether the receiver asked to be told no more.
        ours: Whether it failed for want of memory, files or processes of ours.
        wait_days: How long the receiver asked to be left alone.
    """

    problem: str = ""
    gone: bool = False
    ours: bool = False
    wait_days: float = 0.0


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


def wait_seconds(
    destination: Destination, now_seconds: float, longest: float = _LONGEST_GAP_SECONDS
) -> float:
    """Seconds until the next attempt: never more than the longest gap, whatever a clock did."""
    if destination.next_at_seconds is None:
        return 0.0
    return min(max(destination.next_at_seconds - now_seconds, 0.0), longest)


def after_attempt(
    before: Destination,
    done: Destination,
    attempt: Attempt,
    now_seconds: float,
    *,
    chance: float,
    numbers: Sequence[int] = (),
) -> DestinationMoved:
    """Where a destination is after an attempt to deliver.

    Args:
        before: Where it was.
        done: Where it is once that is delivered, or given up.
        attempt: What came of it.
        now_seconds: When.
        chance: From 0 to 1, which spreads those that wait.
        numbers: Events that the attempt told of; none for the one at the cursor of `done`.
    """
    done = replace(done, attempts=0, disabled=False, problem="")
    if not attempt.problem:
        return DestinationMoved(done, now_seconds)
    failed = replace(before, problem=attempt.problem)
    if attempt.gone:
        disabled = replace(failed, next_at_seconds=None, disabled=True)
        return DestinationMoved(disabled, now_seconds)
    if attempt.ours:
        later = replace(failed, next_at_seconds=now_seconds + _OURS_SECONDS)
        return DestinationMoved(later, now_seconds)
    attempts = before.attempts + 1
    if attempts >= MOST_ATTEMPTS:
        lost = replace(done, problem=attempt.problem)
        return DestinationMoved(lost, now_seconds, attempt.problem, numbers)
    gap = max(gap_seconds(attempts, chance), min(attempt.wait_days, 1.0) * SECONDS_A_DAY)
    later = replace(failed, attempts=attempts, next_at_seconds=now_seconds + gap)
    return DestinationMoved(later, now_seconds)
