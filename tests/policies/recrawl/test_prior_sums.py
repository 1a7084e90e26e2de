"""Sums that parts of a crawl exchange, and the prior that follows from them."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.special import digamma
from recrawl.policies import Outcomes, Pages
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import PriorSums

START = np.datetime64("2026-01-01T00:00", "us")
DAY = np.timedelta64(1, "D")
part = st.lists(st.tuples(st.floats(0.1, 20), st.floats(0.1, 100)), min_size=0, max_size=30)


def sums_of(pages):
    shape, exposure = np.array(pages).reshape(-1, 2).T
    return PriorSums.of(shape, exposure)


@given(part, part, part)
def test_sums_add_up_in_any_order(one, two, three):
    a, b, c = map(sums_of, (one, two, three))

    assert astuple(a + b) == astuple(b + a)
    assert astuple((a + b) + c) == pytest.approx(astuple(a + (b + c)), rel=1e-12, abs=1e-12)
    assert a + PriorSums() == a


@given(st.lists(part, min_size=1, max_size=6))
def test_pages_and_rates_of_parts_are_those_of_the_whole(parts):
    together = sum(map(sums_of, parts), PriorSums())
    whole = sums_of([page for pages in parts for page in pages])

    assert together.pages == whole.pages
    assert together.rates == pytest.approx(whole.rates)


def test_one_part_alone_is_fitted_to_its_pages_by_hand():
    shape, exposure = np.linspace(1.0, 3.0, 60), np.linspace(5.0, 50.0, 60)
    found = PriorSums.of(shape, exposure).mean_and_spread(PriorSums(), 3.0)
    mean = np.mean(shape / exposure)

    assert found == pytest.approx(
        (mean, np.log(mean) - np.mean(digamma(shape) - np.log(exposure))), rel=1e-12
    )


def test_a_part_without_pages_takes_what_the_others_know():
    others = PriorSums(pages=100.0, rates=20.0, spread=45.0, freedom=90.0)

    assert PriorSums().mean_and_spread(others, 3.0) == pytest.approx((0.2, 0.5))


def test_a_mean_is_shrunk_to_that_of_the_others():
    """7 pages of rate 1 against the weight of 3 of rate 0.2: (3 * 0.2 + 7) / 10."""
    others = PriorSums(pages=100.0, rates=20.0, spread=45.0, freedom=90.0)
    mean, _ = PriorSums(7.0, 7.0, 0.0, 6.0).mean_and_spread(others, 3.0) or (0.0, 0.0)

    assert mean == pytest.approx(0.76)


def test_too_few_pages_tell_nothing():
    assert PriorSums(30.0, 3.0, 1.0, 29.0).mean_and_spread(PriorSums(19.0), 3.0) is None


def test_parts_that_are_alike_have_the_prior_of_one_process():
    """The same pages in one crawl, and in two parts that exchange: nearly the same prior."""
    random = np.random.default_rng(0)
    rates, policy = np.exp(random.normal(-1.0, 1.0, 400)), Recrawl(deepest=0)
    changed = random.random((6, 400)) < -np.expm1(-rates * 2)

    def learned(pages, others=None):
        state = policy.start(Pages.of([f"/{each}" for each in pages], start[pages]), START, 2.0)
        for visit in range(6):
            if others is not None:
                state.relatives.others = others
            now = start[pages] + (visit + 1) * 2 * DAY
            outcomes = Outcomes.existence(changed[visit, pages])
            state = policy.seen(state, np.arange(len(pages)), now, outcomes)
        return state.relatives

    start = np.full(400, START)
    whole, halves = learned(np.arange(400)), (np.arange(0, 400, 2), np.arange(1, 400, 2))
    alone = [learned(half) for half in halves]
    sums = [PriorSums(200.0, 200 * each.shape / each.exposure, 100.0, 199.0) for each in alone]
    small = learned(np.arange(8), others=sums[0] + sums[1])

    assert not learned(np.arange(8)).fitted
    assert small.fitted
    assert small.shape / small.exposure == pytest.approx(whole.shape / whole.exposure, rel=0.5)
