"""Forecasters of listings by name; whoever writes one adds it here.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recrawl.listings.forecast.ar_forecaster import Autoregressive
from recrawl.listings.forecast.forecaster import AGE, DECAY, POOLED, Forecaster
from recrawl.listings.forecast.static import Static
from recrawl.listings.forecast.survival_forecaster import Survival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.data.cycles import Cycle, Stock
    from recrawl.listings.forecast.forecast import Forecast

State = TypeVar("State")


class Method(Protocol[State]):
    """Whatever learns from cycles and looks ahead; its state is a value."""

    def start(self, training: Sequence[Cycle], groups: int = 1) -> State:
        """Learn from the cycles of training."""
        ...

    def learn(self, state: State, cycle: Cycle) -> State:
        """Learn from one more cycle."""
        ...

    def forecast(self, state: State, stock: Stock, ahead: int) -> Forecast:
        """Look ahead from a sync."""
        ...


DEFAULT = "mixture"
BASELINE = "static"
METHODS: dict[str, Method[Any]] = {
    DEFAULT: Forecaster(),
    POOLED: Forecaster((POOLED,)),
    AGE: Forecaster((AGE,)),
    DECAY: Forecaster((DECAY,)),
    BASELINE: Static(),
    "refit": Static(refit=True),
    "ar": Autoregressive("ar"),
    "ar-published": Autoregressive("ar-published"),
    "survival": Survival(),
}
