"""The estimators by the names that people type.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recrawl.errors import InvalidParameter
from recrawl.rates.gamma import Gamma
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.ratio import Ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.rates.estimates import Estimates
    from recrawl.rates.priors import Priors
    from recrawl.visits.histories import Histories


class Estimator(Protocol):
    """Whatever turns histories into estimates."""

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate a page, in changes per day."""


# Each makes an estimator from fitted priors and the level of its bands.
METHODS: dict[str, Callable[[Priors, float], Estimator]] = {
    "gamma": lambda priors, level: Gamma(priors, level=level),
    "likelihood": lambda _, level: Likelihood(level=level),
    "likelihood-plain": lambda _, level: Likelihood(singularity="none", level=level),
    "ratio": lambda _, level: Ratio(level=level),
}
USES_PRIORS = frozenset({"gamma"})


def check_method(name: str) -> None:
    """Refuse a name that no estimator has."""
    if name not in METHODS:
        message = f"method must be one of {', '.join(METHODS)} (got {name!r})"
        raise InvalidParameter(message)
