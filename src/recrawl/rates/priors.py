r"""What is known of a page's rate before its first visit: a Gamma prior a site, as a value.

Pages of one site resemble each other, so a page's first visits are read in the light of its
neighbours. The rates of a site's pages are taken to follow a Gamma distribution whose shape
$a_0$ and exposure $b_0$ make all of the site's visits likely. Two statistics fix a Gamma, the
mean of the rate and the mean of its logarithm, so the fit goes round (EM):

1. Read every page's visits from the current prior. What they add to it, $A$ and $B$, is the
   page's evidence, and it hardly depends on the prior.
2. Until it settles: each page has mean rate $(a_0 + A) / (b_0 + B)$ and mean logarithm
   $\psi(a_0 + A) - \ln(b_0 + B)$; take the Gamma with the averages of both over the site.
3. Go back to 1 if the prior moved.

A site with few pages says little. Its averages are therefore mixed with those of `_NEIGHBOURS`
pages from the prior of all sites, and that one with as many from a broad default.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.rates.gamma_state import gamma_states
from recrawl.rates.special import digamma, trigamma

if TYPE_CHECKING:
    from recrawl.visits.arrays import Floats, Ints, Words
    from recrawl.visits.histories import Histories

# Nothing known at all: half a change in 15 days. Rates from one in a year to several a day are
# all within the middle 90 %.
DEFAULT_SHAPE = 0.5
DEFAULT_EXPOSURE = 15.0

# How many pages from elsewhere a prior's own pages must outweigh: pages of all sites for the
# prior of one, pages of the default for the prior of all.
_NEIGHBOURS = 20.0
_STRANGERS = 1.0

_PAGES_A_SITE = 200  # more pages move a site's prior by less than its visits are sure of
_PAGES_OF_ALL = 4000

_ROUNDS = 4
_NEWTON_STEPS = 25
_LONGEST_STEP = 1.0  # in the logarithms of shape and exposure
_SETTLED = 1e-3
_SHAPES = (0.02, 1e4)  # a fitted shape stays inside; beyond, all pages are alike anyway


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """Gamma priors a site, and which site each page belongs to.

    Args:
        shape: Events the prior counts as seen, a row a site.
        exposure: Days in which it counts them, a row a site.
        site_of_page: Row of each page's site; None where all pages share the first.

    Examples:
        >>> Priors.one(shape=2.0, exposure=10.0).of_pages(3)
        (array([2., 2., 2.]), array([10., 10., 10.]))
    """

    shape: Floats
    exposure: Floats
    site_of_page: Ints | None = None

    def __post_init__(self) -> None:
        """Refuse priors that are no distribution."""
        for name in ("shape", "exposure"):
            column = np.asarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, column)
            if column.ndim != 1 or not len(column) or not (column > 0).all():
                message = f"prior {name} must hold a positive number a site (got {column})"
                raise InvalidParameter(message)

    @classmethod
    def one(cls, shape: float = DEFAULT_SHAPE, exposure: float = DEFAULT_EXPOSURE) -> Priors:
        """Return one prior for every page."""
        return cls(np.array([shape], np.float64), np.array([exposure], np.float64))

    def of_pages(self, pages: int) -> tuple[Floats, Floats]:
        """Shape and exposure of each of `pages` pages before any visit."""
        if self.site_of_page is None:
            return np.full(pages, self.shape[0]), np.full(pages, self.exposure[0])
        if len(self.site_of_page) != pages:
            message = (
                f"priors were made for {len(self.site_of_page)} pages and must meet as many "
                f"(got {pages})"
            )
            raise InvalidParameter(message)
        return self.shape[self.site_of_page], self.exposure[self.site_of_page]


def fit_prior(
    histories: Histories,
    sites: Ints | None = None,
    *,
    lots: Words | None = None,
    site_count: int = 0,
) -> Priors:
    """Prior of each site, from the visits of at most 200 of its pages.

    Args:
        histories: The pages.
        sites: Number of each page's site, from 0; None where all are of one site.
        lots: A number a page that decides which pages of a large site are taken: those with
            the smallest. With lots made of the pages' names, the order of the pages and how
            they are divided up do not matter.
        site_count: Sites there are at least; those without pages get the prior of all.

    Examples:
        Ten pages that never changed in a hundred days make a site where little changes:

        >>> from recrawl import Histories
        >>> quiet = fit_prior(Histories.from_lists([([10.0] * 10, [False] * 10)] * 10))
        >>> bool(quiet.shape[0] / quiet.exposure[0] < 0.02)
        True
    """
    site_of_page = np.zeros(len(histories), np.int64) if sites is None else np.asarray(sites)
    lots = _scattered(len(histories)) if lots is None else lots
    pages = chosen(histories, site_of_page, lots)
    some = pages[np.argsort(lots[pages])][:_PAGES_OF_ALL]
    default = (np.array([DEFAULT_SHAPE]), np.array([DEFAULT_EXPOSURE]))
    everywhere = _fit(histories.take(some), np.zeros(len(some), np.int64), default, _STRANGERS)
    if sites is None:
        return Priors(*everywhere)
    count = max(int(site_of_page.max(initial=0)) + 1, site_count)
    start = (np.repeat(everywhere[0], count), np.repeat(everywhere[1], count))
    own = _fit(histories.take(pages), site_of_page[pages], start, _NEIGHBOURS)
    return Priors(*own, site_of_page)


def chosen(histories: Histories, site_of_page: Ints, lots: Words) -> Ints:
    """Pages that make the priors: those with gaps, at most 200 a site, by site and lot."""
    pages = np.flatnonzero(histories.gaps_of_page > 0)
    # One sort for both: the site's number above, the upper bits of the lot below.
    bits = np.uint64(max(1, int(site_of_page.max(initial=0)).bit_length()))
    place = site_of_page[pages].astype(np.uint64) << (np.uint64(64) - bits)
    order = np.argsort(place | lots[pages] >> bits)
    pages = pages[order]
    counts = np.bincount(site_of_page[pages])
    rank = np.arange(len(pages)) - np.repeat(np.cumsum(counts) - counts, counts)
    return pages[rank < _PAGES_A_SITE]


def _scattered(pages: int) -> Words:
    """Lots for pages that are known by their number only."""
    return np.arange(1, pages + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _fit(
    histories: Histories, site: Ints, pull: tuple[Floats, Floats], weight: float
) -> tuple[Floats, Floats]:
    """Priors of the sites, with `weight` pages of the priors `pull` among their own."""
    shape, exposure = pull
    for _ in range(_ROUNDS):
        seen_shape, seen_exposure = gamma_states(histories, shape[site], exposure[site])
        evidence = (seen_shape - shape[site], seen_exposure - exposure[site])
        before = shape, exposure
        shape, exposure = _most_likely(evidence, site, before, pull, weight)
        if _moved(before, (shape, exposure)) < _SETTLED:
            break
    return shape, exposure


def _most_likely(
    evidence: tuple[Floats, Floats],
    site: Ints,
    start: tuple[Floats, Floats],
    pull: tuple[Floats, Floats],
    weight: float,
) -> tuple[Floats, Floats]:
    """Newton's method on the logarithms of shape and exposure, for fixed evidence."""
    shape, exposure = start
    pages = np.bincount(site, minlength=len(shape)) + weight
    pull_mean = weight * pull[0] / pull[1]
    pull_log = weight * (digamma(pull[0]) - np.log(pull[1]))
    for _ in range(_NEWTON_STEPS):
        a, b = shape[site] + evidence[0], exposure[site] + evidence[1]

        def of_sites(values: Floats) -> Floats:
            return np.bincount(site, values, len(shape)).astype(np.float64)  # noqa: B023 - used at once

        slope_a = of_sites(digamma(a) - np.log(b)) + pull_log
        slope_a = shape * (slope_a + pages * (np.log(exposure) - digamma(shape)))
        slope_b = pages * shape - exposure * (of_sites(a / b) + pull_mean)
        bend_aa = slope_a + shape**2 * (of_sites(trigamma(a)) - pages * trigamma(shape))
        bend_ab = shape * (pages - exposure * of_sites(1 / b))
        bend_bb = slope_b - pages * shape + exposure**2 * of_sites(a / b**2)
        step_a, step_b = _uphill(slope_a, slope_b, bend_aa, bend_ab, bend_bb)
        shape = np.clip(shape * np.exp(step_a), *_SHAPES)
        exposure = exposure * np.exp(step_b)
        if max(np.abs(step_a).max(initial=0), np.abs(step_b).max(initial=0)) < _SETTLED:
            break
    return shape, exposure


def _uphill(
    slope_a: Floats, slope_b: Floats, bend_aa: Floats, bend_ab: Floats, bend_bb: Floats
) -> tuple[Floats, Floats]:
    """Newton's step where the likelihood is a hill there; a bounded one in any case."""
    # Damp until the curvature is that of a hill: both eigenvalues clearly below zero.
    centre = (bend_aa + bend_bb) / 2
    radius = np.hypot((bend_aa - bend_bb) / 2, bend_ab)
    damp = np.maximum(0, centre + radius + 0.02 * (np.abs(centre) + radius))
    aa, bb = bend_aa - damp, bend_bb - damp
    determinant = aa * bb - bend_ab**2
    step_a = -(bb * slope_a - bend_ab * slope_b) / determinant
    step_b = -(aa * slope_b - bend_ab * slope_a) / determinant
    longest = np.maximum(1, np.maximum(np.abs(step_a), np.abs(step_b)) / _LONGEST_STEP)
    return step_a / longest, step_b / longest


def _moved(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> float:
    """Largest relative move of any site's shape or mean rate."""
    shape = np.abs(np.log(after[0] / before[0]))
    mean = np.abs(np.log(after[0] * before[1] / (after[1] * before[0])))
    return float(np.maximum(shape, mean).max(initial=0))
