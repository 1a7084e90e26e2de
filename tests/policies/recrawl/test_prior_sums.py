"""Sums that parts of a crawl exchange, and the prior that follows from them."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.special import digamma
from recrawl.errors import InvalidParameter
from recrawl.policies import Outcomes, Pages
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import AssumedRates, PriorSums
from recrawl.policies.recrawl.relatives import Relatives

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


def crawled(assumed, rates, *, days=40, gap=2.0):
    """Relatives of a crawl whose pages stand alone, each visited once per gap."""
    random, policy = np.random.default_rng(0), Recrawl(deepest=0, assumed=assumed)
    rows, start = np.arange(len(rates)), np.full(len(rates), START)
    state = policy.start(Pages.of([f"/{each}" for each in rows], start), START, gap)
    for visit in range(int(days / gap)):
        changed = random.random(len(rates)) < -np.expm1(-rates * gap)
        now = start + np.timedelta64(round((visit + 1) * gap * 1440), "m")
        state = policy.seen(state, rows, now, Outcomes.existence(changed))
    return state.relatives


def test_a_page_is_assumed_to_change_as_it_is_said():
    """Mean 0.2 per day and shape 0.5: (b / (b + t))^a = (2.5 / 7.5)^0.5 after five days."""
    policy = Recrawl(assumed=AssumedRates(0.2, 0.5))
    state = policy.start(Pages.of(["/"], np.array([START])), START, 99.0)
    rows = np.array([0])
    states = state.memories.states(rows, state.relatives.prior(state.sections, rows))

    assert policy.rates(state, rows) == pytest.approx([0.2])
    assert state.memories.chance(rows, states, np.array([5.0]))[1] == pytest.approx(
        [1 - (1 / 3) ** 0.5]
    )


def test_what_is_assumed_stays_until_a_visit_tells_more():
    assumed = AssumedRates(0.03, 0.8)
    policy = Recrawl(assumed=assumed)
    state = policy.start(Pages.of(["/"], np.array([START])), START, 16.0)
    policy.value(state, np.array([0]), START + 30 * DAY)

    assert (state.relatives.shape, state.relatives.exposure) == pytest.approx(assumed.gamma(16.0))


def test_without_a_rate_nothing_but_the_gap_is_assumed():
    relatives = Relatives.start(3.0, 2.0, AssumedRates())
    relatives.set_gap(8.0)

    assert (relatives.shape, relatives.exposure) == (0.5, 8.0)
    assert AssumedRates().sums == PriorSums()


@pytest.mark.parametrize("times", [0.05, 20.0])
def test_a_wrong_prior_is_outvoted(times):
    """400 pages against 50 that are assumed, which are off by twenty times."""
    rates = np.random.default_rng(1).gamma(0.8, 0.2 / 0.8, 400)
    right, wrong = (
        crawled(AssumedRates(rate, 0.8), rates) for rate in (rates.mean(), times * rates.mean())
    )
    own = right.shape / right.exposure
    bound = (400 * own + 50 * times * own) / 450

    assert own == pytest.approx(rates.mean(), rel=0.15)
    assert wrong.shape / wrong.exposure == pytest.approx(bound, rel=0.15)


def test_other_parts_outvote_what_is_assumed():
    """A part without visits goes by what 950 pages of others have shown, not by the 50 assumed."""
    relatives = Relatives.start(3.0, 2.0, AssumedRates(1.0, 0.5))
    policy = Recrawl()
    state = policy.start(Pages.of(["/"], np.array([START])), START, 2.0)
    relatives.grow(1)
    relatives.others = PriorSums(950.0, 9.5, 950.0, 949.0)
    relatives.read(state.sections)
    relatives.refit(state.sections, state.memories)

    assert relatives.shape / relatives.exposure == pytest.approx((9.5 + 50) / 1000)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"prior_rate": 0.0}, "prior_rate must be positive and finite"),
        ({"prior_rate": np.inf}, "prior_rate must be positive and finite"),
        ({"prior_shape": -1.0}, "prior_shape must be positive and finite"),
        ({"prior_pages": np.nan}, "prior_pages must be a number of pages"),
    ],
)
def test_what_is_no_distribution_is_refused(wrong, said):
    with pytest.raises(InvalidParameter, match=said):
        AssumedRates(**wrong)
