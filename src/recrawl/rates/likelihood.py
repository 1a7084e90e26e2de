"""The rate under which what was seen is most likely, for gaps of any length.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_choice, check_fraction
from recrawl.rates.censored import Censored, band, most_likely
from recrawl.rates.estimates import Estimates, Status, status_of

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Likelihood:
    r"""Poisson change rate that makes the observed changes most likely.

    A visit tells only *whether* a page changed since the visit before, not how often. Under a
    Poisson process with rate $r$ a gap $g$ shows a change with probability $1 - e^{-rg}$; a
    change dated $t$ days before the visit has density $r e^{-rt}$. So the most likely rate
    solves

    $$ \frac{D}{r} + \sum_{\text{hidden}} \frac{g}{e^{rg} - 1} = E , $$

    with $D$ the dated or counted changes, $E$ the days known to be without one, and the sum
    over the gaps that changed at no known time. The left side falls from infinity to 0 as $r$
    grows, so there is one root. It lies at 0 if nothing changed, and at infinity if every gap
    changed and none is dated: there the likelihood has no maximum. `"half"` adds half a gap of
    average length to $E$, which keeps every rate finite and for equal gaps is exactly Cho and
    Garcia-Molina's bias-reduced estimator; `"none"` is the plain equation. Where a change is
    dated or counted there is a maximum anyway, and nothing is added.

    The band is where the likelihood is not too far below its maximum (likelihood ratio); where
    nothing or everything changed it is the exact one-sided bound.

    Args:
        singularity: `"half"` or `"none"`.
        level: Probability that the rate lies in its band.
        tolerance: Largest relative error of a returned rate.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290. Section 4.3.

    Examples:
        One change in four equal gaps gives $-\ln(3/4)$ changes per day:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1, 1, 1, 1], [True, False, False, False])])
        >>> Likelihood(singularity="none").estimate(daily).rate.round(4)
        array([0.2877])
    """

    singularity: Literal["half", "none"] = "half"
    level: float = 0.9
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level, tolerance=self.tolerance)
        check_choice(("half", "none"), singularity=self.singularity)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        columns = np.full((5, len(histories)), np.nan)

        def work(pages: slice) -> None:
            columns[:, pages] = self._block(Censored.of(histories, pages))

        over_blocks(work, len(histories))
        rate, low, high, shape, exposure = columns
        changes, visits = histories.changes, histories.visits
        status = status_of(changes, visits)
        # Finite only for the half gap that was added: the largest rate for this many gaps.
        status[np.isinf(high) & np.isfinite(rate)] = Status.SATURATED
        name = "likelihood" if self.singularity == "half" else "likelihood-plain"
        flags = histories.flags.copy()
        return Estimates(rate, low, high, shape, exposure, changes, visits, status, flags, name)

    def _block(self, seen: Censored) -> Floats:
        """Rate, low, high, shape and exposure of one block of pages."""
        quiet = seen.quiet
        if self.singularity == "half":
            quiet = quiet + _half_gap(seen)
        rate, information = most_likely(seen, quiet, self.tolerance)
        low, high = band(seen, quiet, rate, information, self.level)
        # The Gamma with the same mode and width on the logarithm's scale.
        figures = np.empty((5, len(rate)))
        figures[:, seen.page] = [rate, low, high, information, information / rate]
        return figures


def _half_gap(seen: Censored) -> Floats:
    """Quiet days to add: half a gap where all changes hide."""
    return np.where((seen.hidden > 0) & (seen.events == 0), seen.mean_gap / 2, 0)
