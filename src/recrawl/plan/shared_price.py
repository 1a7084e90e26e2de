r"""One price for many workers, who share a budget and know only their own pages.

Every worker spends what its pages are worth at a price. If all have the same price, the budget is
spent as one process would spend it. To find it, workers publish *spending curves*: what each would
spend per day at a few prices around the one that it has. Any one of them adds the curves up and
sets the price at which their sum is the budget,

$$ \sum_w S_w(p) = B . $$

Between two prices a curve is a power of the price, and its ends go on so: demand is nearly such a
power ($p^{-1/2}$ where pages are visited more often than they change). So a few prices do, workers
may publish around different prices, and late curves are as good as new ones while demand is the
same. Nobody knows a curve far beyond its ends, so the price moves at most by `FURTHEST` beyond the
prices that were asked for; the next curves are around it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.solver.search import Spending, find_prices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Ints

FURTHEST = 4.0  # factor by which a price may leave the range that was asked for
# Prices of a curve: so many, each so much above the one before. Not tuned: in
# benchmarks/price_controller.py three and five kept the budget as well as seven.
_POINTS = 7
_STEP = 1.5
_NOTHING = 1e-9  # of the largest spending of a curve: stands for 0, of which there is no logarithm
_NEAR = 1e-9
# Visits come by chance: of n, sqrt(n) more or fewer. Made up for in the time of so many visits,
# that moves the aim by a twentieth. Within an hour, whatever the budget, 300 visits a day gave a
# freshness of .669 where .686 is the optimum (benchmarks/price_controller.py, 60 workers).
_VISITS_TO_MAKE_UP = 400.0
_SOONEST = 1 / 24  # days
_STEEPEST = 50.0  # power with which an end of a curve may go on


def prices_around(price: float) -> Floats:
    """Prices at which a worker publishes what it would spend.

    >>> prices_around(1.0).round(2)
    array([0.3 , 0.44, 0.67, 1.  , 1.5 , 2.25, 3.38])
    """
    if not 0 < price < np.inf:
        raise InvalidParameter(f"price must be a positive number (got {price})")
    return price * _STEP ** np.arange(-(_POINTS // 2), _POINTS // 2 + 1, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class SpendingCurve:
    """What a worker would spend at a few prices.

    Args:
        prices: Rising prices, two at least.
        visits: Visits per day at each; falling, or level.

    Examples:
        A worker that makes 10 visits a day at price 1 and half as many at price 4:

        >>> curve = SpendingCurve([1.0, 4.0], [10.0, 5.0])
        >>> round(curve.at(2.0), 3), round(curve.at(16.0), 3)
        (7.071, 2.5)
    """

    prices: Floats
    visits: Floats

    def __post_init__(self) -> None:
        """Check that it is a curve, and that it falls."""
        for name in ("prices", "visits"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64))
        prices, visits = self.prices, self.visits
        if prices.ndim != 1 or len(prices) < 2 or prices.shape != visits.shape:  # noqa: PLR2004
            raise InvalidParameter(
                "a spending curve must have as many visits as prices, two or more "
                f"(got {prices.shape} and {visits.shape})"
            )
        rising = (np.diff(prices) > 0).all() and prices[0] > 0 and prices[-1] < np.inf
        falling = (np.diff(visits) <= 0).all() and visits[-1] >= 0 and visits[0] < np.inf
        if not (rising and falling):
            raise InvalidParameter(
                "a spending curve must fall while its prices rise "
                f"(got {visits.tolist()} visits at {prices.tolist()})"
            )

    def at(self, price: float) -> float:
        """Visits per day at a price."""
        return float(_Curves.of([self]).spending(price).total[0])


@dataclass(frozen=True, slots=True, eq=False)
class SlotDemand:
    """What a part of a crawl would spend, and what it has spent.

    Args:
        curve: Visits per day at a few prices.
        pages: How many pages share the budget.
        spent: Visits of the last day.
        live: Whether somebody crawls it.
    """

    curve: SpendingCurve
    pages: int
    spent: int
    live: bool = True


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """What a part of a crawl may spend.

    Args:
        visits_a_day: Its share of the budget.
        most: Visits of a day, with those that it has made.
    """

    visits_a_day: float
    most: int


def budget_shares(
    demands: Mapping[int, SlotDemand], visits_a_day: float
) -> tuple[float, dict[int, BudgetShare]]:
    """The price of a visit, and what each live part of a crawl may spend at that price.

    Shares are what parts would spend at the price of all. What nobody has spent yet of the last
    day's budget is divided likewise: so all together never spend more, wherever shares move to.

    Args:
        demands: What each part would spend; one of them at least is live.
        visits_a_day: The budget of all of them.

    Examples:
        Pages of the first part are worth a visit twice as often. Of 15 visits a day nine are made:

        >>> one = SlotDemand(SpendingCurve([1.0, 4.0], [20.0, 10.0]), pages=5, spent=7)
        >>> two = SlotDemand(SpendingCurve([1.0, 4.0], [10.0, 5.0]), pages=5, spent=2)
        >>> price, shares = budget_shares({0: one, 1: two}, 15.0)
        >>> round(price, 6), [round(each.visits_a_day, 6) for each in shares.values()]
        (4.0, [10.0, 5.0])
        >>> [each.most for each in shares.values()]
        [11, 4]
    """
    live = {slot: each for slot, each in demands.items() if each.live}
    price = shared_price([each.curve for each in live.values()], visits_a_day)
    wanted = {slot: each.curve.at(price) for slot, each in live.items()}
    total, left = sum(wanted.values()), visits_a_day - sum(each.spent for each in demands.values())
    part = {slot: each / total for slot, each in wanted.items()}
    more = _whole_parts(part, int(max(left, 0.0)))
    return price, {
        slot: BudgetShare(visits_a_day * part[slot], each.spent + more[slot])
        for slot, each in live.items()
    }


def _whole_parts(parts: Mapping[int, float], total: int) -> dict[int, int]:
    """Whole numbers in proportion to parts, whose sum is the total: the largest remainders first.

    >>> _whole_parts({0: 0.5, 1: 0.3, 2: 0.2}, 2)
    {0: 1, 1: 1, 2: 0}
    """
    found = {key: int(total * each) for key, each in parts.items()}
    by_rest = sorted(parts, key=lambda key: (found[key] - total * parts[key], key))
    for key in by_rest[: total - sum(found.values())]:
        found[key] += 1
    return found


def shared_price(curves: Sequence[SpendingCurve], budget: float) -> float:
    r"""Price at which the workers together spend the budget.

    Args:
        curves: What each worker published last. Leave out those that have gone: what they would
            spend, the others may.
        budget: Visits per day of all of them.

    Examples:
        One worker spends $10 / \sqrt p$, the other $20 / \sqrt p$. With 15 visits a day the price
        is 4, wherever the two have published:

        >>> one = SpendingCurve([1.0, 9.0], [10.0, 10 / 3])
        >>> other = SpendingCurve([0.25, 1.0], [40.0, 20.0])
        >>> round(shared_price([one, other], 15.0), 6)
        4.0
    """
    if not curves:
        raise InvalidParameter("a shared price needs the curve of one worker at least (got none)")
    if not 0 < budget < np.inf:
        raise InvalidParameter(f"budget must be a positive number of visits per day (got {budget})")
    joined = _Curves.of(curves)
    lowest = float(np.exp(joined.prices.min())) / FURTHEST
    highest = float(np.exp(joined.prices.max())) * FURTHEST
    if joined.spending(lowest).total[0] <= budget:
        return lowest
    if joined.spending(highest).total[0] >= budget:
        return highest

    def spend(price: Floats, rows: Ints) -> Spending:
        del rows
        return joined.spending(float(price[0]))

    start = np.sqrt(lowest * highest)
    found = find_prices(spend, np.array([budget]), np.array([start]), _NEAR)
    return float(np.clip(found.high[0], lowest, highest))


def aimed_spending(budget: float, spent: float, days: float, *, most: float = 0.25) -> float:
    """Visits per day to aim at now, so that what was spent too much or too little is made up for.

    Curves are estimates, and workers hear of a price late: without this, what they miss adds up. It
    is made up for within an hour, or as long as 400 visits take if that is longer: sooner, the
    price would follow the chance of single visits.

    Args:
        budget: Visits per day.
        spent: Visits made so far.
        days: Days in which they were made.
        most: Share of the budget by which the aim may differ from it.

    Examples:
        Half a day in, 100 visits of 50,000 are missing. Made up for in an hour, that is 2,400 a day
        more:

        >>> round(aimed_spending(100_000.0, spent=49_900.0, days=0.5), 6)
        102400.0
    """
    within = max(_SOONEST, _VISITS_TO_MAKE_UP / budget)
    missing = (budget * days - spent) / within
    return float(budget + np.clip(missing, -most * budget, most * budget))


@dataclass(frozen=True, slots=True, eq=False)
class _Curves:
    """Many curves end to end, as logarithms; `offsets` says where each begins."""

    prices: Floats
    visits: Floats
    offsets: Ints

    @classmethod
    def of(cls, curves: Sequence[SpendingCurve]) -> _Curves:
        visits = [
            np.maximum(each.visits, max(each.visits[0] * _NOTHING, 1e-300)) for each in curves
        ]
        return cls(
            np.log(np.concatenate([each.prices for each in curves])),
            np.log(np.concatenate(visits)),
            np.cumsum([0, *(len(each.prices) for each in curves)]),
        )

    def spending(self, price: float) -> Spending:
        """What all of them spend, and how fast that falls."""
        at = np.log(price)
        below = np.add.reduceat(self.prices <= at, self.offsets[:-1], dtype=np.int64)
        # The piece between two prices, the first or the last one beyond the ends.
        last = np.diff(self.offsets) - 2
        left = self.offsets[:-1] + np.clip(below - 1, 0, last)
        power = (self.visits[left] - self.visits[left + 1]) / (
            self.prices[left + 1] - self.prices[left]
        )
        power = np.minimum(power, _STEEPEST)
        each = np.exp(self.visits[left] - power * (at - self.prices[left]))
        total = np.array([each.sum()])
        return Spending(total, np.array([each @ power]), total)
