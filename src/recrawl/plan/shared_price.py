r"""One price for many workers, who share a budget and know only their own pages.

Every worker spends what its pages are worth at a price. If all have the same price, the budget is
spent as one process would spend it. To find it, workers publish *spending curves*: what each would
spend per day at a few prices, which lie where its own pages are. Each of them adds the curves up
and finds the price at which their sum is the budget,

$$ \sum_w S_w(p) = B . $$

Between two prices a curve is a power of the price, and its ends go on so. Nobody knows a curve far
beyond its ends, so the price is at most `FURTHEST` beyond the prices that were published.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.budget import Budget, window_of
from recrawl.plan.solver.search import Spending, find_prices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Ints

FURTHEST = 4.0  # factor by which a price may leave the range that was asked for
_NOTHING = 1e-9  # of the largest spending of a curve: stands for 0, of which there is no logarithm
_NEAR = 1e-9
_GOLDEN = (5**0.5 - 1) / 2  # multiples of it spread evenly between whole numbers
_LEAST = 1e-6  # visits per day, so that a part that wants next to nothing still has a curve
_WORTHLESS = 1e-12  # a value, in days
_BEYOND_THE_BEST = 1.1  # times the value of the best page: there nothing is spent any more
_STEEPEST = 50.0  # power with which an end of a curve may go on


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
        return float(_Curves.of([self]).at(price)[0][0])


def curve_of_values(values: Floats, days: float, at_any_price: float) -> SpendingCurve:
    """What a worker spends on pages whose visits have these values in the days to come.

    Of the best page, the two best, the four best and so on: so it has few prices, and they lie
    where its pages are.

    Args:
        values: What a visit to each page is worth, best first.
        days: In which each page is visited once if it is worth the price.
        at_any_price: Visits per day that are made in any case.

    Examples:
        At a price of 2 the three best of four pages are visited within half a day:

        >>> curve = curve_of_values(np.array([8.0, 4.0, 2.0, 1.0]), 0.5, at_any_price=0.0)
        >>> curve.prices.round(2).tolist()
        [0.5, 1.0, 4.0, 8.0, 8.8, 9.68]
        >>> round(curve.at(1.0)), round(curve.at(4.0)), round(curve.at(2.0), 1)
        (8, 4, 5.7)
    """
    values = values[values > _WORTHLESS]
    if not len(values):
        return SpendingCurve(np.array([1.0, 2.0]), np.full(2, at_any_price + _LEAST))
    ranks = np.unique(np.append(2 ** np.arange(len(values).bit_length()), len(values)))
    prices = np.unique(values[ranks - 1])
    visits = np.searchsorted(-values, -prices, side="right") / days
    # Level at both ends, which go on as they are: all pages, and none.
    beyond = prices[-1] * _BEYOND_THE_BEST ** np.array([1, 2])
    prices = np.concatenate([prices[:1] / 2, prices, beyond])
    visits = np.concatenate([visits[:1], visits, [0.0, 0.0]])
    return SpendingCurve(prices, visits + at_any_price + _LEAST)


@dataclass(frozen=True, slots=True, eq=False)
class SlotDemand:
    """What a part of a crawl would spend and has spent, and what others may learn from it.

    Args:
        curve: Visits per day at a few prices.
        pages: How many pages share the budget.
        spent: Visits of the last day.
        live: Whether somebody crawls it.
        learned: Sums of what its policy has learned; those of several parts add up.
    """

    curve: SpendingCurve
    pages: int
    spent: int
    live: bool = True
    learned: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """What a part of a crawl may spend.

    Args:
        visits_a_day: Its share of the budget.
        most: Visits of a window, with those that it has made.
        window: Days of the window: the same for all parts.
        each_page: What the whole budget is for a page: the same for all parts.
    """

    visits_a_day: float
    most: int
    window: float
    each_page: Budget


def budget_per_page(demands: Mapping[int, SlotDemand], budget: Budget) -> Budget:
    """What the budget of all parts is for a page; itself while nobody knows of any page.

    >>> curve = SpendingCurve([1.0, 4.0], [20.0, 10.0])
    >>> budget_per_page({0: SlotDemand(curve, 5, 0), 1: SlotDemand(curve, 25, 0)}, Budget(15.0))
    Budget(visits=0.5, each='page')
    """
    pages = sum(each.pages for each in demands.values())
    return Budget(budget.visits_a_day(pages) / pages, "page") if pages else budget


def budget_shares(
    demands: Mapping[int, SlotDemand], budget: Budget
) -> tuple[float, dict[int, BudgetShare]]:
    """The price of a visit, and what each live part of a crawl may spend at that price.

    Shares are what parts would spend at the price of all. What nobody has spent yet of the last
    day's budget is divided likewise, in whole visits: so all together never spend more, wherever
    shares move to.

    Args:
        demands: What each part would spend; one of them at least is live.
        budget: The budget of all of them.

    Examples:
        Pages of the first part are worth a visit twice as often. Of 15 visits a day nine are made:

        >>> one = SlotDemand(SpendingCurve([1.0, 4.0], [20.0, 10.0]), pages=5, spent=7)
        >>> two = SlotDemand(SpendingCurve([1.0, 4.0], [10.0, 5.0]), pages=5, spent=2)
        >>> price, shares = budget_shares({0: one, 1: two}, Budget(15.0))
        >>> round(price, 6), [round(each.visits_a_day, 6) for each in shares.values()]
        (4.0, [10.0, 5.0])
        >>> [each.most for each in shares.values()]
        [11, 4]
    """
    live = {slot: each for slot, each in demands.items() if each.live}
    each_page = budget_per_page(demands, budget)
    pages = sum(each.pages for each in demands.values())
    visits_a_day = each_page.visits_a_day(max(pages, 1))
    window = window_of(visits_a_day)
    price = shared_price([each.curve for each in live.values()], visits_a_day)
    wanted, _ = _Curves.of([each.curve for each in live.values()]).at(price)
    share = visits_a_day * wanted / wanted.sum()
    spent = sum(each.spent for each in demands.values())
    left = int(max(visits_a_day * window - spent + _NEAR, 0.0))
    more = _whole_parts(wanted, left, turn=spent)
    return price, {
        slot: BudgetShare(visits, each.spent + most, window, each_page)
        for (slot, each), visits, most in zip(
            live.items(), share.tolist(), more.tolist(), strict=True
        )
    }


def _whole_parts(weights: Floats, total: int, turn: int) -> Ints:
    """Whole numbers in proportion to weights, whose sum is the total (systematic sampling).

    Each is at most one off. Who gets what is left of rounding changes from turn to turn: in many
    turns everyone has what is due.

    >>> weights = np.array([5.0, 3.0, 2.0])
    >>> _whole_parts(weights, 2, turn=0), _whole_parts(weights, 2, turn=1)
    (array([1, 0, 1]), array([1, 1, 0]))
    >>> sum(_whole_parts(weights, 2, turn) for turn in range(1000)) / 1000
    array([1.   , 0.601, 0.399])
    """
    ends = total * np.cumsum(weights) / np.sum(weights)
    ends[-1] = total
    places = np.floor(np.append(0.0, ends) + (turn * _GOLDEN) % 1.0)
    return np.diff(places).astype(np.int64)


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
        each, power = self.at(price)
        total = np.array([each.sum()])
        return Spending(total, np.array([each @ power]), total)

    def at(self, price: float) -> tuple[Floats, Floats]:
        """What each of them spends, and the power of the price with which that falls."""
        at = np.log(price)
        below = np.add.reduceat(self.prices <= at, self.offsets[:-1], dtype=np.int64)
        # The piece between two prices, the first or the last one beyond the ends.
        last = np.diff(self.offsets) - 2
        left = self.offsets[:-1] + np.clip(below - 1, 0, last)
        power = (self.visits[left] - self.visits[left + 1]) / (
            self.prices[left + 1] - self.prices[left]
        )
        power = np.minimum(power, _STEEPEST)
        return np.exp(self.visits[left] - power * (at - self.prices[left])), power
