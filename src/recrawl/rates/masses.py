r"""Priors of any shape: masses of rates on a grid, fitted to the pages of a log and of each site.

Where the rates of pages follow a distribution with mass $m_j$ at rate $r_j$, and $L_{ij}$ is the
likelihood of rate $r_j$ given the visits to page $i$, the pages together have the log-likelihood

$$ \sum_i \ln \sum_j m_j L_{ij} . $$

It is concave in the masses. Its maximum is the nonparametric maximum-likelihood estimate (NPMLE) of
Kiefer and Wolfowitz, reached by EM: every page is divided among the rates in proportion to
$m_j L_{ij}$, and the shares are added up,

$$ m_j \leftarrow \frac{1}{n + A}
   \Big( A b_j + \sum_i \frac{m_j L_{ij}}{\sum_k m_k L_{ik}} \Big) . $$

The estimate itself is a handful of spikes. Here $A$ pages of a base $b_j$ are averaged in, and EM
starts from the base and ends after a number of rounds: what pages do not tell apart stays as smooth
as the base is. For all pages the base is the Gamma of `fit_prior`, with a little everywhere. For a
site there are three: the distribution of all pages, the site's own Gamma, and the distribution of
all pages times the ratio of the site's Gamma to that of all. They are averaged with the weights
that the site's pages give them, each in proportion to the likelihood of what was seen.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.rates.priors import NEIGHBOURS, fit_prior, pages_of_priors
from recrawl.rates.rate_grid import STEP, RateGrid
from recrawl.visits.sites import sites_of_pages

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints, Words
    from recrawl.rates.priors import Priors
    from recrawl.visits.histories import Histories

# Chosen on the four populations of tests/rates/worlds.py: half of the rounds leave two points
# visited five times .034 off in a decile, twice as many change no decile by .005.
_ROUNDS = 100
# Pages of the base. Fewer overfit logs of few pages, more leave two points visited five times off:
# re-run benchmarks/populations.py, and with --bands, before changing it.
_PULL = 5.0
_ROUNDS_OF_SITES = 20

# Of the base, spread evenly: no rate is out of the question.
_ANYWHERE = 0.05

_PAGES = 4096  # of a block of sites, so that it stays in the cache


def fit_npmle(
    histories: Histories,
    sites: Ints | None = None,
    *,
    hashes: Words | None = None,
    site_count: int = 0,
    false_changes: float = 0.0,
) -> Priors:
    """Prior of each site as masses on a grid of rates, from the pages that `fit_prior` reads.

    Args:
        histories: The pages.
        sites: Number of each page's site, from 0; None where all are of one site.
        hashes: A hash per page; see `fit_prior`.
        site_count: Sites there are at least; those without pages get the prior of all.
        false_changes: Chance that a change is reported at a visit to an unchanged page.

    Examples:
        Pages that change at every other visit and pages that hardly ever do, visited ten times:

        >>> from recrawl import Histories
        >>> seen = [([1.0] * 10, [True, False] * 5), ([1.0] * 10, [False] * 10)]
        >>> priors = fit_npmle(Histories.from_lists(seen * 100))
        >>> rates = np.exp(RateGrid.around(priors).log_rates)
        >>> between = (rates > 0.1) & (rates < 0.3)
        >>> bool(priors.masses[0, between].sum() < 0.02)
        True
    """
    columns = {"hashes": hashes, "site_count": site_count, "false_changes": false_changes}
    priors = fit_prior(histories, sites, **columns)  # type: ignore[arg-type]
    site_of_page = sites_of_pages(sites, len(histories))
    pages, some = pages_of_priors(histories, site_of_page, hashes)
    all_pages = histories.take(some)
    # The Gamma of all is not that of the first site; it stands before the sites' own.
    of_all = priors if sites is None else fit_prior(all_pages, false_changes=false_changes)
    grid = RateGrid.around(priors, false_changes)
    base = (1 - _ANYWHERE) * gamma_masses(of_all, grid)[:, 0] + _ANYWHERE / len(grid.log_rates)
    masses = _of_all(_likelihoods(grid, all_pages), base)
    if sites is None:
        return replace(priors, masses=masses[np.newaxis])
    bases = _bases(priors, of_all, grid, masses)
    by_site = _of_sites(grid, histories.take(pages), site_of_page[pages], bases)
    return replace(priors, masses=by_site)


def gamma_masses(priors: Priors, grid: RateGrid) -> Floats:
    """Masses of Gamma distributions on a grid: one row per rate, one column per site."""
    from scipy.special import gammainc  # slow to load: only where it is needed

    edges = np.exp(grid.log_rates[:-1] + STEP / 2)
    below = gammainc(priors.shape, edges[:, np.newaxis] * priors.exposure)
    one_row = np.ones((1, len(priors.shape)))
    masses: Floats = np.diff(np.concatenate([0 * one_row, below, one_row]), axis=0)
    return masses


def _bases(priors: Priors, of_all: Priors, grid: RateGrid, masses: Floats) -> Floats:
    """What the masses of sites may be based on: bases, rates, sites.

    All pages' distribution, the site's Gamma, and all pages' distribution tilted to that Gamma.
    """
    of_pages = np.broadcast_to(masses[:, np.newaxis], (len(masses), len(priors.shape)))
    rates, log_rates = np.exp(grid.log_rates)[:, np.newaxis], grid.log_rates[:, np.newaxis]
    tilt = (priors.shape - of_all.shape) * log_rates - (priors.exposure - of_all.exposure) * rates
    tilted = np.log(of_pages) + tilt
    tilted = np.exp(tilted - tilted.max(axis=0))
    tilted /= tilted.sum(axis=0)
    return np.stack(
        [
            of_pages,
            *(
                (1 - _ANYWHERE) * own + _ANYWHERE * of_pages
                for own in (gamma_masses(priors, grid), tilted)
            ),
        ]
    )


def _likelihoods(grid: RateGrid, histories: Histories) -> Floats:
    """Likelihood of each rate over the largest: one row per rate, one column per page."""
    found = np.empty((len(grid.log_rates), len(histories)))

    def work(pages: slice) -> None:
        height = grid.log_likelihood(grid.of(histories, pages))
        found[:, pages] = np.exp(height - height.max(axis=0))

    over_blocks(work, len(histories), _PAGES)
    return found


def _of_all(likelihoods: Floats, base: Floats) -> Floats:
    """Masses after EM over pages of one distribution."""
    masses, pages = base, likelihoods.shape[1]
    for _ in range(_ROUNDS):
        shares = masses * (likelihoods @ (1 / (masses @ likelihoods)))
        masses = (shares + _PULL * base) / (pages + _PULL)
    return masses


def _of_sites(grid: RateGrid, histories: Histories, site: Ints, bases: Floats) -> Floats:
    """Masses of each site after EM over its pages; pages come by site."""
    masses = bases[0].copy()
    edges = np.concatenate([[0], np.cumsum(np.bincount(site, minlength=masses.shape[1]))])
    groups = _groups(edges)

    def work(some: slice) -> None:
        for first, last in groups[some]:
            there = np.flatnonzero(np.diff(edges[first : last + 1])) + first
            if len(there):
                pages = histories.take(np.arange(edges[first], edges[last]))
                starts = edges[there] - edges[first]
                masses[:, there] = _em(_likelihoods(grid, pages), bases[:, :, there], starts)

    over_blocks(work, len(groups), 1)
    return np.ascontiguousarray(masses.T)


def _groups(edges: Ints) -> list[tuple[int, int]]:
    """Runs of sites with about `_PAGES` pages together."""
    first, groups = 0, []
    while first < len(edges) - 1:
        last = max(int(np.searchsorted(edges, edges[first] + _PAGES, "right")) - 1, first + 1)
        groups.append((first, last))
        first = last
    return groups


def _em(likelihoods: Floats, bases: Floats, starts: Ints) -> Floats:
    """EM over the pages of several sites, each of which begins at one of `starts`."""
    counts = np.diff(np.append(starts, likelihoods.shape[1]))
    site = np.repeat(np.arange(len(starts)), counts)
    given = np.stack([np.log((base[:, site] * likelihoods).sum(axis=0)) for base in bases])
    evidence = np.add.reduceat(given, starts, axis=1)
    weights = np.exp(evidence - evidence.max(axis=0))
    weights /= weights.sum(axis=0)
    base = (weights[:, np.newaxis] * bases).sum(axis=0)

    masses: Floats = base
    for _ in range(_ROUNDS_OF_SITES):
        shares = masses[:, site]
        shares *= likelihoods
        shares /= shares.sum(axis=0)
        sums = np.add.reduceat(shares, starts, axis=1)
        masses = (sums + NEIGHBOURS * base) / (counts + NEIGHBOURS)
    return masses
