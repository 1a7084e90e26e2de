"""Missed changes: how many changes the copy is behind.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


@dataclass(frozen=True, slots=True)
class Missed:
    r"""Changes that the copy is behind.

    The cost is $c(t) = rt$, so $V(\tau) = r \tau^2 / 2$, and visits go with $\sqrt{w r}$. Only the
    mean of an uncertain rate matters, $a / b$.

    Examples:
        >>> Missed().value(np.array([0.1, 1.0, 10.0]), np.array([1.0]))
        array([0.05, 0.5 , 5.  ])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "missed"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Rate elapsed^2 / 2."""
        return rate * elapsed * elapsed / 2

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """The same with the mean rate, shape / exposure."""
        return self.value(shape / exposure, elapsed)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Mean number of changes missed, rate interval / 2."""
        with np.errstate(invalid="ignore"):  # a page that never changes and is never visited
            return np.where(rate > 0, rate * interval / 2, 0.0)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """The same with the mean rate."""
        return self.loss(shape / exposure, interval)

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / visits: twice as many as at equal intervals."""
        return 2 * self.loss(rate, interval)

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Mean rate times elapsed."""
        return shape / exposure * elapsed
