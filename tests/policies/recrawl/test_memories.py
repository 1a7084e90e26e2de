"""Memories of rates: the figures of the reference, and what weights obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan.objectives import Freshness
from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.announced import Streams
from recrawl.policies.recrawl.memories import Memories, _kept_powers, fold, powers
from recrawl.rates.gamma_state import step
from tests.policies.crawls import outcomes
from tests.policies.scalar import Page

KEPT = (1.0, 0.95, 0.8)
ROW = np.array([0])
SITE = np.array([0])


def memories(pages=1, sites=1):
    made = Memories.start(KEPT)
    made.grow_sites(sites)
    made.grow(np.arange(pages) % sites)
    return made


def learned(seen, prior=(0.5, 20.0)):
    """Memories of one page after clock times and outcomes."""
    made = memories()
    for days, changed in seen:
        made.learn(
            ROW,
            SITE,
            (prior[0], np.array([prior[1]])),
            Streams.one(np.array([days])),
            outcomes(changed),
        )
    return made


def test_a_hidden_change_moves_a_state_as_the_reference_says():
    """(.5, 15) after 7 days, (2, 30) after 200."""
    shape, exposure = step(
        np.array([0.5, 2.0]), np.array([15.0, 30.0]), np.array([7.0, 200.0]), np.array([True, True])
    )

    assert shape == pytest.approx([1.456017, 2.080657], abs=1e-6)
    assert exposure == pytest.approx([17.419658, 30.747107], abs=1e-6)


@pytest.mark.parametrize(
    ("state", "value"),
    [((0.5, 15, 7), 0.551744), ((2, 30, 45), 10.8), ((1, 10, 10), 1.931472)],
)
def test_values_are_those_of_the_reference(state, value):
    shape, exposure, days = (np.array([float(x)]) for x in state)

    assert Freshness().expected_value(shape, exposure, days) == pytest.approx([value], abs=1e-6)


def test_three_visits_move_the_bank_as_the_reference_says():
    """Prior (.5, 20), clock times 10, 10, 10: unchanged, changed, changed."""
    prior = (0.5, np.array([20.0]))
    before, after = (
        learned([(10, False), (10, True)]),
        learned([(10, False), (10, True), (10, True)]),
    )
    shape, exposure = after.states(ROW, prior)
    chances, _ = before.chance(ROW, before.states(ROW, prior), np.array([10.0]))
    values = Freshness().expected_value(shape[:, 0], exposure[:, 0], np.full(3, 10.0))

    assert chances[:, 0] == pytest.approx([0.317487, 0.320904, 0.331613], abs=1e-6)
    assert shape[:, 0] == pytest.approx([2.428415, 2.377726, 2.226185], abs=1e-6)
    assert exposure[:, 0] == pytest.approx([37.367069, 36.161672, 32.856799], abs=2e-6)
    assert after.share[:, 0] == pytest.approx([0.327305, 0.330827, 0.341868], abs=1e-6)
    assert after.site_share[0] == pytest.approx([0.333321, 0.333328, 0.333350], abs=1e-6)
    assert after.rates(ROW, prior) == pytest.approx([0.066187], abs=1e-6)
    assert after.share[:, 0] @ values == pytest.approx(1.903940, abs=2e-6)


def test_a_dated_change_counts_one_and_its_age():
    """Shape + 1, exposure + age, whatever the gap; the longest memory shows it plainly."""
    made = memories()
    made.learn(
        ROW, SITE, (0.5, np.array([20.0])), Streams.one(np.array([10.0])), outcomes(True, 4.0)
    )

    np.testing.assert_allclose(made.shape[:, 0], 1.0)
    np.testing.assert_allclose(made.exposure[:, 0], 4.0)


def test_new_pages_start_with_the_weights_of_their_site():
    made = memories(2, 2)
    made.site_share = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    made.grow(np.array([1, 0]))

    np.testing.assert_allclose(made.share[:, 2:].T, [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])


def test_a_site_that_learns_alone_goes_on_from_what_all_have_learnt():
    made = memories()
    made.site_share = np.array([[0.2, 0.3, 0.5]])
    made.grow_sites(3)

    np.testing.assert_allclose(made.site_share, [[0.2, 0.3, 0.5]] * 3)


many_visits = st.lists(st.tuples(st.floats(1e-6, 1e6), st.booleans()), min_size=1, max_size=40)


@given(many_visits, st.floats(0.05, 5), st.floats(1e-3, 1e4))
def test_weights_are_weights_and_states_are_states(seen, shape, exposure):
    """Gaps from a tenth of a second to millennia."""
    made = learned(seen, (shape, exposure))
    states = made.states(ROW, (shape, np.array([exposure])))

    assert made.share.sum() == pytest.approx(1)
    assert (made.share >= 0).all()
    assert made.site_share.sum() == pytest.approx(1)
    assert all(np.isfinite(some).all() and (some >= 1e-3).all() for some in states)


@given(st.lists(st.booleans(), min_size=1, max_size=2000))
def test_no_memory_of_a_site_is_lost(changes):
    """At least .02 before all are made to add up to one: the others never exceed 1.04."""
    made = memories(len(changes))
    rows = np.arange(len(changes))
    prior = (0.5, np.full(len(rows), 20.0))
    for days in (1.0, 100.0, 1.0):
        seen = Outcomes.existence(np.array(changes))
        made.learn(rows, 0 * rows, prior, Streams.one(np.full(len(rows), days)), seen)

    assert (made.site_share >= 0.02 / 1.04).all()


@given(st.lists(st.tuples(st.floats(0.01, 1e3), st.booleans()), min_size=1, max_size=30))
def test_a_page_learns_as_a_plain_loop_does(seen):
    made, page, site = learned(seen), Page(0.0, [1 / 3] * 3), [1 / 3] * 3
    for days, changed in seen:
        page.learn(site, (0.5, 20.0), days, changed)

    np.testing.assert_allclose(made.shape[:, 0], [a for a, _ in page.more], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(made.exposure[:, 0], [b for _, b in page.more], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(made.share[:, 0], page.weights, rtol=1e-9)
    np.testing.assert_allclose(made.site_share[0], site, rtol=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-5, 5)), max_size=30),
    st.sampled_from([0.0, 0.5, 0.998, 0.999, 1.0]),
)
def test_folding_is_a_loop(rows, kept):
    """total <- kept total + row, one after the other, each site for itself."""
    expected = np.arange(10.0).reshape(5, 2)
    totals = expected.copy()
    for site, row in rows:
        expected[site] = kept * expected[site] + [row, 2 * row]
    site = np.array([site for site, _ in rows], np.int64)
    fold(totals, site, np.array([[row, 2 * row] for _, row in rows]).reshape(-1, 2), (kept,))

    np.testing.assert_allclose(totals, expected, rtol=1e-9, atol=1e-9)


def test_powers_of_very_many_visits_are_not_kept():
    """They would take a hundred megabytes for as long as the process runs."""
    few, kept = powers((0.5, 0.9), 10), _kept_powers.cache_info().currsize

    assert len(powers((0.5, 0.9), 1_000_000)) > 1_000_000
    assert _kept_powers.cache_info().currsize == kept
    with pytest.raises(ValueError, match="read-only"):
        few[:] = 0.0
