r"""Forecasts of several experts, averaged by how well each has done lately.

$$ L_i \leftarrow 2^{-d/120} L_i + \frac{\min(e_i^2, 9 s^2)}{2 s^2}, \qquad
   \hat q = \frac{\sum_i e^{-L_i} \hat q_i}{\sum_i e^{-L_i}}, $$

with $s^2$ the typical squared error, followed by the median expert. One mixture a metric.

References:
    Cesa-Bianchi and Lugosi (2006). Prediction, learning, and games. Cambridge University Press,
    chapter 2.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

# Chosen on four listings, one set for all of them.
_HALF_LIFE = 120.0
_CAP = 9.0
_RISE, _FLOOR = 4.0, 1e-5
_LEAST = 1e-12  # a first cycle without any error


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Losses of the experts for one metric.

    Args:
        losses: Fading loss of each.
        variance: Typical squared error; 0 before the first cycle.

    Examples:
        >>> mixture = Mixture(np.zeros(3)).judge(7, np.array([0.02, 0.01, 0.03]))
        >>> mixture.shares.round(6)
        array([0.33442 , 0.486578, 0.179002])
    """

    losses: Floats
    variance: float = 0.0

    @property
    def shares(self) -> Floats:
        """Weight of each expert."""
        likelihood = np.exp(np.min(self.losses) - self.losses)
        shares: Floats = likelihood / np.sum(likelihood)
        return shares

    def judge(self, days: float, errors: Floats) -> Mixture:
        """Learn how far off each expert was."""
        squares = errors**2
        middle = float(np.median(squares))
        before = self.variance or max(middle, _LEAST)
        losses = self.losses * 0.5 ** (days / _HALF_LIFE)
        losses = losses + np.minimum(squares, _CAP * before) / (2 * before)
        variance = 0.9 * before + 0.1 * min(middle, _RISE * before + _FLOOR)
        return Mixture(losses, variance)
