r"""Singh's predictors: visits that follow the forecast of a window's next change.

A page's changes are points in time: dated, or in the middle of the gap in which they were found.
The rate of a *window* of points may fall or rise, and its mean time between changes at the last
visit says when to come next. What a window needs are sums over its points, so that a point costs
the same however many there were. `recrawl.trends.prediction` has the same forecasts for whole
records.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_choice, check_positive
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.matloff import Matloff
from recrawl.trends.prediction import FORECASTERS
from recrawl.trends.windows import LEAST_POINTS

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows
    from recrawl.rates.accuracy import Counting

_HAIR = 1e-9  # days, and sums: what rounding may take
_LONGEST = 36_525.0  # days: a forecast beyond a century says no more than that


@dataclass(slots=True)
class SinghMemory:
    """The current window of each page, as sums over its points.

    Args:
        origin: Where the window's time begins, in days after 1970.
        count: Its points.
        last: The latest, in days since the origin.
        logs: Sum of ln s over its points, s being days since the origin.
        squares: Sum of squares of these.
        heights: Sum of ln(s / i), i being the number of a point.
        products: Sum of ln s ln(s / i).
        odd: Points that disagree with the window's state.
        kind: 1 where gaps get longer, -1 where they get shorter, 0 where they stay.
        recent: The last five points of the page, in days after 1970, the latest at the end.
    """

    origin: Floats
    count: Floats
    last: Floats
    logs: Floats
    squares: Floats
    heights: Floats
    products: Floats
    odd: Ints
    kind: Floats
    recent: Floats


@dataclass(frozen=True, slots=True)
class Singh:
    r"""Come back after a share of the mean time between changes that the window has now.

    With $n \ge 4$ points at $s_1 < \dots < s_n$ days since the window began, asked $t$ days
    since then:

    | forecaster | mean time between changes |
    |---|---|
    | `weibull` | $s_n / (n b) \cdot (t / s_n)^{1 - b}$ with $b = (n - 2) / \sum \ln(s_n / s_i)$ |
    | `duane` | $e^a t^\gamma$ on the line $\ln(s_i / i) = a + \gamma \ln s_i$ |
    | `ratio` | $s_n / n$ |
    | `cho`, `matloff` | by their estimators, as if visited regularly with the mean gap |

    Before that the page waits for the mean gap. Where the rate falls ($b < 1$, $\gamma > 0$)
    only the share `decreasing` is waited: the forecast grows while one waits.

    Args:
        forecaster: One of the table.
        share: Share of the mean time between changes to wait.
        decreasing: Share where the rate falls.
        least: Fewest days to wait, in mean gaps.
        rewindow: Begin a new window where found changes disagree with the one so far and the
            last four agree with each other; else everything found extends the first window.
        threshold: Changes of a window that may disagree before that.

    References:
        Singh (2007). Estimating the rate of web page updates. IJCAI.

    Examples:
        A change every day, found at once, is expected every day (Weibull, falling a little):

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, yes = Singh("ratio"), np.array([0]), np.array([True])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> for day in range(1, 5):
        ...     now, age = np.array([float(day)]), np.zeros(1)
        ...     wait = rule.after(memory, row, VisitRows(now, np.ones(1), now, yes, age, gap=1.0))
        >>> wait
        array([1.])
    """

    forecaster: str = "weibull"
    share: float = 1.0
    decreasing: float = 0.7
    least: float = 0.5
    rewindow: bool = False
    threshold: int = 3

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(FORECASTERS, forecaster=self.forecaster)
        check_positive(share=self.share, decreasing=self.decreasing, least=self.least)

    def begin(self, found: Floats) -> tuple[Floats, SinghMemory]:
        """The mean gap, and windows without points."""

        def none() -> Floats:
            return np.zeros(len(found))

        memory = SinghMemory(
            origin=found.copy(),
            count=none(),
            last=none(),
            logs=none(),
            squares=none(),
            heights=none(),
            products=none(),
            odd=np.zeros(len(found), np.int64),
            kind=none(),
            recent=np.repeat(found[:, np.newaxis], LEAST_POINTS + 1, axis=1),
        )
        return np.full(len(found), np.nan), memory

    def after(self, memory: SinghMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        age = np.where(np.isnan(visits.age), visits.gaps / 2, visits.age)
        point = visits.now - age
        new = visits.changed & (point > memory.recent[rows, -1] + _HAIR)
        self._learn(memory, rows[new], point[new])
        wait = np.full(len(rows), np.nan)
        enough = np.flatnonzero(memory.count[rows] >= LEAST_POINTS)
        if len(enough):
            window = _of_rows(memory, rows[enough])
            days = self._wait(window, visits.now[enough] - window.origin, visits.gap)
            wait[enough] = np.clip(days, self.least * visits.gap, _LONGEST)
        return wait

    def _learn(self, memory: SinghMemory, rows: Ints, point: Floats) -> None:
        """Add a point to the window of each page, or begin a new one with it."""
        memory.recent[rows, :-1] = memory.recent[rows, 1:]
        memory.recent[rows, -1] = point
        if self.rewindow:
            anew = self._anew(memory, rows)
            self._begin(memory, rows[anew])
            rows, point = rows[~anew], point[~anew]
        _add(memory, rows, point)
        if self.rewindow:
            full = rows[memory.count[rows] == LEAST_POINTS]
            memory.kind[full] = _turns(memory.recent[full])[:, 1]

    def _anew(self, memory: SinghMemory, rows: Ints) -> Bools:
        """Whether the latest point does not belong to its window, but begins one of its own."""
        turns, full = _turns(memory.recent[rows]), memory.count[rows] >= LEAST_POINTS
        wrong = full & ~_agrees(memory.kind[rows], turns[:, -1])
        memory.odd[rows] += wrong
        return wrong & (memory.odd[rows] > self.threshold) & _agrees(turns[:, -2], turns[:, -1])

    @staticmethod
    def _begin(memory: SinghMemory, rows: Ints) -> None:
        """Begin a window with the last four points, the one before them being its origin."""
        points = memory.recent[rows]
        memory.origin[rows], memory.odd[rows] = points[:, 0], 0
        memory.kind[rows] = _turns(points)[:, 1]
        for sums in (memory.count, memory.logs, memory.squares, memory.heights, memory.products):
            sums[rows] = 0
        for number in range(1, LEAST_POINTS + 1):
            _add(memory, rows, points[:, number])

    def _wait(self, window: SinghMemory, since: Floats, gap: float) -> Floats:
        """Days until the next change is expected, as far as they should be waited."""
        count, last = window.count, window.last
        if self.forecaster == "weibull":
            beta = (count - 2) / np.maximum(count * np.log(last) - window.logs, _HAIR)
            power = np.exp((1 - beta) * np.log(np.maximum(since / last, 1.0)))
            return self._share(beta < 1) * last / (count * beta) * power
        if self.forecaster == "duane":
            slope, height = _line(window)
            with np.errstate(over="ignore"):  # a line as good as vertical
                days = np.exp(height + slope * (np.log(since) - window.logs / count))
            return self._share(slope > 0) * days
        if self.forecaster == "ratio":
            return self.share * last / count
        changes = count.astype(np.int64)
        gaps = np.maximum(np.rint(last / gap).astype(np.int64), changes)
        method: Counting = Cho() if self.forecaster == "cho" else Matloff()
        with np.errstate(divide="ignore"):  # all gaps changed: at once
            return self.share * gap / method.changes_a_gap(changes, gaps)

    def _share(self, decreasing: Bools) -> Floats:
        """Share of the expected time to wait."""
        return np.where(decreasing, self.decreasing, self.share)


def _add(memory: SinghMemory, rows: Ints, point: Floats) -> None:
    """Add a point to the sums of its window."""
    since = point - memory.origin[rows]
    memory.count[rows] += 1
    memory.last[rows] = since
    log = np.log(since)
    height = log - np.log(memory.count[rows])
    memory.logs[rows] += log
    memory.squares[rows] += log * log
    memory.heights[rows] += height
    memory.products[rows] += log * height


def _line(window: SinghMemory) -> tuple[Floats, Floats]:
    """Slope of the Duane plot's line, and its height over the mean ln s."""
    mean, height = window.logs / window.count, window.heights / window.count
    square = window.squares / window.count - mean * mean
    product = window.products / window.count - mean * height
    return product / np.maximum(square, _HAIR), height


def _of_rows(memory: SinghMemory, rows: Ints) -> SinghMemory:
    """The windows of some pages."""
    return SinghMemory(*(getattr(memory, name)[rows] for name in _COLUMNS))


def _turns(recent: Floats) -> Floats:
    """1, -1 or 0 where a gap between points is longer than the one before, shorter, or as long."""
    longer = np.diff(recent, n=2, axis=1)
    return np.sign(np.where(np.abs(longer) > _HAIR, longer, 0.0))


def _agrees(kind: Floats, turn: Floats) -> Bools:
    """Whether a gap is what its window says: as long as the one before, or off in its direction."""
    agrees: Bools = (turn == kind) | ((turn == 0) & (kind != 0))
    return agrees


_COLUMNS = [field.name for field in fields(SinghMemory)]
