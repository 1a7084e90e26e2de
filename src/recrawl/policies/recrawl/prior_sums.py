r"""What a crawl's prior is fitted to, as sums: parts of a crawl that are apart exchange them.

Of the visited pages of a part, with shapes $a$, exposures $b$ and ratios $\rho$, there are
$n$ pages, the sum of their rates $\sum a / (b \rho) = n M$, and their spread $n (\ln M - Q)$, where
$Q$ is the mean of $\psi(a) - \ln (b \rho)$: how far rates differ within the part. Sums of parts add
up. A part's own mean rate is shrunk to that of the others by the weight of a few pages, as the rate
of a section is to that of the crawl, and the spread is that within all parts,

$$ M = \frac{K M_{\text{others}} + n M_{\text{own}}}{K + n}, \qquad
   g = \frac{\sum n_w g_w}{\sum (n_w - 1)} . $$

So a part that is new, or too small to fit anything, begins with what the others know. Where there
are no others, it is the fit to all pages of the crawl.

What is assumed before the first visit has the same form: a few pages that nobody has visited, with
the mean rate and the spread of pages elsewhere. They count as pages of the part, and however wrong
they are, the pages that are visited outnumber them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import digamma, digamma_of
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

ENOUGH_PAGES = 50
_LEAST_SPREAD = 1e-4
_SHAPE = 0.5  # of rates of which nothing is known


@dataclass(frozen=True, slots=True)
class PriorSums:
    """Sums over the visited pages of a part of a crawl.

    Args:
        pages: How many there are.
        rates: Sum of their rates, relative to their sections and kin.
        spread: How far their logarithms differ within the part, times the pages.
        freedom: Pages beyond the first of each part: what the spread is divided by.

    Examples:
        Two parts of two pages each: in one they change once in 10 days, in the other once a day.

        >>> states = np.array([1000.0, 1000.0]), np.array([10_000.0, 10_000.0])
        >>> slow, fast = PriorSums.of(*states), PriorSums.of(states[0], states[1] / 10)
        >>> both = slow + fast
        >>> both.pages, round(both.rates, 6), round(both.spread, 3)
        (4.0, 2.2, 0.002)
    """

    pages: float = 0.0
    rates: float = 0.0
    spread: float = 0.0
    freedom: float = 0.0

    @classmethod
    def of(cls, shape: Floats, exposure: Floats) -> PriorSums:
        """Sums of pages whose exposures are relative to their sections and kin."""
        if not len(shape):
            return cls()
        rates = float(np.add.reduce(shape / exposure))
        mean_log = float(np.add.reduce(digamma(shape) - np.log(exposure)) / len(shape))
        pages = float(len(shape))
        spread = max(float(np.log(rates / pages)) - mean_log, 0.0)
        return cls(pages, rates, pages * spread, pages - 1)

    def __add__(self, other: PriorSums) -> PriorSums:
        """Of the pages of both parts."""
        return PriorSums(
            self.pages + other.pages,
            self.rates + other.rates,
            self.spread + other.spread,
            self.freedom + other.freedom,
        )

    def mean_and_spread(self, others: PriorSums, strength: float) -> tuple[float, float] | None:
        """Mean rate and spread that the prior of a part is to have; None where too few pages tell.

        Args:
            others: Sums of all other parts.
            strength: How many pages the mean of the others counts for.
        """
        if self.pages + others.pages < ENOUGH_PAGES:
            return None
        if not others.pages:
            return self.rates / self.pages, max(self.spread / self.pages, _LEAST_SPREAD)
        mean = others.rates / others.pages
        mean += (self.rates - self.pages * mean) / (strength + self.pages)
        freedom = max(self.freedom + others.freedom, 1.0)
        return mean, max((self.spread + others.spread) / freedom, _LEAST_SPREAD)


@dataclass(frozen=True, slots=True)
class AssumedRates:
    """Change rates of pages that were never visited, a Gamma distribution.

    Args:
        prior_rate: Their mean, in changes per day; None where it follows the mean gap.
        prior_shape: Shape of their distribution: the smaller, the more rates differ.
        prior_pages: How many pages count as having shown this, once pages are visited.
        prior_changes: Mean changes per mean gap, where no rate is assumed. Crawls visit more often
            than most pages change.

    Examples:
        >>> assumed = AssumedRates(prior_rate=0.1, prior_shape=0.5, prior_pages=10.0)
        >>> assumed.gamma(gap=2.0)
        (0.5, 5.0)
        >>> assumed.sums.pages, assumed.sums.rates
        (10.0, 1.0)
        >>> AssumedRates().gamma(gap=2.0)
        (0.5, 2.0)
    """

    prior_rate: float | None = None
    prior_shape: float = _SHAPE
    prior_pages: float = 50.0
    prior_changes: float = 0.5

    def __post_init__(self) -> None:
        """Check that there is such a distribution."""
        rate = 1.0 if self.prior_rate is None else self.prior_rate
        named = {
            "prior_rate": rate,
            "prior_shape": self.prior_shape,
            "prior_changes": self.prior_changes,
        }
        for name, value in named.items():
            if not 0 < value < inf:
                raise InvalidParameter(f"{name} must be positive and finite (got {value:g})")
        if not 0 <= self.prior_pages < inf:
            raise InvalidParameter(
                f"prior_pages must be a number of pages (got {self.prior_pages:g})"
            )

    def gamma(self, gap: float) -> tuple[float, float]:
        """Shape and exposure of the distribution, where pages are visited once per gap."""
        rate = self.prior_changes / gap if self.prior_rate is None else self.prior_rate
        return self.prior_shape, self.prior_shape / rate

    @property
    def sums(self) -> PriorSums:
        """The pages that it counts for; none where no rate is assumed."""
        if self.prior_rate is None:
            return PriorSums()
        pages, shape = self.prior_pages, self.prior_shape
        spread = log(shape) - digamma_of(shape)
        return PriorSums(pages, pages * self.prior_rate, pages * spread, pages)


# Fitted to six public sources together: terms of service, API descriptions, documentation, a
# standards site. `benchmarks/first_visits.py` fits them again, and says whether these still hold.
PUBLIC_RATES = AssumedRates(prior_rate=0.00873, prior_shape=0.745)
