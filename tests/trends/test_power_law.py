"""The power law on visits that hide changes: optimisers, closed forms, known worlds as oracles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from recrawl import Histories, Likelihood
from recrawl.errors import InvalidParameter
from recrawl.trends.power_law import power_law
from recrawl.trends.trend_test import TrendStatus
from tests.strategies import Seen, all_gaps, history_of, stretched
from tests.strategies import histories as some_histories
from tests.trends.made import seen_often

if TYPE_CHECKING:
    from recrawl.trends.power_law import PowerLaw

many_gaps = st.lists(all_gaps, min_size=8, max_size=30)


def world(
    beta: float, changes: float, *, gaps: int, pages: int, dated: bool = False, seed: int = 8
) -> Histories:
    """Pages that follow a power law from their first visit on, visited at random times."""
    chance = np.random.default_rng(seed)
    lengths = chance.exponential(1, (pages, gaps))
    end = np.cumsum(lengths, axis=1)
    share = end / end[:, -1:]
    total = changes * share**beta
    before = changes * np.maximum(share - lengths / end[:, -1:], 0) ** beta
    last = total - chance.exponential(size=total.shape)
    changed = last > before
    time = end[:, -1:] * (np.where(changed, last, total) / changes) ** (1 / beta)
    age = np.where(changed, np.clip(end - time, 0, lengths * (1 - 1e-9)), np.nan)
    return Histories(
        lengths.ravel(),
        changed.ravel(),
        np.arange(pages + 1) * gaps,
        age=age.ravel() if dated else None,  # type: ignore[arg-type]
    )


def height(page: list[Seen], log_eta: float, log_beta: float, origin: float = 0.0) -> float:
    """Log-likelihood by the book."""
    eta, beta = np.exp(log_eta), np.exp(log_beta)

    def due(start: float, end: float) -> float:
        return float((end / eta) ** beta - (start / eta) ** beta)

    total, end = 0.0, origin
    for seen in page:
        start, end = end, end + seen.gap
        if seen.count >= 0:
            total += (seen.count and seen.count * np.log(due(start, end))) - due(start, end)
        elif not np.isnan(seen.age):
            time = end - seen.age
            total += np.log(beta / eta) + (beta - 1) * np.log(time / eta) - due(time, end)
        elif seen.changed:
            total += np.log(-np.expm1(-due(start, end)))
        else:
            total -= due(start, end)
    return float(total)


def random_page(seed: int) -> list[Seen]:
    """Uneven gaps of every kind."""
    chance = np.random.default_rng(seed)
    page = []
    for gap in 10 ** chance.uniform(-1, 1, 25):
        kind, count = chance.integers(0, 3), int(chance.poisson(0.5 * gap))
        told = (gap * chance.uniform(0.05, 0.95), -1) if kind == 1 and count else (np.nan, -1)
        page.append(Seen(gap, count > 0, *((np.nan, count) if kind == 2 else told)))
    return page


def columns(law: PowerLaw) -> list[np.ndarray]:
    """All figures."""
    return [law.beta, law.beta_low, law.beta_high, law.eta, law.rate, law.gain]


@pytest.mark.parametrize("origin", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_an_optimiser_finds_the_same(seed, origin):
    page = random_page(seed)
    law = power_law(history_of(page), origin_age=origin)
    assert law.status_names == ["ok"]

    best: Any = minimize(  # type: ignore[call-overload] # the stubs want an array
        lambda at: -height(page, at[0], at[1], origin),
        [np.log(law.eta[0]) + 0.3, np.log(law.beta[0]) - 0.2],
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000},
    )

    assert np.exp(best.x) == pytest.approx([law.eta[0], law.beta[0]], rel=1e-4)
    constant = Likelihood(singularity="none").estimate(history_of(page)).rate[0]
    assert law.gain[0] == pytest.approx(-best.fun - height(page, -np.log(constant), 0.0), abs=1e-6)
    end = origin + sum(gap.gap for gap in page)
    now = law.beta[0] / law.eta[0] * (end / law.eta[0]) ** (law.beta[0] - 1)
    assert law.rate == pytest.approx([now])


def test_the_band_is_that_of_the_information():
    """Second derivatives by finite differences; the chance in the band is 90 %."""
    page = random_page(1)
    law = power_law(history_of(page))
    top, step = np.array([np.log(law.eta[0]), np.log(law.beta[0])]), 1e-4

    def bend(i: int, j: int) -> float:
        e, f = np.eye(2)[i] * step, np.eye(2)[j] * step
        corners = [height(page, *(top + s * e + t * f)) * s * t for s in (1, -1) for t in (1, -1)]
        return -sum(corners) / (4 * step**2)

    spread = np.sqrt(np.linalg.inv([[bend(0, 0), bend(0, 1)], [bend(1, 0), bend(1, 1)]])[1, 1])

    assert law.beta_high / law.beta == pytest.approx([np.exp(1.644854 * spread)], rel=1e-4)
    assert law.beta_low * law.beta_high == pytest.approx(law.beta**2)


@pytest.mark.parametrize("kind", ["hidden", "dated", "counted"])
def test_exact_times_have_the_closed_form(kind):
    """Visits far more often than changes: beta = n / sum(ln(T / t)), and n changes up to T."""
    chance = np.random.default_rng(5)
    gap, total = 1e-3, 20_000
    hits = np.sort((total * chance.random(40) ** (1 / 1.6)).astype(int))

    law = power_law(seen_often(hits, total, gap, kind))

    hits = np.unique(hits)
    beta = len(hits) / np.log(total / (hits + 0.5)).sum()
    assert law.beta == pytest.approx([beta], rel=1e-3)
    assert law.eta == pytest.approx([total * gap / len(hits) ** (1 / beta)], rel=2e-3)
    # Crow's band: 2 n beta / beta_hat is a chi-square with 2n degrees, so ln beta has about 1 / n.
    assert np.log(law.beta_high / law.beta) == pytest.approx([1.645 / len(hits) ** 0.5], rel=0.01)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("beta", [0.7, 1.0, 2.0])
def test_known_worlds_are_recovered(beta, dated):
    """Beta and the rate now, with bands that hold nine of ten."""
    seen = world(beta, 40, gaps=100, pages=1000, dated=dated)

    law = power_law(seen)

    ok = law.status == TrendStatus.OK
    held = (law.beta_low[ok] < beta) & (beta < law.beta_high[ok])
    now = 40 * beta / seen.total(seen.gaps)[ok]
    assert ok.mean() > 0.98
    assert np.median(law.beta[ok]) == pytest.approx(beta, rel=0.05)
    assert held.mean() == pytest.approx(0.9, abs=0.045)
    assert np.median(law.rate[ok] / now) == pytest.approx(1, abs=0.05)


def test_twice_the_gain_is_a_chi_square_at_constant_rates():
    law = power_law(world(1.0, 50, gaps=100, pages=1500))

    gain = law.gain[law.status == TrendStatus.OK]
    assert np.mean(2 * gain > 3.841) == pytest.approx(0.05, abs=0.02)
    assert np.mean(2 * gain) == pytest.approx(1, abs=0.15)


def test_a_known_age_moves_the_origin():
    """A page that was born before its first visit follows the law of its age."""
    seen = world(0.5, 120, gaps=150, pages=300)
    begin, late = 50, np.arange(150) >= 50
    rows = np.tile(late, 300)
    born = seen.gaps.reshape(300, 150)[:, :begin].sum(axis=1)
    cut = Histories(seen.gaps[rows], seen.changed[rows], np.arange(301) * 100)

    law = power_law(cut, origin_age=born)

    # A page without a maximum is one that fell even faster.
    assert np.median(np.nan_to_num(law.beta)) == pytest.approx(0.5, abs=0.1)
    assert np.nanmedian(power_law(cut).beta) > 0.75


def test_pages_that_say_nothing_have_a_status():
    visited = np.array(["NaT"] + ["2026-01-01"] * 9, "datetime64[us]")
    some = [(1.0, True), (1.0, False)]
    seen = history_of(
        [], [], [(1.0, True)], some, [*some, (1.0, True)],
        [(1.0, False)] * 20, [(1.0, True)] * 20, [(1.0, True)] * 2 + [(1.0, False)] * 20,
        [(1.0, False)] * 10 + [(1.0, True)] * 10, [(1.0, True)] * 10 + [(1.0, False)] * 10,
        first_visit=visited,
    )  # fmt: skip

    law = power_law(seen)

    assert law.status_names[:8] == [
        "no_visits", "one_visit", "all_changed", "too_few_gaps", "too_few_gaps",
        "no_change_seen", "all_changed", "too_few_changes",
    ]  # fmt: skip
    assert law.status_names[8] == "no_maximum"  # the later the steeper
    assert all(np.isnan(column[:9]).all() for column in columns(law))
    assert len(law) == 10


@given(some_histories())
def test_every_empty_figure_has_a_status(seen):
    law = power_law(seen)

    ok = law.status == TrendStatus.OK
    for column in columns(law):
        assert np.isfinite(column[ok]).all()
        assert np.isnan(column[~ok]).all()


@given(many_gaps)
def test_any_page_has_a_law_or_a_status(page):
    """The law is at least as likely as a constant rate, and inside its band."""
    law = power_law(history_of(page))

    if law.status[0] == TrendStatus.OK:
        assert all(np.isfinite(column).all() for column in columns(law))
        assert law.gain[0] >= 0
        assert law.beta_low[0] <= law.beta[0] <= law.beta_high[0]
    else:
        assert all(np.isnan(column).all() for column in columns(law))


@pytest.mark.parametrize("factor", [1 / 86_400, 0.1, 365.0])
def test_the_unit_of_time_does_not_matter(factor):
    """All visits in one second or over decades: beta is the same, eta and the rate scale."""
    plain = power_law(history_of(random_page(2)))
    other = power_law(history_of(stretched(random_page(2), factor)))

    assert other.beta == pytest.approx(plain.beta, rel=1e-6)
    assert other.eta == pytest.approx(plain.eta * factor, rel=1e-5)
    assert other.rate == pytest.approx(plain.rate / factor, rel=1e-6)


@given(many_gaps)
def test_company_does_not_matter(page):
    alone = power_law(history_of(page))
    together = power_law(history_of(random_page(3), page))

    np.testing.assert_array_equal(together.beta[1:], alone.beta)
    np.testing.assert_array_equal(together.gain[1:], alone.gain)


@pytest.mark.parametrize("age", [-1.0, np.nan, np.inf])
def test_an_impossible_age_is_refused(age):
    with pytest.raises(InvalidParameter, match="origin_age must be a finite number of days"):
        power_law(history_of(random_page(0)), origin_age=age)
