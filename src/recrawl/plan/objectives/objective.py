r"""What every objective offers: what being out of date costs, and what a visit is worth.

A page that was last visited $\tau$ days ago costs $c(\tau)$ a day by being out of date. Visits
are spent best where each page is visited when the *value*

$$ V(\tau) = \tau c(\tau) - \int_0^\tau c $$

reaches one price for all pages. It is what one more visit a day would save. A rate that is known
only as a Gamma distribution is integrated over, not replaced by its mean.

With $x = rate \cdot \tau$ all five values have one form, $V = rate^{-p} g(x)$: the *power* $p$ and
the *gain* $g$ are all that a planner needs to know.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


class Objective(Protocol):
    """What is to be kept small, for a page of weight 1; all arrays have a row a page."""

    @property
    def power(self) -> int:
        """Power p of V = rate^-p g(rate * elapsed)."""
        ...

    @property
    def gain(self) -> str:
        """Name of g: "fresh", "harmonic", "age" or "missed"."""
        ...

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages of known rate."""
        ...

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages whose rate follows Gamma(shape, exposure)."""
        ...

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Time average of the cost of pages visited every `interval` days."""
        ...

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """The same for pages whose rate follows Gamma(shape, exposure)."""
        ...

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """The same at random instants, `interval` days apart on average (a Poisson process)."""
        ...

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed times the expected slope of the cost, c'(elapsed)."""
        ...
