"""The exact posterior on a grid: adaptive quadrature as the oracle, and the Gamma it must meet."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma

from recrawl import Gamma, Priors, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import Grid
from tests.rates.oracles import Evidence, evidence_of
from tests.strategies import Seen, days, history_of, told_pages

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT = (0.5, 15.0)

HIDDEN = [Seen(1.0, True), Seen(1.0, False), Seen(1.0, True)]
WILD = [Seen(10.0**power, power % 2 == 0) for power in range(-4, 5)]
MIXED = [Seen(3.0, True, 0.5), Seen(2.0, True, np.nan, 4), Seen(1.0, False), Seen(6.0, True)]
PAGES = {
    "one hidden change": [Seen(1.0, True)],
    "a change in a very long gap": [Seen(1e4, True)],
    "a change in a second": [Seen(1e-5, True)],
    "hidden": HIDDEN,
    "dated, counted and hidden": MIXED,
    "always changed": [Seen(2.0, True)] * 30,
    "eight orders of magnitude": WILD,
    "many visits": HIDDEN * 60,
    "long changed, short quiet": [Seen(1e4, True), Seen(1e-5, False)],
}


class Exact(NamedTuple):
    """Posterior of u = ln r, by adaptive quadrature between where it is negligible."""

    evidence: Evidence
    peak: float
    top: float
    low: float
    high: float

    @classmethod
    def of(cls, page: list[Seen], shape: float, exposure: float) -> Exact:
        seen = evidence_of(page)
        evidence = Evidence(seen.events + shape, seen.quiet + exposure, seen.hidden)  # type: ignore[arg-type]
        peak = math.log(evidence.most_likely())
        top = evidence.log_likelihood(math.exp(peak))
        ends = []
        for side in (-0.25, 0.25):
            end = peak
            while evidence.log_likelihood(math.exp(end)) > top - 40:
                end += side
            ends.append(end)
        return cls(evidence, peak, top, *ends)

    def total(self, values: Callable[[float], float], high: float | None = None) -> float:
        """Integral of values times density, unit by unit."""
        high = self.high if high is None else high
        edges = [*np.arange(self.low, high, 0.5).tolist(), high]

        def weighed(u: float) -> float:
            return values(u) * math.exp(self.evidence.log_likelihood(math.exp(u)) - self.top)

        return math.fsum(float(quad(weighed, *piece)[0]) for piece in pairwise(edges))

    def mean(self, values: Callable[[float], float]) -> float:
        return self.total(values) / self.total(lambda _: 1.0)

    def below(self, u: float) -> float:
        return self.total(lambda _: 1.0, u) / self.total(lambda _: 1.0)


@pytest.mark.parametrize("prior", [DEFAULT, (2.0, 10.0)])
@pytest.mark.parametrize("page", PAGES)
def test_the_figures_are_those_of_adaptive_quadrature(page, prior):
    """Mean of ln r, the Gamma's moments, and quantiles to a hundredth of a standard deviation."""
    exact = Exact.of(PAGES[page], *prior)
    estimates = Grid(Priors.one(*prior), level=0.9).estimate(history_of(PAGES[page]))

    middle = exact.mean(lambda u: u)
    deviation = math.sqrt(exact.mean(lambda u: (u - middle) ** 2))
    mean = exact.mean(math.exp)
    variance = exact.mean(lambda u: (math.exp(u) - mean) ** 2)
    assert math.log(estimates.rate[0]) == pytest.approx(middle, abs=1e-3 * deviation)
    assert estimates.shape == pytest.approx([mean * mean / variance], rel=1e-2)
    assert estimates.exposure == pytest.approx([mean / variance], rel=1e-2)
    for end, tail in ((estimates.low[0], 0.05), (estimates.high[0], 0.95)):
        near, far = (math.log(end) + side * 1e-2 * deviation for side in (-1, 1))
        assert exact.below(near) < tail < exact.below(far)


@given(page=told_pages, shape=st.floats(0.5, 20), exposure=days)
def test_where_nothing_is_hidden_the_posterior_is_gammas(page, shape, exposure):
    """Shape and exposure are sums there, the rate e^psi(a) / b."""
    priors = Priors.one(shape, exposure)
    grid, gamma = (method.estimate(history_of(page)) for method in (Grid(priors), Gamma(priors)))
    if any(gap.age == 0 for gap in page):
        return  # the likelihood rounds such an age up to a microsecond

    deviation = 1 / np.sqrt(gamma.shape)
    assert grid.shape == pytest.approx(gamma.shape, rel=1e-4)
    assert grid.exposure == pytest.approx(gamma.exposure, rel=1e-4)
    assert (np.abs(np.log(grid.rate / gamma.rate)) <= 1e-5 * deviation).all()
    assert (np.abs(np.log(grid.low / gamma.low)) <= 1e-2 * deviation).all()
    assert (np.abs(np.log(grid.high / gamma.high)) <= 1e-2 * deviation).all()


@pytest.mark.parametrize("shape", [0.1, 0.15, 0.2, 0.3])
def test_a_broad_prior_does_not_fall_between_the_points(shape):
    """The fit gives shapes from a tenth on: twelve orders of magnitude, and a steep upper edge."""
    exposure = 10 * shape
    estimates = Grid(Priors.one(shape, exposure)).estimate(history_of([(1.0, False)]))

    rate = math.exp(float(digamma(shape))) / (exposure + 1)
    assert math.log(estimates.rate[0]) == pytest.approx(math.log(rate), abs=1e-2 / shape)
    assert estimates.shape == pytest.approx([shape], rel=1e-2)
    assert estimates.exposure == pytest.approx([exposure + 1], rel=1e-2)


@given(changed=st.integers(1, 40), quiet=st.integers(0, 40))
@settings(max_examples=30)
def test_gamma_is_close_to_the_exact_posterior(changed, quiet):
    """What the grid is for: the audit of two numbers. Within a third of a standard deviation."""
    page = history_of([(1.0, row % 2 == 0) for row in range(changed + quiet)])
    priors = Priors.one(1.0, 2.0)
    grid, gamma = (method.estimate(page) for method in (Grid(priors), Gamma(priors)))

    assert abs(math.log(grid.rate[0] / gamma.rate[0])) <= 1 / 3 / math.sqrt(grid.shape[0])


@pytest.mark.parametrize("page", PAGES)
def test_more_points_hardly_change_the_figures(page):
    history = history_of(PAGES[page])
    usual, fine = Grid().estimate(history), Grid(points=2000).estimate(history)

    for figure in ("rate", "shape", "exposure"):
        assert getattr(usual, figure) == pytest.approx(getattr(fine, figure), rel=1e-3)
    for figure in ("low", "high"):
        assert getattr(usual, figure) == pytest.approx(getattr(fine, figure), rel=1e-2)


def test_pages_without_gaps_are_as_their_prior():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    priors = Priors(np.array([2.0, 5.0]), np.array([10.0, 1.0]), np.array([1, 0]))
    estimates = Grid(priors).estimate(history_of([], [], first_visit=first_visit))

    assert estimates.shape == pytest.approx([5.0, 2.0], rel=1e-6)
    assert estimates.exposure == pytest.approx([1.0, 10.0], rel=1e-6)
    assert estimates.status.tolist() == [Status.PRIOR_ONLY] * 2


def test_each_page_starts_from_the_prior_of_its_site():
    priors = Priors(np.array([2.0, 5.0]), np.array([10.0, 1.0]), np.array([1, 0]))
    estimates = Grid(priors).estimate(history_of([(1.0, False)], [(3.0, False)]))

    assert estimates.shape == pytest.approx([5.0, 2.0], rel=1e-6)
    assert estimates.exposure == pytest.approx([2.0, 13.0], rel=1e-6)


@pytest.mark.parametrize("points", [15, 0, -1])
def test_too_few_points_are_refused(points):
    with pytest.raises(InvalidParameter, match=f"points must be at least 16 .got {points}"):
        Grid(points=points)
