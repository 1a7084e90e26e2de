r"""Forecasts of a part of a source: one group, or the objects that match a condition.

A part is forecast by the hazards of its own ages and groups, times a factor of its own, shrunk as
that of a group is:

$$ f = \frac{D + 40}{E + 40}, $$

D being the deaths seen in it and E those that the hazards made expect. What the mixture says of
the whole source beyond its hazards holds for the part too: with $y = -\ln q$,

$$ \hat y_{part} = y_{part} \, \hat y_{whole} / y_{whole} , $$

hats for the mixture, none for hazards by age.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.cycles import Stock
from recrawl.listings.forecast import Outlook
from recrawl.listings.forecaster import finished, outlook_by
from recrawl.listings.hazards import group_factor
from recrawl.listings.schedule import MOST_DAYS, days_to_next

if TYPE_CHECKING:
    from recrawl.listings.cycles import Cycle
    from recrawl.listings.forecast import Forecast
    from recrawl.listings.forecaster import Forecaster
    from recrawl.listings.schedule import Goal
    from recrawl.listings.state import State
    from recrawl.visits.arrays import Floats, Ints

# One arrival's worth that draws a part's share of arrivals to its share of the stock.
_SHARE_WEIGHT = 1.0
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Part:
    """What has been learnt of a part of a source.

    Args:
        deaths: Deaths seen in it, D.
        expected: Deaths that the hazards made expect, E.
        arrivals: Objects that came to it.
        all_arrivals: Objects that came to the whole source.
    """

    deaths: float = 0.0
    expected: float = 0.0
    arrivals: float = 0.0
    all_arrivals: float = 0.0

    def learn(self, state: State, cycle: Cycle, whole: Cycle) -> Part:
        """Learn from a cycle, before the whole source does.

        Args:
            state: What is known of the whole source.
            cycle: The part's cycle.
            whole: The same cycle of the whole source.
        """
        outlook = outlook_by(state.aged, state, cycle.stock, np.array([cycle.days]))
        return Part(
            self.deaths + float(np.sum(cycle.deleted)),
            self.expected + float(outlook.deleted[0]),
            self.arrivals + float(np.sum(cycle.inserted)),
            self.all_arrivals + float(np.sum(whole.inserted)),
        )

    @property
    def factor(self) -> float:
        """How much faster its objects die than their ages and groups say."""
        return float(group_factor(np.array(self.deaths), np.array(self.expected)))

    def share(self, guess: float) -> float:
        """Share of arrivals that come to it, drawn to a guess."""
        return (self.arrivals + _SHARE_WEIGHT * guess) / (self.all_arrivals + _SHARE_WEIGHT)


def forecast_part(
    forecaster: Forecaster, state: State, whole: Stock, stock: Stock, part: Part, *, ahead: int
) -> Forecast:
    """Forecast of a part of a source, day by day.

    Args:
        forecaster: Forecaster of the whole source.
        state: What it has learnt.
        whole: What the last synchronisation found.
        stock: What of it belongs to the part.
        part: What has been learnt of the part.
        ahead: How many days.
    """
    days = np.arange(1, ahead + 1)
    mixed = forecaster.forecast(state, whole, ahead)
    if "one-snapshot" in mixed.status:
        return replace(mixed, stock=stock.listed)
    aged = outlook_by(state.aged, state, whole, days)
    own = outlook_by(state.aged, state, stock, days)
    come = own.inserted * part.share(stock.listed / max(whole.listed, 1.0))
    faster = own.precision**part.factor
    plain = Outlook.of_counts(stock.listed, stock.listed * faster, come)
    if not stock.listed:
        return finished(state, stock, plain)
    kept = _moved(plain.precision, mixed.typical.precision, aged.precision)
    found = _moved(plain.recall, mixed.typical.recall, aged.recall)
    return finished(state, stock, Outlook.of_quality(stock.listed, kept, found))


def _moved(part: Floats, mixed: Floats, aged: Floats) -> Floats:
    """Quality of a part, its log decay moved as the mixture moves that of the whole source."""
    times = np.log(np.maximum(mixed, _LEAST)) / np.minimum(
        np.log(np.maximum(aged, _LEAST)), -_LEAST
    )
    moved: Floats = np.maximum(part, _LEAST) ** times
    return moved


def group_stock(stock: Stock, group: int) -> Stock:
    """What of a stock belongs to a group."""
    rows = stock.group == group
    return Stock(
        stock.day, stock.seen[rows], stock.before[rows], stock.group[rows], stock.count[rows]
    )


def group_days(forecaster: Forecaster, state: State, stock: Stock, goal: Goal) -> Ints:
    """Days until the next synchronisation of each group, where each may have its own.

    Args:
        forecaster: Forecaster of the whole source.
        state: What it has learnt.
        stock: What the last synchronisation found.
        goal: What every group is to keep.
    """
    total = float(np.sum(state.group_arrivals))
    days = []
    for group, arrivals in enumerate(state.group_arrivals.tolist()):
        own = group_stock(stock, group)
        part = Part(arrivals=arrivals, all_arrivals=total)
        forecast = forecast_part(forecaster, state, stock, own, part, ahead=MOST_DAYS)
        days.append(days_to_next(forecast, goal))
    return np.array(days, dtype=np.int64)
