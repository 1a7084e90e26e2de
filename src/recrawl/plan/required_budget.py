"""The budget that a wanted freshness requires: the fewest visits per day that reach it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.checks import check_fraction
from recrawl.plan.allocation import allocate, pages_to_plan
from recrawl.plan.limits import Limits
from recrawl.plan.objectives import Freshness, Harmonic
from recrawl.plan.rates import Rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.spending import PricedPages

_NO_LIMITS = Limits()
_DEFAULT = Harmonic()
_STEP = 2.0  # of the logarithm of a price, at first
_CLOSE = 1e-4  # prices so near each other are good to a part in a hundred million when mixed
_LEAST_STEP = 0.01
_EXTREME = 1e200


class Needed(NamedTuple):
    """The budget that a wanted freshness requires.

    Attributes:
        visits: Visits a day: the fewest that suffice, or if none do, what caps let be spent.
        freshness: What they keep fresh, of all pages alike.
        suffices: Whether that is as much as was wanted.
    """

    visits: float
    freshness: float
    suffices: bool


def visits_needed(
    rates: Rates | ArrayLike,
    freshness: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    limits: Limits = _NO_LIMITS,
    near: float = 1e-6,
) -> Needed:
    """Fewest visits a day at which the best plan keeps a share of the copies fresh.

    A plan with more visits is never less fresh, whatever its objective: each page is visited more
    often as the price falls. Only caps keep it from any freshness below 1.

    Args:
        rates: As for `allocate`.
        freshness: The share that is wanted, between 0 and 1.
        objective: As for `allocate`.
        weight: As for `allocate`; the share that is fresh is of all pages alike.
        limits: As for `allocate`.
        near: Share of the visits by which the answer may be off.

    Examples:
        A page that changes once a day is fresh for 1 - 1 / e of the time if it is visited once a
        day, and half of the time if it is visited 0.6275 times. Three hundred visits a day would
        not do for 99.9 %:

        >>> [round(visits_needed([1.0], share).visits, 4) for share in (1 - np.exp(-1), 0.5)]
        [1.0, 0.6275]
        >>> visits_needed([1.0], 0.999, limits=Limits(most=300)).suffices
        False
    """
    check_fraction(freshness=freshness)
    known = Rates.of(rates)
    if not len(known):
        return Needed(0.0, np.nan, suffices=True)
    search = _Search.of(known, objective, limits, weight)
    fewest, most = search.fewest, search.most
    if fewest.fresh >= freshness:
        return Needed(fewest.spent, fewest.fresh, suffices=True)
    if most.fresh < freshness:
        return Needed(most.spent, most.fresh, suffices=False)
    found = _mixed(
        search, freshness, _narrowed(search, freshness, _bracket(search, freshness)), near
    )
    return Needed(found.spent, found.fresh, suffices=True)


class _Point(NamedTuple):
    """What some visits to each page come to: their sum, and the share that is fresh."""

    visits: Floats
    spent: float
    fresh: float
    log: float = np.nan  # of the price that they come from


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Pages at a price, those of full hosts at a price of their own.

    Args:
        rates: What is known of the rates of the pages.
        pages: The pages, with what holds them.
        full: Visits to each if its host is asked as often as it can be; None without such hosts.
    """

    rates: Rates
    pages: PricedPages
    full: Floats | None

    @classmethod
    def of(
        cls, rates: Rates, objective: Objective, limits: Limits, weight: ArrayLike | None
    ) -> _Search:
        pages = pages_to_plan(rates, objective, limits, weight)
        caps = pages.limits.host_most
        if caps is None or not np.isfinite(caps).any():
            return cls(rates, pages, None)
        # More than all hosts can be asked: what pages of hosts without a cap get is not read.
        more = 2 * float(caps[np.isfinite(caps)].sum()) + 1
        plan = allocate(rates, more, objective=objective, weight=weight, limits=limits)
        return cls(rates, pages, plan.visits_per_day)

    @property
    def fewest(self) -> _Point:
        """What floors alone come to."""
        return self._point(self.pages.limits.floors(len(self.pages)))

    @property
    def most(self) -> _Point:
        """What caps come to; a page without one is always fresh."""
        limits = self.pages.limits
        visits = np.full(len(self.pages), np.inf) if limits.most is None else limits.most
        if self.full is not None and limits.host is not None and limits.host_most is not None:
            visits = np.where(np.isfinite(limits.host_most)[limits.host], self.full, visits)
        return self._point(visits)

    @property
    def start(self) -> float:
        """Logarithm of a price that is about right for some page."""
        return -log(float(np.median(self.pages.demand.scale.clip(1 / _EXTREME, _EXTREME))))

    def at(self, price_log: float) -> _Point:
        """What the price comes to of which this is the logarithm."""
        visits = self.pages.visits(exp(price_log))
        host, caps = self.pages.limits.host, self.pages.limits.host_most
        if self.full is not None and host is not None and caps is not None:
            over = np.bincount(host, visits, len(caps)) > caps
            visits = np.where(over[host], self.full, visits)
        return self._point(visits, price_log)

    def between(self, few: _Point, many: _Point, share: float) -> _Point:
        """What visits between two points come to."""
        return self._point(few.visits + share * (many.visits - few.visits))

    def _point(self, visits: Floats, price_log: float = np.nan) -> _Point:
        with np.errstate(divide="ignore", invalid="ignore"):  # for ever, or no time at all
            interval = 1 / visits
            loss = self.rates.loss(Freshness(), interval)
        fresh = np.where(interval > 0, 1 - loss, 1.0)
        return _Point(visits, float(visits.sum()), float(fresh.mean()), price_log)


def _bracket(search: _Search, freshness: float) -> tuple[_Point, _Point]:
    """A price at which too little is fresh, and one at which enough is."""
    here = search.at(search.start)
    step = _STEP if here.fresh >= freshness else -_STEP
    while True:
        there = search.at(here.log + step)
        if (there.fresh >= freshness) != (here.fresh >= freshness):
            return (there, here) if step > 0 else (here, there)
        here, step = there, 2 * step


def _narrowed(
    search: _Search, freshness: float, ends: tuple[_Point, _Point]
) -> tuple[_Point, _Point]:
    """Two such prices that are close to each other, by the Illinois method (regula falsi).

    An end that stays twice counts for half as much, so that both of them move.
    """
    few, many = ends
    below, above = freshness - few.fresh, many.fresh - freshness
    stayed = 0
    while few.log - many.log > _CLOSE:
        share = min(max(above / (above + below), _LEAST_STEP), 1 - _LEAST_STEP)
        middle = search.at(many.log + (few.log - many.log) * share)
        if middle.fresh >= freshness:
            many, above = middle, middle.fresh - freshness
            below, stayed = (below / 2 if stayed > 0 else below), 1
        else:
            few, below = middle, freshness - middle.fresh
            above, stayed = (above / 2 if stayed < 0 else above), -1
    return few, many


def _mixed(search: _Search, freshness: float, ends: tuple[_Point, _Point], near: float) -> _Point:
    """The fewest visits between two prices that suffice, by bisection."""
    few, many = ends
    low, high, found = 0.0, 1.0, many
    while (high - low) * (many.spent - few.spent) > near * found.spent:
        middle = search.between(few, many, (low + high) / 2)
        if middle.fresh >= freshness:
            high, found = (low + high) / 2, middle
        else:
            low = (low + high) / 2
    return found
