r"""Quality as one rate of decay, no matter where it comes from.

$$ \hat q(d) = e^{-rd}, \qquad y = -\ln\frac{x + 1/2}{n + 1/2} \Big/ d, \qquad
   r \leftarrow r + (1 - .8^{\min(d, 14) / 7})\, \mathrm{clip}(y - r,\ -r,\ r + .5 / (n d)) . $$

Cheap, and the best of three for recall over 14 days where loads are frequent.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

# Chosen on four listings, one set for all of them.
_KEEP, _WEEK, _LONGEST = 0.8, 7.0, 14.0
_MARGIN = 0.5


@dataclass(frozen=True, slots=True)
class Decay:
    """Rate of log decay a day of one metric.

    Args:
        rate: Log decay a day.
        cycles: How many cycles of training it is the mean of.

    Examples:
        Of 100 objects 80 are left after 7 days; had only 30 been left, it would be clipped:

        >>> decay = Decay(0.03)
        >>> round(decay.learn(80, 100, 7).rate, 6), round(decay.learn(30, 100, 7).rate, 6)
        (0.03034, 0.036143)
    """

    rate: float = 0.0
    cycles: int = 0

    def train(self, there: float, size: float, days: float) -> Decay:
        """Take one more cycle of training into the mean."""
        cycles = self.cycles + 1
        return Decay(self.rate + (log_decay(there, size) / days - self.rate) / cycles, cycles)

    def learn(self, there: float, size: float, days: float) -> Decay:
        """Follow what a cycle after training has shown."""
        step = 1.0 - _KEEP ** (min(days, _LONGEST) / _WEEK)
        error = log_decay(there, size) / days - self.rate
        most = self.rate + _MARGIN / (max(size, 1.0) * days)
        return Decay(self.rate + step * min(max(error, -self.rate), most), self.cycles)

    def path(self, days: Floats) -> Floats:
        """Quality after each number of days."""
        return np.exp(-self.rate * days)


def log_decay(there: float, size: float) -> float:
    """Log decay of a count, kept finite where nothing is left."""
    return max(-log((there + 0.5) / (size + 0.5)), 0.0)
