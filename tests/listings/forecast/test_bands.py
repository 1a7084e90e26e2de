"""Bands of precision and recall: the variance law, the scale and the level they learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from recrawl.listings.forecast.bands import (
    WEAK_POWER,
    WEAK_SCALE,
    WINDOWS,
    QualityBand,
    Window,
    observed_decay,
    student,
    training_law,
    variance_law,
)

SPEC = QualityBand(0.12, 0.5, kappa=1.3)


def test_the_variance_law():
    """Vector `var-law`."""
    scale, power = variance_law([0.30, 0.22, 0.18, 0.13, 0.11, 0.10, 0.09], WINDOWS, 80)

    assert power == pytest.approx(0.375874, abs=1e-6)
    assert scale == pytest.approx(0.293734, abs=1e-6)


def test_a_variance_that_grows_has_no_power():
    assert variance_law([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], WINDOWS, 80)[1] == 0


@pytest.mark.parametrize("probability", [0.001, 0.05, 0.3, 0.5, 0.75, 0.9, 0.9975, 0.9999])
def test_quantiles_are_those_of_scipy(probability):
    """Of Student's distribution with 5 degrees of freedom, whose variance is 5 / 3."""
    expected = float(stdtrit(5, probability)) / np.sqrt(5 / 3)

    assert student(probability) == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_a_band_of_a_week():
    """Vector `band`."""
    days, quality = np.array([7.0]), np.array([0.8])

    assert student(0.95) == pytest.approx(1.560850, abs=1e-6)
    assert SPEC.sigma(days)[0] == pytest.approx(0.242822, abs=1e-6)
    assert SPEC.raw(quality, 200, days, 0.05)[0] == pytest.approx(0.721823, abs=1e-6)
    assert SPEC.raw(quality, 200, days, 0.95)[0] == pytest.approx(0.858344, abs=1e-6)
    low, high = SPEC.bounds(quality, 200, days)
    assert (low[0], high[0]) == pytest.approx((0.720, 0.865))


def test_a_band_learns_its_width():
    """Vector `band-up`: 150 of 200 is within the band."""
    after = SPEC.learn(0.8, Window(7, 150, 200), 200)
    square = (np.log(observed_decay(150, 200)) - np.log(-np.log(0.8))) ** 2 / (0.12 * 7**-0.5)

    assert square == pytest.approx(1.488073, abs=1e-6)
    assert after.kappa == pytest.approx(1.331801, abs=1e-6)
    assert after.weight == pytest.approx(5.914103, abs=1e-6)
    assert after.aim == pytest.approx(0.11)


def test_a_band_that_missed_aims_to_miss_less():
    """Vector `band-up`."""
    assert SPEC.learn(0.8, Window(7, 100, 200), 200).aim == pytest.approx(0.01)


def test_the_aim_stays_within_its_limits():
    band = SPEC
    for _ in range(2):
        band = band.learn(0.8, Window(7, 10, 200), 200)
    assert band.aim == 0.005
    for _ in range(900):
        band = band.learn(0.8, Window(7, 160, 200), 200)
    assert band.aim == 0.4


@given(st.floats(0.01, 1), st.integers(1, 5000), st.integers(1, 30), st.floats(0.1, 5))
def test_bands_hold_their_forecast_and_stay_within_0_and_1(quality, size, days, kappa):
    band = QualityBand(0.2, 0.4, kappa=kappa)
    low, high = band.bounds(np.array([quality]), size, np.array([float(days)]))

    assert 0 <= low[0] <= high[0] <= 1
    # The forecast itself may lie half an object off the whole objects the band is made of.
    assert low[0] - 1 / size <= quality <= high[0] + 1 / size


@given(st.integers(1, 400))
def test_bounds_are_whole_objects(size):
    low, high = SPEC.bounds(np.array([0.7]), size, np.array([5.0]))

    np.testing.assert_allclose(low * size, np.round(low * size), atol=1e-9)
    np.testing.assert_allclose(high * size, np.round(high * size), atol=1e-9)


def test_too_few_windows_have_the_weak_law():
    assert training_law([Window(1, 9, 10)], 5) == (WEAK_SCALE, WEAK_POWER)


def test_the_law_of_steady_windows_is_the_least():
    windows = [Window(days, 900 - 10 * days, 1000) for days in WINDOWS for _ in range(20)]
    scale, power = training_law(windows, 80)

    assert scale == pytest.approx(0.01)
    assert power == pytest.approx(0)


@pytest.mark.parametrize("spread", [0.2, 0.6])
def test_bands_hold_what_they_claim_on_noise_they_did_not_expect(spread):
    """Log-normal decays of a spread that the law of training does not know."""
    random = np.random.default_rng(3)
    band = QualityBand(0.1, 0.3)
    held = []
    for _ in range(3000):
        there = random.binomial(400, np.exp(-0.2 * np.exp(random.normal(0, spread))))
        low, high = band.bounds(np.exp(np.array([-0.2])), 400, np.array([7.0]))
        held.append(low[0] <= there / 400 <= high[0])
        band = band.learn(np.exp(-0.2), Window(7, there, 400), 400)

    assert 0.87 <= np.mean(held) <= 0.93


def test_more_objects_do_not_narrow_the_scale_that_is_not_counting():
    """Doubling all counts halves binomial noise but not kappa."""
    kappas = []
    for size in (4000, 8000):
        random = np.random.default_rng(5)
        band = QualityBand(0.1, 0.3)
        for _ in range(400):
            share = np.exp(-0.2 * np.exp(random.normal(0, 0.4)))
            band = band.learn(np.exp(-0.2), Window(7, round(size * share), size), size)
        kappas.append(band.kappa)

    assert kappas[1] == pytest.approx(kappas[0], rel=0.02)


def test_floors_learn_from_what_falls_below_them():
    """A miss stretches them by e^(0.2 * 0.8), what is above shortens them by e^(-0.2 * 0.2)."""
    band, days, quality = QualityBand(0.12, 0.5), np.array([7.0]), np.array([0.8])
    floor = band.raw(quality, 200, days, 0.2)

    lower = band.learn(0.8, Window(7, 130, 200), 200)
    higher = band.learn(0.8, Window(7, 165, 200), 200)

    assert lower.reach == pytest.approx(np.exp(0.16))
    assert higher.reach == pytest.approx(np.exp(-0.04))
    still = replace(band, reach=lower.reach)
    assert still.raw(quality, 200, days, 0.2) < floor
    assert still.bounds(quality, 200, days) == band.bounds(quality, 200, days), "floors alone"


def test_floors_hold_where_decay_is_always_faster_than_forecast():
    """Log decay 1.3 times what was forecast, give or take 15 %: fixed floors hold a fifth."""
    random = np.random.default_rng(1)
    band, fixed, days = QualityBand(0.1, 0.5), QualityBand(0.1, 0.5), np.array([7.0])
    held: dict[str, list[bool]] = {"learned": [], "fixed": []}
    for _ in range(400):
        decay = 0.2 * 1.3 * np.exp(random.normal(0, 0.15))
        there = round(1000 * np.exp(-decay))
        for name, each in (("learned", band), ("fixed", fixed)):
            floor = each.raw(np.array([np.exp(-0.2)]), 1000, days, 0.2)[0]
            held[name].append(there / 1000 >= floor)
        band = band.learn(float(np.exp(-0.2)), Window(7, there, 1000), 1000)

    assert np.mean(held["learned"][50:]) == pytest.approx(0.8, abs=0.04)
    assert np.mean(held["fixed"]) < 0.6
