"""Priors as values, and the fit: what it recovers, how it shrinks, what it survives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import gammaln

from recrawl import Histories, Priors, fit_prior
from recrawl.errors import InvalidParameter
from tests.rates.oracles import ExactGrid
from tests.rates.worlds import GAPS, visited
from tests.strategies import history_of

if TYPE_CHECKING:
    from collections.abc import Callable

# Populations of a site: shape and exposure.
FAMILIES = [(1.0, 1.5), (0.5, 5.0), (3.0, 10.0), (0.3, 0.2)]


def site(shape: float, exposure: float, pages: int, visits: int, seed: int) -> Histories:
    """Pages of one site, rates from a Gamma, exponential gaps, changes that hide their times."""
    chance = np.random.default_rng(seed)
    rates = chance.gamma(shape, 1 / exposure, pages)
    return visited(rates, GAPS["exponential"](chance, (pages, visits)), chance)


def mean_rate(priors: Priors, row: int = 0) -> float:
    """Mean of the prior of a site."""
    return float(priors.shape[row] / priors.exposure[row])


def test_one_prior_serves_every_page():
    shape, exposure = Priors.one(2.0, 10.0).of_pages(3)

    assert shape.tolist() == [2.0, 2.0, 2.0]
    assert exposure.tolist() == [10.0, 10.0, 10.0]


def test_pages_find_the_prior_of_their_site():
    priors = Priors(np.array([1.0, 4.0]), np.array([10.0, 2.0]), np.array([1, 0, 1]))
    shape, exposure = priors.of_pages(3)

    assert shape.tolist() == [4.0, 1.0, 4.0]
    assert exposure.tolist() == [2.0, 10.0, 2.0]


def test_priors_meet_as_many_pages_as_they_were_made_for():
    priors = Priors(np.array([1.0]), np.array([10.0]), np.array([0, 0]))

    with pytest.raises(InvalidParameter, match=r"made for 2 pages and must meet as many \(got 3\)"):
        priors.of_pages(3)


def test_some_pages_take_the_priors_of_their_sites_along():
    """In the order named, a page as often as it is named."""
    priors = Priors(np.array([1.0, 4.0]), np.array([10.0, 2.0]), np.array([1, 0, 1]))
    shape, exposure = priors.take(np.array([1, 2, 2])).of_pages(3)

    assert shape.tolist() == [1.0, 4.0, 4.0]
    assert exposure.tolist() == [10.0, 2.0, 2.0]


def test_no_pages_take_no_sites_along():
    priors = Priors(np.array([1.0]), np.array([10.0]), np.array([0, 0]))

    assert priors.take(np.array([], np.int64)).of_pages(0)[0].tolist() == []


def test_one_prior_for_all_is_also_that_of_some():
    priors = Priors.one(2.0, 10.0)

    assert priors.take(np.array([5, 7])) is priors


def test_sites_may_be_given_as_a_list():
    """What passes the check must also be usable, as `of_pages` is."""
    priors = Priors([1.0, 4.0], [10.0, 2.0], [1, 0])  # type: ignore[arg-type]

    assert priors.take(np.array([1])).of_pages(1)[0].tolist() == [1.0]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["shape", "exposure"])
def test_a_prior_that_is_no_distribution_is_refused(name, bad):
    with pytest.raises(InvalidParameter, match=f"prior {name} must"):
        Priors.one(**{"shape": 1.0, "exposure": 1.0, name: bad})


def test_every_site_needs_both_numbers():
    with pytest.raises(InvalidParameter):
        Priors(np.array([1.0, 2.0]), np.array([1.0]))


@pytest.mark.parametrize("row", [-1, 2])
def test_a_site_that_is_not_there_is_refused(row):
    """In one sentence, not as an index error from deep inside, and never another site's prior."""
    with pytest.raises(InvalidParameter):
        Priors(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([0, row])).of_pages(2)


@pytest.mark.parametrize("sites", [[0, 0], [0, 0, 0, 0], [0, -1, 0]])
def test_sites_that_do_not_fit_the_pages_are_refused(sites):
    """Three pages need three numbers from 0."""
    with pytest.raises(InvalidParameter):
        fit_prior(site(1.0, 1.5, 3, 5, seed=1), np.array(sites))


@pytest.mark.parametrize("sites", [[[0, 0, 0]], [0.0, 0.0, 0.0]])
def test_sites_are_one_column_of_whole_numbers(sites):
    with pytest.raises(InvalidParameter):
        Priors(np.array([1.0]), np.array([1.0]), np.array(sites))


@pytest.mark.parametrize(("shape", "exposure"), FAMILIES)
def test_the_fit_recovers_a_gamma_population(shape, exposure):
    """Over 20 sites of 200 pages with 30 visits the error that stays is below that of one site.

    The mean of ln(fitted / true) over sites is the systematic part, its standard deviation what
    chance does to one site; three standard errors of the mean are allowed for on top.
    """
    fits = [fit_prior(site(shape, exposure, 200, 30, seed)) for seed in range(20)]

    for fitted, true in (
        (np.array([fit.shape[0] for fit in fits]), shape),
        (np.array([fit.exposure[0] for fit in fits]), exposure),
    ):
        errors = np.log(fitted / true)
        assert abs(errors.mean()) <= errors.std() * (1 + 3 / math.sqrt(len(fits)))


@pytest.mark.parametrize(("shape", "exposure"), FAMILIES)
def test_the_fit_lies_in_the_confidence_region_of_the_exact_one(shape, exposure):
    """Oracle: the exact chance of all visits, maximised over both numbers by a simplex.

    Twice the loss of log-likelihood is a chi-square with two degrees of freedom; its 95 % quantile
    bounds the priors that these pages cannot tell from the best one.
    """
    loss, fitted = loss_of_priors(site(shape, exposure, 200, 30, seed=41))
    best = minimize(loss, np.log([shape, exposure]), method="Nelder-Mead", options={"fatol": 0.01})

    assert 2 * (fitted - best.fun) <= stats.chi2.ppf(0.95, 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("shape", "exposure"), FAMILIES)
def test_after_few_visits_the_fit_is_no_worse_than_the_truth(shape, exposure, seed):
    """Five visits say little, so the fit leans on the default; not so far that the visits object.

    The true prior explains them about as well as any; the fit must not be significantly worse.
    """
    loss, fitted = loss_of_priors(site(shape, exposure, 200, 5, seed))

    assert 2 * (fitted - loss(np.log([shape, exposure]))) <= stats.chi2.ppf(0.95, 2)


def loss_of_priors(histories: Histories) -> tuple[Callable[[np.ndarray], float], float]:
    """Minus the exact log-likelihood as a function of ln shape and ln exposure, and at the fit."""
    grid, fit = ExactGrid(histories), fit_prior(histories)

    def loss(log_prior: np.ndarray) -> float:
        return -float(grid.posterior(*np.exp(log_prior)).log_evidence.sum())

    return loss, loss(np.log([fit.shape[0], fit.exposure[0]]))


def test_dated_changes_have_the_closed_form():
    """beyond.md 2.3: sum of lnG(a+D) - lnG(a) + a ln b - (a+D) ln(b+E) where all is dated."""
    chance = np.random.default_rng(42)
    rates = chance.gamma(1.0, 1 / 0.5, 200)
    pages = []
    for rate in rates.tolist():
        ages = chance.exponential(1 / rate, 20)
        pages.append([(1.0, bool(age < 1), age if age < 1 else np.nan) for age in ages.tolist()])
    events = np.array([sum(changed for _, changed, _ in page) for page in pages])
    quiet = np.array([sum(age if changed else 1.0 for _, changed, age in page) for page in pages])

    def loss(log_prior: np.ndarray) -> float:
        a, b = np.exp(log_prior)
        pages_evidence = gammaln(a + events) - gammaln(a) + a * np.log(b)
        return -float(np.sum(pages_evidence - (a + events) * np.log(b + quiet)))

    best = minimize(loss, np.log([1.0, 0.5]), method="Nelder-Mead", options={"fatol": 0.01})
    fit = fit_prior(history_of(*pages))
    assert 2 * (loss(np.log([fit.shape[0], fit.exposure[0]])) - best.fun) <= stats.chi2.ppf(0.95, 2)


def test_a_site_with_many_pages_has_its_own_prior_and_one_with_few_that_of_all():
    """How far a site's mean rate has come from its own to that of all, in the logarithm.

    Elsewhere counts for about 20 pages (beyond.md 2.3): next to nothing beside 200 own pages,
    nearly everything beside a single one.
    """
    fast, slow = site(4.0, 2.0, 200, 30, seed=43), site(4.0, 40.0, 200, 30, seed=44)
    pages = Histories.joined([fast, slow, slow.take(np.array([0]))])
    fitted = fit_prior(pages, np.repeat([0, 1, 2], [200, 200, 1]), site_count=4)

    def way(row: int, own: float) -> float:
        of_all = mean_rate(fitted, 3)
        return math.log(mean_rate(fitted, row) / own) / math.log(of_all / own)

    assert abs(way(0, own=2.0)) < 0.2
    assert abs(way(1, own=0.1)) < 0.2
    assert way(2, own=0.1) > 0.6


def test_more_pages_bring_a_site_closer_to_its_own_prior():
    """The weight of elsewhere is K / (K + pages), so the pull falls with every page."""
    fast, slow = site(4.0, 2.0, 200, 30, seed=45), site(4.0, 40.0, 200, 30, seed=46)
    means = []
    for pages in (1, 5, 20, 80, 200):
        both = Histories.joined([fast, slow.take(np.arange(pages))])
        means.append(mean_rate(fit_prior(both, np.repeat([0, 1], [200, pages])), 1))

    assert means == sorted(means, reverse=True)


def test_sites_without_pages_have_the_prior_of_all():
    """`site_count`: the numbers of sites may run beyond those that were seen."""
    histories = site(1.0, 1.5, 60, 10, seed=47)
    sites = np.repeat([0, 2], 30)
    fitted = fit_prior(histories, sites, site_count=5)

    assert len(fitted.shape) == len(fitted.exposure) == 5
    assert fitted.shape[1] == fitted.shape[3] == fitted.shape[4]
    assert fitted.exposure[1] == fitted.exposure[3] == fitted.exposure[4]
    everywhere = fit_prior(histories)
    assert fitted.shape[4] == pytest.approx(everywhere.shape[0], rel=1e-6)
    assert fitted.exposure[4] == pytest.approx(everywhere.exposure[0], rel=1e-6)


def test_a_site_count_that_is_too_small_is_what_was_seen():
    fitted = fit_prior(site(1.0, 1.5, 6, 10, seed=48), np.array([0, 1, 2, 3, 4, 5]), site_count=2)

    assert len(fitted.shape) == 6


def test_each_page_knows_its_site_after_the_fit():
    sites = np.array([0, 1, 1, 0, 2, 2])
    fitted = fit_prior(site(1.0, 1.5, 6, 10, seed=49), sites)

    assert fitted.of_pages(6)[0].tolist() == fitted.shape[sites].tolist()


def test_the_order_of_pages_does_not_matter():
    """Where every page is used only the order of additions differs."""
    histories, sites = site(1.0, 1.5, 150, 10, seed=50), np.arange(150) % 3
    shuffled = np.random.default_rng(51).permutation(150)

    one, other = fit_prior(histories, sites), fit_prior(histories.take(shuffled), sites[shuffled])
    np.testing.assert_allclose(other.shape, one.shape, rtol=1e-6)
    np.testing.assert_allclose(other.exposure, one.exposure, rtol=1e-6)


def test_the_order_of_pages_hardly_matters_where_some_are_left_out():
    """More than 4000 pages: another sample, so another fit, by no more than sampling does.

    ln(shape) of a fit to 200 such pages has a standard deviation of 0.13 (the sites above), to
    4000 pages 0.13 / sqrt(20); two fits differ by less than three times that of a difference.
    """
    histories = site(1.0, 1.5, 8000, 10, seed=52)
    shuffled = np.random.default_rng(53).permutation(8000)

    one, other = fit_prior(histories), fit_prior(histories.take(shuffled))
    difference = abs(math.log(one.shape[0] / other.shape[0]))
    assert 0 < difference <= 3 * 0.13 / math.sqrt(20) * math.sqrt(2)


def test_lots_make_the_choice_of_pages_independent_of_their_order():
    """With a lot a page (a hash of its name) the same pages are taken, in the same order."""
    chance = np.random.default_rng(56)
    histories, sites = site(1.0, 1.5, 6000, 5, seed=57), np.arange(6000) % 2
    hashes = chance.integers(0, 2**64, 6000, np.uint64)
    shuffled = chance.permutation(6000)

    one = fit_prior(histories, sites, hashes=hashes)
    other = fit_prior(histories.take(shuffled), sites[shuffled], hashes=hashes[shuffled])
    assert other.shape.tolist() == one.shape.tolist()
    assert other.exposure.tolist() == one.exposure.tolist()


def test_the_names_of_sites_do_not_matter():
    histories, sites = site(1.0, 1.5, 90, 10, seed=54), np.arange(90) % 3
    renamed = np.array([2, 0, 1])

    one, other = fit_prior(histories, sites), fit_prior(histories, renamed[sites])
    np.testing.assert_allclose(other.shape[renamed], one.shape, rtol=1e-6)
    np.testing.assert_allclose(other.exposure[renamed], one.exposure, rtol=1e-6)


def test_pages_without_gaps_say_nothing():
    histories = site(1.0, 1.5, 60, 10, seed=55)
    blank = Histories.joined([histories, history_of([], [], [])])

    assert fit_prior(blank).shape[0] == pytest.approx(fit_prior(histories).shape[0], rel=1e-9)


@pytest.mark.parametrize("sites", [None, "one each", "all of one"])
@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([], id="no pages"),
        pytest.param([[]], id="one page without gaps"),
        pytest.param([[], [], []], id="no gaps at all"),
        pytest.param([[(1.0, False)]], id="one unchanged gap"),
        pytest.param([[(1.0, True)]], id="one changed gap"),
        pytest.param([[(7.0, False)] * 50] * 300, id="nothing ever changed"),
        pytest.param([[(7.0, True)] * 50] * 300, id="everything always changed"),
        pytest.param([[(1e-5, True)] * 50] * 50, id="changed every second"),
        pytest.param([[(1e4, False)] * 50] * 50, id="unchanged for a millennium"),
        pytest.param([[(1.0, True), (1.0, False)] * 20] * 250, id="all pages alike"),
        pytest.param([[(1.0, True, 0.0)] * 20] * 20, id="always dated at the visit"),
        pytest.param([[(1.0, True, np.nan, 10**6)] * 9] * 9, id="counted in millions"),
        pytest.param([[(1e-5, True)] * 9, [(1e4, False)] * 9] * 9, id="extremes side by side"),
    ],
)
def test_degenerate_populations_give_a_prior_all_the_same(pages, sites):
    """Positive, finite numbers whatever was seen."""
    histories = history_of(*pages)
    of_page = {
        None: None,
        "one each": np.arange(len(pages)),
        "all of one": np.zeros(len(pages), np.int64),
    }[sites]
    fitted = fit_prior(histories, of_page)

    for column in (fitted.shape, fitted.exposure):
        assert len(column) >= 1
        assert np.isfinite(column).all()
        assert (column > 0).all()


def test_where_nothing_changed_the_rate_is_below_what_was_watched():
    """300 pages quiet for 350 days each: less than one change in 350 days a page."""
    fitted = fit_prior(history_of(*[[(7.0, False)] * 50] * 300))

    assert mean_rate(fitted) < 1 / 350


def test_where_everything_changed_the_rate_is_above_one_a_gap():
    fitted = fit_prior(history_of(*[[(7.0, True)] * 50] * 300))

    assert mean_rate(fitted) > 1 / 7
