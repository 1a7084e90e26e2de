"""Exact allocation of a budget, within the caps of pages and hosts.

Pure.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.solver.search import NEAR, Spending, find_prices
from recrawl.plan.solver.spending import by_group

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.plan.solver.search import Bracket
    from recrawl.plan.solver.spending import PricedPages

_SAMPLE = 16384  # pages that give a first price
_MANY = 4 * _SAMPLE
_ROUGH = 1e-3
LITTLE = 2 * NEAR  # share of a budget that may be spread; twice, for sums in another order
ROUNDING = 1 + 1e-12  # what adding up in another order may do
NEXT_TO_NOTHING = 1e-290  # a price that stands for 0


class Allocation(NamedTuple):
    """An allocated budget: visits per day of each page, the price, and the price at each host."""

    visits: Floats
    price: float
    host_price: Floats | None


def allocate_budget(pages: PricedPages, budget: float) -> Allocation:
    """Spend a budget where visits are worth most."""
    if not len(pages):
        return Allocation(np.empty(0), 0.0, None if pages.limits.host is None else np.empty(0))
    _check(pages, budget)
    host, caps = pages.limits.host, pages.limits.host_most
    if most_spending(pages) <= budget * ROUNDING:
        prices = np.full(2, NEXT_TO_NOTHING)
    elif budget <= pages.costs(pages.limits.floors(len(pages))):
        prices = np.full(2, np.inf)
    else:
        start = _guess(pages, budget)
        if host is None and len(pages) >= _MANY:
            start = _quick_price(pages, budget, start)
            visits = pages.visits_nearby(start)
            if _spread_rest(pages, budget, visits):
                return Allocation(visits, start, None)
        prices = np.concatenate(_bracket(pages, budget, start))
    low, high = prices.tolist()
    if host is None or caps is None:
        visits = _mixed(pages, budget, low, high)
        return Allocation(visits, reported(high), None)
    visits, host_price = _mixed_by_host(pages, budget, low, high)
    return Allocation(visits, reported(high), np.maximum(host_price, reported(high)))


def reported(price: float) -> float:
    """The price as users see it."""
    return 0.0 if price == NEXT_TO_NOTHING else price


def _check(pages: PricedPages, budget: float) -> None:
    """Check that budget and caps pay for all floors."""
    least, host, caps = pages.limits.least, pages.limits.host, pages.limits.host_most
    if least is None:
        return
    floors = pages.costs(least)
    if floors > budget * ROUNDING:
        message = f"budget must pay for the least visits of all pages, {floors:g} (got {budget:g})"
        raise InvalidParameter(message)
    if host is None or caps is None:
        return
    by_host = pages.costs_by(host, len(caps), least)
    if (by_host > caps * ROUNDING).any():
        number = int(np.argmax(by_host > caps * ROUNDING))
        raise InvalidParameter(
            f"host {number}: most visits must pay for the least visits of its pages, "
            f"{by_host[number]:g} (got {caps[number]:g})"
        )


def most_spending(pages: PricedPages) -> float:
    """What would be spent if visits were free."""
    limits = pages.limits
    if limits.most is None and limits.host is None and pages.demand.live.any():
        return np.inf
    most = np.full(len(pages), np.inf) if limits.most is None else limits.most
    most = np.where(pages.demand.live, most, limits.floors(len(pages)))
    if limits.host is None or limits.host_most is None:
        return pages.costs(most)
    by_host = pages.costs_by(limits.host, len(limits.host_most), most)
    return float(np.minimum(by_host, limits.host_most).sum())


def _bracket(pages: PricedPages, budget: float, start: float, near: float = NEAR) -> Bracket:
    """Price of a budget, or two on both sides of it."""
    host, caps = pages.limits.host, pages.limits.host_most

    def spend(price: Floats, rows: Ints) -> Spending:
        del rows
        if host is None or caps is None:
            return pages.spending(float(price[0]))
        some = pages.spending_by(host, len(caps), float(price[0]))
        full = some.total > caps
        parts = np.where(full, caps, some.total), *(np.where(full, 0, part) for part in some[1:])
        return Spending(*(np.array([part.sum()]) for part in parts))

    return find_prices(spend, np.array([budget]), np.array([start]), near)


def _guess(pages: PricedPages, budget: float) -> float:
    """A first price, by a sample if there are many pages."""
    scale = pages.demand.scale
    start = 1 / float(np.median(scale[:: max(len(scale) // _SAMPLE, 1)].clip(1e-200, 1e200)))
    if len(pages) < _MANY:
        return start
    rows = _sample(pages)
    some = pages.take(rows).roughly()
    share = budget * len(rows) / max(len(pages), 1)
    floors = some.costs(some.limits.floors(len(rows)))
    if not floors < share < most_spending(some) / ROUNDING:
        return start
    guess = float(_bracket(some, share, start, _ROUGH).high[0])
    return guess if 0 < guess < np.inf else start


def _sample(pages: PricedPages) -> Ints:
    """Some pages, evenly; all pages of some hosts where hosts have caps."""
    step = len(pages) // _SAMPLE
    if pages.limits.host is None:
        return np.arange(0, len(pages), step)
    return np.flatnonzero(pages.limits.host % step == 0)


def _quick_price(pages: PricedPages, budget: float, start: float) -> float:
    """Price at which the budget is spent to about ten digits, from one that is nearly right.

    For very many pages, in as few passes over them as possible. What most pages spend changes
    smoothly with the price: a pass with the slope says what they spend at any price nearby, to six
    digits at first and from there to twelve. The few pages near their cut-off do not change
    smoothly, so they are asked again at every price.
    """
    edge, price = pages.take(pages.demand.edge(start)), start
    for asked, few in ((pages.roughly(), edge.roughly()), (pages, edge)):
        whole, part = asked.spending(price), few.spending(price)
        rest = float(whole.total[0] - part.total[0])
        slope = float(whole.slope[0] - part.slope[0])
        if rest <= 0 or slope <= 0:
            break
        price = _extrapolated(edge, budget, price, (rest, slope / rest))
    return price


def _extrapolated(
    edge: PricedPages, budget: float, price: float, rest: tuple[float, float]
) -> float:
    """Price where pages near their cut-off and the rest, extrapolated, spend the budget."""
    spent, steep = rest

    def spend(at: Floats, rows: Ints) -> Spending:
        del rows
        others = spent * exp(-steep * log(float(at[0]) / price))
        some = edge.spending(float(at[0]))
        return Spending(some.total + others, some.slope + others * steep, some.free + others)

    found = find_prices(spend, np.array([budget]), np.array([price]), near=1e-13)
    at = float(found.high[0])
    return at if 0 < at < np.inf else price


def _mixed(pages: PricedPages, budget: float, low: float, high: float) -> Floats:
    """Visits at a price, or between two prices, so that just the budget is spent."""
    visits = pages.visits(high)
    if low == high:
        _spread_rest(pages, budget, visits)
        return visits
    more = pages.visits(low)
    few, many = pages.costs(visits), pages.costs(more)
    visits += (more - visits) * ((budget - few) / (many - few))
    return visits


def _spread_rest(pages: PricedPages, budget: float, visits: Floats) -> bool:
    """Spend the little that is left of a budget, in proportion; whether it was little enough."""
    spent = pages.costs(visits)
    free = visits if pages.limits.is_free else pages.free(visits)
    total = spent if free is visits else pages.costs(free)
    rest = budget - spent
    if abs(rest) > LITTLE * total:
        return False
    if free is visits and rest:
        visits *= 1 + rest / total
    elif rest:
        visits += free * (rest / total)
    return True


def _mixed_by_host(
    pages: PricedPages, budget: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """The same where hosts have caps; full hosts at a price of their own."""
    host, caps = pages.limits.host, pages.limits.host_most
    assert host is not None  # noqa: S101 - with mypy in mind: asked for only where there are hosts
    assert caps is not None  # noqa: S101
    count = len(caps)
    visits = pages.visits(high)
    few = pages.costs_by(host, count, visits)
    full = few > caps * ROUNDING
    if low == high:
        left = budget - float(np.where(full, caps, few).sum())
        free = pages.free(visits)
        total = pages.costs(np.where(full[host], 0.0, free))
        if 0 < abs(left) <= LITTLE * total:
            visits += np.where(full[host], 0.0, free) * (left / total)
    else:
        more = pages.visits(low)
        many = np.minimum(pages.costs_by(host, count, more), caps)
        kept = np.where(full, caps, few)
        share = (budget - kept.sum()) / max(float((many - kept)[~full].sum()), 1e-300)
        whole = pages.costs_by(host, count, more) - few
        with np.errstate(divide="ignore", invalid="ignore"):
            of_host = np.where(whole > 0, share * (many - few) / whole, 0.0)
        visits += (more - visits) * by_group(np.where(full, 0.0, of_host), host)
    # The pages of full hosts were only counted at their caps so far: each host gets a price of its
    # own, above the common one, at which it spends just its cap.
    prices = np.full(count, high)
    _fill_hosts(pages, full, visits, prices)
    return visits, prices


def _fill_hosts(pages: PricedPages, full: Bools, visits: Floats, prices: Floats) -> None:
    """Visits to the pages of full hosts, and the hosts' prices, written into what is there."""
    host, caps = pages.limits.host, pages.limits.host_most
    assert host is not None  # noqa: S101
    assert caps is not None  # noqa: S101
    rows = np.flatnonzero(full[host])
    if not len(rows):
        return
    number = np.cumsum(full) - 1
    some, group, target = pages.take(rows), number[host[rows]], caps[full]
    search = _HostSearch(some, group, len(target))
    found = find_prices(search.spend, target, np.maximum(prices[full], NEXT_TO_NOTHING) * 2)
    few = some.visits(by_group(found.high, group))
    spent = some.costs_by(group, len(target), few)
    free = some.free(few)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (target - spent) / some.costs_by(group, len(target), free)
    rest = np.where((found.low == found.high) & (np.abs(rest) <= LITTLE), rest, 0.0)
    filled = few + free * by_group(rest, group)
    # A page at its cut-off makes a host's spending jump between two neighbouring prices: mix the
    # visits on both sides so that just the cap is spent.
    torn = np.flatnonzero((found.low < found.high)[group])
    if len(torn):
        many = some.take(torn).visits(found.low[group[torn]])
        more = np.zeros(len(few))
        more[torn] = many - few[torn]
        whole = some.costs_by(group, len(target), more)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(whole > 0, (target - spent) / whole, 0.0)
        filled += more * by_group(share, group)
    visits[rows] = filled
    prices[full] = found.high


class _HostSearch:
    """Spending of hosts that are still searched, with only their pages at hand."""

    def __init__(self, pages: PricedPages, group: Ints, groups: int) -> None:
        self.pages, self.group = pages, group
        self.numbers = np.arange(groups)

    def spend(self, prices: Floats, hosts: Ints) -> Spending:
        """Spending of some hosts, which are fewer from call to call."""
        if 2 * len(hosts) <= len(self.numbers):
            self._narrow(hosts)
        at = np.ones(len(self.numbers))
        places = np.searchsorted(self.numbers, hosts)
        at[places] = prices
        found = self.pages.spending_by(self.group, len(self.numbers), at)
        return Spending(*(part[places] for part in found))

    def _narrow(self, hosts: Ints) -> None:
        new = np.full(len(self.numbers), -1)
        new[np.searchsorted(self.numbers, hosts)] = np.arange(len(hosts))
        group = new[self.group]
        rows = np.flatnonzero(group >= 0)
        self.pages, self.group, self.numbers = self.pages.take(rows), group[rows], hosts
