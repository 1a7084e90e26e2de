"""Regular, bursty, periodic and Poisson-like pages; sizes, power, and what cannot be told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import quad
from scipy.special import gammaincc
from scipy.stats import gamma as gamma_law

from recrawl import Histories, Likelihood
from recrawl.errors import InvalidParameter
from recrawl.trends.regularity import (
    KINDS,
    _ages,
    _phase_test,
    _survival_score,
    _turned,
    constant_rate_error,
    regularity,
)
from tests import strategies
from tests.strategies import Seen, history_of

NEW_YEAR = np.datetime64("2026-01-01", "us")


def looked_at(times, gaps, dated):
    """Pages whose changes are at `times`, a list a page, visited after each of a row of gaps."""
    ends = np.cumsum(gaps, axis=1)
    changed, age = np.zeros(gaps.shape, bool), np.full(gaps.shape, np.nan)
    for page, at in enumerate(times):
        inside = at[(at > 0) & (at < ends[page, -1])]
        row = np.searchsorted(ends[page], inside)
        changed[page, row] = True
        age[page, row] = ends[page][row] - inside
    return Histories(
        gaps.ravel(),
        changed.ravel(),
        np.arange(len(gaps) + 1) * gaps.shape[1],
        np.minimum(age, np.nextafter(gaps, 0)).ravel() if dated else None,  # type: ignore[arg-type]
        first_visit=np.full(len(gaps), NEW_YEAR),
    )


def renewal(chance, shape, days, pages):
    """Change times with Gamma intervals of mean one day, long under way."""
    count = int(days + 20 * np.sqrt(days / min(shape, 1)) + 100)
    steps = chance.gamma(shape, 1 / shape, (pages, count))
    return list(np.cumsum(steps, axis=1) - chance.uniform(20, 40, (pages, 1)))


def shares(shape, gap, *, dated, pages=400, visits=300, jitter=0.25, seed=1):
    """Share of each kind among pages of one shape."""
    chance = np.random.default_rng(seed)
    gaps = chance.uniform(1 - jitter, 1 + jitter, (pages, visits)) * gap
    times = renewal(chance, shape, 1.3 * gap * visits, pages)
    found = regularity(looked_at(times, gaps, dated))
    return dict(zip(KINDS, np.bincount(found.kind, minlength=len(KINDS)) / pages, strict=True))


def test_ages_by_hand():
    """A dated change, a hidden one, and what was known at the first visit."""
    seen = history_of(
        [Seen(1, False), Seen(2, True, 0.5), Seen(3, False), Seen(1e-9, True), Seen(1, False)],
        [Seen(1, False), Seen(1, False)],
        first_age=np.array([np.nan, 4.0]),
    )

    ages = _ages(seen, np.ones(2))

    assert ages == pytest.approx([np.nan, np.nan, 0.5, 3.5, 5e-10, 4.0, 5.0], nan_ok=True)


def test_a_hidden_change_has_the_age_to_expect():
    """1/r - g/(exp(rg) - 1), against integration over the truncated exponential."""
    seen = history_of([Seen(3.0, True), Seen(1.0, False)])
    mass = quad(lambda t: 0.7 * np.exp(-0.7 * t), 0, 3)[0]
    mean = quad(lambda t: t * 0.7 * np.exp(-0.7 * t), 0, 3)[0] / mass

    assert _ages(seen, np.array([0.7]))[1] == pytest.approx(mean)


@pytest.mark.parametrize("y", [1e-6, 0.1, 1.0, 5.0, 99.0, 101.0])
def test_the_score_is_the_slope_in_the_shape(y):
    """By differences of the logarithm of scipy's survival function."""
    step = 1e-5
    up, down = (np.log(gammaincc(1 + way * step, y)) for way in (1, -1))

    assert _survival_score(np.array([y]))[0] == pytest.approx((up - down) / (2 * step), rel=1e-4)


def test_the_mean_phase_is_that_of_the_last_change():
    """By integration over the age of the last change in a gap of two days."""
    omega, rate, gap = 2 * np.pi, 1.5, 2.0
    mass = -np.expm1(-rate * gap)
    parts = [
        quad(lambda t, turn=turn: rate * np.exp(-rate * t) * turn(omega * t), 0, gap)[0] / mass
        for turn in (np.cos, np.sin)
    ]

    assert _turned(np.array([rate]), np.array([gap]), omega)[0] == pytest.approx(
        parts[0] - 1j * parts[1]
    )


def test_the_phase_test_is_rayleigh_s_for_rare_changes():
    """2 n R^2, where gaps are many periods long and tell nothing of the phase."""
    chance = np.random.default_rng(3)
    changed = np.arange(200) % 2 == 0
    age = np.where(changed, chance.uniform(0, 60, 200), np.nan)
    seen = Histories(
        np.full(200, 60.0), changed, np.array([0, 200]), age, first_visit=np.array([NEW_YEAR])
    )
    phase = np.exp(2j * np.pi * -age[changed])

    statistic = _phase_test(seen, np.array([np.log(2) / 60]), 1.0).statistic

    assert statistic[0] == pytest.approx(2 * np.abs(phase.sum()) ** 2 / 100, rel=0.02)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("gap", [0.2, 0.5, 1.0])
def test_poisson_pages_are_hardly_ever_called_anything_else(gap, dated):
    """At most 1 % by design; the limit allows for 400 pages."""
    found = shares(1.0, gap, dated=dated)

    assert found["regular"] + found["bursty"] + found["periodic"] < 0.03


def test_visits_at_the_same_hour_make_no_timetable():
    """Three changes a day, seen at midnight: the last always lies in the evening.

    Rayleigh's test as it stands would call nearly all of these pages periodic.
    """
    chance = np.random.default_rng(4)
    times = [at / 3 for at in renewal(chance, 1.0, 3 * 130, 300)]
    seen = looked_at(times, np.ones((300, 120)), dated=True)

    phase = np.exp(-2j * np.pi * np.nan_to_num(seen.age)).reshape(300, 120)
    naive = 2 * np.abs((phase * seen.changed.reshape(300, 120)).sum(axis=1)) ** 2 / seen.changes

    assert (naive > 9.2).mean() > 0.9
    assert (regularity(seen).kind == KINDS.index("periodic")).mean() < 0.03


@pytest.mark.parametrize("dated", [False, True])
def test_regular_and_bursty_pages_are_told(dated):
    assert shares(5.0, 0.2, dated=dated)["regular"] > 0.95
    assert shares(0.2, 0.2, dated=dated)["bursty"] > 0.6


def test_long_gaps_without_dates_tell_nothing():
    """A visit every three intervals finds a change whatever the kind."""
    for shape in (1.0, 5.0):
        assert shares(shape, 3.0, dated=False)["unknown"] > 0.95


def test_the_shape_is_found_about():
    chance = np.random.default_rng(5)
    for shape, low, high in ((0.5, 0.4, 0.7), (1.0, 0.9, 1.2), (2.0, 1.7, 3.0)):
        times = renewal(chance, shape, 200, 200)
        found = regularity(looked_at(times, np.full((200, 600), 0.3), dated=True))
        assert low < np.median(found.shape) < high


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize(("period", "gap"), [(1.0, 0.3), (7.0, 0.9)])
def test_timetables_are_found(period, gap, dated):
    """A build every day, or every week, within an hour or so."""
    chance = np.random.default_rng(6)
    days = 30 * period
    at = np.arange(0.4 * period, days, period)
    times = [at + chance.normal(0, 0.03, len(at)) for _ in range(50)]
    gaps = chance.uniform(0.75, 1.25, (50, int(days / gap))) * gap

    found = regularity(looked_at(times, gaps, dated))

    assert (found.period == period).mean() > 0.9
    assert set(found.warnings) >= {"changes follow a timetable: visit just after them"}


def test_the_published_biases():
    """Cho's estimator at one change a gap: +31 %, +74 % and -27 % for shapes 2, 5 and 1/2."""
    assert constant_rate_error([2.0, 5.0, 0.5], 1.0) == pytest.approx(
        [0.3069, 0.7403, -0.2742], abs=1e-4
    )
    assert constant_rate_error(1.0, [0.1, 1.0, 5.0]) == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("shape", [0.5, 2.0, 5.0])
def test_the_error_is_that_of_the_integral_and_of_visits(shape):
    """The chance of no change in a gap of x is the integral of the survival function beyond x."""
    law = gamma_law(shape, scale=1 / shape)
    unchanged = quad(law.sf, 1.0, np.inf)[0]
    chance = np.random.default_rng(7)
    seen = looked_at(renewal(chance, shape, 3000, 20), np.ones((20, 3000)), dated=False)

    error = constant_rate_error(shape, 1.0)

    assert error == pytest.approx(-np.log(unchanged) - 1, rel=1e-6)
    assert np.mean(Likelihood().estimate(seen).rate) - 1 == pytest.approx(error, abs=0.03)


@settings(max_examples=50)
@given(strategies.histories())
def test_every_page_has_a_kind(histories):
    """Few visits, all on one day, gaps of years, unknown first visits."""
    found = regularity(histories)

    assert len(found) == len(histories)
    assert len(found.kind_names) == len(found.warnings) == len(histories)
    tested = ~np.isnan(found.p)
    assert ((found.p[tested] >= 0) & (found.p[tested] <= 1)).all()
    assert (np.isnan(found.period) == (found.kind != KINDS.index("periodic"))).all()
    assert ((found.power >= 0) & (found.power <= 1)).all()


def test_pages_with_few_visits_are_unknown():
    seen = history_of([], [Seen(1, True)], [Seen(1, True), Seen(1, False)], [Seen(1, True)] * 3)

    found = regularity(seen)

    assert found.kind_names == ["unknown"] * 4
    assert np.isnan(found.statistic).all()
    assert found.warnings == [""] * 4


def test_all_changes_in_one_moment_are_no_timetable():
    """Dates at the very instant of the visits say nothing of the page."""
    seen = history_of([Seen(1.0, True, 0.0)] * 50, first_visit=np.array([NEW_YEAR]))

    assert regularity(seen).kind_names[0] in ("unknown", "periodic")


def test_a_significance_that_is_no_probability_is_refused():
    with pytest.raises(InvalidParameter, match="significance"):
        regularity(history_of([]), significance=0.0)


def test_ages_that_hardly_differ_give_a_shape_without_overflow():
    """Every change a day after the one before, within a blink: as regular as can be."""
    blink = np.where(np.arange(40) % 2 == 0, 1e-6, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = regularity(Histories.from_lists([(blink.tolist(), (blink < 1).tolist())]))

    assert found.shape == pytest.approx([20.0])
