"""The price that keeps a budget while a crawl runs.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite

from recrawl.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class PriceController:
    r"""Raises the price while too many visits are made, and lowers it while too few are.

    After each period, such as a minute,

    $$ \ln p \leftarrow \ln p + g \left( \frac{visits}{budget} - 1 \right) . $$

    No page need be planned anew: pages are due when their value reaches the price, so the one
    number steers all of them, and many workers share it.

    Args:
        budget: Visits wanted in a period.
        gain: How strongly to steer, $g$; 0.05 keeps the budget within some per cent without
            chasing chance.

    Examples:
        Ten per cent too many visits:

        >>> round(PriceController(budget=100).after(1.0, visits=110), 4)
        1.005
    """

    budget: float
    gain: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what cannot steer."""
        for name, figure in (("budget", self.budget), ("gain", self.gain)):
            if not (figure > 0 and isfinite(figure)):
                message = f"{name} of a controller must be a positive number (got {figure})"
                raise InvalidParameter(message)

    def after(self, price: float, visits: float) -> float:
        """Price after a period in which so many visits were made."""
        # A burst of a thousand budgets at once moves the price by a factor of e at most.
        return price * exp(min(self.gain * (visits / self.budget - 1), 1.0))
