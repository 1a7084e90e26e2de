"""The most likely rate: the papers' examples, root-finders and optimisers as oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from recrawl import Likelihood, Status
from recrawl.errors import InvalidParameter
from tests.rates.oracles import evidence_of
from tests.strategies import Seen, bare_pages, days, history_of, pages

PLAIN, HALF = Likelihood(singularity="none"), Likelihood(singularity="half")


def rate_of(estimator: Likelihood, *page: tuple) -> float:
    """Rate of one page."""
    return float(estimator.estimate(history_of(page)).rate[0])


def random_page(seed: int) -> list[Seen]:
    """Gaps over eight orders of magnitude, all kinds of outcome."""
    chance = np.random.default_rng(seed)
    gaps = 10 ** chance.uniform(-4, 4, chance.integers(2, 40))
    rate = 10 ** chance.uniform(-3, 3)
    kinds = chance.integers(0, 3, len(gaps)) * chance.integers(0, 2)  # half the pages are bare
    page = []
    for gap, kind in zip(gaps.tolist(), kinds.tolist(), strict=True):
        count = int(chance.poisson(min(rate * gap, 50)))
        told = (gap * float(chance.random()), -1) if kind == 1 and count else (math.nan, -1)
        page.append(Seen(gap, count > 0, *((math.nan, count) if kind == 2 else told)))
    return page


def solvable(page: list[Seen]) -> bool:
    """Whether the plain equation has a root: something changed and something was quiet."""
    evidence = evidence_of(page)
    return evidence.changes > 0 and evidence.quiet > 0


def test_cho_ex1():
    """X = 6 of n = 10 daily gaps: plain -ln(1 - X/n), half -ln((n - X + 1/2) / (n + 1/2))."""
    page = [(1.0, True)] * 6 + [(1.0, False)] * 4

    assert rate_of(PLAIN, *page) == pytest.approx(0.916291, abs=1e-6)
    assert rate_of(HALF, *page) == pytest.approx(0.847298, abs=1e-6)


def test_cho_ex5():
    """Changed gaps of 6 and 3 hours, unchanged ones of 4 and 7: 2.665846 changes in 20 hours."""
    page = [(6.0, True), (4.0, False), (3.0, True), (7.0, False)]

    assert 20 * rate_of(PLAIN, *page) == pytest.approx(2.665846, abs=1e-6)


def test_cho_ex2():
    """Visits on days 1, 2, 7 and 10, changes seen on days 2 and 7."""
    page = [(1.0, True), (5.0, True), (3.0, False)]

    assert rate_of(PLAIN, *page) == pytest.approx(0.383579, abs=1e-6)


def test_cho_half_irregular():
    """Half a virtual gap in the irregular equation is the regular estimator exactly."""
    page = [(1.0, True)] * 6 + [(1.0, False)] * 4

    assert rate_of(HALF, *page) == pytest.approx(-math.log(4.5 / 10.5), rel=1e-9)


def moments_with_half_a_gap(rate: float, gaps: int) -> tuple[float, float]:
    """Mean and standard deviation of the rate over all outcomes of so many daily gaps."""
    every = [
        [(1.0, True)] * changed + [(1.0, False)] * (gaps - changed) for changed in range(gaps + 1)
    ]
    returned = HALF.estimate(history_of(*every)).rate
    chance = stats.binom.pmf(np.arange(gaps + 1), gaps, -math.expm1(-rate))
    mean = float(chance @ returned)
    return mean, math.sqrt(float(chance @ (returned - mean) ** 2))


@pytest.mark.parametrize(
    ("gaps", "end"), [(3, 1.305), (10, 2.650), (20, 3.477), (50, 4.578), (80, 5.141)]
)
def test_cho_bias(gaps, end):
    """With half a gap the bias stays below 10 % up to so many changes a gap, by exact sums."""
    crossing = brentq(lambda rate: moments_with_half_a_gap(rate, gaps)[0] / rate - 0.9, 0.5, 8.0)

    assert crossing == pytest.approx(end, abs=0.01)


@pytest.mark.parametrize(("gaps", "spread"), [(10, 0.4024), (40, 0.2021)])
def test_cho_sigma(gaps, spread):
    """sigma/r at 1.5 changes a gap, by exact sums."""
    assert moments_with_half_a_gap(1.5, gaps)[1] / 1.5 == pytest.approx(spread, abs=1e-3)


@pytest.mark.parametrize(("rate", "bias"), [(0.001, 2 * math.log(2)), (50.0, 2.0)])
def test_cho_fig10_limits(rate, bias):
    """D / E from two dated gaps: N ln(N / (N-1)) times too high at slow rates, N / (N-1) at fast.

    The mean over both gaps' ages, by Gauss-Legendre in the chance of a younger change.
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    chance = -math.expm1(-rate)
    ages = (-np.log1p(-chance * (nodes + 1) / 2) / rate).tolist()
    one_changed = [[(1.0, True, age), (1.0, False)] for age in ages]
    both_changed = [[(1.0, True, a), (1.0, True, b)] for a in ages for b in ages]

    one, both = (PLAIN.estimate(history_of(*some)).rate for some in (one_changed, both_changed))
    mean = 2 * chance * (1 - chance) * float(weights / 2 @ one)
    mean += chance**2 * float(np.outer(weights / 2, weights / 2).ravel() @ both)
    assert mean / rate == pytest.approx(bias, rel=0.02)


def test_dates_counts_and_hidden_changes_in_one_equation():
    """beyond.md 1: D = 2, E = 5, c = {1, 2} gives 0.641143, however D and E come about."""
    dated = [(2.0, True, 1.0), (3.0, True, 1.5), (2.5, False), (1.0, True), (2.0, True)]
    told = [(2.0, True, np.nan, 2), (3.0, False, np.nan, 0), (1.0, True), (2.0, True)]

    assert rate_of(PLAIN, *dated) == pytest.approx(0.641143, abs=1e-6)
    assert rate_of(PLAIN, *told) == pytest.approx(0.641143, abs=1e-6)


def test_dated_changes_alone_are_events_by_quiet_days():
    """Cho's last-date estimator (Fig. 10) is the special case D / E."""
    page = [(4.0, True, 1.0), (4.0, False), (4.0, True, 3.0)]

    assert rate_of(PLAIN, *page) == pytest.approx(2 / 8, rel=1e-9)


def test_half_a_gap_is_added_only_where_every_change_hides():
    """A dated or counted change gives the likelihood a maximum by itself."""
    dated = [(4.0, True, 1.0), (4.0, False), (4.0, True)]
    counted = [(4.0, True, np.nan, 2), (4.0, True)]

    assert rate_of(HALF, *dated) == rate_of(PLAIN, *dated)
    assert rate_of(HALF, *counted) == rate_of(PLAIN, *counted)


def test_a_count_outranks_a_date():
    """A complete count says more than the time of the last change."""
    both = [(4.0, True, 1.0, 3), (2.0, False)]
    count = [(4.0, True, np.nan, 3), (2.0, False)]

    assert rate_of(PLAIN, *both) == rate_of(PLAIN, *count) == pytest.approx(3 / 6, rel=1e-9)


@given(st.integers(1, 30), st.integers(0, 30), days)
def test_equal_gaps_have_the_closed_form(changed, unchanged, gap):
    """-ln((n - X + 1/2) / (n + 1/2)) / I, and -ln(1 - X/n) / I without the half."""
    n = changed + unchanged
    page = [(gap, True)] * changed + [(gap, False)] * unchanged

    assert rate_of(HALF, *page) == pytest.approx(
        -math.log((unchanged + 0.5) / (n + 0.5)) / gap, rel=1e-9
    )
    if unchanged:
        assert rate_of(PLAIN, *page) == pytest.approx(-math.log(unchanged / n) / gap, rel=1e-9)


@given(bare_pages)
def test_without_a_change_the_rate_is_zero(page):
    """Bound of algorithms.md 2: the upper end of a 90 % band is -ln(.05) / U, about 3 / U."""
    quiet = [gap._replace(changed=False) for gap in page]
    days_watched = math.fsum(gap.gap for gap in page)
    for estimator in (PLAIN, HALF):
        estimates = estimator.estimate(history_of(quiet))

        assert estimates.rate.tolist() == [0.0]
        assert estimates.low.tolist() == [0.0]
        assert estimates.high == pytest.approx([-math.log(0.05) / days_watched], rel=1e-9)
        assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@given(bare_pages)
def test_the_plain_rate_is_infinite_where_every_gap_hides_a_change(page):
    always = [gap._replace(changed=True) for gap in page]
    estimates = PLAIN.estimate(history_of(always))

    assert estimates.rate.tolist() == [np.inf]
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


@pytest.mark.parametrize("gaps", [1, 3, 10])
def test_half_a_gap_keeps_the_rate_finite_and_says_that_it_is_the_largest(gaps):
    """algorithms.md 1.2: X = n gives ln(2n + 1) / I, the most it can ever return: saturated."""
    estimates = HALF.estimate(history_of([(2.0, True)] * gaps))

    assert estimates.rate == pytest.approx([math.log(2 * gaps + 1) / 2], rel=1e-9)
    assert estimates.status_names == ["saturated"]


@pytest.mark.parametrize("estimator", [PLAIN, HALF])
@given(page=bare_pages, level=st.sampled_from([0.5, 0.9, 0.99]))
def test_where_everything_changed_the_lower_end_is_exact(estimator, page, level):
    """At the lower end all gaps change with probability (1 - level) / 2; no rate is too high.

    Half a gap may hold the rate itself below that end, which then is the rate.
    """
    always = [gap._replace(changed=True) for gap in page]
    estimates = Likelihood(estimator.singularity, level).estimate(history_of(always))

    exact = evidence_of(always).rate_with_chance((1 - level) / 2)
    assert estimates.low == pytest.approx(np.minimum(exact, estimates.rate), rel=1e-3)
    assert estimates.high.tolist() == [np.inf]


@pytest.mark.parametrize("estimator", [PLAIN, HALF])
@pytest.mark.parametrize(
    "page",
    [[(2.0, True, 0.0)], [(2.0, True, 0.0), (3.0, True, 0.0)], [(2.0, True, 0.0), (3.0, True)]],
)
def test_changes_in_the_instant_of_the_visit_are_no_reason_to_crash(estimator, page):
    """A Last-Modified equal to the time of the visit is an age of 0: events but no quiet day.

    Dates are no finer than a microsecond, so that is the age it is given.
    """
    estimates = estimator.estimate(history_of(page))

    assert 0 < estimates.rate[0] < np.inf
    assert 0 < estimates.low[0] < np.inf
    assert estimates.low[0] <= estimates.rate[0] <= estimates.high[0]
    assert estimates.status_names != ["ok"]


@given(pages)
def test_the_root_lies_between_its_bounds(page):
    """(D + m) / (E + C/2) <= r <= (D + m) / E (beyond.md 1)."""
    assume(solvable(page))
    low, high = evidence_of(page).bracket
    rate = rate_of(PLAIN, *page)

    assert low * (1 - 1e-9) <= rate <= high * (1 + 1e-9)


@given(pages)
@settings(max_examples=200)
def test_the_rate_is_the_root_that_brent_finds(page):
    """To the tolerance promised, 1e-9."""
    assume(solvable(page))

    assert rate_of(PLAIN, *page) == pytest.approx(evidence_of(page).most_likely(), rel=1e-9)


@given(bare_pages)
@settings(max_examples=200)
def test_the_rate_with_half_a_gap_is_the_root_that_brent_finds(page):
    """algorithms.md 2: the same equation with U + (mean gap) / 2 for U."""
    assume(any(gap.changed for gap in page))
    evidence = evidence_of(page).with_half_a_gap(page)

    assert rate_of(HALF, *page) == pytest.approx(evidence.most_likely(), rel=1e-9)


@pytest.mark.parametrize("seed", [seed for seed in range(60) if solvable(random_page(seed))])
def test_no_rate_is_more_likely(seed):
    """An optimiser that knows only the likelihood finds nothing higher, and the same place."""
    page = random_page(seed)
    evidence = evidence_of(page)
    low, high = (math.log(bound) for bound in evidence.bracket)

    found = minimize_scalar(
        lambda log_rate: -evidence.log_likelihood(math.exp(log_rate)),
        bounds=(low - 1, high + 1),
        method="bounded",
        options={"xatol": 1e-10},
    )
    rate = rate_of(PLAIN, *page)
    assert evidence.log_likelihood(rate) >= -found.fun - 1e-9
    # The optimiser cannot see steps that move the likelihood by less than its rounding.
    assert rate == pytest.approx(math.exp(found.x), rel=1e-4)


@pytest.mark.parametrize("estimator", [PLAIN, HALF])
@given(page=pages, level=st.sampled_from([0.5, 0.8, 0.9, 0.99]))
@settings(max_examples=150)
def test_the_band_is_where_the_likelihood_has_fallen(estimator, page, level):
    """2 (l(best) - l(end)) is the chi-square quantile z^2, at both ends, to a thousandth."""
    assume(solvable(page))
    evidence = evidence_of(page)
    if estimator is HALF and evidence.hidden and not evidence.events:
        evidence = evidence.with_half_a_gap(page)
    estimates = Likelihood(estimator.singularity, level).estimate(history_of(page))

    low, high = evidence.falls_by(stats.norm.ppf((1 + level) / 2) ** 2 / 2)
    assert estimates.low == pytest.approx([low], rel=1e-3)
    assert estimates.high == pytest.approx([high], rel=1e-3)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6, 1e7, 1e8, 1e9, 1e12])
def test_the_band_is_found_where_the_likelihood_is_flat(ratio, level):
    """A change somewhere in a very long gap says next to nothing: the top is a plateau.

    No quadratic or cubic through the maximum sees its edges, which are the band.
    """
    page = [Seen(ratio, True), Seen(1.0, False)]
    estimates = Likelihood("none", level).estimate(history_of(page))

    low, high = evidence_of(page).falls_by(stats.norm.ppf((1 + level) / 2) ** 2 / 2)
    assert estimates.low == pytest.approx([low], rel=1e-3)
    assert estimates.high == pytest.approx([high], rel=1e-3)


@given(pages)
def test_the_gamma_has_the_mode_and_width_of_the_likelihood(page):
    """Shape / exposure is the rate; shape is the information about its logarithm."""
    assume(solvable(page))
    evidence = evidence_of(page)
    estimates = PLAIN.estimate(history_of(page))
    log_rate = math.log(estimates.rate[0])
    step = 1e-4

    bend = (evidence.score(log_rate + step) - evidence.score(log_rate - step)) / (2 * step)
    assert estimates.shape / estimates.exposure == pytest.approx(estimates.rate, rel=1e-9)
    assert estimates.shape == pytest.approx([-bend], rel=1e-4, abs=1e-9)


def test_a_loose_tolerance_is_kept_too():
    """Whatever is asked, the error stays below it."""
    page = random_page(8)
    exact = evidence_of(page).most_likely()
    for tolerance in (1e-2, 1e-4, 1e-6, 1e-12):
        rate = rate_of(Likelihood("none", tolerance=tolerance), *page)

        assert rate == pytest.approx(exact, rel=max(tolerance, 1e-13))


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = PLAIN.estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


def test_a_word_that_is_no_singularity_is_refused():
    with pytest.raises(InvalidParameter, match="singularity must be one of half, none"):
        Likelihood(singularity="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("tolerance", [0.0, -1e-9, 1.0, np.nan])
def test_a_tolerance_that_nothing_can_meet_is_refused(tolerance):
    with pytest.raises(InvalidParameter, match="tolerance must be between 0 and 1"):
        Likelihood(tolerance=tolerance)
