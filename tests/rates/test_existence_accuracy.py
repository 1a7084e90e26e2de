"""Exact errors of the estimators, against sums by hand, simulated pages and another integral.

Places in the papers by algorithms.md: 1.1 to 1.4 are section 4 of Cho and Garcia-Molina, 3 is its
section 5 and appendix D, 11 is equation 3 of Malcolm and Armitage.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Histories, Ratio
from recrawl.errors import InvalidParameter
from recrawl.rates import (
    LLN,
    Beta,
    Cho,
    LastModified,
    LastModifiedRaw,
    Malcolm,
    Matloff,
    accuracy,
    interval_accuracy,
)
from recrawl.rates.existence_accuracy import answers, chances
from tests.rates.worlds import visited
from tests.strategies import history_of

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.rates import Estimates
    from recrawl.rates.estimates import Estimator

GAP = 2.0  # days: not 1, so that a rate taken for changes a gap shows
RATES = np.array([0.05, 0.5, 1.25])  # a tenth of a change a gap, one, two and a half
PAGES = 100_000

UNDATED: dict[str, Estimator] = {
    "ratio": Ratio(),
    "cho": Cho(),
    "cho-exact": Cho(correction="exact"),
    "beta": Beta(),
    "matloff": Matloff(),
    "malcolm": Malcolm(),
    "lln": LLN(),
}
DATED: dict[str, Estimator] = {
    "last-modified": LastModified(),
    "last-modified-raw": LastModifiedRaw(),
}


def dated(rate: float, gaps: int, chance: np.random.Generator) -> Histories:
    """Pages whose every change is dated: looking back, the last one is exponentially far away."""
    age = chance.exponential(1 / rate, PAGES * gaps)
    changed = age < GAP
    return Histories(
        gaps=np.full(PAGES * gaps, GAP),
        changed=changed,
        offsets=np.arange(PAGES + 1) * gaps,
        age=np.where(changed, age, np.nan),
    )


def assert_drawn_from(ratio: Floats, *, bias: float, sigma: float, undefined: float) -> None:
    """Mean, standard deviation and share undefined lie within four standard errors.

    That of a standard deviation s over n pages is sqrt((m4 - s^4) / n) / 2s, m4 the fourth
    moment about the mean.
    """
    known = ratio[np.isfinite(ratio)]
    off = known - known.mean()
    spread = math.sqrt(np.mean(off**2))
    spread_error = math.sqrt((np.mean(off**4) - spread**4) / len(known)) / (2 * spread)
    share_error = math.sqrt(undefined * (1 - undefined) / len(ratio))

    assert known.mean() - 1 == pytest.approx(bias, abs=4 * spread / math.sqrt(len(known)))
    assert spread == pytest.approx(sigma, abs=4 * spread_error)
    assert 1 - len(known) / len(ratio) == pytest.approx(undefined, abs=4 * share_error + 1e-12)


def test_one_gap_by_hand():
    """cho says 0 or ln 3 in one gap, with chances e^-x and 1 - e^-x: at x = ln 2, half and half."""
    found = accuracy(Cho(), np.array([math.log(2)]), gap=1.0, gaps=1)

    assert found.bias == pytest.approx([math.log(3) / 2 / math.log(2) - 1])
    assert found.sigma == pytest.approx([math.log(3) / 2 / math.log(2)])
    assert found.undefined == pytest.approx([0.0], abs=1e-12)


def test_an_answer_that_is_infinite_counts_as_none():
    """matloff in two gaps at x = ln 2: 0, ln 2 or infinity, with chances 1/4, 1/2 and 1/4."""
    found = accuracy(Matloff(), np.array([math.log(2)]), gap=1.0, gaps=2)

    assert found.undefined == pytest.approx([0.25])
    assert found.bias == pytest.approx([2 / 3 - 1])
    assert found.sigma == pytest.approx([math.sqrt(2 / 3 - 4 / 9)])


def test_an_interval_without_a_change_is_none():
    """cho in two gaps at x = ln 2: no interval, 1 / ln(5/3) or 1 / ln 5."""
    found = interval_accuracy(Cho(), np.array([math.log(2)]), gap=1.0, gaps=2)

    short, shortest = math.log(2) / math.log(5 / 3), math.log(2) / math.log(5)
    assert found.undefined == pytest.approx([0.25])
    assert found.bias == pytest.approx([(2 * short + shortest) / 3 - 1])


def test_where_every_answer_is_infinite_there_is_no_error():
    found = accuracy(Matloff(), np.array([1000.0]), gap=1.0, gaps=3)

    assert np.isnan([found.bias, found.sigma]).all()
    assert found.undefined.tolist() == [1.0]


def test_the_error_holds_bias_and_spread():
    """Mean square = bias^2 + sigma^2."""
    found = accuracy(Beta(), RATES, gap=GAP, gaps=6)

    assert found.error == pytest.approx(np.sqrt(found.bias**2 + found.sigma**2))


@given(st.floats(0.01, 20.0), st.integers(1, 60))
def test_chances_are_the_binomial_ones(expected, gaps):
    changed = np.arange(gaps + 1)

    known = stats.binom.pmf(changed, gaps, -math.expm1(-expected))
    np.testing.assert_allclose(chances(np.array([expected]), gaps)[0], known, rtol=1e-8, atol=1e-14)


@given(st.sampled_from(sorted(UNDATED | DATED)), st.floats(0.02, 6.0), st.floats(0.01, 100.0))
def test_only_the_changes_a_gap_matter(name, expected, gap):
    """The unit of time drops out of estimate / truth."""
    estimator = (UNDATED | DATED)[name]
    plain = accuracy(estimator, np.array([expected]), gap=1.0, gaps=4)
    stretched = accuracy(estimator, np.array([expected / gap]), gap=gap, gaps=4)

    assert stretched.bias == pytest.approx(plain.bias, rel=1e-7, abs=1e-9)
    assert stretched.sigma == pytest.approx(plain.sigma, rel=1e-7)
    assert stretched.undefined == pytest.approx(plain.undefined, abs=1e-12)


@given(st.floats(0.001, 10.0), st.integers(1, 30))
def test_the_ratio_has_theorem_4_1_and_corollary_4_2(expected, gaps):
    """algorithms.md 1.1: E = 1 - e^-r, sigma = sqrt(e^-r (1 - e^-r) / n)."""
    found = accuracy(Ratio(), np.array([expected]), gap=1.0, gaps=gaps)

    theta = -math.expm1(-expected)
    assert found.bias == pytest.approx([theta / expected - 1], rel=1e-8, abs=1e-11)
    assert found.sigma == pytest.approx([math.sqrt(theta * (1 - theta) / gaps) / expected])


@pytest.mark.parametrize("expected", [1e-8, 1e-11, 1e-14, 1e-18])
def test_the_slowest_pages_keep_their_digits(expected):
    """The ratio's bias is -r/2 for small r: none to speak of, however slow the page."""
    found = accuracy(Ratio(), np.array([expected]), gap=1.0, gaps=5)

    assert found.bias == pytest.approx([-expected / 2], abs=1e-9)


def test_answers_are_those_for_every_count_of_changes():
    """algorithms.md 1.2: from 0 to ln(2n + 1), here over gaps of two days."""
    found = answers(Cho(), gap=GAP, gaps=3)

    assert found == pytest.approx(np.log(3.5 / (3 - np.arange(4) + 0.5)) / GAP)


@pytest.mark.parametrize("gaps", [1, 2, 7])
@pytest.mark.parametrize("name", UNDATED)
def test_answers_are_what_the_estimator_says_of_histories(name, gaps):
    """With the changes in any order: counts are asked without making histories of them."""
    pages = [[(GAP, gap >= gaps - changed) for gap in range(gaps)] for changed in range(gaps + 1)]
    told = UNDATED[name].estimate(history_of(*pages)).rate

    assert answers(UNDATED[name], gap=GAP, gaps=gaps) == pytest.approx(told, rel=1e-12)


class OnlyHistories:
    """An estimator that cannot be asked for counts."""

    def estimate(self, histories: Histories) -> Estimates:
        return Cho().estimate(histories)


def test_any_estimator_can_be_asked():
    found = accuracy(OnlyHistories(), RATES, gap=GAP, gaps=6)
    known = accuracy(Cho(), RATES, gap=GAP, gaps=6)

    assert found.bias == pytest.approx(known.bias)
    assert found.sigma == pytest.approx(known.sigma)


@pytest.mark.parametrize("gaps", [1, 8])
@pytest.mark.parametrize("name", UNDATED)
def test_errors_of_rates_are_those_of_simulated_pages(name, gaps):
    """algorithms.md 1.1 to 1.4 and 11; matloff and malcolm have no answer where X = n."""
    found = accuracy(UNDATED[name], RATES, gap=GAP, gaps=gaps)

    chance = np.random.default_rng(101)
    for row, rate in enumerate(RATES):
        seen = visited(np.full(PAGES, rate), np.full((PAGES, gaps), GAP), chance)
        ratio = UNDATED[name].estimate(seen).rate / rate
        if gaps == 1 and name in ("matloff", "malcolm"):  # one answer, always the same
            assert set(ratio[np.isfinite(ratio)].round(12)) == {round(1 + found.bias[row], 12)}
            assert found.sigma[row] == pytest.approx(0, abs=1e-12)
            continue
        assert_drawn_from(
            ratio, bias=found.bias[row], sigma=found.sigma[row], undefined=found.undefined[row]
        )


@pytest.mark.parametrize("name", ["matloff", "malcolm"])
def test_no_answer_is_as_likely_as_a_change_in_every_gap(name):
    """P(X = n) = (1 - e^-r)^n."""
    found = accuracy(UNDATED[name], RATES, gap=GAP, gaps=6)

    assert found.undefined == pytest.approx((-np.expm1(-RATES * GAP)) ** 6, abs=1e-12)


@pytest.mark.parametrize("name", ["ratio", "cho", "cho-exact", "beta", "lln"])
def test_the_others_always_have_an_answer(name):
    found = accuracy(UNDATED[name], RATES, gap=GAP, gaps=6)

    assert found.undefined == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("name", UNDATED)
def test_errors_of_intervals_are_those_of_simulated_pages(name):
    found = interval_accuracy(UNDATED[name], RATES, gap=GAP, gaps=8)

    chance = np.random.default_rng(102)
    for row, rate in enumerate(RATES):
        seen = visited(np.full(PAGES, rate), np.full((PAGES, 8), GAP), chance)
        with np.errstate(divide="ignore"):
            ratio = rate / UNDATED[name].estimate(seen).rate
        assert_drawn_from(
            ratio, bias=found.bias[row], sigma=found.sigma[row], undefined=found.undefined[row]
        )


@pytest.mark.parametrize("gaps", [5, 9])
@pytest.mark.parametrize("name", DATED)
def test_errors_of_dated_rates_are_those_of_simulated_pages(name, gaps):
    """algorithms.md 3, figures 10 and 13."""
    found = accuracy(DATED[name], RATES, gap=GAP, gaps=gaps)

    chance = np.random.default_rng(103)
    for row, rate in enumerate(RATES):
        ratio = DATED[name].estimate(dated(rate, gaps, chance)).rate / rate
        assert_drawn_from(ratio, bias=found.bias[row], sigma=found.sigma[row], undefined=0.0)


@pytest.mark.parametrize("gaps", [3, 5, 10])
@pytest.mark.parametrize("expected", [0.05, 0.7, 2.0, 10.0])
def test_dated_errors_are_those_of_the_density_of_the_quiet_days(expected, gaps):
    """Appendix D over time instead of over Laplace's s.

    k ages, uniform but for e^-rt, add up to t with the density of Irwin and Hall times
    r^k e^-rt / (1 - e^-r)^k; a polynomial between whole numbers, so Gauss is exact.
    """
    nodes, heights = np.polynomial.legendre.leggauss(60)
    mean = square = 0.0
    for k in range(1, gaps + 1):
        days = ((nodes + 1) / 2 + np.arange(k)[:, np.newaxis]).ravel()
        density = np.exp(-expected * days) * stats.irwinhall.pdf(days, k) * np.tile(heights / 2, k)
        ways = math.comb(gaps, k) * expected**k * math.exp(-expected * (gaps - k))
        mean += ways * float(np.sum(density * k / (gaps - k + days)))
        square += ways * float(np.sum(density * (k / (gaps - k + days)) ** 2))

    found = accuracy(LastModifiedRaw(), np.array([expected]), gap=1.0, gaps=gaps)
    assert found.bias == pytest.approx([mean / expected - 1], abs=1e-7)
    spread = math.sqrt(square - mean**2) / expected
    assert found.sigma == pytest.approx([spread], rel=1e-6)


def test_two_dated_gaps_have_an_infinite_spread():
    """algorithms.md 3: E 1/T^2 does not exist where X = N = 2, hence the flag heavy-tail."""
    two = accuracy(LastModified(), np.array([1.0]), gap=1.0, gaps=2)
    three = accuracy(LastModified(), np.array([1.0]), gap=1.0, gaps=3)

    assert np.isposinf(two.sigma).all()
    assert np.isfinite(two.bias).all()
    assert np.isfinite(three.sigma).all()


def test_one_dated_gap_has_an_infinite_mean():
    """N / (N - 1) at N = 1: E 1/T over one exponential age is the integral of r e^-rt / t."""
    found = accuracy(LastModifiedRaw(), np.array([1.0]), gap=1.0, gaps=1)

    assert np.isposinf(found.bias).all()


@pytest.mark.parametrize("ask", [accuracy, interval_accuracy])
@pytest.mark.parametrize(
    ("rate", "gap", "gaps", "message"),
    [
        (0.0, 1.0, 3, "rate must be a positive, finite number (got [0.])"),
        (-1.0, 1.0, 3, "rate must be a positive, finite number (got [-1.])"),
        (math.nan, 1.0, 3, "rate must be a positive, finite number (got [nan])"),
        (math.inf, 1.0, 3, "rate must be a positive, finite number (got [inf])"),
        (1.0, 0.0, 3, "gap must be a positive, finite number (got 0.0)"),
        (1.0, math.nan, 3, "gap must be a positive, finite number (got nan)"),
        (1.0, math.inf, 3, "gap must be a positive, finite number (got inf)"),
        (1.0, 1.0, 0, "gaps must be at least 1 (got 0)"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(ask, rate, gap, gaps, message):
    with pytest.raises(InvalidParameter) as refusal:
        ask(Cho(), np.array([rate]), gap=gap, gaps=gaps)

    assert str(refusal.value) == message


def test_last_modified_needs_two_gaps():
    """algorithms.md 3: N = 1, X = 1 would give a rate of 0."""
    with pytest.raises(InvalidParameter) as refusal:
        accuracy(LastModified(), np.array([1.0]), gap=1.0, gaps=1)

    assert str(refusal.value) == "gaps must be at least 2 for last-modified (got 1)"
