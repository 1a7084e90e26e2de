r"""What a fresh copy is for: five objectives, and what a visit is worth for each.

A page that was last visited $\tau$ days ago costs $c(\tau)$ a day by being out of date. Visits
are spent best where each page is visited when the *value*

$$ V(\tau) = \tau c(\tau) - \int_0^\tau c $$

reaches one price for all pages. A rate that is known only as a Gamma distribution is integrated
over, not replaced by its mean.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from recrawl.visits.arrays import Floats

_NEAR_ZERO = 1e-8  # where (1 - e^-z) / z is 1 - z / 2 to the last bit


class Objective(Protocol):
    """What a visit is worth, `elapsed` days after the one before, for a page of weight 1."""

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages of known rate."""
        ...

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages whose rate follows Gamma(shape, exposure)."""
        ...


@dataclass(frozen=True, slots=True)
class Freshness:
    """Share of time in which the copy is up to date."""

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """(1 - (1 + x) e^-x) / rate with x = rate * elapsed."""
        x = rate * elapsed
        return (-np.expm1(-x) - x * np.exp(-x)) / rate

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """G - elapsed rho^a."""
        logs = np.log1p(elapsed / exposure)
        return _fresh_days(shape, exposure, logs) - elapsed * np.exp(-shape * logs)


@dataclass(frozen=True, slots=True)
class Harmonic:
    """Sum of 1/k over the changes missed: each further one hurts less."""

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Elapsed - (1 - e^-x) / rate with x = rate * elapsed."""
        return elapsed + np.expm1(-rate * elapsed) / rate

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed - G."""
        return elapsed - _fresh_days(shape, exposure, np.log1p(elapsed / exposure))


def _fresh_days(shape: Floats, exposure: Floats, logs: Floats) -> Floats:
    """E[(1 - e^(-rate * elapsed)) / rate], given log(1 + elapsed / exposure)."""
    power = (shape - 1) * logs
    near = np.abs(power) < _NEAR_ZERO
    safe = np.where(near, 1.0, power)
    return exposure * logs * np.where(near, 1 - power / 2, -np.expm1(-safe) / safe)
