r"""Rates of many groups, each shrunk towards the others as far as its own removals leave doubt.

The groups' rates are taken for draws from a Gamma distribution with shape $a_0$ and exposure
$b_0$, and removals are Poisson given the rate. Then

$$ \alpha_g = \frac{a_0 + D_g}{b_0 + E_g} , $$

and $a_0, b_0$ are those under which the removals of all groups are most likely (negative
binomial). Groups that differ no more than chance makes them share one rate; no group is too
small to have one. For several sparse categories this is better than hard groups.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.listings.models.golden_section import golden_section_minimum

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_LOG_SHAPES = (-4.0, 12.0)  # a shape of 160,000: all groups alike
_MOST_STEPS = 100
_SETTLED = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """Rates of groups and the distribution they come from.

    Args:
        rate: Rate of each group.
        shape: Removals that the other groups are worth, a0; infinite where all are alike.
        exposure: Days they are worth, b0.
        removals: Removals in each group.
        days: Days listed in each group.
    """

    rate: Floats
    shape: float
    exposure: float
    removals: Floats
    days: Floats

    def band(self, level: float) -> tuple[Floats, Floats]:
        """Band that holds each rate with a probability."""
        if not np.isfinite(self.shape):
            return self.rate, self.rate
        tail = (1 - level) / 2
        shape, exposure = self.shape + self.removals, self.exposure + self.days
        return (gamma_quantile(shape, tail) / exposure, gamma_quantile(shape, 1 - tail) / exposure)


def shrunk_rates(removals: Floats, exposure: Floats) -> Shrunk:
    """Rates of groups by empirical Bayes.

    References:
        Robbins (1956). An empirical Bayes approach to statistics.
        Clayton and Kaldor (1987). Empirical Bayes estimates of age-standardized relative risks.
        Biometrics 43, 671-681.

    Examples:
        Two large groups differ tenfold; a group with a single day is put between them, and
        they keep their own.

        >>> found = shrunk_rates(np.array([100.0, 1000.0, 0.0]), np.array([1e4, 1e4, 1.0]))
        >>> found.rate.round(3)
        array([0.01 , 0.1  , 0.051])

        Groups that are alike share one rate:

        >>> shrunk_rates(np.array([10.0, 11.0, 9.0]), np.full(3, 100.0)).rate.round(3)
        array([0.1, 0.1, 0.1])
    """
    removals, exposure = np.asarray(removals, np.float64), np.asarray(exposure, np.float64)
    total, days = float(np.sum(removals)), float(np.sum(exposure))
    if not total:
        rate = np.full(len(removals), 0.0 if days else np.nan)
        return Shrunk(rate, float("inf"), float("inf"), removals, exposure)

    def loss(log_shape: float) -> float:
        return -_height(float(np.exp(log_shape)), removals, exposure)

    best = golden_section_minimum(loss, *_LOG_SHAPES, tolerance=1e-6)
    if loss(best) >= loss(_LOG_SHAPES[1]) - 1e-6:
        rate = np.full(len(removals), total / days)
        return Shrunk(rate, float("inf"), float("inf"), removals, exposure)
    shape = float(np.exp(best))
    worth = _best_exposure(shape, removals, exposure)
    return Shrunk((shape + removals) / (worth + exposure), shape, worth, removals, exposure)


def _height(shape: float, removals: Floats, exposure: Floats) -> float:
    """Log-likelihood of the removals for a shape, with the exposure that suits it best."""
    from scipy.special import gammaln  # slow to load: only where it is needed

    worth = _best_exposure(shape, removals, exposure)
    # Not b^a / (b + E)^(a + D) as it stands: for large shapes the logarithms cancel.
    terms = gammaln(shape + removals) - gammaln(shape) - shape * np.log1p(exposure / worth)
    return float(np.sum(terms - removals * np.log(worth + exposure)))


def _best_exposure(shape: float, removals: Floats, exposure: Floats) -> float:
    """Exposure b with a / b equal to the mean of (a + D) / (b + E), by Newton's method in ln b."""
    guess = float(np.log(shape * np.sum(exposure) / np.sum(removals)))
    for _ in range(_MOST_STEPS):
        worth = np.exp(guess)
        share = worth / (worth + exposure)
        posterior = (shape + removals) * share
        slope = float(np.sum(shape - posterior))
        step = slope / float(np.sum(posterior * (1 - share)))
        step = float(np.clip(step, -2, 2))
        guess += step
        if abs(step) < _SETTLED:
            break
    return float(np.exp(guess))
