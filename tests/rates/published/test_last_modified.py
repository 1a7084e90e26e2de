"""Cho and Garcia-Molina's corrected estimator from dates: figure 13, and appendix D put right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from recrawl import Flag, Gamma, Histories, Priors, Status
from recrawl.rates import LastModified, LastModifiedRaw
from recrawl.rates.published.last_modified import corrected_events
from tests.strategies import history_of

if TYPE_CHECKING:
    from collections.abc import Callable


def test_cho_fig13():
    """X = 2, N = 5, T = 3.7: X' = 1.783046."""
    page = [(1.0, True, 0.5), (1.0, True, 0.2)] + [(1.0, False)] * 3
    estimates = LastModified().estimate(history_of(page))

    assert estimates.rate == pytest.approx([0.481904], abs=1e-6)
    assert estimates.shape == pytest.approx([1.783046], abs=1e-6)
    assert estimates.exposure == pytest.approx([3.7], rel=1e-12)
    assert estimates.status.tolist() == [Status.OK]
    assert estimates.flags.tolist() == [0]


def test_cho_fig13_all():
    """X = N = 5, T = 2: X' = N - 1 = 4, and no logarithm of 0."""
    estimates = LastModified().estimate(history_of([(1.0, True, 0.4)] * 5))

    assert estimates.rate == pytest.approx([2.0], rel=1e-12)
    assert estimates.status.tolist() == [Status.ALL_CHANGED]


def test_one_change_in_two_gaps_counts_for_less():
    """algorithms.md 3: X = 1, N = 2 gives X' = 0.721348, that is 1 / (2 ln 2)."""
    found = corrected_events(np.array([1]), np.array([2]))

    assert found == pytest.approx([0.721348], abs=1e-6)
    assert found == pytest.approx([1 / (2 * math.log(2))], rel=1e-12)


def test_two_gaps_are_flagged_for_their_heavy_tail():
    estimates = LastModified().estimate(history_of([(1.0, True, 0.5), (1.0, False)]))

    assert estimates.rate == pytest.approx([0.721348 / 1.5], abs=1e-6)
    assert estimates.flags.tolist() == [Flag.HEAVY_TAIL]


def test_without_a_change_the_rate_is_zero():
    """X' = 0, the formula's limit, and Garwood's upper bound."""
    estimates = LastModified(level=0.9).estimate(history_of([(5.0, False)] * 4))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 20], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


def test_one_change_in_one_gap_is_left_to_gamma():
    """As published X = N = 1 gives X' = 0, a rate of 0 for a page that was seen to change."""
    priors = Priors.one(2.0, 10.0)
    seen = history_of([(4.0, True, 1.0)])
    estimates = LastModified(priors).estimate(seen)

    assert corrected_events(np.array([1]), np.array([1])).tolist() == [0.0]
    assert estimates.rate.tolist() == Gamma(priors).estimate(seen).rate.tolist()
    assert estimates.rate[0] > 0
    assert estimates.flags[0] & Flag.FALLBACK
    assert estimates.method == "last-modified"


def test_pages_without_gaps_are_left_to_gamma():
    """So even they have a rate, that of their site."""
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = LastModified().estimate(history_of([], [], first_visit=first_visit))

    assert np.isfinite(estimates.rate).all()
    assert estimates.status.tolist() == [Status.PRIOR_ONLY] * 2
    assert estimates.flags.tolist() == [Flag.FALLBACK] * 2


def test_changes_in_the_very_second_of_their_visits_take_a_second_each():
    """algorithms.md 3: T = 0 becomes X seconds; X' = 3 of 4 seconds."""
    estimates = LastModified().estimate(history_of([(1.0, True, 0.0)] * 4))

    assert estimates.rate == pytest.approx([3 / 4 * 86_400], rel=1e-12)


def test_undated_changes_are_flagged():
    estimates = LastModified().estimate(history_of([(2.0, True), (2.0, True, 0.5), (2.0, False)]))

    exposure = 1.0 + 0.5 + 2.0
    share = (2 / 3) / math.log(1 - 2 / 3)
    assert estimates.rate == pytest.approx([(1 - share) / exposure], rel=1e-12)
    assert estimates.flags.tolist() == [Flag.UNDATED]


@given(gaps=st.integers(2, 500), data=st.data())
def test_the_correction_is_the_printed_formula(gaps, data):
    """X' = (X - 1) - X / (N ln(1 - X / N)), which lies between X - 1 and X."""
    changed = data.draw(st.integers(1, gaps - 1))
    found = corrected_events(np.array([changed]), np.array([gaps]))[0]

    assert found == pytest.approx(
        changed - 1 - changed / (gaps * math.log(1 - changed / gaps)), rel=1e-9
    )
    assert changed - 1 < found < changed


@pytest.mark.parametrize("gaps", [2, 5, 50])
def test_more_changes_count_for_more(gaps):
    """From 0 for none to N - 1 for all, without a jump at the two limits (footnote 12)."""
    found = corrected_events(np.arange(gaps + 1), np.full(gaps + 1, gaps))

    assert (np.diff(found) > 0).all()
    assert (found[0], found[-1]) == (0, gaps - 1)
    nearly = 1 - 1e-9
    for changed, limit in ((gaps * 1e-9, 0), (gaps * nearly, gaps - 1)):
        share = changed / gaps
        assert changed - 1 - share / math.log1p(-share) == pytest.approx(limit, abs=0.06)


@given(changed=st.integers(2, 60), level=st.sampled_from([0.5, 0.9, 0.99]))
def test_the_band_is_garwoods_for_the_changes_seen(changed, level):
    """Held wide enough for the corrected rate."""
    page = [(1.0, True, 0.5)] * changed + [(7.0, False)]
    estimates = LastModified(level=level).estimate(history_of(page))

    tail, quiet = (1 - level) / 2, changed / 2 + 7
    low = stats.gamma.ppf(tail, changed) / quiet
    high = stats.gamma.ppf(1 - tail, changed + 1) / quiet
    assert estimates.low == pytest.approx([min(low, estimates.rate[0])], rel=1e-6)
    assert estimates.high == pytest.approx([max(high, estimates.rate[0])], rel=1e-6)


@pytest.mark.parametrize("gaps", [3, 8, 40])
def test_the_correction_takes_out_what_the_plain_rate_has_too_much(gaps):
    """At 1.5 changes a gap the plain mean is several standard errors too high, ours within 2 %.

    Gaps from a third of a day to three days: the paper allows irregular ones.
    """
    chance = np.random.default_rng(21)
    pages, rate = 40_000, 1.5
    days = 10 ** chance.uniform(-0.5, 0.5, (pages, gaps))
    back = chance.exponential(1 / rate, (pages, gaps))
    seen = Histories(
        gaps=days.ravel(),
        changed=(back < days).ravel(),
        offsets=np.arange(pages + 1) * gaps,
        age=np.where(back < days, back, np.nan).ravel(),
    )
    plain, corrected = (
        method.estimate(seen).rate / rate for method in (LastModifiedRaw(), LastModified())
    )

    assert plain.mean() > 1 + 5 * plain.std() / math.sqrt(pages)
    assert corrected.mean() == pytest.approx(1, abs=0.02 + 3 * corrected.std() / math.sqrt(pages))


# Appendix D: densities of T, the quiet days, given the changes seen; lambda = r, I = 1.


def after_one_change(t: float, r: float, gaps: int, *, printed: bool = False) -> float:
    """Density of T for X = 1, on n - 1 < t < n."""
    shift = (1 if printed else r) * (gaps - 1)
    return r * math.exp(shift - r * t) / -math.expm1(-r)


def after_three_changes(t: float, r: float, *, printed: bool = False) -> float:
    """Density of T - (n - 3) for X = 3, on 0 < t < 3."""
    x, one = r * t, 1.0 if printed else r
    pieces = (x * x, 6 * one * x - 2 * x * x - 3 * one * one, (x - 3 * one) ** 2)
    return pieces[min(int(t), 2)] * r * math.exp(-x) / (2 * (-math.expm1(-r)) ** 3)


def mass(density: Callable[[float], float], low: float, high: float) -> float:
    """Integral, piece by piece."""
    return sum(
        float(quad(density, low + piece, low + piece + 1)[0]) for piece in range(int(high - low))
    )


@pytest.mark.parametrize("r", [0.3, 1.0, 2.0, 5.0])
def test_the_density_after_three_changes_is_printed_for_one_change_a_gap_only(r):
    """6 r x - 2 x^2 - 3 r^2 and (x - 3r)^2; the paper has 1 for r. At r = 2: 0.369 of 1."""
    corrected = mass(lambda t: after_three_changes(t, r), 0, 3)
    printed = mass(lambda t: after_three_changes(t, r, printed=True), 0, 3)

    assert corrected == pytest.approx(1, abs=1e-9)
    assert (abs(printed - 1) < 1e-9) == (r == 1.0)
    if r == 2.0:
        assert printed == pytest.approx(0.369, abs=5e-4)


@pytest.mark.parametrize("r", [0.3, 1.0, 2.0])
def test_the_density_after_one_change_is_misprinted(r):
    """e^(lambda (n-1) I), where the paper leaves out lambda: off by e^((1 - r)(n - 1))."""
    corrected = mass(lambda t: after_one_change(t, r, 4), 3, 4)
    printed = mass(lambda t: after_one_change(t, r, 4, printed=True), 3, 4)

    assert corrected == pytest.approx(1, abs=1e-9)
    assert printed == pytest.approx(math.exp(3 * (1 - r)), rel=1e-9)


def mean_rate(changed: int, gaps: int, r: float) -> float:
    """Mean of X / T over the pages with so many of their daily gaps changed."""
    chance = np.random.default_rng(22)
    ages = -np.log1p(chance.random((20_000, changed)) * math.expm1(-r)) / r
    pages = [
        [(1.0, True, age) for age in row] + [(1.0, False)] * (gaps - changed)
        for row in ages.tolist()
    ]
    return float(LastModifiedRaw().estimate(history_of(*pages)).rate.mean())


@pytest.mark.parametrize("r", [0.5, 2.0])
def test_the_corrected_densities_give_the_mean_rates(r):
    """Sums X / t over them against pages with such ages; three changes in four gaps, one in two."""
    three = mass(lambda t: 3 / (1 + t) * after_three_changes(t, r), 0, 3)
    one = mass(lambda t: 1 / t * after_one_change(t, r, 2), 1, 2)

    assert mean_rate(3, 4, r) == pytest.approx(three, rel=0.01)
    assert mean_rate(1, 2, r) == pytest.approx(one, rel=0.01)


def test_the_chance_of_all_changes_is_not_divided_by_the_rate():
    """Appendix D prints lim Pr{X = n} / r = 1 for large r: it is Pr{X = n} that tends to 1."""
    r, gaps = 50.0, 5
    all_changed = (-math.expm1(-r)) ** gaps

    assert all_changed == pytest.approx(1, abs=1e-12)
    assert all_changed / r == pytest.approx(0.02, abs=1e-12)
