"""A few pages of a crawl are believed what they are believed among all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import Beliefs, let_clocks_run
from recrawl.policies.recrawl.checkpoint import dump, load
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.sampling import (
    KEPT_OF_SAMPLE,
    NEEDED,
    check_sample,
    dump_sample,
    load_sample,
    sampled,
)
from recrawl.units import instants_after_epoch
from tests.policies.recrawl.test_beliefs import BEGAN, crawl


@pytest.fixture(scope="module")
def parts():
    return dump(crawl(90)[1])


@given(st.sets(st.integers(0, 89), min_size=1))
def test_beliefs_are_those_among_all_pages(parts, some):
    rows = np.array(sorted(some))
    policy, now = Recrawl(), BEGAN + 5
    few, _ = sampled(policy, {name: parts[name] for name in NEEDED}, rows)
    whole = load(policy, parts, list)
    for state in (few, whole):
        let_clocks_run(state, now)

    one, other = Beliefs.of(few, np.arange(len(rows)), now), Beliefs.of(whole, rows, now)
    np.testing.assert_allclose(one.fresh, other.fresh, rtol=1e-12)
    np.testing.assert_allclose(one.rate, other.rate, rtol=1e-12)


@given(st.sets(st.integers(0, 89), min_size=1))
def test_beliefs_go_by_what_hosts_announce(some):
    """Half of the pages are named in a sitemap, some of them as changed."""
    policy, now, rows = Recrawl(), BEGAN + 5, np.array(sorted(some))
    whole = crawl(90)[1]
    telling = np.arange(0, len(whole.last), 2)
    whole.announced.believe(telling, np.full(len(telling), 0.6), np.zeros(len(telling)))
    whole.announced.asked[::2] = BEGAN + 4
    whole.announced.count[::6] = 1
    few, _ = load_sample(policy, dump_sample(*sampled(policy, dump(whole), rows)))
    for state in (few, whole):
        let_clocks_run(state, now)

    one, other = Beliefs.of(few, np.arange(len(rows)), now), Beliefs.of(whole, rows, now)
    np.testing.assert_allclose(one.fresh, other.fresh, rtol=1e-5)


def test_what_all_pages_taught_is_put_again_after_a_visit(parts):
    policy, rows = Recrawl(), np.array([3, 50])
    state, ratios = sampled(policy, parts, rows)
    before = state.relatives.node_ratio.copy()
    at = instants_after_epoch(np.array([BEGAN + 6.0]))
    state = policy.seen(state, np.array([0]), at, Outcomes.existence(np.array([True])))

    assert not np.array_equal(state.relatives.node_ratio, before)
    ratios.put(state)
    np.testing.assert_array_equal(state.relatives.node_ratio, before)


@given(st.sets(st.integers(0, 89), min_size=1))
def test_a_sample_is_kept_as_it_was(parts, some):
    """What is kept of it is in single precision, as what it was drawn from."""
    policy, now = Recrawl(), BEGAN + 5
    rows = np.arange(len(some))
    state, ratios = sampled(policy, parts, np.array(sorted(some)))
    kept = dump_sample(state, ratios)
    check_sample(kept, len(rows), len(policy.memories))
    again, also = load_sample(policy, kept)
    for each in (state, again):
        let_clocks_run(each, now)

    assert set(kept) <= set(KEPT_OF_SAMPLE)
    np.testing.assert_array_equal(also.node, ratios.node)
    one, other = Beliefs.of(state, rows, now), Beliefs.of(again, rows, now)
    np.testing.assert_array_equal(one.fresh, other.fresh)
