"""The default estimator: geometric mean, band, streaming, and the evidence of a first age."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from recrawl import Gamma, Histories, Priors, Status
from recrawl.errors import InvalidParameter
from tests.rates.worlds import GAPS, visited
from tests.strategies import history_of, pages

levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
priors = st.builds(
    lambda shape, exposure: Priors.one(10.0**shape, 10.0**exposure),
    st.floats(math.log10(0.02), 4),
    st.floats(-3, 4),
)


def test_the_rate_is_the_geometric_mean_of_the_posterior():
    """Two events in ten days, then a quiet one: e^psi(2) / 11, psi(2) = 1 - 0.5772157."""
    estimates = Gamma(Priors.one(2.0, 10.0)).estimate(history_of([(1.0, False)]))

    assert estimates.rate == pytest.approx([math.exp(1 - 0.5772156649) / 11], rel=1e-9)


def test_the_default_prior_is_half_a_change_in_fifteen_days():
    """beyond.md 2.3: Gamma(.5, .5 x 30 days) when nothing is known."""
    first_visit = np.array(["2026-01-01"], "datetime64[us]")
    estimates = Gamma().estimate(history_of([], first_visit=first_visit))

    assert estimates.shape.tolist() == [0.5]
    assert estimates.exposure.tolist() == [15.0]


def test_every_kind_of_gap_speaks():
    """Unchanged, dated and counted: 1 + 1 + 3 events in 5 + 2 + 0.5 + 4 days."""
    page = [(2.0, False), (3.0, True, 0.5), (4.0, True, np.nan, 3)]
    estimates = Gamma(Priors.one(1.0, 5.0)).estimate(history_of(page))

    assert estimates.shape == pytest.approx([5.0], rel=1e-12)
    assert estimates.exposure == pytest.approx([11.5], rel=1e-12)
    assert estimates.changes.tolist() == [2]
    assert estimates.visits.tolist() == [4]


def test_a_page_seen_once_has_the_rate_of_its_site():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = Gamma(Priors.one(2.0, 10.0)).estimate(history_of([], [], first_visit=first_visit))

    assert estimates.rate == pytest.approx([math.exp(special.digamma(2.0)) / 10] * 2, rel=1e-9)
    assert estimates.status.tolist() == [Status.PRIOR_ONLY, Status.PRIOR_ONLY]
    assert estimates.visits.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("page", "status"),
    [
        ([(1.0, False), (1.0, False)], Status.NO_CHANGE_SEEN),
        ([(1.0, True), (1.0, True)], Status.ALL_CHANGED),
        ([(1.0, True), (1.0, False)], Status.OK),
    ],
)
def test_the_status_says_what_was_seen(page, status):
    assert Gamma().estimate(history_of(page)).status.tolist() == [status]


def test_each_site_has_its_own_prior():
    both = Priors(np.array([1.0, 4.0]), np.array([10.0, 2.0]), np.array([1, 0, 1]))
    estimates = Gamma(both).estimate(history_of([(1.0, False)], [(1.0, False)], [(3.0, False)]))

    assert estimates.shape.tolist() == [4.0, 1.0, 4.0]
    assert estimates.exposure.tolist() == [3.0, 11.0, 5.0]


def test_a_first_age_counts_as_an_event_where_it_is_asked_for():
    """`use_first_age`: a + 1, b + age (beyond.md 1, first visit of a stationary page)."""
    aged = history_of([(1.0, False)], [(1.0, False)], first_age=np.array([2.5, np.nan]))
    prior = Priors.one(2.0, 10.0)

    used = Gamma(prior, use_first_age=True).estimate(aged)
    assert used.shape.tolist() == [3.0, 2.0]
    assert used.exposure.tolist() == [13.5, 11.0]
    left = Gamma(prior).estimate(aged)
    assert left.shape.tolist() == [2.0, 2.0]


def test_a_first_age_is_no_change_seen():
    """It moves the rate; the number of gaps that changed is still none."""
    aged = history_of([(1.0, False)], first_age=np.array([2.5]))
    estimates = Gamma(use_first_age=True).estimate(aged)

    assert estimates.changes.tolist() == [0]
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@given(pages, priors, levels)
def test_the_band_is_scipys(page, prior, level):
    """Gamma quantiles at (1 - level) / 2 and (1 + level) / 2, to a millionth."""
    estimates = Gamma(prior, level=level).estimate(history_of(page))

    state = stats.gamma(estimates.shape[0], scale=1 / estimates.exposure[0])
    assert estimates.low == pytest.approx([state.ppf((1 - level) / 2)], rel=1e-6, abs=1e-300)
    assert estimates.high == pytest.approx([state.ppf((1 + level) / 2)], rel=1e-6)


@given(pages, priors)
def test_the_rate_is_scipys(page, prior):
    estimates = Gamma(prior).estimate(history_of(page))

    expected = np.exp(special.digamma(estimates.shape)) / estimates.exposure
    assert estimates.rate == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_band_holds_the_rate_as_often_as_it_says(level):
    """Rates from the prior itself: coverage of 20,000 pages, three standard errors of a share."""
    chance = np.random.default_rng(31)
    rates = chance.gamma(1.0, 1 / 1.5, 20_000)
    histories = visited(rates, GAPS["exponential"](chance, (20_000, 10)), chance)
    estimates = Gamma(Priors.one(1.0, 1.5), level=level).estimate(histories)

    covered = np.mean((estimates.low <= rates) & (rates <= estimates.high))
    # The state is not the exact posterior: allow it half a percent.
    error = 3 * math.sqrt(level * (1 - level) / 20_000) + 0.005
    assert covered == pytest.approx(level, abs=error)


def test_a_state_starts_after_the_first_visit():
    """Shape, exposure, changes, visits."""
    assert Gamma(Priors.one(2.0, 10.0)).start(2).tolist() == [[2.0, 10.0, 0.0, 1.0]] * 2


def test_an_update_counts_changes_and_visits():
    gamma = Gamma(Priors.one(2.0, 10.0))
    state = gamma.update(
        gamma.start(3),
        np.array([3.0, 3.0, 3.0]),
        np.array([False, True, True]),
        age=np.array([np.nan, 0.5, np.nan]),
        count=np.array([-1, -1, 4]),
    )

    assert state.tolist() == [[2.0, 13.0, 0.0, 2.0], [3.0, 10.5, 1.0, 2.0], [6.0, 13.0, 1.0, 2.0]]


def test_an_update_leaves_the_state_before_as_it_was():
    """States are values: a crawler may keep yesterday's."""
    gamma = Gamma()
    before = gamma.start(1)
    gamma.update(before, np.array([3.0]), np.array([True]))

    assert before.tolist() == gamma.start(1).tolist()


def test_merged_states_count_the_prior_and_the_shared_visit_once():
    gamma = Gamma(Priors.one(2.0, 10.0))
    one = gamma.update(gamma.start(1), np.array([3.0]), np.array([False]))
    other = gamma.update(gamma.start(1), np.array([4.0]), np.array([True]), age=np.array([1.0]))

    assert gamma.merge(one, other).tolist() == [[3.0, 14.0, 1.0, 3.0]]


def test_flags_are_carried_along():
    histories = history_of([(1.0, False)], flags=np.array([5], np.uint32))

    assert Gamma().estimate(histories).flags.tolist() == [5]


def test_estimates_do_not_share_memory_with_their_histories():
    """Changing one must not change the other."""
    histories = history_of([(1.0, False)], flags=np.array([5], np.uint32))
    estimates = Gamma().estimate(histories)
    estimates.flags[0] = 7

    assert histories.flags.tolist() == [5]


def test_priors_for_other_pages_are_refused():
    two = Priors(np.array([1.0]), np.array([10.0]), np.array([0, 0]))

    with pytest.raises(InvalidParameter, match=r"made for 2 pages and must meet as many \(got 1\)"):
        Gamma(two).estimate(history_of([(1.0, False)]))


def test_no_pages_make_no_estimates():
    empty = Histories.from_lists([])

    assert len(Gamma().estimate(empty)) == 0
