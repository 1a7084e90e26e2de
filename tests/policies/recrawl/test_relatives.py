"""Priors that relatives share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.recrawl.memories import Memories
from recrawl.policies.recrawl.prior_sums import AssumedRates
from recrawl.policies.recrawl.relatives import Relatives
from recrawl.policies.recrawl.sections import Sections
from tests.policies.recrawl.trees import pages_below

ADDRESSES = ["a/b/x", "a/b/y", "a/c/x", "a/c/z", "d/x", "d/w", "e/u"]
PAGES = len(ADDRESSES)
EVERY = np.arange(PAGES)


def sections(addresses=ADDRESSES):
    made = Sections()
    made.grow(addresses)
    made.relate()
    return made


def relatives(tree, *, strength=3.0, gap=10.0):
    made = Relatives.start(strength, gap, AssumedRates())
    made.grow(len(tree.leaf))
    made.read(tree)
    return made


def test_a_page_is_first_assumed_to_change_every_second_gap():
    """Shape 1/2 and a gap of exposure, for every page."""
    tree = sections()
    shape, exposure = relatives(tree, gap=10.0).prior(tree, EVERY)

    assert shape == 0.5
    assert exposure.tolist() == [10.0] * PAGES


def test_a_section_is_as_fast_as_its_pages_and_the_section_above():
    """The reference: r = 1.2 above, two pages that add up to 3: (3 * 1.2 + 3) / 5 = 1.32.

    The section above has a third page of 1.2, so it is at (3 * 1 + 4.2) / 6 = 1.2.
    """
    tree = sections(["a/b/x", "a/b/y", "a/q", "d/v"])
    made = relatives(tree)
    made.visited[:3] = True
    made.for_node[:3] = [1.0, 2.0, 1.2]
    made.read(tree)
    below = pages_below(tree)

    assert made.node_ratio[below.index(frozenset({0, 1, 2}))] == pytest.approx(1.2)
    assert made.node_ratio[below.index(frozenset({0, 1}))] == pytest.approx(1.32)
    assert made.node_ratio[0] == 1


def test_a_visited_page_tells_of_its_section_and_of_its_kin():
    """Page 0 changes at twice the crawl's rate of 0.05: folder (3 + 2) / 4, namesakes the same."""
    tree = sections(["a/x", "a/y.1", "b/x", "b/z.2", "c"])
    made = relatives(tree)
    made.learn(tree, np.array([0]), np.array([0.1]))
    shape, exposure = made.prior(tree, np.arange(5))

    assert made.for_node[0] == made.for_kin[0] == pytest.approx(2)
    ratio = [1.25 * 1.25, 1.25, 1.25, 1, 1]
    np.testing.assert_allclose(exposure, 10 / np.array(ratio))
    assert shape == 0.5

    made.learn(tree, np.array([0]), np.array([0.1]))
    assert made.for_node[0] == made.for_kin[0] == pytest.approx(2 / 1.25)


def test_one_page_counts_for_a_thousand_at_most():
    tree = sections()
    made = relatives(tree)
    made.learn(tree, np.array([0]), np.array([1e9]))

    assert made.for_node[0] == made.for_kin[0] == 1000
    assert made.node_ratio.max() == 50


rates = st.lists(st.tuples(st.integers(0, PAGES - 1), st.floats(0, 100)), max_size=30)


@given(rates)
def test_ratios_are_those_of_plain_sums(seen):
    """Every node from all visited pages below it, whichever was visited last."""
    tree = sections()
    made = relatives(tree)
    for row, rate in seen:
        made.learn(tree, np.array([row]), np.array([rate]))
    visited = {row for row, _ in seen}
    below = pages_below(tree)

    for nodes in tree.levels[1:]:
        for node in nodes.tolist():
            terms = [made.for_node[row] for row in below[node] & visited]
            prior = 3 * made.node_ratio[tree.parent[node]]
            expected = np.clip((prior + sum(terms)) / (3 + len(terms)), 0.02, 50)
            assert made.node_ratio[node] == pytest.approx(expected)
    for group in set(tree.kin.tolist()) - {-1}:
        terms = [made.for_kin[row] for row in visited if tree.kin[row] == group]
        expected = np.clip((3 + sum(terms)) / (3 + len(terms)), 0.02, 50)
        assert made.kin_ratio[group] == pytest.approx(expected)
    assert made.kin_ratio[-1] == 1


@given(rates)
def test_with_an_infinite_strength_there_are_no_relatives(seen):
    tree = sections()
    made = relatives(tree, strength=np.inf)
    for row, rate in seen:
        made.learn(tree, np.array([row]), np.array([rate]))

    assert (made.node_ratio == 1).all()
    assert (made.kin_ratio == 1).all()


def watched(shapes, exposures, gap=10.0):
    """Pages alone whose longest memory is known; the prior is that of the start."""
    tree = Sections(deepest=0)
    tree.grow([""] * len(shapes))
    tree.relate()
    made = relatives(tree, gap=gap)
    memories = Memories.start((1.0,))
    memories.grow(np.zeros(len(shapes), np.int64))
    memories.shape[0] = shapes - made.shape
    memories.exposure[0] = exposures - made.exposure
    made.visited[:] = True
    return tree, made, memories


@pytest.mark.parametrize(("shape", "mean"), [(0.3, 0.01), (1.0, 1.0), (3.0, 40.0)])
def test_the_prior_of_rates_that_are_known_is_their_distribution(shape, mean):
    """20,000 rates drawn from a Gamma distribution, each all but exactly known."""
    rates = np.random.default_rng(3).gamma(shape, mean / shape, 20_000)
    tree, made, memories = watched(rates * 1e18, np.full(20_000, 1e18))
    made.refit(tree, memories)

    assert made.shape == pytest.approx(shape, rel=0.05)
    assert made.shape / made.exposure == pytest.approx(mean, rel=0.05)


@given(st.floats(0.05, 5), st.floats(1e-3, 1e3))
def test_pages_that_all_have_one_state_give_it_back(shape, exposure):
    """ln a - psi(a) is the spread of a single Gamma distribution: it is its own best fit."""
    tree, made, memories = watched(np.full(60, shape), np.full(60, exposure), gap=1e-4)
    made.refit(tree, memories)

    assert made.shape == pytest.approx(shape, rel=1e-5)
    assert made.exposure == pytest.approx(exposure, rel=1e-5)


@pytest.mark.parametrize("spread", [0.0, 30.0])
def test_the_shape_of_the_prior_stays_in_bounds(spread):
    """Rates that are all the same, and rates of all sizes."""
    rates = np.exp(spread * np.linspace(-1, 1, 100))
    tree, made, memories = watched(rates * 1e6, np.full(100, 1e6))
    made.refit(tree, memories)

    assert made.shape == pytest.approx(0.05 if spread else 5.0)
    assert made.shape / made.exposure == pytest.approx(rates.mean(), rel=1e-3)


@pytest.mark.parametrize(("pages", "fitted"), [(49, False), (50, True)])
def test_fifty_pages_are_enough_for_a_prior(pages, fitted):
    tree, made, memories = watched(np.full(pages, 2.0), np.full(pages, 100.0))
    made.refit(tree, memories)

    assert (made.exposure != 10.0) == fitted


def test_pages_without_exposure_of_their_own_are_left_out():
    """Their state is the prior, which would confirm itself."""
    tree, made, memories = watched(np.full(60, 2.0), np.full(60, 100.0))
    memories.exposure[0, :20] = 0
    made.refit(tree, memories)

    assert made.exposure == 10.0


def test_relatives_are_taken_out_before_the_prior_is_fitted():
    """Pages of a section four times as fast, with rates four times as high, tell of the crawl."""
    tree = Sections()
    tree.grow([f"{folder}/{n}.{n}{folder}" for folder in "ab" for n in range(40)])
    made = relatives(tree)
    made.node_ratio[:] = np.where(np.arange(len(tree)) == tree.leaf[0], 4.0, 1.0)
    memories = Memories.start((1.0,))
    memories.grow(np.zeros(80, np.int64))
    ratio = made.node_ratio[tree.leaf]
    memories.shape[0] = 2.0 - made.shape
    memories.exposure[0] = (100.0 - made.exposure) / ratio
    made.visited[:] = made.fitted = True  # fitted before, with these ratios
    made.refit(tree, memories)

    assert made.shape == pytest.approx(2.0, rel=1e-6)
    assert made.exposure == pytest.approx(100.0, rel=1e-6)


def test_the_scale_of_ratios_does_not_drift():
    """Rates that stay: however often they are told and the prior is fitted, ratios average one.

    Without a scale the prior becomes slower and the ratios larger with every fit. In this crawl
    they averaged 41 in the end, where they are clipped, and no longer told sections apart.
    """
    tree = sections([f"{folder}/{n % 10}/{n}.html" for folder in "abcd" for n in range(40)])
    made, rows = relatives(tree), np.arange(160)
    memories = Memories.start((1.0,))
    memories.grow(np.zeros(160, np.int64))
    rates = np.random.default_rng(1).gamma(0.5, 0.2, 160)
    memories.exposure[0], memories.shape[0] = 500.0, 500.0 * rates
    for _ in range(400):
        made.learn(tree, rows, memories.rates(rows, made.prior(tree, rows)))
        made.refit(tree, memories)
    shape, exposure = made.prior(tree, rows)

    assert np.mean(made.exposure / exposure) == pytest.approx(1, abs=0.05)
    assert shape / made.exposure == pytest.approx(rates.mean(), rel=0.25)


def test_a_part_of_the_crawl_has_the_scale_of_the_whole():
    """What other pages tell stays, also of kin groups that have no page among them."""
    tree = sections(["a/x.1", "b/x.1", "a/y.2", "b/y.2", "a/z.3", "b/z.3"])
    made = relatives(tree)
    made.fitted = True
    made.learn(tree, np.arange(6), np.array([1.0, 2, 3, 4, 5, 60]))
    totals = made.totals(tree)
    some = totals.take(np.arange(len(tree)), np.array([tree.kin[0], tree.groups]))

    assert some.kin_rates.sum() == pytest.approx(totals.kin_rates.sum())
    assert some.kin_pages.tolist() == [2, 4]
