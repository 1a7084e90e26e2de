"""Malcolm and Armitage's estimator for visits that show only whether a page changed.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.checks import check_choice, check_fraction
from recrawl.rates.published.regular import Regular

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Malcolm:
    r"""Average change interval from the days that passed unchanged.

    In $S$ days from the first visit to the last, $k$ gaps changed, and the others were $U$ days
    long. The mean interval between changes is

    $$ A = \frac{(S - U) / k}{\ln(S / U)} , \qquad \frac{1}{1/A + 1/S} $$

    where the second form takes out the bias of $A$ when changes are few. The rate is its
    inverse, $1/A + 1/S$: never below one change in the time watched. A page that never changed
    has just that rate. Where every gap changed the interval is 0 and the rate infinite;
    `"half"` adds half an average gap to $S$ and $U$, which keeps it finite.

    $1/A$ is the most likely rate if the changed gaps were equally long. It is biased upwards as
    a rate, in spite of what the paper says of it.

    The band is that of Clopper and Pearson for as many changes in as many gaps, moved to where
    this rate lies.

    Args:
        singularity: `"none"` as published, or `"half"`.
        level: Probability that the rate lies in its band.

    References:
        Malcolm and Armitage. Bandwidth efficient web object change interval estimation.
        Equation 3.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> Malcolm().estimate(daily).mean_interval.round(6)
        array([0.98397])
    """

    singularity: Literal["none", "half"] = "none"
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        check_choice(("none", "half"), singularity=self.singularity)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Regular.of(histories)
        changed, quiet = (days / seen.length for days in _days(histories))  # in average gaps
        expected = self._expected(seen.changes, changed, quiet)
        estimates = seen.estimates(expected, self._band(seen, expected), self._name)
        return replace(estimates, flags=histories.flags.copy())  # irregular gaps are no matter

    def changes_a_gap(self, changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""
        changed, quiet = changes.astype(np.float64), (gaps - changes).astype(np.float64)
        return self._expected(changes, changed, quiet)

    @property
    def _name(self) -> str:
        return "malcolm" if self.singularity == "none" else "malcolm-half"

    def _expected(self, changes: Ints, changed: Floats, quiet: Floats) -> Floats:
        """Changes to expect in a gap, from the changed and the quiet time in average gaps."""
        if self.singularity == "half":
            quiet = quiet + 0.5
        with np.errstate(divide="ignore", invalid="ignore"):  # nothing changed, or everything did
            most_likely = changes * np.log1p(changed / quiet) / changed
            return np.where(changes > 0, most_likely, 0.0) + 1 / (changed + quiet)

    def _band(self, seen: Regular, expected: Floats) -> tuple[Floats, Floats]:
        """Clopper and Pearson's band, stretched by what equal gaps would have been expected."""
        low, high = seen.band(self.level)
        gaps = np.maximum(seen.gaps, 1)
        inside = (seen.changes > 0) & (seen.changes < gaps)
        if_equal = 1 / gaps - np.log1p(-np.where(inside, seen.changes / gaps, 0.0))
        stretch = np.where(inside, expected, 1.0) / np.where(inside, if_equal, 1.0)
        return low * stretch, high * stretch


def _days(histories: Histories) -> tuple[Floats, Floats]:
    """Days of each page's gaps that showed a change, and of those that did not.

    Each is added up by itself: a difference would lose a few quiet seconds among years.
    """
    changed, quiet = np.empty(len(histories)), np.empty(len(histories))

    def work(pages: slice) -> None:
        rows, edges = histories.block(pages)
        gaps, flags = histories.gaps[rows], histories.changed[rows]
        changed[pages], quiet[pages] = sums(gaps * flags, edges), sums(gaps * ~flags, edges)

    over_blocks(work, len(histories))
    return changed, quiet
