"""What is known of the rates that a plan is made for: figures, or a Gamma distribution each.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rates of many pages, known or believed to follow Gamma distributions.

    Args:
        rate: Changes a day, 0 or more; of an uncertain rate its mean.
        shape: Events of the distribution of each rate, as `Estimates` has them; None if all rates
            are known.
        exposure: Days of the distribution.

    Examples:
        >>> Rates.known([0.5, 2.0]).rate
        array([0.5, 2. ])
        >>> Rates.gamma(shape=[1.0, 3.0], exposure=[2.0, 2.0]).rate
        array([0.5, 1.5])
    """

    rate: Floats
    shape: Floats | None = None
    exposure: Floats | None = None

    @classmethod
    def known(cls, rate: ArrayLike) -> Rates:
        """Rates taken for certain."""
        return cls(column("rate", rate, low=0))

    @classmethod
    def gamma(cls, shape: ArrayLike, exposure: ArrayLike) -> Rates:
        """Rates that follow Gamma(shape, exposure); a plan integrates over them."""
        events = column("shape", shape, low=0, strictly=True)
        days = column("exposure", exposure, count=len(events), low=0, strictly=True)
        return cls(events / days, events, days)

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.rate)

    def take(self, rows: Ints | slice) -> Rates:
        """Some of the pages."""
        if self.shape is None or self.exposure is None:
            return Rates(self.rate[rows])
        return Rates(self.rate[rows], self.shape[rows], self.exposure[rows])


def column(
    name: str,
    values: ArrayLike,
    *,
    count: int | None = None,
    low: float = 0.0,
    strictly: bool = False,
    infinite: bool = False,
) -> Floats:
    """A column of figures of one length; refuse one that is out of range."""
    if count is not None and np.ndim(values) == 0:
        values = np.full(count, values)
    figures = np.ascontiguousarray(values, np.float64)
    if figures.ndim != 1 or (count is not None and len(figures) != count):
        wanted = "one figure a page" if count is None else f"one figure for each of {count} pages"
        raise InvalidParameter(f"{name} must have {wanted} (got {figures.shape})")
    least, most = (figures.min(), figures.max()) if len(figures) else (1.0, 1.0)
    good = least > low if strictly else least >= low
    if not good or not (most < np.inf or (infinite and most == np.inf)):
        bad = ~(figures > low if strictly else figures >= low)
        bad |= ~(figures < np.inf) if not infinite else np.isnan(figures)
        page = int(np.argmax(bad))
        rule = f"{'more than' if strictly else 'at least'} {low:g}"
        message = f"page {page}: {name} must be a number, {rule} (got {figures[page]})"
        raise InvalidParameter(message)
    return figures
