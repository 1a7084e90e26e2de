"""Stochastic approximation, plain and with momentum: a loop over the gaps as the oracle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Histories, Status
from recrawl.errors import InvalidParameter
from recrawl.rates import SA, SAM
from tests.strategies import history_of, pages

if TYPE_CHECKING:
    from tests.strategies import Seen


def stepped(page: list[Seen], exponent: float, momentum: float | None = None) -> float:
    """x after x <- x + eta_k (I (x + p) - x) [+ zeta_k (x - x before)], from x = p."""
    visits_a_day = len(page) / math.fsum(gap.gap for gap in page)
    before = x = visits_a_day
    for k, gap in enumerate(page, start=1):
        plain = x + (k + 1) ** -exponent * (gap.changed * (x + visits_a_day) - x)
        carried = plain
        if momentum is not None:
            carried += (k + 1) ** -momentum * (x - before)
        before, x = x, carried if carried > 0 else plain
    return x


def test_one_changed_day():
    """From one change a visit a step of 2^-0.75 towards two."""
    for method in (SA(), SAM()):
        rate = method.estimate(history_of([(1.0, True)])).rate

        assert rate == pytest.approx([1 + 2**-0.75], rel=1e-12)


def test_two_days_by_hand():
    """Changed, then quiet: x1 = 1 + 2^-0.75, x2 = x1 - 3^-0.75 x1 and 3^-0.5 (x1 - 1) more."""
    page = history_of([(1.0, True), (1.0, False)])
    first = 1 + 2**-0.75
    second = first - 3**-0.75 * first

    assert SA().estimate(page).rate == pytest.approx([second], rel=1e-12)
    assert SAM().estimate(page).rate == pytest.approx([second + 3**-0.5 * (first - 1)], rel=1e-12)


@given(page=pages, exponent=st.floats(0.51, 1.0))
def test_sa_is_a_loop_over_the_gaps(page, exponent):
    assert SA(exponent).estimate(history_of(page)).rate == pytest.approx(
        [stepped(page, exponent)], rel=1e-9
    )


@given(page=pages, exponent=st.floats(0.51, 1.0), momentum=st.floats(0.05, 3))
def test_sam_is_a_loop_over_the_gaps(page, exponent, momentum):
    """Momentum that would carry the rate to 0 or below is left out."""
    assert SAM(exponent, momentum).estimate(history_of(page)).rate == pytest.approx(
        [stepped(page, exponent, momentum)], rel=1e-6
    )


@pytest.mark.parametrize("method", [SA(), SAM()])
@pytest.mark.parametrize("gaps", [13, 200])
def test_telling_gap_by_gap_is_the_same_as_all_at_once(method, gaps):
    """Bit for bit over many gaps: a power of one number and of a column must round alike."""
    chance = np.random.default_rng(71)
    for _ in range(50):
        changed = chance.random(gaps) < chance.random()
        state = method.start(1)
        for row in range(gaps):
            state = method.update(state, np.array([1.0]), changed[row : row + 1])

        at_once = method.estimate(Histories(np.ones(gaps), changed, np.array([0, gaps])))
        assert method.read(state).rate.tolist() == at_once.rate.tolist()


def test_a_page_that_never_changed_keeps_a_rate_above_zero():
    """It only ever shrinks: prod(1 - (k + 1)^-0.75)."""
    estimates = SA().estimate(history_of([(1.0, False)] * 50))

    left = math.prod(1 - (k + 1) ** -0.75 for k in range(1, 51))
    assert estimates.rate == pytest.approx([left], rel=1e-9)
    assert estimates.low.tolist() == [0.0]
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("method", [SA(), SAM()])
def test_a_page_that_always_changed_is_saturated(method):
    estimates = method.estimate(history_of([(1.0, True)] * 20))

    assert np.isfinite(estimates.rate).all()
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.SATURATED]


@pytest.mark.parametrize("method", [SA(), SAM()])
def test_gaps_over_eight_orders_of_magnitude_are_no_trouble(method):
    """Only their average counts."""
    page = [(10.0**power, power % 2 == 0) for power in range(-4, 5)]
    average = sum(gap for gap, _ in page) / len(page)
    even = [(average, changed) for _, changed in page]

    wild, calm = method.estimate(history_of(page, even)).rate
    assert wild == pytest.approx(calm, rel=1e-9)


@pytest.mark.parametrize("method", [SA(), SAM()])
@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
def test_it_settles_at_the_rate_where_visits_come_at_random(method, rate):
    """The step vanishes on average where x = r: the median of 200 pages after 5000 visits.

    The steps of (k + 1)^-0.75 are 0.0017 by then, which leaves a spread of a few percent a page.
    """
    chance = np.random.default_rng(72)
    gaps = chance.exponential(1.0, (200, 5000))
    changed = chance.random((200, 5000)) < -np.expm1(-rate * gaps)
    seen = Histories(gaps.ravel(), changed.ravel(), np.arange(201) * 5000)

    assert np.median(method.estimate(seen).rate) == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize("method", [SA, SAM])
@pytest.mark.parametrize("exponent", [0.5, 0.0, 1.01, np.nan])
def test_steps_that_never_settle_are_refused(method, exponent):
    with pytest.raises(InvalidParameter, match=r"exponent must be above 0.5 and at most 1"):
        method(exponent)


@pytest.mark.parametrize("momentum", [0.0, -1.0, np.inf, np.nan])
def test_a_momentum_that_never_fades_is_refused(momentum):
    with pytest.raises(InvalidParameter, match="momentum must be a positive, finite number"):
        SAM(momentum=momentum)
