"""The Weibull process: its test vector, its chi-square facts, and the papers' misprints."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from recrawl.errors import InvalidParameter
from recrawl.trends.weibull import VARIANTS, Weibull, mean_wait, wait_quantile
from tests.trends.made import RISING, regular_times, times_of, weibull_times

if TYPE_CHECKING:
    from recrawl.trends.weibull import Variant

LAST = np.array([15.0])
BETAS = [0.6, 1.0, 1.8]
SIMULATED = 40_000


@pytest.fixture(name="vector")
def _vector() -> Weibull:
    return Weibull.of(times_of(RISING))


def test_weibull(vector):
    """The hand calculation with s = 1, 3, 6, 10, 15: S is the sum of ln(15 / s)."""
    assert vector.logs == pytest.approx([5.639244], abs=1e-6)
    assert vector.beta_likely == pytest.approx([0.886644], abs=1e-6)
    assert vector.beta == pytest.approx([0.531986], abs=1e-6)
    assert vector.eta == pytest.approx([0.728121], abs=1e-6)
    assert vector.rate(LAST, "likely") == pytest.approx([0.295548], abs=1e-6)
    assert vector.rate(LAST) == pytest.approx([0.177329], abs=1e-6)
    assert vector.rate(LAST, "check") == pytest.approx([0.118219], abs=1e-6)
    assert vector.rate(LAST, "bar") == pytest.approx([0.118219], abs=1e-6)


def test_weibull_mean_intervals(vector):
    """1 / rate at each point by the corrected rate, and its error against gaps of 1 to 5 days."""
    intervals = 1 / vector.rate(np.array(RISING))

    assert intervals == pytest.approx([1.58779, 2.65518, 3.67265, 4.66453, 5.63924], abs=1e-5)
    assert np.mean((intervals - [1, 2, 3, 4, 5]) ** 2) == pytest.approx(0.415489, abs=1e-6)


def test_weibull_waits(vector):
    """Mean and median time to the next change after day 15."""
    assert vector.mean_wait(LAST) == pytest.approx([6.61149], abs=1e-5)
    assert vector.median_wait(LAST) == pytest.approx([4.14591], abs=1e-5)


def log_likelihood(beta: float, eta: float, last_term: float) -> float:
    """n ln c + n ln beta - c s_n^beta + (beta - 1) sum ln s, with c = eta^-beta."""
    events, span = len(RISING), RISING[-1]
    log_c = -beta * math.log(eta)
    size = math.exp(log_c + beta * math.log(span))
    return events * (log_c + math.log(beta)) - size + (beta - 1) * last_term


def test_the_most_likely_values_are_a_maximum(vector):
    """By a plain optimiser over the logarithms of beta and eta."""
    total = math.fsum(map(math.log, RISING))

    def unlikely(logs: np.ndarray) -> float:
        return -log_likelihood(math.exp(logs[0]), math.exp(logs[1]), total)

    best = optimize.fmin(unlikely, np.zeros(2), xtol=1e-9, ftol=1e-12, disp=False)

    likely = vector.beta_likely[0]
    assert np.exp(best) == pytest.approx([likely, 15 / 5 ** (1 / likely)], rel=1e-6)


def test_the_printed_likelihood_has_no_such_maximum(vector):
    """S2 prints the sum of t for the sum of ln t: with it beta grows without end."""
    printed = sum(RISING)

    def profile(beta: float) -> float:
        return log_likelihood(beta, RISING[-1] / len(RISING) ** (1 / beta), printed)

    values = [profile(beta) for beta in (0.5, float(vector.beta_likely[0]), 2.0, 10.0, 30.0)]
    assert values == sorted(values)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("count", [3, 5, 10])
def test_two_n_beta_over_beta_hat_is_chi_square(count, beta):
    """With 2 (n - 1) degrees of freedom, not 2 n as where watching ends by the clock."""
    fit = Weibull.of(weibull_times(SIMULATED, count, beta, seed=count))

    pivot = 2 * count * beta / fit.beta_likely

    assert stats.kstest(pivot, stats.chi2(2 * (count - 1)).cdf).pvalue > 1e-3
    assert stats.kstest(pivot, stats.chi2(2 * count).cdf).pvalue < 1e-6


@pytest.mark.parametrize("beta", BETAS)
def test_weibull_bias(beta):
    """n = 10: beta-hat is a quarter too high on average, beta-tilde is right."""
    fit = Weibull.of(weibull_times(4 * SIMULATED, 10, beta, seed=4))

    assert fit.beta_likely.mean() / beta == pytest.approx(1.25, rel=0.01)
    assert fit.beta.mean() / beta == pytest.approx(1, rel=0.01)
    assert fit.beta.var() / beta**2 == pytest.approx(1 / 7, rel=0.03)


def test_beta_hat_of_four_points_is_twice_too_high():
    """E = n beta / (n - 2)."""
    fit = Weibull.of(weibull_times(10 * SIMULATED, 4, 1.0, seed=9))

    assert fit.beta_likely.mean() == pytest.approx(2, rel=0.01)
    assert fit.beta.mean() == pytest.approx(1, rel=0.01)


def ratios_at_last(count: int, beta: float, variant: Variant, pages: int = SIMULATED) -> np.ndarray:
    """Rate at s_n over the true one, of simulated windows."""
    fit = fitted(count, beta, pages)
    return fit.rate(fit.span, variant) / (beta * fit.span ** (beta - 1))


@cache
def fitted(count: int, beta: float, pages: int) -> Weibull:
    return Weibull.of(weibull_times(pages, count, beta, seed=17))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize(
    ("variant", "mean"),
    [
        ("likely", 100 / 72),
        ("corrected", 10 / 9),
        ("check", 70 / 72),
        ("bar", 70 / 72),
        ("unbiased", 1.0),
        ("least", 7 / 9),
    ],
)
def test_the_mean_of_each_variant_over_the_truth(variant, mean, beta):
    """n = 10, at s_n: n^2 / ((n - 1) (n - 2)) for the most likely rate, and factors of it."""
    assert ratios_at_last(10, beta, variant, 4 * SIMULATED).mean() == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize(("count", "mean"), [(4, 2 / 3), (5, 5 / 6), (10, 35 / 36)])
def test_the_published_unbiased_rate_is_too_low(count, mean):
    """`check` is called unbiased, and `corrected` (n - 2) / (n - 3) too high: neither is so."""
    checked = ratios_at_last(count, 1.0, "check", 10 * SIMULATED)
    corrected = ratios_at_last(count, 1.0, "corrected", 10 * SIMULATED)
    unbiased = ratios_at_last(count, 1.0, "unbiased", 10 * SIMULATED)

    assert checked.mean() == pytest.approx(mean, rel=0.01)
    assert checked.mean() < 0.99
    assert corrected.mean() == pytest.approx(count / (count - 1), rel=0.01)
    assert corrected.mean() < 0.99 * (count - 2) / (count - 3)
    assert unbiased.mean() == pytest.approx(1, rel=0.01)


def test_the_published_unbiased_rate_is_too_high_at_the_first_point():
    """About twice the truth for windows of five to ten points."""
    for count in (5, 10):
        times = weibull_times(4 * SIMULATED, count, 1.0, seed=23)
        first = times.since[times.offsets[:-1]]

        assert 1.8 < Weibull.of(times).rate(first, "check").mean() < 2.5


def test_the_factor_of_bar_is_not_the_printed_one(vector):
    """(n - 3) / n, not (n - 3) / 2: with that the rate at s_n would be 4.9 times the truth."""
    assert vector.rate(LAST, "bar") / vector.rate(LAST, "likely") == pytest.approx([2 / 5])

    printed = 7 / 2 * ratios_at_last(10, 1.0, "likely")
    assert printed.mean() == pytest.approx(4.86, rel=0.02)
    assert ratios_at_last(10, 1.0, "bar").mean() == pytest.approx(35 / 36, rel=0.02)


def test_check_and_bar_agree_at_the_last_point_only(vector):
    assert vector.rate(LAST, "check") == pytest.approx(vector.rate(LAST, "bar"))
    assert vector.rate(LAST / 2, "check") != pytest.approx(vector.rate(LAST / 2, "bar"), rel=0.05)


def square_error(factor: float, count: int) -> float:
    """Mean of (factor 4 n^2 / (Z W) - 1)^2: Z and W are chi-square with 2 (n - 1) and 2 n."""
    mean = count**2 / ((count - 1) * (count - 2))
    z, w = 2 * (count - 1), 2 * count
    square = 16 * count**4 / ((z - 2) * (z - 4) * (w - 2) * (w - 4))
    return factor**2 * square - 2 * factor * mean + 1


@pytest.mark.parametrize(
    ("count", "least", "check", "likely"),
    [(4, 0.67, 1.0, 17), (5, 0.50, 0.722, 5.5), (10, 0.222, 0.271, 0.70)],
)
def test_least_has_the_least_square_error(count, least, check, likely):
    """Of all multiples of the most likely rate at s_n, by the moments of chi-square.

    The specification says 0.71 for `check` at n = 5; it is 13 / 18.
    """
    fit = Weibull.of(weibull_times(1, count, 1.0, seed=1))
    base = fit.rate(fit.span, "likely")
    errors = {
        name: square_error(float((fit.rate(fit.span, name) / base)[0]), count) for name in VARIANTS
    }
    best = optimize.minimize_scalar(lambda factor: square_error(factor, count), (0.01, 1.0))

    assert errors["least"] == pytest.approx(best.fun, rel=1e-6)
    assert errors["least"] == pytest.approx(least, abs=0.005)
    assert errors["check"] == pytest.approx(check, abs=0.005)
    assert errors["likely"] == pytest.approx(likely, rel=0.02)
    assert min(errors, key=lambda name: errors[name]) == "least"


def test_the_least_square_error_by_simulation():
    """n = 10: 0.222 against 0.271 of `check` and 0.70 of the most likely rate."""
    errors = {
        name: np.mean((ratios_at_last(10, 1.8, name, 10 * SIMULATED) - 1) ** 2) for name in VARIANTS
    }

    assert errors["least"] == pytest.approx(0.222, rel=0.02)
    assert errors["check"] == pytest.approx(0.271, rel=0.03)
    assert errors["likely"] == pytest.approx(0.70, rel=0.06)


@pytest.mark.parametrize("beta", BETAS)
def test_a_window_that_ends_by_the_clock(beta):
    """n = 6 points up to T = 3: chi-square with 2 n degrees, and (n - 1) / S is unbiased."""
    shares = np.sort(np.random.default_rng(8).random((4 * SIMULATED, 6)), axis=1)
    times = regular_times(3 * shares ** (1 / beta))
    fit = Weibull.of(times, np.full(4 * SIMULATED, 3.0))

    pivot = 12 * beta / fit.beta_likely

    assert stats.kstest(pivot[:SIMULATED], stats.chi2(12).cdf).pvalue > 1e-3
    assert stats.kstest(pivot[:SIMULATED], stats.chi2(10).cdf).pvalue < 1e-6
    assert fit.beta.mean() / beta == pytest.approx(1, rel=0.01)
    assert fit.beta_likely.mean() / beta == pytest.approx(6 / 5, rel=0.01)


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_band_holds_beta_as_often_as_it_says(level, timed):
    shares = np.sort(np.random.default_rng(6).random((SIMULATED, 5)), axis=1) ** (1 / 1.8)
    if timed:
        fit = Weibull.of(regular_times(shares), np.ones(SIMULATED))
    else:
        fit = Weibull.of(weibull_times(SIMULATED, 5, 1.8, seed=6))

    low, high = fit.band(level)

    assert np.mean((low <= 1.8) & (high >= 1.8)) == pytest.approx(level, abs=0.01)
    assert np.mean(low > 1.8) == pytest.approx((1 - level) / 2, abs=0.01)


def test_the_band_is_that_of_the_chi_square_table(vector):
    """beta-hat times chi-square with 8 degrees of freedom over 2 n."""
    low, high = vector.band(0.9)

    expected = vector.beta_likely[0] * stats.chi2(8).ppf([0.05, 0.95]) / 10
    assert [low[0], high[0]] == pytest.approx(expected, rel=1e-8)


def exact_mean_wait(x: float, beta: float) -> float:
    """Integral of the chance that nothing changed within u days, for eta = 1."""
    since = x ** (1 / beta)
    edges = [0.0, *np.geomspace(1e-9, 60, 40)]
    days = [since * math.expm1(math.log1p(edge / x) / beta) for edge in edges]

    def survival(wait: float) -> float:
        return math.exp(-x * math.expm1(beta * math.log1p(wait / since)))

    return math.fsum(
        integrate.quad(survival, low, high, epsabs=0, epsrel=1e-12)[0]
        for low, high in itertools.pairwise(days)
    )


@pytest.mark.parametrize("beta", [0.2, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0])
@pytest.mark.parametrize("x", [1e-6, 1e-3, 0.1, 1.0, 1.99, 2.01, 5.99, 6.01, 30.0, 1e3, 1e8])
def test_the_mean_wait_is_the_integral_of_survival(beta, x):
    """From tiny to huge, on both sides of where the continued fraction takes over."""
    since, eta = np.array([x ** (1 / beta)]) * 3, np.array([3.0])

    found = mean_wait(since, np.array([beta]), eta)

    assert found == pytest.approx([3 * exact_mean_wait(x, beta)], rel=1e-8)


def test_the_mean_wait_from_the_beginning_is_that_of_a_weibull_variable():
    """eta Gamma(1 + 1 / beta)."""
    beta, eta = np.array([0.2, 0.5, 1.0, 2.0, 5.0]), np.full(5, 3.0)

    found = mean_wait(np.zeros(5), beta, eta)

    assert found == pytest.approx([3 * math.gamma(1 + 1 / one) for one in beta])


@pytest.mark.parametrize("x", [0.1, 1.0, 10.0, 1e4])
def test_tsokos_ordering(x):
    """The mean wait is above 1 / rate for falling rates and below it for rising ones."""
    beta, eta = np.array([0.2, 0.7, 1.0, 1.5, 5.0]), np.ones(5)
    since = x ** (1 / beta)

    gain = mean_wait(since, beta, eta) * beta * since ** (beta - 1)

    assert (gain[:2] > 1).all()
    assert gain[2] == pytest.approx(1)
    assert (gain[3:] < 1).all()


@pytest.mark.parametrize("beta", [0.2, 0.5, 2.0, 5.0])
def test_the_mean_wait_far_out(beta):
    """1 / rate (1 + (1 / beta - 1) / x), up to terms in 1 / x^2."""
    x = np.array([1e5, 1e9, 1e15])
    since = x ** (1 / beta)
    first_order = since ** (1 - beta) / beta * (1 + (1 / beta - 1) / x)

    assert mean_wait(since, np.full(3, beta), np.ones(3)) == pytest.approx(first_order, rel=1e-8)


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("beta", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("since", [1e-6, 0.1, 1.0, 7.0])
def test_a_quantile_of_the_wait_is_where_survival_crosses(since, beta, probability):
    """By a root finder on the logarithm of the wait."""

    def excess(log_wait: float) -> float:
        wait = math.exp(log_wait)
        more = math.expm1(beta * math.log1p(wait / since))
        return math.exp(beta * math.log(since)) * more + math.log1p(-probability)

    root = math.exp(optimize.brentq(excess, -40, 40, xtol=1e-13))
    found = wait_quantile(np.array([since]), np.array([beta]), np.ones(1), probability)

    assert found == pytest.approx([root], rel=1e-9)


@pytest.mark.parametrize("since", [0.0, 1e-80])
def test_a_quantile_from_the_beginning_is_that_of_a_weibull_variable(since):
    """eta (ln 2)^(1 / beta), also where (t / eta)^beta is too small for a float."""
    found = wait_quantile(np.array([since]), np.array([5.0]), np.array([3.0]), 0.5)

    assert found == pytest.approx([3 * math.log(2) ** 0.2])


@pytest.mark.parametrize("later", [0.0, 1.0, 20.0, 1e4])
def test_waits_after_a_burst_do_not_warn(later):
    """Changes a second apart after years: beta is 10^8, and (t / eta)^beta beyond a float."""
    fit = Weibull.of(times_of([5000 + i / 86400 for i in range(8)]))

    for wait in (fit.mean_wait(fit.span + later), fit.median_wait(fit.span + later)):
        assert (wait >= 0).all()
        assert (wait < 1).all()


def test_a_wait_without_a_beta_is_none():
    """nan in, nan out, without a warning."""
    nothing = np.array([np.nan])

    assert np.isnan(mean_wait(np.ones(1), nothing, nothing)).all()
    assert np.isnan(wait_quantile(np.ones(1), nothing, nothing, 0.5)).all()


@pytest.mark.parametrize(
    ("count", "known"),
    [
        (1, ()),
        (2, ("likely",)),
        (3, ("likely", "corrected", "unbiased")),
        (4, VARIANTS),
    ],
)
def test_variants_need_so_many_points(count, known):
    """nan where points are too few, and never a warning."""
    fit = Weibull.of(times_of(RISING[:count]))

    for variant in VARIANTS:
        assert np.isfinite(fit.rate(fit.span, variant)).tolist() == [variant in known]
    low, high = fit.band(0.9)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [count < 2]
    assert np.isnan(fit.beta).tolist() == np.isnan(fit.eta).tolist() == [count < 3]
    assert np.isnan(fit.mean_wait(fit.span)).tolist() == [count < 3]


def test_one_point_says_something_if_time_went_on():
    """n = 1, T = e: S = 1."""
    fit = Weibull.of(times_of([1.0]), np.array([math.e]))

    assert fit.beta_likely == pytest.approx([1.0])
    assert np.isfinite(fit.band(0.9)).all()


def test_the_unit_of_time_does_not_matter():
    """Beta stays; eta and the waits stretch."""
    plain, wide = Weibull.of(times_of(RISING)), Weibull.of(times_of([7 * day for day in RISING]))

    assert wide.beta == pytest.approx(plain.beta)
    assert wide.eta == pytest.approx(7 * plain.eta)
    assert wide.mean_wait(7 * LAST) == pytest.approx(7 * plain.mean_wait(LAST))


def test_what_means_nothing_is_refused(vector):
    with pytest.raises(InvalidParameter, match="variant must be one of likely"):
        vector.rate(LAST, "best")
    with pytest.raises(InvalidParameter, match="end must be at or after the last point"):
        Weibull.of(times_of(RISING), np.array([14.0]))
    with pytest.raises(InvalidParameter, match="level"):
        vector.band(1.5)
