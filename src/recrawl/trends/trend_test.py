r"""Score test for a rising or falling rate, on visits that hide when and how often a page changed.

If the rate moves as $\lambda e^{\theta z}$ with the days $z$ since the first visit, the slope of
the log-likelihood in $\theta$ at $\theta = 0$ adds up over gaps. With $y = \lambda g$ changes to
expect in a gap $g$ that ends at $t$ and has its middle at $m$:

    outcome of the gap                its slope                        as a weight at a time
    unchanged                         -y m                             s = -y at m
    changed, no telling when          m y / (e^y - 1)                  s = y / (e^y - 1) at m
    changed k times                   (k - y) m                        s = k - y at m
    changed, last a days before t     (t - a) - \lambda a (t - a / 2)  1 at t - a, and -\lambda a
                                                                       at t - a / 2

A dated change counts where it happened, and the quiet days after it where they are: its gap has
no one time of its own. All of a page's weights add up to 0 at its most likely constant rate.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.errors import InvalidHistory
from recrawl.rates.likelihood import Likelihood
from recrawl.trends.points import ends_of_gaps
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.histories import NO_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Changes, Floats, Ints, Statuses
    from recrawl.visits.histories import Histories

_MICROSECOND = 1 / MICROSECONDS_A_DAY

# Fewer have too few orders: two changes in eight gaps are both the last ones by chance too often.
_LEAST_GAPS = 8
_LEAST_CHANGES = 3

_PAGES = 512  # a block: a page's every gap is at hand in some twenty columns


class TrendStatus(IntEnum):
    """Whether a page's visits suffice to test its rate, and if not, why."""

    OK = 0
    NO_VISITS = 1
    ONE_VISIT = 2  # one visit makes no gap
    NO_CHANGE_SEEN = 3
    ALL_CHANGED = 4  # every gap hid a change: no gap is more informative than another
    TOO_FEW_GAPS = 5
    TOO_FEW_CHANGES = 6
    NO_MAXIMUM = 7  # ever steeper laws fit ever better


@dataclass(frozen=True, slots=True, eq=False)
class TrendTest:
    """Tests of a constant rate, one row per page.

    Args:
        statistic: Standard normal if the rate is constant, above 0 if it rises; or a chi-square
            with `degrees` degrees of freedom, low if it rises. nan where the status says why.
        p: Chance of a statistic at least as extreme, on either side, if the rate is constant.
        direction: 1 where the rate seems to rise, -1 where it seems to fall, else 0.
        status: Numbers of `TrendStatus`.
        degrees: Degrees of freedom, where the statistic is a chi-square.
    """

    statistic: Floats
    p: Floats
    direction: Changes
    status: Statuses
    degrees: Ints | None = None

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.p)

    @property
    def status_names(self) -> list[str]:
        """Status of each page in words."""
        return [TrendStatus(code).name.lower() for code in self.status]


def trend_test(histories: Histories) -> TrendTest:
    r"""Test each page for a rate that rises or falls.

    The slope of the log-likelihood in the trend, over its standard deviation (a score test):

    $$ U = \frac{\sum_i (z_i - \bar z) s_i}{\sqrt{\sum_i I_i (z_i - \bar z)^2}} , \qquad
       \bar z = \frac{\sum_i I_i z_i}{\sum_i I_i} , $$

    with the weights $s_i$ at their times $z_i$ and the information $I_i$ of a gap: with $y$
    changes to expect $y^2 / (e^y - 1)$ where changes hide, $y$ where they are counted. Where they
    are dated it lies along the gap: $\lambda e^{-\lambda u} du$ at the time $u$ before its end,
    which is the chance that the last change is just there. For a page that dates some of its
    changes an unchanged gap counts in part as either.

    The statistic is $U \sqrt{1 - 1/n}$ with $n$ the page's gaps, for they gave the rate, too: for
    equal gaps that hide their changes it is then exactly that of the rank-sum test. At
    constant rates it is close to standard normal. With ever shorter gaps it becomes Laplace's
    test of exact times.

    Examples:
        Eight quiet weeks, then eight with a change each:

        >>> from recrawl import Histories
        >>> weeks = Histories.from_lists([([7.0] * 16, [False] * 8 + [True] * 8)])
        >>> test = trend_test(weeks)
        >>> test.statistic.round(3), test.p.round(4), test.direction
        (array([3.361]), array([0.0008]), array([1], dtype=int8))
    """
    from scipy.special import ndtr  # slow to load: only where it is needed

    rate = Likelihood(singularity="none").estimate(histories).rate
    status = trend_status(histories, _LEAST_GAPS, _LEAST_CHANGES)
    status[np.isinf(rate)] = TrendStatus.ALL_CHANGED
    rows = np.flatnonzero(status == TrendStatus.OK)
    statistic = np.full(len(histories), np.nan)

    def work(some: slice) -> None:
        pages = rows[some]
        slope, variance = _slope(histories.take(pages), rate[pages])
        statistic[pages] = slope / np.sqrt(variance)

    over_blocks(work, len(rows), _PAGES)
    # As for any sample whose mean is taken from it; see the docstring.
    statistic *= np.sqrt(1 - 1 / np.maximum(histories.gaps_of_page, 1))
    return TrendTest(statistic, 2 * ndtr(-np.abs(statistic)), _sign(statistic), status)


def laplace(
    times: Sequence[float] | Floats,
    end: float | Floats | None = None,
    *,
    offsets: Ints | None = None,
) -> TrendTest:
    r"""Laplace's test, for pages whose every change has a known time.

    At a constant rate the times $t_1, \dots, t_n$ of all changes in $T$ days are spread evenly:

    $$ U = \frac{\bar t - T/2}{T / \sqrt{12 n}} . $$

    Args:
        times: Days from the origin to each change, page after page. A change at the origin itself
            is left out.
        end: Days from the origin to the end of observation, one for all pages or one per page.
            None if it ended with the last change, which is then left out.
        offsets: Where each page begins; None for one page.

    References:
        Cox and Lewis (1966). The Statistical Analysis of Series of Events. Section 3.3.

    Examples:
        >>> laplace([1, 3, 6, 10, 15]).statistic.round(6)
        array([-1.154701])
    """
    from scipy.special import ndtr  # slow to load: only where it is needed

    times, offsets, last = _exact(times, end, offsets)
    count = np.diff(offsets)
    with np.errstate(invalid="ignore", divide="ignore"):  # no change: nan
        statistic = (sums(times, offsets) / count - last / 2) / (last / np.sqrt(12 * count))
    return TrendTest(
        statistic, 2 * ndtr(-np.abs(statistic)), _sign(statistic), _status_of_exact(count)
    )


def military_handbook(
    times: Sequence[float] | Floats,
    end: float | Floats | None = None,
    *,
    offsets: Ints | None = None,
) -> TrendTest:
    r"""The test of MIL-HDBK-189 against a power law, for changes of known times.

    At a constant rate $2 \sum_i \ln(T / t_i)$ over all $n$ changes has exactly the chi-square
    distribution with $2n$ degrees of freedom; where observation ended with the last change, $T$ is
    its time and it is left out of the sum. A large sum means that changes came early.

    Args:
        times: Days from the origin to each change, page after page. A change at the origin itself
            is left out.
        end: Days from the origin to the end of observation, one for all pages or one per page.
            None if it ended with the last change.
        offsets: Where each page begins; None for one page.

    References:
        MIL-HDBK-189 (1981). Reliability Growth Management. US Department of Defense.

    Examples:
        >>> test = military_handbook([1, 3, 6, 10, 15])
        >>> test.statistic.round(6), test.degrees
        (array([11.278488]), array([8]))
    """
    from scipy.special import chdtr, chdtrc  # slow to load: only where it is needed

    times, offsets, last = _exact(times, end, offsets)
    count = np.diff(offsets)
    statistic = 2 * sums(np.log(np.repeat(last, count) / times), offsets)
    statistic[count == 0] = np.nan
    below, above = chdtr(2 * count, statistic), chdtrc(2 * count, statistic)
    p = np.minimum(2 * np.minimum(below, above), 1)
    return TrendTest(statistic, p, _sign(above - below), _status_of_exact(count), 2 * count)


def trend_status(histories: Histories, least_gaps: int, least_changes: int) -> Statuses:
    """Status of each page by how much was seen of it."""
    counted = np.where(histories.count == NO_COUNT, histories.changed, histories.count)
    changes, gaps, visits = histories.total(counted), histories.gaps_of_page, histories.visits
    hidden = histories.changed & np.isnan(histories.age) & (histories.count == NO_COUNT)
    status = np.full(len(histories), TrendStatus.OK, np.uint8)
    status[changes < least_changes] = TrendStatus.TOO_FEW_CHANGES
    status[gaps < least_gaps] = TrendStatus.TOO_FEW_GAPS
    status[histories.total(hidden) == gaps] = TrendStatus.ALL_CHANGED
    status[changes == 0] = TrendStatus.NO_CHANGE_SEEN
    status[visits == 1] = TrendStatus.ONE_VISIT
    status[visits == 0] = TrendStatus.NO_VISITS
    return status


def _slope(histories: Histories, rate: Floats) -> tuple[Floats, Floats]:
    """Slope of each page's log-likelihood in the trend, and its variance."""
    gaps, page, end = histories.gaps, histories.page_of_gap, ends_of_gaps(histories)
    middle, rate = end - gaps / 2, rate[page]
    expected = rate * gaps
    counted = histories.count != NO_COUNT
    dated = ~np.isnan(histories.age) & ~counted
    hidden = histories.changed & ~dated & ~counted
    with np.errstate(over="ignore"):  # a gap sure to show a change tells nothing
        pull = expected / np.expm1(expected)
    score = np.where(counted, histories.count, np.where(hidden, expected + pull, 0)) - expected

    # Information at the middle of the gap, and along it where a change would have been dated.
    told, untold = histories.total(dated), histories.total(hidden)
    share = np.where(dated, 1.0, (told / np.maximum(told + untold, 1))[page] * ~hidden * ~counted)
    central = np.where(counted, expected, (1 - share) * expected * pull)
    along, back, spread = _along(expected, rate, share)
    date = end - back
    total = histories.total(central + along)
    centre = (histories.total(central * middle + along * date) / total)[page]
    variance = central * (middle - centre) ** 2 + along * ((date - centre) ** 2 + spread)

    age = np.where(dated, np.maximum(histories.age, _MICROSECOND), 0)
    quiet_middle = end - age / 2 - centre
    slope = np.where(
        dated, end - age - centre - rate * age * quiet_middle, score * (middle - centre)
    )
    return histories.total(slope), histories.total(variance)


def _along(expected: Floats, rate: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Chance of a dated last change in the gap; mean and variance of its days before the end."""
    from scipy.special import gammainc  # slow to load: only where it is needed

    chance, mean, square = np.zeros((3, len(share)))
    rows = np.flatnonzero(share)
    some, rate = expected[rows], rate[rows]
    any_change = -np.expm1(-some)
    chance[rows] = share[rows] * any_change
    mean[rows] = gammainc(2, some) / any_change / rate
    square[rows] = 2 * gammainc(3, some) / any_change / rate**2
    return chance, mean, np.maximum(square - mean**2, 0)


def _exact(
    times: Sequence[float] | Floats, end: float | Floats | None, offsets: Ints | None
) -> tuple[Floats, Ints, Floats]:
    """Changes after the origin and, if it did not end the observation, at its end; the end."""
    times = np.asarray(times, np.float64)
    offsets = np.array([0, len(times)]) if offsets is None else offsets
    page = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    last = np.zeros(len(offsets) - 1)
    if end is None:
        np.maximum.at(last, page, times)
    else:
        last[:] = end
    wrong = ~((times >= 0) & (times <= last[page]))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidHistory(
            f"page {page[row]}: changes must be between 0 and the end, {last[page[row]]} days "
            f"(got {times[row]})"
        )
    kept = times > 0
    if end is None:
        # One of a page's latest changes: it was what ended the observation.
        order = np.lexsort((times, page))
        times, kept = times[order], kept[order]
        kept[offsets[1:][np.diff(offsets) > 0] - 1] = False
    return times[kept], np.concatenate([[0], np.cumsum(sums(kept, offsets, np.int64))]), last


def _status_of_exact(count: Ints) -> Statuses:
    return np.where(count > 0, TrendStatus.OK, TrendStatus.NO_CHANGE_SEEN).astype(np.uint8)


def _sign(statistic: Floats) -> Changes:
    """1, -1, or 0 for nan."""
    return np.sign(np.nan_to_num(statistic)).astype(np.int8)
