"""Rates of pages that go to and fro between two versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from recrawl import Histories
from recrawl.errors import InvalidParameter
from recrawl.rates.two_state import fit_two_state, log_likelihood


def history_of(pages):
    """Histories from (gap, outcome) pairs, where an outcome is same, back or new."""
    flat = [pair for page in pages for pair in page]
    return Histories(
        np.array([gap for gap, _ in flat], np.float64),
        np.array([outcome != "same" for _, outcome in flat], np.bool_),
        np.cumsum([0, *map(len, pages)]),
        reverted=np.array([outcome == "back" for _, outcome in flat], np.bool_),
    )


def chain(away, back, gaps, random):
    """Visits to a simulated chain: exponential stays, looked at between the gaps."""
    page, state, left = [(1.0, "new")], 1, random.exponential(1 / back)
    for gap in gaps:
        before, rest = state, gap
        while left < rest:
            rest -= left
            state = 1 - state
            left = random.exponential(1 / (back if state else away))
        left -= rest
        page.append((gap, "same" if state == before else "back"))
    return page


def by_matrix(page, away, back):
    """Log-likelihood by the exponential of the chain's generator, gap by gap."""
    generator, state, found = np.array([[-away, away], [back, -back]]), 1, 0.0
    for gap, outcome in page[1:]:
        after = state if outcome == "same" else 1 - state
        found += np.log(expm(generator * gap)[state, after])
        state = after
    return found


def told_by(page):
    """Gaps of a page as the likelihood takes them."""
    state, told = True, []
    for gap, outcome in page[1:]:
        told.append((state, gap, outcome == "back", 1))
        state ^= outcome == "back"
    return told


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_that_of_the_matrix_exponential(seed):
    random = np.random.default_rng(seed)
    away, back = np.exp(random.normal(0.0, 1.0, (2, 1)))
    page = chain(0.4, 1.5, random.exponential(1.0, 40), random)
    found = log_likelihood(told_by(page), away, back)

    assert found[0] == pytest.approx(by_matrix(page, away[0], back[0]), rel=1e-9)


def test_the_posterior_is_that_of_a_grid_by_matrix_exponentials():
    """Gaps of one, two and four halves of a day, so one exponential and its powers will do."""
    random = np.random.default_rng(0)
    page = chain(0.4, 1.5, [1.0, 0.5, 2.0, 0.5], random)
    rates, chance = np.geomspace(1e-3, 1e2, 41), np.ones((41, 41))
    away, back = np.meshgrid(rates, rates, indexing="ij")
    half_a_day = expm(np.moveaxis(np.array([[-away, away], [back, -back]]), (0, 1), (2, 3)) / 2)
    for was_away, gap, other, _ in told_by(page):
        moved = np.linalg.matrix_power(half_a_day, round(2 * gap))
        chance *= moved[..., int(was_away), int(was_away ^ other)]
    ends = np.where(np.isin(np.arange(41), [0, 40]), 0.5, 1.0)
    weight = chance * np.outer(ends, ends) / np.sum(chance * np.outer(ends, ends))
    expected = [np.exp(weight.sum(axis=axis) @ np.log(rates)) for axis in (1, 0)]
    found = fit_two_state(history_of([page]))

    assert [found.away[0], found.back[0]] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("away", "back"), [(0.1, 0.5), (1.0, 1.0), (2.0, 0.2)])
def test_rates_of_a_long_chain_are_found_again(away, back):
    random = np.random.default_rng(3)
    page = chain(away, back, random.exponential(0.7, 3_000), random)
    found = fit_two_state(history_of([page]))

    assert found.away[0] == pytest.approx(away, rel=0.15)
    assert found.back[0] == pytest.approx(back, rel=0.15)
    assert found.share_away[0] == pytest.approx(away / (away + back), abs=0.04)


def test_bands_hold_rates_as_often_as_they_say():
    """300 pages whose rates are drawn from the middle of what is assumed, thirty visits each."""
    random = np.random.default_rng(4)
    truth = np.exp(random.uniform(np.log(0.02), np.log(5.0), (300, 2)))
    pages = [chain(away, back, random.exponential(1.0, 30), random) for away, back in truth]
    found = fit_two_state(history_of(pages), level=0.8)

    for column, (low, high) in enumerate((found.away_band, found.back_band)):
        inside = (low <= truth[:, column]) & (truth[:, column] <= high)
        assert inside.mean() == pytest.approx(0.8, abs=0.07)  # 0.023 is its deviation


def test_long_gaps_tell_the_share_and_not_the_speed():
    """Where gaps are far longer than stays, half of them change sides, however fast it goes."""
    random = np.random.default_rng(5)
    page = chain(20.0, 20.0, np.full(400, 10.0), random)
    found = fit_two_state(history_of([page]))

    assert found.share_away[0] == pytest.approx(0.5, abs=0.06)
    assert found.away_band[1][0] / found.away_band[0][0] > 5


def test_only_gaps_with_a_known_pair_tell():
    """Nothing before the first new version, and not the gap in which one comes."""
    pages = [
        [(1.0, "same"), (1.0, "same")],
        [(1.0, "same"), (1.0, "new"), (1.0, "same"), (2.0, "back")],
        [(1.0, "new"), (1.0, "new"), (1.0, "new")],
        [],
        [(3.0, "back"), (1.0, "new"), (1.0, "back")],
    ]
    found = fit_two_state(history_of(pages))

    assert found.gaps.tolist() == [0, 2, 0, 0, 1]
    assert np.isnan(found.away).tolist() == [True, False, True, True, False]


def test_a_new_version_begins_a_new_pair():
    """After the second new one the page is away again, so its return tells of the way back."""
    twice = [(1.0, "new"), (1.0, "back"), (1.0, "new"), (1.0, "back"), (1.0, "same")]
    found = fit_two_state(history_of([twice]))

    assert found.gaps.tolist() == [3]
    assert found.back[0] > found.away[0]


outcomes = st.lists(
    st.tuples(st.floats(0.01, 100.0), st.sampled_from(["same", "back", "new"])), max_size=15
)


@given(st.lists(outcomes, max_size=4), st.floats(0.01, 100.0))
def test_the_unit_of_time_does_not_matter(pages, stretch):
    plain = fit_two_state(history_of(pages))
    longer = [[(gap * stretch, outcome) for gap, outcome in page] for page in pages]
    stretched = fit_two_state(history_of(longer))

    np.testing.assert_allclose(stretched.away * stretch, plain.away, rtol=1e-6)
    np.testing.assert_allclose(stretched.back * stretch, plain.back, rtol=1e-6)


@given(st.lists(outcomes, min_size=2, max_size=4))
def test_pages_do_not_depend_on_each_other(pages):
    together = fit_two_state(history_of(pages))
    alone = [fit_two_state(history_of([page])) for page in pages]

    np.testing.assert_array_equal(together.away, np.concatenate([each.away for each in alone]))
    np.testing.assert_array_equal(together.back, np.concatenate([each.back for each in alone]))


def test_a_level_is_a_share():
    with pytest.raises(InvalidParameter, match="level"):
        fit_two_state(history_of([[(1.0, "same")]]), level=90)
