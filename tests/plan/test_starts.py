"""Starting points for uncertain rates: near the root, and of no influence on what is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan.objectives import Age, Detected, Freshness, Harmonic
from recrawl.plan.solver.demand import UncertainDemand, log_due, most_value
from recrawl.plan.solver.starts import start_by_rest, start_by_value

OBJECTIVES = (Freshness(), Harmonic(), Age(), Detected())
BOUNDED = (Freshness(), Detected())

shapes = st.floats(min_value=0.02, max_value=1e5)
logs = st.floats(min_value=-8, max_value=6)  # of u in units of the rate


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(shape=shapes, log=logs)
def test_a_value_tells_about_when_it_is_reached(objective, shape, log):
    """Put u in, work out its value, ask the table for u again."""
    a, u = np.array([shape]), np.exp(np.array([log - max(np.log(shape), 0)]))
    value, _ = objective.value_and_wear(a, u)
    if value[0] > most_value(objective, a)[0] / 2:
        return  # that is told by what is left to the bound, below

    assert start_by_value(objective, a, np.log(value)) == pytest.approx(np.log(u), abs=0.05)


@pytest.mark.parametrize("objective", BOUNDED)
@given(shape=st.floats(min_value=1.05, max_value=1e4), rest=st.floats(min_value=0.7, max_value=300))
def test_what_is_left_to_the_bound_tells_it_too(objective, shape, rest):
    r"""The oracle is the definition: $-\ln(1 - V / V_{max})$ at the start is about what was given.

    $1 - V / V_{max}$ is $\rho^a (1 + a u)$, of detected changes $\rho^a (1 + a u / (1 + u))$.
    """
    u = np.exp(start_by_rest(objective, np.array([shape]), np.array([rest])))
    over = u if isinstance(objective, Freshness) else u / (1 + u)

    left = shape * np.log1p(u) - np.log1p(shape * over)

    assert left == pytest.approx([rest], rel=0.02)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_where_a_search_begins_does_not_matter(objective):
    """Prices up and down, over the cut-off of many pages: each as if it were asked first."""
    random = np.random.default_rng(3)
    shape, exposure = random.gamma(2, 1, 500) + 0.1, random.gamma(2, 10, 500) + 1
    scale = exposure ** -float(objective.power)
    everyone = slice(0, 500)
    asked = UncertainDemand.of(objective, shape, exposure, scale)

    for price in (0.05, 0.0500001, 3.0, 0.3, 40.0, 0.001):
        fresh = UncertainDemand.of(objective, shape, exposure, scale)
        visits, slope = asked.visits_and_slope(everyone, price)
        expected, steep = fresh.visits_and_slope(everyone, price)
        np.testing.assert_allclose(visits, expected, rtol=1e-10)
        np.testing.assert_allclose(slope, steep, rtol=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_slope_is_that_of_the_visits(objective):
    """Against a central difference of the visits themselves."""
    shape = np.array([0.3, 0.9, 1.1, 2.0, 40.0, 1e4])
    price, step = 0.01, 1e-4
    scale = shape ** float(objective.power > 0)

    demand = UncertainDemand.of(objective, shape, np.ones(6), scale)
    _, slope = demand.visits_and_slope(slice(0, 6), price)

    up, down = (log_due(objective, shape, scale * price * np.exp(by)) for by in (step, -step))
    visits = np.exp(-log_due(objective, shape, scale * price))
    np.testing.assert_allclose(slope / visits, (up - down) / (2 * step), rtol=1e-4)
