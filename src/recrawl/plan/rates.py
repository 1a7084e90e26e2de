"""Change rates that a plan is made for: known, or one Gamma distribution per page.

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
    from recrawl.plan.objectives import Objective


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rates of many pages, known or as Gamma distributions.

    Args:
        rate: Changes per day, 0 or more; the mean of an uncertain rate.
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
    def of(cls, rates: Rates | ArrayLike) -> Rates:
        """Rates as they are, or figures taken for certain."""
        return rates if isinstance(rates, Rates) else cls.known(rates)

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

    def loss(self, objective: Objective, interval: Floats) -> Floats:
        """Loss per day of pages visited every `interval` days, expected over uncertain rates."""
        if self.shape is None or self.exposure is None:
            return objective.loss(self.rate, interval)
        return objective.expected_loss(self.shape, self.exposure, interval)


def weight_and_cost(
    columns: tuple[ArrayLike | None, ArrayLike | None], count: int
) -> tuple[Floats | None, Floats | None]:
    """Weights and costs as columns; None where all are 1."""
    weight, cost = columns
    return (
        None if weight is None else column("weight", weight, count=count),
        None if cost is None else column("cost", cost, count=count, strictly=True),
    )


def column(
    name: str,
    values: ArrayLike,
    *,
    count: int | None = None,
    low: float = 0.0,
    strictly: bool = False,
    infinite: bool = False,
) -> Floats:
    """A column of figures, checked for length and range."""
    if count is not None and np.ndim(values) == 0:
        values = np.full(count, values)
    figures = np.ascontiguousarray(values, np.float64)
    if figures.ndim != 1 or (count is not None and len(figures) != count):
        wanted = "one figure per page" if count is None else f"one figure for each of {count} pages"
        raise InvalidParameter(f"{name} must have {wanted} (got {figures.shape})")
    least, most = (figures.min(), figures.max()) if len(figures) else (1.0, 1.0)
    good = least > low if strictly else least >= low
    if not good or not (most < np.inf or (infinite and most == np.inf)):
        bad = ~(figures > low if strictly else figures >= low)
        bad |= ~(figures < np.inf) if not infinite else np.isnan(figures)
        page = int(np.argmax(bad))
        rule = f"{'more than' if strictly else 'at least'} {low:g}"
        raise InvalidParameter(
            f"page {page}: {name} must be a number, {rule} (got {figures[page]})"
        )
    return figures
