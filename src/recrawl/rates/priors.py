r"""Gamma priors of change rates, one per site, fitted by empirical Bayes.

Pages of one site resemble each other, so the prior of a page's rate comes from its neighbours.
Rates differ by orders of magnitude, so the rates of a site's pages are described by the mean $\mu$
and the variance $\sigma^2$ of their logarithms. The prior is the Gamma distribution that has both:

$$ \psi'(a_0) = \sigma^2, \qquad \psi(a_0) - \ln b_0 = \mu . $$

They are found by EM:

1. Read every page's visits from the current prior. What they add to it, $A$ and $B$, is the
   page's evidence, and it hardly depends on the prior.
2. Until it converges: the logarithm of a page's rate has mean $m = \psi(a_0 + A) - \ln(b_0 + B)$
   and variance $v = \psi'(a_0 + A)$; take the average of $m$ for $\mu$ and that of
   $v + (m - \mu)^2$ for $\sigma^2$.
3. Go back to 1 if the prior moved.

A site with few pages says little. So `NEIGHBOURS` pages from the prior of all sites are
averaged in, and a few pages from a broad default into that one. Pages of one site are more
alike than pages of all, so for $\mu$ they count only as much as the site's own spread is of the
spread of all.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.arrays.special import digamma, log_moments, trigamma
from recrawl.errors import InvalidParameter
from recrawl.rates.gamma_state import gamma_states
from recrawl.visits.histories import Histories
from recrawl.visits.sites import check_sites, sites_of_pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Floats, Ints, Words

# Nothing known at all: half a change in 15 days. Rates from one in a year to several a day are
# all within the middle 90 %.
DEFAULT_SHAPE = 0.5
DEFAULT_EXPOSURE = 15.0

# How many pages from elsewhere a prior's own pages must outweigh: pages of all sites for the
# prior of one, pages of the default for the prior of all.
NEIGHBOURS = 20.0
_STRANGERS = 2.0

_PAGES_A_SITE = 200  # more pages move a site's prior by less than its visits are sure of
_PAGES_OF_ALL = 4000

_ROUNDS = 4
_ROUNDS_IN_NOISE = 40
_INNER_ROUNDS = 12
_SETTLED = 1e-3
_SECANT_STEPS = 6  # enough for 14 digits, whatever the variance
_STANDS_STILL = 1e-7  # a step too short to tell a slope by
# A fitted variance stays inside: shapes from a tenth, where single pages are spread over twelve
# orders of magnitude, to ten thousand, where all are alike.
_VARIANCES = (1e-4, 101.4)


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """Gamma priors per site, and which site each page belongs to.

    Args:
        shape: Events the prior counts as seen, one row per site.
        exposure: Days in which it counts them, one row per site.
        site_of_page: Row of each page's site; None where all pages share the first.
        masses: A distribution of any shape instead of the Gamma, for the methods that use one:
            masses on the rates of `RateGrid.around`, one row per site; None for the Gamma.

    Examples:
        >>> Priors.one(shape=2.0, exposure=10.0).of_pages(3)
        (array([2., 2., 2.]), array([10., 10., 10.]))
    """

    shape: Floats
    exposure: Floats
    site_of_page: Ints | None = None
    masses: Floats | None = None

    def __post_init__(self) -> None:
        """Check that the priors are distributions."""
        for name in ("shape", "exposure"):
            column = np.asarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, column)
            usable = (column > 0) & (column < np.inf)
            if column.ndim != 1 or not len(column) or not usable.all():
                message = f"prior {name} must be positive and finite for each site (got {column})"
                raise InvalidParameter(message)
        if len(self.shape) != len(self.exposure):
            raise InvalidParameter(
                f"priors must have as many shapes as exposures "
                f"(got {len(self.shape)} and {len(self.exposure)})"
            )
        if self.site_of_page is not None:
            object.__setattr__(self, "site_of_page", np.asarray(self.site_of_page))
            check_sites(self.site_of_page, len(self.shape))
        if self.masses is not None and (
            len(self.masses) != len(self.shape) or not (self.masses > 0).all()
        ):
            raise InvalidParameter("priors must have a row of positive masses for each site")

    @classmethod
    def one(cls, shape: float = DEFAULT_SHAPE, exposure: float = DEFAULT_EXPOSURE) -> Priors:
        """Return one prior for every page."""
        return cls(np.array([shape], np.float64), np.array([exposure], np.float64))

    def take(self, pages: Ints) -> Priors:
        """Priors of the named pages, in the order named."""
        if self.site_of_page is None:
            return self
        return replace(self, site_of_page=self.site_of_page[pages])

    def of_pages(self, pages: int) -> tuple[Floats, Floats]:
        """Shape and exposure of each of `pages` pages before any visit."""
        if self.site_of_page is None:
            return np.full(pages, self.shape[0]), np.full(pages, self.exposure[0])
        if len(self.site_of_page) != pages:
            raise InvalidParameter(
                f"priors were made for {len(self.site_of_page)} pages and must meet as many "
                f"(got {pages})"
            )
        return self.shape[self.site_of_page], self.exposure[self.site_of_page]


def fit_prior(
    histories: Histories,
    sites: Ints | None = None,
    *,
    hashes: Words | None = None,
    site_count: int = 0,
    false_changes: float = 0.0,
) -> Priors:
    """Prior of each site, from the visits of at most 200 of its pages.

    Args:
        histories: The pages.
        sites: Number of each page's site, from 0; None where all are of one site.
        hashes: A hash per page. Of a large site the pages with the smallest hashes are sampled, so
            that with hashes of names neither the order of the pages nor their division into parts
            matters.
        site_count: Sites there are at least; those without pages get the prior of all.
        false_changes: Chance that a change is reported at a visit to an unchanged page.

    Examples:
        Ten pages that never changed in a hundred days make a site where little changes:

        >>> from recrawl import Histories
        >>> quiet = fit_prior(Histories.from_lists([([10.0] * 10, [False] * 10)] * 10))
        >>> bool(quiet.shape[0] / quiet.exposure[0] < 0.02)
        True
    """
    site_of_page = sites_of_pages(sites, len(histories))
    check_sites(site_of_page, np.iinfo(np.int64).max)
    pages, some = pages_of_priors(histories, site_of_page, hashes)
    one_site = np.zeros(len(some), np.int64)
    default = log_moments(np.array([DEFAULT_SHAPE]), np.array([DEFAULT_EXPOSURE]))
    strangers = _Others(default[0][0], default[1][0], default[1][0], _STRANGERS)
    mean, variance = _fit(histories.take(some), one_site, 1, strangers, false_changes)
    if sites is not None:
        count = max(int(site_of_page.max(initial=0)) + 1, site_count)
        alike = min(variance[0], default[1][0])
        neighbours = _Others(mean[0], alike, variance[0], NEIGHBOURS)
        mean, variance = _fit(
            histories.take(pages), site_of_page[pages], count, neighbours, false_changes
        )
    return Priors(*_gamma(mean, variance), None if sites is None else site_of_page)


class PriorFit(Protocol):
    """Fits a prior for each site: `fit_prior` or `fit_npmle`."""

    def __call__(
        self,
        histories: Histories,
        sites: Ints | None = None,
        *,
        hashes: Words | None = None,
        site_count: int = 0,
        false_changes: float = 0.0,
    ) -> Priors:
        """Return the prior of each site."""


@dataclass(frozen=True, slots=True, eq=False)
class PriorSample:
    """The pages that make the priors: a sample of a sample is the sample of the whole.

    So parts of a log can be sampled apart, wherever they lie, and the samples joined: the priors
    are the same, to the bit, however the pages were divided.

    Args:
        histories: Histories of the pages.
        site: Number of each page's site.
        hashes: A hash per page.
        site_count: Sites there are, those without a sampled page among them.
    """

    histories: Histories
    site: Ints
    hashes: Words
    site_count: int

    @classmethod
    def of(cls, parts: Iterable[tuple[Histories, Ints, Words]]) -> PriorSample:
        """Sample pages that come in parts: histories, sites and hashes."""
        samples, site_count = [], 0
        sites, hashes = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
        for histories, site_of_page, hash_of_page in parts:
            pages = sampled_pages(histories, site_of_page, hash_of_page)
            samples.append(histories.take(pages))
            sites.append(site_of_page[pages])
            hashes.append(hash_of_page[pages])
            site_count = max(site_count, int(site_of_page.max(initial=-1)) + 1)
        found = Histories.joined(samples)
        return cls(found, np.concatenate(sites), np.concatenate(hashes), site_count)

    def fit(self, *, false_changes: float = 0.0, fit: PriorFit = fit_prior) -> Priors:
        """Prior of each site."""
        return fit(
            self.histories,
            self.site,
            hashes=self.hashes,
            site_count=self.site_count,
            false_changes=false_changes,
        )

    def of_new_site(self) -> tuple[float, float]:
        """Shape and exposure of the prior of a site that is not among them: that of all."""
        more = replace(self, site_count=self.site_count + 1).fit()
        return float(more.shape[-1]), float(more.exposure[-1])


def pages_of_priors(
    histories: Histories, site_of_page: Ints, hashes: Words | None
) -> tuple[Ints, Ints]:
    """Pages that make the priors of sites, by site, and those that make the prior of all."""
    hashes = _hash_numbers(len(histories)) if hashes is None else hashes
    pages = sampled_pages(histories, site_of_page, hashes)
    return pages, pages[np.argsort(hashes[pages])][:_PAGES_OF_ALL]


def sampled_pages(histories: Histories, site_of_page: Ints, hashes: Words) -> Ints:
    """Pages that make the priors: those with gaps, by site and hash, at most 200 per site.

    Where there are few sites, more of each: up to 4000 of all.
    """
    pages = np.flatnonzero(histories.gaps_of_page > 0)
    # One sort for both: the site's number above, the upper bits of the hash below.
    bits = np.uint64(max(1, int(site_of_page.max(initial=0)).bit_length()))
    place = site_of_page[pages].astype(np.uint64) << (np.uint64(64) - bits)
    order = np.argsort(place | hashes[pages] >> bits)
    pages = pages[order]
    counts = np.bincount(site_of_page[pages])
    rank = np.arange(len(pages)) - np.repeat(np.cumsum(counts) - counts, counts)
    sites = max(1, int((counts > 0).sum()))
    return pages[rank < max(_PAGES_A_SITE, _PAGES_OF_ALL // sites)]


def _hash_numbers(pages: int) -> Words:
    """Hashes of pages that are known by their number only."""
    return np.arange(1, pages + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class _Others:
    """Pages from elsewhere that are averaged in.

    Args:
        mean: Mean of their logarithms.
        variance: Variance of their logarithms, as within a site.
        spread: Variance of the logarithms over all sites.
        pages: How many.
    """

    mean: float
    variance: float
    spread: float
    pages: float


def _fit(
    histories: Histories, site: Ints, count: int, others: _Others, false_changes: float
) -> tuple[Floats, Floats]:
    """Mean and variance of the logarithms of rates, of each of `count` sites."""
    moments = (np.full(count, others.mean), np.full(count, others.variance))
    if false_changes:  # start from the fit that believes all changes: its prior excludes nothing
        moments = _fit(histories, site, count, others, 0.0)
    move = np.inf
    for _ in range(_ROUNDS_IN_NOISE if false_changes else _ROUNDS):
        shape, exposure = _gamma(*moments)
        seen_shape, seen_exposure = gamma_states(
            histories, shape[site], exposure[site], false_changes
        )
        more = seen_shape - shape[site], seen_exposure - exposure[site]
        before = moments
        if false_changes:  # the prior decides how likely a change was real
            moments = _averaged(more, site, moments, others)
        else:
            evidence = np.maximum(more[0], 0), np.maximum(more[1], 0)
            moments = _settled(evidence, site, moments, others)
        last, move = move, _moved(before, moments)
        if _left(last, move) < _SETTLED:
            break
    return moments


def _left(last: float, move: float) -> float:
    """How far there is still to go after two moves of which each is a fraction of the one before.

    >>> round(_left(0.5, 0.05), 6)  # 0.005 + 0.0005 + ...
    0.005556
    """
    if last == np.inf or move >= last / 2:
        return move
    return move * move / (last - move)


def _settled(
    evidence: tuple[Floats, Floats], site: Ints, moments: tuple[Floats, Floats], others: _Others
) -> tuple[Floats, Floats]:
    """EM for fixed evidence, accelerated by extrapolating the last two steps (SQUAREM).

    References:
        Varadhan and Roland (2008). Simple and globally convergent methods for accelerating the
        convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 335-353.
    """
    for _ in range(_INNER_ROUNDS):
        first = _averaged(evidence, site, moments, others)
        second = _averaged(evidence, site, first, others)
        if _moved(first, second) < _SETTLED / 10:
            return second
        zero, one, two = (
            np.stack([mean, np.log(square)]) for mean, square in (moments, first, second)
        )
        step = one - zero
        bend = two - one - step
        length = np.sqrt((step**2).sum(axis=0) / np.maximum((bend**2).sum(axis=0), 1e-30))
        length = np.clip(length, 1, 16)
        mean, log_variance = zero + 2 * length * step + length**2 * bend
        variance = np.clip(np.exp(np.clip(log_variance, -9, 5)), *_VARIANCES)
        moments = _averaged(evidence, site, (mean, variance), others)
    return moments


def _averaged(
    evidence: tuple[Floats, Floats], site: Ints, moments: tuple[Floats, Floats], others: _Others
) -> tuple[Floats, Floats]:
    """One EM step: posterior moments of the pages under a prior, averaged over each site."""
    shape, exposure = _gamma(*moments)
    means, second = np.empty(len(site)), np.empty(len(site))

    def work(rows: slice) -> None:
        prior, more = site[rows], (evidence[0][rows], evidence[1][rows])
        mean, variance = log_moments(shape[prior] + more[0], exposure[prior] + more[1])
        means[rows] = mean
        second[rows] = variance + mean * mean

    over_blocks(work, len(site))
    edges = np.searchsorted(site, np.arange(len(shape) + 1))  # pages come by site
    pages, means_of, squares = np.diff(edges), sums(means, edges), sums(second, edges)

    weight = others.pages * np.minimum(moments[1] / others.spread, 1)
    mean = (means_of + weight * others.mean) / (pages + weight)
    around = np.maximum(squares - 2 * mean * means_of + pages * mean**2, 0)
    variance = (around + others.pages * others.variance) / (pages + others.pages)
    return mean, np.clip(variance, *_VARIANCES)


def _gamma(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Shape and exposure of the Gamma whose logarithm has this mean and variance."""
    log = np.where(variance > 1, -np.log(variance) / 2, -np.log(variance))
    step, height, slope = np.zeros_like(log), np.zeros_like(log), np.full_like(log, -1.5)
    for _ in range(_SECANT_STEPS):
        # The secant method: ln psi' falls by 1 to 2 per unit of ln a, so no step can go far wrong.
        before, height = height, np.log(trigamma(np.exp(log)) / variance)
        moved = np.abs(step) > _STANDS_STILL
        slope = np.where(moved, (height - before) / np.where(moved, step, 1.0), slope)
        slope = np.clip(slope, -2.0, -1.0)
        step = -height / slope
        log += step
    shape = np.exp(log)
    return shape, np.exp(digamma(shape) - mean)


def _moved(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> float:
    """Largest move of any site's mean or, relatively, variance."""
    mean = np.abs(after[0] - before[0])
    variance = np.abs(np.log(after[1] / before[1]))
    return float(np.maximum(mean, variance).max(initial=0))
