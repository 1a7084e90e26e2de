r"""Rates of pages that go to and fro between two versions.

A page leaves its older version at the rate $\lambda$ (*away*) and returns to it at the rate $\mu$
(*back*). A visit shows which of the two is there. With $s = \lambda + \mu$, a page that showed the
older one shows the newer one $g$ days later, and the other way round, with the chances

$$ p = \frac{\lambda}{s} \left( 1 - e^{-sg} \right), \qquad
   q = \frac{\mu}{s} \left( 1 - e^{-sg} \right) . $$

In a long gap both depend on $\lambda / \mu$ alone, so how fast a page flaps is known only where
some gaps are short. The posterior on a grid of both rates says how far.

A history says of each gap whether the page was as before, went back to an earlier version, which is
taken for the one before, or became something new. Something new makes a new pair of versions: what
was there before is the older one. Only gaps in which a pair was known from beginning to end tell.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_fraction

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories

# Rates of the grid, over the page's mean gap: from one change in a thousand gaps to a hundred in
# one, all as likely at first. Where the posterior lies is then looked at more closely.
_SLOWEST, _FASTEST = 1e-3, 1e2
_POINTS = 41
_LEFT_OUT = 1e-4  # of the posterior, on each side of the closer look
_NONE, _SAME, _OTHER = 0, 1, 2  # of a gap: no pair yet, or a new one; both ends alike; not alike


@dataclass(frozen=True, slots=True, eq=False)
class TwoStateRates:
    """Rates to and fro: one row per page, nan where no gap tells.

    Args:
        away: Departures from the older version, per day that it is there: the geometric mean.
        away_band: Ends of the band that holds this rate.
        back: Returns to the older version, per day that the newer one is there.
        back_band: Ends of its band.
        gaps: Gaps that tell.
    """

    away: Floats
    away_band: tuple[Floats, Floats]
    back: Floats
    back_band: tuple[Floats, Floats]
    gaps: Ints

    @property
    def share_away(self) -> Floats:
        """Share of time in which the newer version is there, in the long run."""
        return self.away / (self.away + self.back)


def fit_two_state(histories: Histories, *, level: float = 0.9) -> TwoStateRates:
    """Rates of going to and fro between two versions, by page.

    Args:
        histories: Visits, with `reverted`.
        level: Probability that a rate lies in its band.

    Examples:
        A page was visited every day. A new version came on the first day; since then it has been
        there on one day, and the old one on the next:

        >>> from recrawl import Histories
        >>> days, new = 41, [True] + [False] * 40
        >>> flaps = Histories(np.ones(days), np.ones(days), [0, days], reverted=~np.array(new))
        >>> rates = fit_two_state(flaps)
        >>> rates.share_away.round(2), bool(rates.away_band[0][0] > 1)
        (array([0.5]), True)
    """
    check_fraction(level=level)
    outcome, was_away = _outcomes(histories)
    told = np.flatnonzero(outcome != _NONE)
    page = np.repeat(np.arange(len(histories)), histories.gaps_of_page)[told]
    counts = np.bincount(page, minlength=len(histories))
    ends = np.concatenate([[0], np.cumsum(counts)])
    found = np.full((6, len(histories)), np.nan)

    def work(pages: slice) -> None:
        for each in range(pages.start, pages.stop):
            some = told[ends[each] : ends[each + 1]]
            if len(some):
                gaps = histories.gaps[some]
                found[:, each] = _one(gaps, was_away[some], outcome[some] == _OTHER, level)

    over_blocks(work, len(histories))
    away, *away_band = found[:3]
    back, *back_band = found[3:]
    return TwoStateRates(
        away, (away_band[0], away_band[1]), back, (back_band[0], back_band[1]), counts
    )


def _outcomes(histories: Histories) -> tuple[Ints, Bools]:
    """What each gap tells, and whether the newer version of the pair was there when it began."""
    changed, reverted = histories.changed, histories.reverted & histories.changed
    new = changed & ~reverted
    first = histories.offsets[:-1][histories.gaps_of_page > 0]
    before: Ints = np.cumsum(new) - new  # new versions before each gap, of all pages
    counts = histories.gaps_of_page
    of_page: Ints = np.repeat(before[first], counts[counts > 0])
    known = (before > of_page) & ~new
    # A pair begins with its newer version; each return changes sides.
    sides: Ints = np.cumsum(reverted) - reverted
    began = np.maximum.accumulate(np.where(new, np.arange(len(new)), -1))
    since = sides - np.where(began >= 0, sides[began], 0)
    was_away = since % 2 == 0
    outcome = np.where(known, np.where(reverted, _OTHER, _SAME), _NONE)
    return outcome, was_away


def _one(gaps: Floats, was_away: Bools, other: Bools, level: float) -> list[float]:
    """Mean and ends of the band of both rates of one page."""
    told = [
        (side, *each) for side in (False, True) for each in _alike(gaps, other, was_away == side)
    ]
    slowest, fastest = _SLOWEST / float(gaps.mean()), _FASTEST / float(gaps.mean())
    whole = np.geomspace(slowest, fastest, _POINTS)
    near = [_around(whole, masses) for masses in _masses(told, whole, whole)]
    figures: list[float] = []
    for rates, masses in zip(near, _masses(told, *near), strict=True):
        tail = (1 - level) / 2
        low, high = np.interp([tail, 1 - tail], np.cumsum(masses) - masses / 2, np.log(rates))
        figures += [float(np.exp(each)) for each in (masses @ np.log(rates), low, high)]
    return figures


def _around(rates: Floats, masses: Floats) -> Floats:
    """Rates of a finer grid, where nearly all of a posterior lies."""
    low, high = np.searchsorted(np.cumsum(masses), [_LEFT_OUT, 1 - _LEFT_OUT]).tolist()
    first, last = max(low - 1, 0), min(high + 1, len(rates) - 1)
    return np.geomspace(float(rates[first]), float(rates[last]), _POINTS)


def _masses(
    told: list[tuple[bool, float, bool, int]], away: Floats, back: Floats
) -> tuple[Floats, Floats]:
    """Posterior of both rates on a grid."""
    log_chance = log_likelihood(told, away[:, np.newaxis], back)
    weight = np.exp(log_chance - log_chance.max())
    weight[[0, -1]] /= 2  # an integral by trapezia
    weight[:, [0, -1]] /= 2
    weight /= weight.sum()
    return weight.sum(axis=1), weight.sum(axis=0)


def log_likelihood(told: list[tuple[bool, float, bool, int]], away: Floats, back: Floats) -> Floats:
    """Logarithm of the chance of what gaps told, for each pair of rates.

    Args:
        told: Whether the newer version was there, days, whether the other was there then, and how
            many gaps were so.
        away: Rates away.
        back: Rates back.
    """
    total = away + back
    found = np.zeros(total.shape)
    for was_away, gap, other, count in told:
        chance = (back if was_away else away) / total * -np.expm1(-total * gap)
        found += count * np.log(chance if other else 1 - chance)
    return found


def _alike(gaps: Floats, other: Bools, some: Bools) -> list[tuple[float, bool, int]]:
    """Gaps of the same length and outcome, and how many there are."""
    found = []
    for change in (False, True):
        lengths, counts = np.unique(gaps[some & (other == change)], return_counts=True)
        found += [
            (gap, change, count)
            for gap, count in zip(lengths.tolist(), counts.tolist(), strict=True)
        ]
    return found
