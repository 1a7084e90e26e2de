"""Objectives: hand calculations, then integrals in long doubles, then Monte Carlo."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan import OBJECTIVES, Age, Detected, Freshness, Harmonic, Missed
from tests.plan.oracles import expected_value

powers = st.floats(-12, 12).map(lambda power: float(10**power))
NAMES = list(OBJECTIVES)


def one(figure):
    return np.array([figure], np.float64)


def test_values_at_one_change():
    """With rate and elapsed 1 all values are short sums of 1 / e."""
    values = [float(o.value(one(1), one(1))[0]) for o in OBJECTIVES.values()]

    assert values == pytest.approx([1 - 2 / np.e, 1 / np.e, 2 / np.e - 0.5, 0.5, 1 - 2 / np.e])


def long_value(name, rate, elapsed):
    """Value in long doubles; by its series where x is small."""
    x = np.longdouble(rate) * np.longdouble(elapsed)
    fresh = -np.expm1(-x) - x * np.exp(-x)
    if x < 0.05:
        fresh = x * x * sum((-x) ** k * (k + 1) / factorials[k + 2] for k in range(12))
    age = x * x / 2 - fresh
    if x < 0.05:
        age = x**3 * sum((-x) ** k * (k + 2) / factorials[k + 3] for k in range(12))
    harmonic = x + np.expm1(-x)
    if x < 0.05:
        harmonic = x * x * sum((-x) ** k / factorials[k + 2] for k in range(12))
    r = np.longdouble(rate)
    return float(
        {
            "freshness": fresh / r,
            "harmonic": harmonic / r,
            "age": age / r / r,
            "missed": x * x / 2 / r,
            "detected": fresh,
        }[name]
    )


factorials = [np.longdouble(1)]
for _k in range(1, 20):
    factorials.append(factorials[-1] * _k)


@pytest.mark.parametrize("name", NAMES)
@given(powers, st.floats(-12, 4).map(lambda power: float(10**power)))
def test_values_keep_twelve_digits(name, rate, x):
    """Where x is small the terms cancel; a value must not."""
    elapsed = x / rate
    value = OBJECTIVES[name].value(one(rate), one(elapsed))[0]

    assert value == pytest.approx(long_value(name, rate, elapsed), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(
    st.floats(-2, 5).map(lambda power: float(10**power)),
    st.floats(-6, 6).map(lambda power: float(10**power)),
    st.floats(-12, 8).map(lambda power: float(10**power)),
)
def test_expected_values_keep_ten_digits(name, shape, exposure, u):
    elapsed = u * exposure
    value = OBJECTIVES[name].expected_value(one(shape), one(exposure), one(elapsed))[0]

    assert value == pytest.approx(expected_value(name, shape, exposure, elapsed), rel=1e-10)


@pytest.mark.parametrize("shape", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_shapes_at_which_a_formula_divides_by_zero(name, shape):
    value = OBJECTIVES[name].expected_value(one(shape), one(2.0), one(3.0))[0]

    assert value == pytest.approx(expected_value(name, shape, 2.0, 3.0), rel=1e-12)


def test_expected_values_of_the_specification():
    """Monte Carlo gave .31354 at a = 1.7 and .20675 at a = .6, for other exposures; here ours."""
    random = np.random.default_rng(1)
    for shape in (1.7, 0.6):
        rate = random.gamma(shape, 1 / 2.0, 1_000_000)
        for objective in (Freshness(), Harmonic(), Detected(), Age(), Missed()):
            drawn = objective.value(rate, one(1.5))
            found = objective.expected_value(one(shape), one(2.0), one(1.5))[0]

            assert found == pytest.approx(drawn.mean(), abs=6 * drawn.std() / 1000)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_never_changes_is_worth_nothing(name):
    objective = OBJECTIVES[name]

    assert objective.value(one(0), one(5))[0] == 0
    assert objective.loss(one(0), one(5))[0] == 0
    assert objective.random_loss(one(0), one(5))[0] == 0


@pytest.mark.parametrize("name", NAMES)
@given(st.floats(-3, 3), st.floats(-3, 3))
def test_value_is_what_one_more_visit_saves(name, log_rate, log_visits):
    """V(1/f) = -d loss / df, for known rates."""
    objective, rate, visits = OBJECTIVES[name], one(10**log_rate), one(10**log_visits)
    step = visits * 1e-4
    lost = objective.loss(rate, 1 / (visits - step)) - objective.loss(rate, 1 / (visits + step))

    tolerance = 1e-11 * objective.loss(rate, 1 / visits)[0] / step[0]
    value = objective.value(rate, 1 / visits)[0]
    assert lost[0] / (2 * step[0]) == pytest.approx(value, rel=1e-5, abs=tolerance)


@cache
def quadrature(shape, exposure):
    """Rates and weights whose sums are means over a Gamma distribution, by its quantiles."""
    from scipy.stats import gamma

    nodes, weights = np.polynomial.legendre.leggauss(400)
    # Quantiles crowd at both ends; the square keeps the nodes there.
    at = (nodes + 1) / 2
    level = at * at * (3 - 2 * at)
    return gamma.ppf(level, shape, scale=1 / exposure), weights / 2 * 6 * at * (1 - at)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [0.3, 1.0, 2.0, 7.5, 300.0])
@pytest.mark.parametrize("interval", [0.01, 1.0, 30.0])
def test_expected_loss_is_the_mean_over_rates(name, shape, interval):
    objective, exposure = OBJECTIVES[name], 3.0
    rate, weights = quadrature(shape, exposure)
    mean = (objective.loss(rate, one(interval)) * weights).sum()

    found = objective.expected_loss(one(shape), one(exposure), one(interval))[0]
    assert found == pytest.approx(mean, rel=2e-4)


def test_losses_at_random_instants():
    """Freshness f / (f + r); harmonic ln(1 + r / f); by drawing the times since the last visit."""
    random = np.random.default_rng(2)
    elapsed = random.exponential(1 / 1.5, 2_000_000)
    rate = 0.8
    expected = {
        "freshness": -np.expm1(-rate * elapsed),
        "age": elapsed + np.expm1(-rate * elapsed) / rate,
        "missed": rate * elapsed,
    }
    for name, costs in expected.items():
        found = OBJECTIVES[name].random_loss(one(rate), one(1 / 1.5))[0]
        assert found == pytest.approx(costs.mean(), rel=3e-3)
    missed = random.poisson(rate * elapsed[:200_000])
    harmonics = np.concatenate([[0], np.cumsum(1 / np.arange(1, 100))])
    found = OBJECTIVES["harmonic"].random_loss(one(rate), one(1 / 1.5))[0]
    assert found == pytest.approx(harmonics[missed].mean(), rel=1e-2)


def test_harmonic_loss_at_equal_intervals():
    random = np.random.default_rng(3)
    elapsed = random.uniform(0, 2.0, 400_000)
    harmonics = np.concatenate([[0], np.cumsum(1 / np.arange(1, 100))])
    drawn = harmonics[random.poisson(0.8 * elapsed)].mean()

    assert Harmonic().loss(one(0.8), one(2.0))[0] == pytest.approx(drawn, rel=1e-2)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_never_visited_loses_all_there_is(name):
    objective, never = OBJECTIVES[name], one(np.inf)
    most = {"freshness": 1.0, "detected": 2.0}.get(name, np.inf)

    assert objective.loss(one(2.0), never)[0] == pytest.approx(most)
    assert objective.random_loss(one(2.0), never)[0] == pytest.approx(most)
