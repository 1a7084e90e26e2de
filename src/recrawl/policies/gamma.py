r"""Policy by the expected value of a visit, with each rate as a Gamma distribution.

Every page has a rate that follows Gamma($a$, $b$). Visits move $a$ and $b$; what they added stays
with the page, while the prior $a_0$, $b_0$ that all pages share is fitted again and again to the
pages visited so far. At first a page is supposed to change once in a mean gap.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import with_rows
from recrawl.arrays.special import digamma, trigamma
from recrawl.policies.due import due_at_price
from recrawl.rates.gamma_state import step
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.policies.pages import Outcomes, Pages

_SHAPE = 0.5  # of the first prior
_FITS_A_GAP = 16
_FEWEST_PAGES = 50  # that were visited, for a fit
_SHAPES = (0.05, 5.0)  # of a fitted prior
_LEAST_GROWTH = 1e-4
_NEWTON_STEPS = 5
_FLOOR = 1e-3  # of shape and exposure


@dataclass(slots=True)
class GammaState:
    """State of each page, and the prior of all.

    Args:
        last: When each page was last visited, in days after 1970.
        shape: What visits added to the prior's shape.
        exposure: What visits added to the prior's exposure, in days.
        importance: Weight of each page over its cost.
        prior: Shape and exposure before any visit.
        gap: Mean days between visits to a page.
        fitted: When the prior was last fitted, in days after 1970.
    """

    last: Floats
    shape: Floats
    exposure: Floats
    importance: Floats
    prior: tuple[float, float]
    gap: float
    fitted: float

    def known(self, rows: Ints | slice) -> tuple[Floats, Floats]:
        """Shape and exposure of some pages."""
        shape = np.maximum(self.prior[0] + self.shape[rows], _FLOOR)
        return shape, np.maximum(self.prior[1] + self.exposure[rows], _FLOOR)


@dataclass(frozen=True, slots=True)
class GammaPolicy:
    r"""Visit the pages that are worth most, whatever their rates may turn out to be.

    $$ \text{value} = \frac{\text{weight}}{\text{cost}} \; E[V(\tau)], \qquad
       \text{rate} \sim \text{Gamma}(a, b) , $$

    $\tau$ days after the last visit, where $V$ is what the objective says for a known rate. With
    `plug_in` the mean $a/b$ stands for the rate instead: pages believed too fast are then given
    up, and never looked at again.

    Args:
        objective: What a fresh copy is for.
        plug_in: Whether to use the mean rate instead of the expectation.

    Examples:
        A week after a visit, with a mean gap of 30 days (shape 1/2, exposure 15 days):

        >>> from recrawl.plan.objectives import Freshness
        >>> from recrawl.policies.pages import Pages
        >>> day = np.array(["2026-01-01", "2026-01-08"], "datetime64[us]")
        >>> policy = GammaPolicy(Freshness())
        >>> state = policy.start(Pages.of(["a"], day[:1]), day[0], gap=30.0)
        >>> policy.value(state, np.array([0]), day[1]).round(6)
        array([0.551744])
    """

    objective: Objective
    plug_in: bool = False

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> GammaState:
        """State of a crawl that begins now with these pages."""
        return _unseen(pages, gap, float(epoch_days(now)))

    def found(self, state: GammaState, pages: Pages) -> GammaState:
        """State with more pages."""
        return with_rows(state, _unseen(pages, state.gap, state.fitted))

    def with_mean_gap(self, state: GammaState, gap: float) -> GammaState:
        """State of a crawl whose mean gap has moved; a prior that was fitted stays."""
        if state.prior == _first_prior(state.gap):
            state.prior = _first_prior(gap)
        state.gap = gap
        return state

    def seen(self, state: GammaState, rows: Ints, now: Instants, outcomes: Outcomes) -> GammaState:
        """State after visits."""
        if not len(rows):
            return state
        at = epoch_days(now)
        some = np.flatnonzero(at > state.last[rows])  # a second look at once shows nothing
        rows, at, outcomes = rows[some], at[some], outcomes.take(some)
        before = state.known(rows)
        after = step(*before, at - state.last[rows], outcomes.changed, outcomes.age)
        state.shape[rows] += after[0] - before[0]
        state.exposure[rows] += after[1] - before[1]
        state.last[rows] = at
        latest = float(at.max(initial=-np.inf))
        if latest >= state.fitted + state.gap / _FITS_A_GAP:
            state.fitted = latest
            state.prior = fitted_prior(state)
        return state

    def value(self, state: GammaState, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now."""
        return self._value_at(state, rows, np.full(len(rows), epoch_days(now)))

    def due(self, state: GammaState, rows: Ints, price: float) -> Instants:
        """When the value reaches the price; NaT where it never does."""
        return due_at_price(
            lambda at, some: self._value_at(state, rows[some], at), state.last[rows], price
        )

    def _value_at(self, state: GammaState, rows: Ints, at: Floats) -> Floats:
        elapsed = np.maximum(at - state.last[rows], 0.0)
        shape, exposure = state.known(rows)
        if self.plug_in:
            return state.importance[rows] * self.objective.value(shape / exposure, elapsed)
        return state.importance[rows] * self.objective.expected_value(shape, exposure, elapsed)


def _unseen(pages: Pages, gap: float, now: float) -> GammaState:
    """State of pages that were just found."""
    return GammaState(
        last=epoch_days(pages.first_seen),
        shape=np.zeros(len(pages)),
        exposure=np.zeros(len(pages)),
        importance=pages.weight / pages.cost,
        prior=_first_prior(gap),
        gap=gap,
        fitted=now,
    )


def _first_prior(gap: float) -> tuple[float, float]:
    """Half a change in half a gap."""
    return _SHAPE, _SHAPE * gap


def fitted_prior(state: GammaState) -> tuple[float, float]:
    r"""Prior whose mean and mean logarithm are those of the pages that were visited.

    With $M$ the mean of $a/b$ and $Q$ the mean of $\psi(a) - \ln b$ over these pages, the shape
    solves $\ln a_0 - \psi(a_0) = \ln M - Q$ and the exposure is $a_0 / M$. As it was where fewer
    than 50 pages were visited.
    """
    visited = np.flatnonzero(state.exposure > 0)
    if len(visited) < _FEWEST_PAGES:
        return state.prior
    shape, exposure = state.known(visited)
    mean = float((shape / exposure).mean())
    logs = float((digamma(shape) - np.log(exposure)).mean())
    fitted = float(np.clip(_shape_of(max(np.log(mean) - logs, _LEAST_GROWTH)), *_SHAPES))
    return fitted, fitted / mean


def _shape_of(spread: float) -> float:
    """Shape at which the logarithm of the mean exceeds the mean logarithm by so much."""
    shape = np.array([(3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)])
    for _ in range(_NEWTON_STEPS):
        off = np.log(shape) - digamma(shape) - spread
        # In the logarithm of the shape: no step leaves the positive numbers.
        shape = shape * np.exp(-off / (1 - shape * trigamma(shape)))
    return float(shape[0])
