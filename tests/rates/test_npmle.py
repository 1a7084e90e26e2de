"""A prior of any shape: quadrature as the oracle, any order of gaps, kinds it must find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma as gamma_law

from recrawl import Gamma, Histories, Priors, Status, fit_prior
from recrawl.errors import InvalidParameter
from recrawl.rates import NPMLE, Grid, fit_npmle
from recrawl.rates.masses import gamma_masses
from recrawl.rates.priors import PriorSample
from recrawl.rates.quadrature import total
from recrawl.rates.rate_grid import RateGrid
from tests.rates.worlds import GAPS, POPULATIONS, visited
from tests.strategies import Seen, even_pages, history_of

MIXED = [Seen(3.0, True, 0.5), Seen(2.0, True, np.nan, 4), Seen(1.0, False), Seen(6.0, True)]
PAGES = {
    "one hidden change": [Seen(1.0, True)],
    "dated, counted and hidden": MIXED,
    "always changed": [Seen(2.0, True)] * 30,
    "many visits": [Seen(1.0, True), Seen(1.0, False), Seen(1.3, True)] * 60,
    "very many visits": [Seen(1.0, True), Seen(0.7, False), Seen(1.3, True)] * 150,
    "gaps of all lengths": [Seen(10.0**power, power % 2 == 0) for power in range(-2, 3)],
}


def two_kinds(pages: int = 400, visits: int = 10) -> Histories:
    """Pages that change twice a day and pages that change every twenty days, visited daily."""
    chance = np.random.default_rng(5)
    rates = POPULATIONS["two-point"](chance, pages)
    return visited(rates, GAPS["regular"](chance, (pages, visits)), chance)


# From a Gamma prior.


@pytest.mark.parametrize("prior", [(0.5, 2.0), (2.0, 10.0)])
@pytest.mark.parametrize("page", PAGES)
def test_from_a_gamma_prior_the_figures_are_those_of_the_exact_posterior(page, prior):
    """`Grid` has no lattice: it goes through all hidden changes for each of its points."""
    history = history_of(PAGES[page])
    exact = Grid(Priors.one(*prior), points=400).estimate(history)
    found = NPMLE(Priors.one(*prior)).estimate(history)

    deviation = 1 / np.sqrt(exact.shape[0])
    assert np.log(found.rate / exact.rate) == pytest.approx([0], abs=0.02 * deviation)
    assert np.log(found.low / exact.low) == pytest.approx([0], abs=0.05 * deviation)
    assert np.log(found.high / exact.high) == pytest.approx([0], abs=0.05 * deviation)
    assert found.shape == pytest.approx(exact.shape, rel=0.02)


def test_two_changed_quarters_of_eight_say_the_same_first_and_last():
    """0.0032 changes a day by the exact posterior; `gamma` says 0.0015 for one of the orders."""
    early = [(90.0, True)] * 2 + [(90.0, False)] * 6
    pages = history_of(early, early[::-1])

    assert Gamma().estimate(pages).rate.round(4).tolist() == [0.0015, 0.0032]
    assert NPMLE().estimate(pages).rate.round(4).tolist() == [0.0032, 0.0032]
    assert Grid().estimate(pages).rate.round(4).tolist() == [0.0032, 0.0032]


@given(page=even_pages, data=st.data())
@settings(max_examples=30)
def test_the_order_of_gaps_does_not_matter(page, data):
    """To rounding: counts are added up, whatever the order."""
    shuffled = data.draw(st.permutations(page))
    one, other = (NPMLE().estimate(history_of(gaps)) for gaps in (page, shuffled))

    for figure in ("rate", "low", "high", "shape", "exposure"):
        assert getattr(other, figure) == pytest.approx(getattr(one, figure), rel=1e-9)


def test_a_page_stays_unchanged_as_often_as_its_posterior_says():
    """From a Gamma(a, b) and unchanged days the chance is (B / (B + t))^a."""
    seen = NPMLE(Priors.one(1.5, 4.0)).estimate(history_of([(2.0, False)]))
    for days in (1e-4, 0.3, 2.0, 30.0, 1e4):
        assert seen.unchanged(days) == pytest.approx([(6 / (6 + days)) ** 1.5], abs=1e-3)


def test_pages_without_gaps_are_as_their_prior():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    priors = Priors(np.array([2.0, 5.0]), np.array([10.0, 1.0]), np.array([1, 0]))
    estimates = NPMLE(priors).estimate(history_of([], [], first_visit=first_visit))

    assert estimates.shape == pytest.approx([5.0, 2.0], rel=1e-3)
    assert estimates.exposure == pytest.approx([1.0, 10.0], rel=1e-3)
    assert estimates.status.tolist() == [Status.PRIOR_ONLY] * 2


# False changes.


@given(
    st.floats(0.5, 5), st.floats(0.5, 20), st.floats(0.1, 20), st.floats(0.01, 0.3), st.booleans()
)
@settings(max_examples=30)
def test_a_change_that_may_be_false_has_the_posterior_of_the_mixture(
    shape, exposure, gap, false, dated
):
    """By quadrature; a dated one to within its chance to be false."""
    law = gamma_law(shape, scale=1 / exposure)
    rates = np.geomspace(1e-9, 1e4, 100_001)
    age = 0.4 * gap
    likelihood = 1 - np.exp(-rates * gap) * (1 - false)
    if dated:
        likelihood = rates * np.exp(-rates * age) + false / gap * np.exp(-rates * gap)
    weight = law.pdf(rates) * rates * likelihood
    mean = np.sum(weight * rates) / weight.sum()
    page = history_of([Seen(gap, True, age if dated else np.nan)])
    found = NPMLE(Priors.one(shape, exposure), false_changes=false).estimate(page)

    assert found.shape / found.exposure == pytest.approx([mean], rel=false if dated else 5e-3)


def test_noise_does_not_inflate_rates_that_know_of_it():
    """Pages that change once in twenty days, and show a false change at one visit in five."""
    changed = np.random.default_rng(8).random((400, 30)) < 1 - np.exp(-0.05) * 0.8
    histories = Histories.from_lists([([1.0] * 30, row.tolist()) for row in changed])
    knowing = NPMLE(fit_npmle(histories, false_changes=0.2), false_changes=0.2)

    estimates = knowing.estimate(histories)
    assert 0.03 < np.mean(estimates.shape / estimates.exposure) < 0.06
    assert np.median(NPMLE(fit_npmle(histories)).estimate(histories).rate) > 0.2


def test_with_false_changes_folding_is_the_same_as_reading_together():
    """Bit for bit, dated changes included."""
    page = [Seen(1.0, True, 0.2), Seen(3.0, True), Seen(0.5, False), Seen(2.0, True, np.nan, 2)]
    method = NPMLE(false_changes=0.1)
    state = method.start(1)
    for gap in page:
        told = {"age": np.array([gap.age]), "count": np.array([gap.count])}
        state = method.update(state, np.array([gap.gap]), np.array([gap.changed]), **told)

    assert method.read(state).rate == method.estimate(history_of(page)).rate


@pytest.mark.parametrize("false", [-0.1, 1.0, float("nan")])
def test_a_chance_is_refused_that_is_none(false):
    with pytest.raises(InvalidParameter, match="false_changes must be between 0 and 1"):
        NPMLE(false_changes=false)


# Fitted priors.


def test_two_kinds_of_pages_make_two_humps():
    """Half of the mass on either side and next to nothing between, where a Gamma has a third."""
    priors = fit_npmle(two_kinds())
    grid = RateGrid.around(priors)
    rates = np.exp(grid.log_rates)
    between = (rates > 0.2) & (rates < 1.0)

    assert priors.masses is not None
    assert priors.masses.sum() == pytest.approx(1)
    assert priors.masses[0, rates < 0.2].sum() == pytest.approx(0.5, abs=0.05)
    assert priors.masses[0, between].sum() < 0.04
    assert gamma_masses(priors, grid)[between, 0].sum() > 0.15


def test_em_finds_the_masses_under_which_the_pages_are_most_likely():
    """The likelihood is no lower than that of the truth, or of the Gamma it starts from."""
    histories = two_kinds()
    priors = fit_npmle(histories)
    grid = RateGrid.around(priors)
    heights = grid.log_likelihood(grid.of(histories, slice(0, len(histories))))

    def log_likelihood(masses):
        return np.log(masses @ np.exp(heights - heights.max(axis=0))).sum()

    truth = np.zeros(len(grid.log_rates))
    truth[[np.abs(grid.log_rates - np.log(rate)).argmin() for rate in (0.05, 2.0)]] = 0.5
    assert priors.masses is not None
    fitted = log_likelihood(priors.masses[0])
    assert fitted >= log_likelihood(truth)
    assert fitted >= log_likelihood(gamma_masses(priors, grid)[:, 0]) + 20


def test_a_fitted_prior_puts_pages_with_their_kind():
    """Three changes in three days, or none: a page of one kind, not of a kind between."""
    npmle = NPMLE(fit_npmle(two_kinds()))
    seen = npmle.estimate(history_of([(1.0, True)] * 3, [(1.0, False)] * 3))

    assert 1.2 < seen.rate[0] < 3
    assert 0.02 < seen.rate[1] < 0.1


def test_each_site_has_its_own_masses():
    """A site of one kind beside a site of the other; a site without pages is as all are."""
    histories = two_kinds(400)
    busy = histories.total(histories.changed.astype(float)) > 4
    order = np.argsort(busy, kind="stable")
    site = np.where(busy[order], 2, 0)
    priors = fit_npmle(histories.take(order), site, site_count=4)
    means = priors.masses @ np.exp(RateGrid.around(priors).log_rates)

    assert means[0] < 0.15
    assert means[2] > 1.2
    assert means[1] == pytest.approx(means[3])
    assert 0.5 < means[1] < 1.6


def test_parts_of_a_log_make_the_same_masses():
    histories = two_kinds(300)
    site, hashes = np.arange(300) % 3, np.random.default_rng(1).permutation(300).astype(np.uint64)
    parts = [
        (histories.take(rows), site[rows], hashes[rows])
        for rows in np.array_split(np.arange(300), 4)
    ]

    whole = fit_npmle(histories, site, hashes=hashes)
    split = PriorSample.of(parts).fit(fit=fit_npmle)
    assert whole.masses is not None
    assert split.masses is not None
    np.testing.assert_allclose(split.masses, whole.masses, rtol=1e-9)


def test_the_gamma_of_fitted_priors_is_that_of_fit_prior():
    histories = two_kinds(100)

    assert fit_npmle(histories).shape == fit_prior(histories).shape
    assert fit_npmle(histories).exposure == fit_prior(histories).exposure


def test_no_pages_make_the_default():
    priors = fit_npmle(Histories.from_lists([]))

    assert priors.masses is not None
    assert NPMLE(priors).estimate(history_of([(1.0, True)])).status.tolist() == [Status.ALL_CHANGED]


def test_masses_that_do_not_fit_are_refused():
    priors = Priors.one()
    with pytest.raises(InvalidParameter, match="row of positive masses for each site"):
        replace(priors, masses=np.ones((2, 5)))
    with pytest.raises(InvalidParameter, match="row of positive masses for each site"):
        replace(priors, masses=np.zeros((1, 5)))
    with pytest.raises(InvalidParameter, match=r"masses for each site .got 5"):
        NPMLE(replace(priors, masses=np.ones((1, 5)))).estimate(history_of([(1.0, True)]))


# Sums.


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 64])
def test_a_column_has_the_same_sum_alone_and_in_company(columns):
    values = np.random.default_rng(3).normal(size=(300, columns))
    alone = np.concatenate([total(np.ascontiguousarray(each[:, None])) for each in values.T])

    assert total(values).tolist() == alone.tolist()
    assert total(np.asfortranarray(values)).tolist() == alone.tolist()


def test_a_page_that_was_never_seen_has_no_chance_to_be_as_it_was():
    """Nothing is said of an unknown wait, and nothing is warned of."""
    seen = NPMLE().estimate(history_of([(2.0, False)], [(2.0, False)]))
    chance = seen.unchanged(np.array([np.nan, 1.0]))

    assert np.isnan(chance).tolist() == [True, False]
