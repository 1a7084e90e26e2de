"""The scores of one page by plain Python, from event to event, as the definition says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.simulate.made import DAY


@dataclass
class SlowScores:
    """Integrals over the life of a page, in days."""

    live: Fraction = Fraction(0)
    stale: Fraction = Fraction(0)
    age: Fraction = Fraction(0)
    harmonic: Fraction = Fraction(0)
    missed: Fraction = Fraction(0)


def slow_scores(
    changes: list[int], visits: list[int], first_seen: int, until: int, counts_from: int
) -> SlowScores:
    """Scores from instants in whole microseconds; a visit sees the changes of its instant."""
    times = sorted({first_seen, until, counts_from, *changes, *visits})
    unseen: list[int] = []
    scores = SlowScores()
    for place, now in enumerate(times):
        unseen += [change for change in changes if change == now > first_seen]
        if now in visits:
            unseen = []
        if now >= until or place + 1 == len(times):
            break
        if now < max(first_seen, counts_from):
            continue
        later = min(times[place + 1], until)
        passed = Fraction(later - now, DAY)
        scores.live += passed
        scores.missed += len(unseen) * passed
        scores.harmonic += sum(Fraction(1, k) for k in range(1, len(unseen) + 1)) * passed
        if unseen:
            scores.stale += passed
            begin, end = Fraction(now - unseen[0], DAY), Fraction(later - unseen[0], DAY)
            scores.age += (end**2 - begin**2) / 2
    return scores
