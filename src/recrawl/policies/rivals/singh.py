r"""Singh's predictors: visits that follow the forecast of a window's next change.

A page's changes are points in time: dated, or in the middle of the gap in which they were found.
The rate of a *window* of points may fall or rise, and its mean time between changes at the last
visit says when to come next. `recrawl.trends.prediction` has the forecasts, and runs them over
whole records.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_choice, check_positive
from recrawl.trends.prediction import FORECASTERS, WindowSums
from recrawl.trends.windows import LEAST_POINTS

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_HAIR = 1e-9  # days: what rounding may take
_BOUND = 0.7  # of a forecast that grows while one waits
_LONGEST = 36_525.0  # days: a forecast beyond a century says no more than that


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
    the forecast grows while one waits, and only the share `bound` of it is waited: published for
    `weibull` alone, as 0.7.

    Args:
        forecaster: One of the table.
        share: Share of the mean time between changes to wait.
        bound: Share where the rate falls; None for 0.7 of `weibull`, all of the others.
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
    bound: float | None = None
    least: float = 0.5
    rewindow: bool = False
    threshold: int = 3

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(FORECASTERS, forecaster=self.forecaster)
        check_positive(share=self.share, bound=self._falling, least=self.least)

    def begin(self, found: Floats) -> tuple[Floats, WindowSums]:
        """The mean gap, and windows without points."""
        return np.full(len(found), np.nan), WindowSums.empty(self.forecaster, found.copy())

    def after(self, memory: WindowSums, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        age = np.where(np.isnan(visits.age), visits.gaps / 2, visits.age)
        point = visits.now - age
        new = visits.changed & (point > memory.origin[rows] + memory.last[rows] + _HAIR)
        memory.learn(rows[new], point[new], self.threshold if self.rewindow else None)
        wait = np.full(len(rows), np.nan)
        enough = np.flatnonzero(memory.count[rows] >= LEAST_POINTS)
        if len(enough):
            some = memory.take(rows[enough])
            days = some.wait(visits.now[enough], visits.gap, self.share, self._falling)
            wait[enough] = np.clip(days, self.least * visits.gap, _LONGEST)
        return wait

    @property
    def _falling(self) -> float:
        """Share of the forecast to wait where the rate falls."""
        if self.bound is not None:
            return self.bound
        return _BOUND if self.forecaster == "weibull" else 1.0
