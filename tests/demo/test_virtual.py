"""Crawls of the example world that take no time."""

from functools import cache

import numpy as np
import pytest

from recrawl.demo.truth import calibration, tenths, truly_fresh
from recrawl.demo.virtual import virtual_crawl
from recrawl.demo.world import draw_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import AssumedRates
from recrawl.policies.rivals.uniform import uniform
from recrawl.rates.priors import PriorSample
from recrawl.visits.histories import Histories

WORLD = draw_world(60, start=20_000.0, days=50.0, seed=4)
LOOKS = WORLD.start + np.arange(1.0, 41.0)


@cache
def crawl(policy):
    """Visits and beliefs of a crawl, for whoever asks about them."""
    return virtual_crawl(WORLD, policy, Budget(30.0), looks=LOOKS, random=np.random.default_rng(0))


def test_the_budget_is_spent_and_not_exceeded():
    visits, _ = crawl(uniform())

    assert len(visits.page) == pytest.approx(30 * 40, rel=0.02)
    for day in range(40):
        at = visits.at - WORLD.start
        assert np.count_nonzero((at >= day) & (at < day + 1)) <= 30 * 1.05


def test_pages_visited_in_turn_wait_equally_long():
    """60 pages and 30 visits a day: two days each, once all pages are copied."""
    visits, _ = crawl(uniform())

    late = visits.at > WORLD.start + 10
    counts = np.bincount(visits.page[late], minlength=60)
    assert counts.max() - counts.min() <= 2


def test_a_policy_without_beliefs_has_none():
    _, beliefs = crawl(uniform())

    assert all(np.isnan(belief.chance).all() for belief in beliefs)
    assert [belief.at for belief in beliefs] == LOOKS.tolist()


def test_our_policy_believes_something_of_every_copy():
    _, beliefs = crawl(Recrawl())

    for belief in beliefs:
        assert len(belief.page) == len(set(belief.page.tolist()))
        assert ((belief.chance >= 0) & (belief.chance <= 1)).all()
    assert len(beliefs[-1].page) == len(WORLD)


def test_our_policy_keeps_copies_fresher_than_visits_in_turn():
    ours, turn = (
        np.mean([each.mean() for each in truly_fresh(WORLD, *crawl(policy))[10:]])
        for policy in (Recrawl(objective=OBJECTIVES["freshness"]), uniform())
    )

    assert ours > turn


@cache
def visits_of(seed, *, pages, days, visits_a_day):
    """Rates to assume, from the visits of a crawl of another world; the same for all who ask."""
    world = draw_world(pages, start=20_000.0, days=days, seed=seed)
    ends, random = np.array([world.start + days]), np.random.default_rng(seed)
    budget = Budget(visits_a_day)
    visits, _ = virtual_crawl(world, Recrawl(), budget, looks=ends, random=random)
    of_page = [visits.at[visits.page == page] for page in range(len(world))]
    versions = [[world.version(page, at) for at in of_page[page]] for page in range(len(world))]
    histories = Histories.from_lists(
        [
            (np.diff(at).tolist(), (np.diff(version) > 0).tolist())
            for at, version in zip(of_page, versions, strict=True)
        ]
    )
    shape, exposure = PriorSample.of([(histories, *of_one_site(histories))]).of_new_site()
    return AssumedRates(shape / exposure, shape)


def of_one_site(histories):
    hashes = np.random.default_rng(0).integers(0, 1 << 63, len(histories), np.uint64)
    return np.zeros(len(histories), np.int64), hashes


def believed_and_true(seed, *, pages, assumed=None):
    """Beliefs of a crawl of sixty days with two visits every five days for each page, and truth."""
    world = draw_world(pages, start=20_000.0, days=60.0, seed=seed)
    looks = world.start + np.arange(0.25, 60.01, 0.25)
    policy = Recrawl(OBJECTIVES["freshness"], assumed=assumed or AssumedRates())
    random = np.random.default_rng(seed)
    visits, beliefs = virtual_crawl(world, policy, Budget(0.4 * pages), looks=looks, random=random)
    return world, beliefs, truly_fresh(world, visits, beliefs)


def off_in_tenths(seed, assumed=None):
    """In a world of 300 pages a sweep of a sixth of them alone moves a tenth by more than 0.03."""
    world, beliefs, fresh = believed_and_true(seed, pages=1_000, assumed=assumed)
    share = tenths(beliefs, fresh, start=world.start, end=world.end)
    return np.abs(share.expected - share.true)


@pytest.mark.parametrize("seed", [1, 4])
def test_as_many_copies_are_fresh_as_expected_in_every_tenth(seed):
    assert off_in_tenths(seed).max() <= 0.03


@pytest.mark.parametrize("seed", [1, 4])
def test_so_they_are_with_rates_of_another_crawl(seed):
    assumed = visits_of(11, pages=300, days=60.0, visits_a_day=120.0)

    assert off_in_tenths(seed, assumed).max() <= 0.03


@pytest.mark.parametrize("seed", [1, 4])
def test_copies_are_fresh_as_often_as_believed(seed):
    _, beliefs, fresh = believed_and_true(seed, pages=300)
    believed = calibration(beliefs[24:], fresh[24:])

    assert np.abs(believed.expected - believed.true).max() <= 0.05
