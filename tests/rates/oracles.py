"""Slow, independent answers: the likelihood of one page by the book, and its posterior by force.

Nothing here shares a line with `recrawl.rates`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl import Histories
    from recrawl.arrays.types import Floats
    from tests.strategies import Seen


MICROSECOND = 1 / 86_400e6  # in days: instants are no finer, so no age is shorter


class Evidence(NamedTuple):
    """Events at known times, quiet days, and the lengths of gaps that hide changes."""

    events: int
    quiet: float
    hidden: list[float]

    @property
    def changes(self) -> int:
        return self.events + len(self.hidden)

    def with_half_a_gap(self, page: Sequence[Seen]) -> Evidence:
        """Half a virtual quiet gap more (algorithms.md 2)."""
        return self._replace(quiet=self.quiet + sum(gap.gap for gap in page) / len(page) / 2)

    def log_likelihood(self, rate: float) -> float:
        """Logarithm of `r^D e^(-rE) prod(1 - e^(-rc))`."""
        chances = sum(math.log(-math.expm1(-rate * gap)) for gap in self.hidden)
        return self.events * math.log(rate) - rate * self.quiet + chances

    def score(self, log_rate: float) -> float:
        """Slope of the log-likelihood in ln r: `D + sum(x / (e^x - 1)) - rE` with x = rc."""
        rate = math.exp(log_rate)
        pulls = (rate * gap / math.expm1(min(rate * gap, 700)) for gap in self.hidden)
        return self.events + sum(pulls) - rate * self.quiet

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of the root: `(D+m) / (E+C/2)` and `(D+m) / E`."""
        return (
            self.changes / (self.quiet + sum(self.hidden) / 2),
            self.changes / self.quiet,
        )

    def most_likely(self) -> float:
        """Root of the score between its bounds, a hair wider against rounding."""
        low, high = self.bracket
        return math.exp(_root(self.score, math.log(low) - 1e-6, math.log(high) + 1e-6))

    def falls_by(self, drop: float) -> tuple[float, float]:
        """Rates on both sides of the most likely one where its logarithm is lower by `drop`."""
        best = math.log(self.most_likely())
        top = self.log_likelihood(math.exp(best))

        def above(log_rate: float) -> float:
            return self.log_likelihood(math.exp(log_rate)) - top + drop

        low, high = best - 1, best + 1
        while above(low) > 0:
            low -= 1
        while above(high) > 0:
            high += 1
        return math.exp(_root(above, low, best)), math.exp(_root(above, best, high))

    def rate_with_chance(self, chance: float) -> float:
        """Rate at which what was seen has that chance, for hidden changes alone."""
        wanted = math.log(chance)
        return math.exp(
            _root(lambda log_rate: self.log_likelihood(math.exp(log_rate)) - wanted, -50, 50)
        )


def evidence_of(page: Sequence[Seen]) -> Evidence:
    """Sort a page's gaps by what they tell (the table of beyond.md 1)."""
    events, quiet, hidden = 0, 0.0, []
    for seen in page:
        if seen.count >= 0:
            events, quiet = events + seen.count, quiet + seen.gap
        elif not math.isnan(seen.age):
            events, quiet = events + 1, quiet + max(seen.age, MICROSECOND)
        elif seen.changed:
            hidden.append(seen.gap)
        else:
            quiet += seen.gap
    return Evidence(events, quiet, hidden)


def _root(function: Any, low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-14))


class ExactGrid:
    """The likelihood of pages on a grid of the logarithm of the rate (beyond.md 2.2).

    For pages with equally many gaps, none dated or counted. The grid is the same for all pages
    and wide enough for priors of shape 0.25 and more; a trapezoid over it is exact to many digits
    because a posterior is smooth and falls off on both sides.
    """

    def __init__(self, histories: Histories) -> None:
        self.log_rate: Floats = np.linspace(-60, 10, 800)
        self.log_likelihood: Floats = np.zeros((len(histories), len(self.log_rate)))
        gaps = histories.gaps.reshape(len(histories), -1)
        changed = histories.changed.reshape(gaps.shape)
        for rank in range(gaps.shape[1]):
            expected = np.outer(gaps[:, rank], np.exp(self.log_rate))
            chance = np.log(-np.expm1(-expected))
            self.log_likelihood += np.where(changed[:, rank, np.newaxis], chance, -expected)

    def posterior(self, shape: float, exposure: float) -> Posterior:
        """Posterior of each page under one Gamma prior."""
        log_prior = shape * self.log_rate - exposure * np.exp(self.log_rate)
        log_prior += shape * math.log(exposure) - gammaln(shape)
        joint = self.log_likelihood + log_prior
        node = self.log_rate[1] - self.log_rate[0]
        total = logsumexp(joint, axis=1)
        weights = np.exp(joint - total[:, np.newaxis])
        return Posterior(
            log_evidence=total + math.log(node),
            mean=weights @ np.exp(self.log_rate),
            geometric_mean=np.exp(weights @ self.log_rate),
        )


class Posterior(NamedTuple):
    """Of each page: ln of the chance of what was seen, and two means of its rate."""

    log_evidence: Floats
    mean: Floats
    geometric_mean: Floats
