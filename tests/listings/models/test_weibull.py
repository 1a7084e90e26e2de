"""Survival by a power of age: the lifelines figures, recovery, truncation, a million objects."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.integrate import quad

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.models.weibull import WeibullSurvival, profile, weibull
from tests.listings.lifetimes import BETWEEN, ENTERED, KNOWN, crawled, watched


@pytest.mark.parametrize(
    ("lifetimes", "scale", "shape", "height"),
    [
        (BETWEEN, 8.771098314949766, 1.4324955812946736, -23.83141551898386),
        (KNOWN, 8.067336456982122, 1.2076319020196578, -27.623713782368192),
        (ENTERED, 6.320702158838438, 0.9953314361286432, -25.612331060257905),
    ],
    ids=["between crawls", "known ages", "left truncation"],
)
def test_lifelines_finds_the_same(lifetimes, scale, shape, height):
    found = weibull(lifetimes)

    assert found.height == pytest.approx(height, abs=1e-8)
    assert found.height >= height - 1e-9
    assert (1 / found.rate, found.shape) == pytest.approx((scale, shape), rel=2e-5)


@pytest.mark.parametrize("shape", [0.7, 1.0, 1.8])
def test_rate_and_shape_are_found_from_daily_crawls(shape):
    rng = np.random.default_rng(int(10 * shape))
    lifetimes = crawled(
        rng, 300_000, gap=1.0, window=200, lifetime=lambda n: 15 * rng.weibull(shape, n)
    )
    found = weibull(lifetimes.binned())

    assert found.shape == pytest.approx(shape, rel=0.02)
    assert 1 / found.rate == pytest.approx(15, rel=0.03)


def test_ages_known_from_a_later_entry_on_give_the_same():
    """Objects that were there at the first crawl, at an age the site tells."""
    rng = np.random.default_rng(8)
    age, entry = 15 * rng.weibull(0.7, 400_000), rng.uniform(0, 40, 400_000)
    there = age > entry
    lifetimes = Lifetimes.of(age[there], age[there], entry=entry[there])
    found = weibull(lifetimes)

    assert (1 / found.rate, found.shape) == pytest.approx((15, 0.7), rel=0.03)
    assert weibull(Lifetimes.of(age[there], age[there])).shape > 1, "as if watched from arrival"


def test_the_shape_of_a_fit_with_one_shape_is_the_exponential_one():
    """For shape 1 the profile is removals over days listed."""
    power, _ = profile(KNOWN, 1.0)

    assert power == pytest.approx(KNOWN.removals / KNOWN.exposure, rel=1e-9)


def test_unknown_ages_are_left_out():
    both = Lifetimes.of(
        np.append(BETWEEN.low, 50.0), np.append(BETWEEN.high, 51.0), known=[True] * 12 + [False]
    )

    assert weibull(both).shape == weibull(BETWEEN).shape


def test_without_a_removal_nothing_vanishes():
    assert weibull(Lifetimes.of([5.0], [np.inf])).survival(np.array([100.0])).tolist() == [1.0]


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_a_stationary_stock_outlives_by_the_rest_of_the_integral(shape):
    curve = WeibullSurvival(0.1, shape)
    whole = quad(lambda t: float(curve.survival(np.array([t]))[0]), 0, np.inf)[0]
    rest = quad(lambda t: float(curve.survival(np.array([t]))[0]), 7, np.inf)[0]

    assert curve.equilibrium_survival(np.array([7.0])) == pytest.approx([rest / whole], rel=1e-6)


def test_a_stationary_stock_decays_as_the_equilibrium_says():
    """Objects met at a random day of a long history."""
    rng = np.random.default_rng(4)
    arrival, lifetime = rng.uniform(0, 1000, 400_000), 10 * rng.weibull(0.7, 400_000)
    rest = (arrival + lifetime - 900)[(arrival < 900) & (arrival + lifetime > 900)]

    assert np.mean(rest > 7) == pytest.approx(
        WeibullSurvival(0.1, 0.7).equilibrium_survival(np.array([7.0]))[0], abs=0.02
    )


def test_the_deviation_of_the_shape_is_what_estimates_scatter():
    rng = np.random.default_rng(5)
    found = [
        weibull(watched(rng, 300, window=60, lifetime=lambda n: 15 * rng.weibull(0.8, n)))
        for _ in range(100)
    ]
    scatter = np.std([np.log(each.shape) for each in found])

    assert scatter == pytest.approx(np.mean([each.shape_deviation for each in found]), rel=0.25)


def test_a_million_objects_take_well_under_a_second():
    rng = np.random.default_rng(6)
    lifetimes = crawled(
        rng, 1_200_000, gap=1.0, window=200, lifetime=lambda n: 15 * rng.weibull(0.7, n)
    )
    assert len(lifetimes) > 900_000
    weibull(BETWEEN)  # what is imported, is
    start = time.process_time()
    weibull(lifetimes.binned())

    assert time.process_time() - start < 2, "0.3 s alone on the machine"
