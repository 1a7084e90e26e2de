r"""When to look at a source of new pages, and how many pages exist that nobody has found.

A page that exists and is not known is a copy that is missing. Under an objective of power $p$ a
missing copy costs $a^{p-1}$ a day when it is $a$ days late: 1 for freshness and the like, its age
for age. New pages come at a rate $r$, so a source that was looked at $\tau$ days ago costs
$c(\tau) = r \tau^p / p$ a day, and by the rule that holds for visits to pages, $V(\tau) =
\tau c(\tau) - \int_0^\tau c$ (`recrawl.plan.objectives`), a look is worth

$$ V(\tau) = \text{weight} \cdot \frac{r \tau^{p+1}}{p + 1} : $$

new pages expected, times how late they are on the mean, for $p = 1$. A look is made when that
reaches the price of a visit times what the look costs. So looks and visits share a budget as visits
among each other do: with twice the budget both are made more often. The rate alone counts, not how
it is scattered: ten pages at once are as much to miss as ten in turn.

Of a new source the rate is a guess. So it is looked at sooner than that says: after ten visits of
the budget at first, and then after as long as it has been watched.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.sources import SourceKind
from recrawl.frontier.backoff import recheck_after, retry_after
from recrawl.units import SECONDS_A_DAY, days

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.entries.sources import Source
    from recrawl.plan.objectives import Objective

# Decisions, not tuned on data. Sources that date pages tell of changes, too.
_LEAST, _MOST, _MOST_DATED = days("10s"), days("1w"), days("1d")
_VISITS_A_PROBE = 10.0
_DELAYS = 10.0  # of its host between two looks: at most a tenth of its requests are looks
_BYTES_A_REQUEST = float(1 << 20)  # a body as large as this costs one more request
_LEVEL = 0.9
_SURE = 1e-9  # a count whose variance is below this part of its mean is known


@dataclass(frozen=True, slots=True)
class LookTerms:
    """What a look at the sources of a site is measured by.

    Args:
        price: What a visit must be worth.
        weight: How much a fresh copy of the site's pages matters.
        power: Power of the objective.
        delay: Days between two requests to the host.
        visit_every: Days between two visits of the budget.
        backlog: Days that the budget takes for new pages that wait already.
        fixed: Days between looks, as a person wants them; None where they are chosen.
    """

    price: float
    weight: float = 1.0
    power: int = 1
    delay: float = 0.0
    visit_every: float = 0.0
    backlog: float = 0.0
    fixed: float | None = None


class SourceTable:
    """The sources of a crawl, by the origin of their site.

    Args:
        sources: Those known at first.
    """

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._origins: dict[str, dict[str, Source]] = {}
        for source in sources:
            self.put(source)

    def __iter__(self) -> Iterator[Source]:
        """All sources."""
        return chain.from_iterable(each.values() for each in list(self._origins.values()))

    def of(self, origin: str) -> list[Source]:
        """Sources of an origin, in the order in which they were found."""
        return list(self._origins.get(origin, {}).values())

    def count(self, origin: str) -> int:
        """How many sources an origin has."""
        return len(self._origins.get(origin, {}))

    def get(self, origin: str, address: str) -> Source | None:
        """A source of an origin; None where it has none at this address."""
        return self._origins.get(origin, {}).get(address)

    def put(self, source: Source) -> None:
        """Take in a source, or what is known of it now."""
        self._origins.setdefault(source.origin, {})[source.address] = source

    def drop(self, source: Source) -> None:
        """Forget a source."""
        self._origins.get(source.origin, {}).pop(source.address, None)


def value_of_look(rate: float, elapsed: float, terms: LookTerms) -> float:
    """What a look is worth at a source of a rate, so many days after the last.

    Four pages a day, half a day ago: two pages that are a quarter of a day late on the mean.

    >>> value_of_look(4.0, 0.5, LookTerms(price=0.1))
    0.5
    """
    more = terms.power + 1
    return terms.weight * rate * elapsed**more / more


def look_interval(source: Source, terms: LookTerms) -> float:
    """Days between two looks at a source.

    >>> from recrawl.entries.sources import Source, SourceKind
    >>> feed = Source("https://a.org/feed", "https://a.org", SourceKind.FEED)
    >>> feed = feed.after_look(0.0, 20).after_look(0.9 * 86_400, 40)
    >>> round(feed.rate), round(look_interval(feed, LookTerms(price=0.2)), 2)  # 40 x 0.1^2 / 2
    (40, 0.1)
    """
    if source.follows_index:
        return _MOST_DATED
    if terms.fixed is not None and source.kind is not SourceKind.HUB:
        return terms.fixed
    more, cost = terms.power + 1, 1 + source.size / _BYTES_A_REQUEST
    worth = terms.weight * source.rate
    interval = float((more * terms.price * cost / worth) ** (1 / more))
    if not source.parent:  # an index may have hundreds, which would all be probed
        probe = max(_VISITS_A_PROBE * terms.visit_every, source.exposure)
        interval = min(interval, probe)
    # What is found while others wait would wait, too.
    interval = max(interval, terms.backlog, _LEAST, _DELAYS * terms.delay)
    return min(interval, _MOST_DATED if source.dated else _MOST)


def next_look(source: Source, terms: LookTerms) -> float:
    """When to look at a source next, in days after 1970; at once where nobody has yet."""
    if terms.fixed == inf:
        return inf
    tried, looked = source.tried_at_seconds, source.looked_at_seconds
    if source.failures and tried is not None:
        # What has never been there is asked about once a day, then ever more rarely.
        never = looked is None
        wait = recheck_after(source.failures + 1) if never else retry_after(source.failures)
        return tried / SECONDS_A_DAY + min(wait, _MOST)
    if looked is None:
        return -inf
    return looked / SECONDS_A_DAY + look_interval(source, terms)


def usual_price(objective: Objective, gap: float) -> float:
    """What a visit is worth where a policy does not tell: of a page that changes once a gap.

    >>> from recrawl.plan.objectives import Freshness
    >>> round(usual_price(Freshness(), 2.0), 4)
    0.5285
    """
    return float(objective.value(np.array([1 / gap]), np.array([gap]))[0])


@dataclass(frozen=True, slots=True)
class UnknownPages:
    """Pages that are expected to exist and are not known.

    Args:
        mean: How many.
        low: End of the 90 % band.
        high: Other end of it.
    """

    mean: float = 0.0
    low: float = 0.0
    high: float = 0.0


def unknown_pages(sources: Iterable[Source], now: float) -> UnknownPages:
    """Pages that sources are expected to name by now, in days after 1970, and nobody has seen.

    Each source has brought addresses that were new at the time, whatever others had named before,
    so their expectations add up. An index counts for nothing beside its sitemaps, and neither does
    a list of changed pages, most of which are known.
    """
    some = _that_count(sources)
    variance = 0.0
    for source in some:
        expected = source.expected_new(now * SECONDS_A_DAY)
        variance += expected * source.dispersion + expected**2 / source.counts
    mean = expected_unknown(some, now)
    return UnknownPages(mean, *_band(mean, variance))


def expected_unknown(sources: Iterable[Source], now: float) -> float:
    """The same without a band, which takes longer to work out."""
    seconds = now * SECONDS_A_DAY
    return sum(source.expected_new(seconds) for source in _that_count(sources))


def _that_count(sources: Iterable[Source]) -> list[Source]:
    some = list(sources)
    indexes = {source.parent for source in some}
    return [
        source
        for source in some
        if source.address not in indexes and source.kind is not SourceKind.LIST
    ]


def _band(mean: float, variance: float) -> tuple[float, float]:
    """Band of a count by its mean and variance, from a Gamma distribution that has both."""
    if variance <= _SURE * mean:
        return mean, mean
    from scipy.special import gammaincinv  # slow to load: only where it is needed

    shape, tail = mean * mean / variance, (1 - _LEVEL) / 2
    low, high = (float(gammaincinv(shape, share)) * variance / mean for share in (tail, 1 - tail))
    return min(low, mean), max(high, mean)
