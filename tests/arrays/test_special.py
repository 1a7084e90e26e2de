"""Digamma, trigamma and Gamma quantiles against scipy, over every shape a state can have."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from recrawl.arrays.special import (
    KEPT,
    SCORES,
    beta_quantile,
    digamma,
    digamma_of,
    gamma_quantile,
    log_moments,
    scores,
    trigamma,
    trigamma_of,
)

EULER = 0.5772156649015329

shapes = st.floats(-4, 10).map(lambda exponent: float(10**exponent))
tails = st.sampled_from([0.0005, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5])


def test_digamma_of_one_is_minus_eulers_constant():
    assert digamma(np.array([1.0]))[0] == pytest.approx(-EULER, abs=1e-9)


def test_digamma_of_a_half_is_known():
    """psi(1/2) = -gamma - 2 ln 2."""
    assert digamma(np.array([0.5]))[0] == pytest.approx(-EULER - 2 * np.log(2), abs=1e-9)


def test_trigamma_of_one_is_known():
    """psi'(1) = pi^2 / 6."""
    assert trigamma(np.array([1.0]))[0] == pytest.approx(np.pi**2 / 6, abs=1e-9)


@given(shapes, shapes)
def test_log_moments_are_digamma_less_a_logarithm_and_trigamma(shape, exposure):
    mean, variance = log_moments(np.array([shape]), np.array([exposure]))

    expected = special.digamma(shape) - np.log(exposure)
    assert mean[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert variance[0] == pytest.approx(special.polygamma(1, shape), rel=1e-9)


@given(shapes)
def test_digamma_obeys_its_recurrence(shape):
    """psi(x + 1) = psi(x) + 1 / x."""
    low, high = digamma(np.array([shape, shape + 1]))

    assert high == pytest.approx(low + 1 / shape, rel=1e-9, abs=1e-9)


@given(shapes)
def test_digamma_is_scipys(shape):
    """psi crosses zero at 1.46, so nine digits there are nine decimals."""
    assert digamma(np.array([shape]))[0] == pytest.approx(
        special.digamma(shape), rel=1e-9, abs=1e-9
    )


@given(shapes)
def test_trigamma_is_scipys(shape):
    assert trigamma(np.array([shape]))[0] == pytest.approx(special.polygamma(1, shape), rel=1e-9)


def test_the_median_of_an_exponential_is_ln_2():
    assert gamma_quantile(np.array([1.0]), 0.5)[0] == pytest.approx(np.log(2), rel=1e-9)


def test_an_exponential_has_its_quantiles_in_closed_form():
    """A Gamma of shape 1 is exponential: its quantile is -ln(1 - p)."""
    for probability in (0.001, 0.05, 0.3, 0.95, 0.999):
        quantile = gamma_quantile(np.array([1.0]), probability)[0]

        assert quantile == pytest.approx(-np.log1p(-probability), rel=1e-6)


@given(st.floats(np.log10(0.02), 8).map(lambda exponent: float(10**exponent)), tails)
def test_quantiles_are_scipys(shape, tail):
    """Both ends of every band that anybody asks for, to a millionth."""
    for probability in (tail, 1 - tail):
        expected = stats.gamma.ppf(probability, shape)

        assert gamma_quantile(np.array([shape]), probability)[0] == pytest.approx(
            expected, rel=1e-6, abs=1e-300
        )


@given(shapes, tails)
def test_quantiles_rise_with_the_probability(shape, tail):
    low, high = (gamma_quantile(np.array([shape]), p)[0] for p in (tail, 1 - tail))

    assert low <= high


@pytest.mark.parametrize("probability", [0.05, 0.95])
def test_quantiles_rise_with_the_shape(probability):
    """Across every node of the table, and over its ends, where a careless join would show."""
    shape = np.exp(np.linspace(np.log(0.01), 26, 40_000))
    quantile = gamma_quantile(shape, probability)

    assert (np.diff(quantile) > 0).all()


@pytest.mark.parametrize("function", [digamma, trigamma, lambda x: gamma_quantile(x, 0.05)])
def test_a_value_does_not_depend_on_its_neighbours(function):
    """Bit for bit, whatever the column's length: vector instructions must not show."""
    column = 10 ** np.random.default_rng(2).uniform(-3, 6, 1009)
    together = function(column)

    assert all(function(column[i : i + 1])[0] == together[i] for i in range(len(column)))


@given(st.floats(1e-6, 1e6))
def test_of_one_number_every_bit_is_that_of_a_column(x):
    assert digamma_of(x) == digamma(np.array([x]))[0]
    assert trigamma_of(x) == trigamma(np.array([x]))[0]


def test_the_table_of_the_package_is_scipys():
    """Both ends of a band of 90 %, at all nodes; the ends as `(1 - level) / 2` gives them."""
    assert KEPT == ((1 - 0.9) / 2, 1 - (1 - 0.9) / 2)
    with (resources.files("recrawl.arrays") / SCORES).open("rb") as file:
        table = np.load(file)
    for probability, kept in zip(KEPT, table, strict=True):
        np.testing.assert_allclose(kept, scores(probability), rtol=1e-9, atol=1e-9)


def test_beta_quantiles_with_a_closed_form():
    """Beta(a, 1) has the quantile p^(1 / a), Beta(1, b) has 1 - (1 - p)^(1 / b)."""
    assert beta_quantile(4.0, 1.0, 0.05) == pytest.approx(0.05**0.25, rel=1e-12)
    assert beta_quantile(1.0, 4.0, 0.05) == pytest.approx(-np.expm1(np.log1p(-0.05) / 4), rel=1e-12)
    assert beta_quantile(3.0, 3.0, 0.5) == pytest.approx(0.5, rel=1e-14)


counts = st.floats(-0.31, 6).map(lambda exponent: float(10**exponent))


@given(counts, counts, st.sampled_from([0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995]))
def test_beta_quantiles_are_scipys(first, second, probability):
    """From half a count to a million, as shares of signals have."""
    expected = special.betaincinv(first, second, probability)
    found = beta_quantile(first, second, probability)

    assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)
    assert special.betainc(first, second, found) == pytest.approx(probability, rel=1e-7)
