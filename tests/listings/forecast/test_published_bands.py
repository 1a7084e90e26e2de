"""Bands as the paper has them: by hand, and held by sources that are as it assumes."""

import re

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.listings.forecast.ar_forecaster import Autoregressive
from recrawl.listings.forecast.autoregression import Autoregression
from recrawl.listings.forecast.methods import METHODS, method_named
from recrawl.listings.forecast.published_bands import NormalBand, arrival_survival_bands
from recrawl.listings.models.delta_method import DailyArrivals, published_band, recall_bands
from recrawl.listings.models.exponential import ExponentialSurvival
from tests.listings.made import constant


def test_precision_has_the_published_band():
    """The square root of p (1 - p) / n, whatever is known of the rate."""
    survival, arrivals = ExponentialSurvival(0.1, 40.0, 400.0), DailyArrivals(20.0, 30.0, 40.0)
    kept, found = arrival_survival_bands(3, survival, arrivals, copied=200.0, miss=0.1)
    share, days = np.exp(-0.1 * np.arange(1, 4)), np.arange(1.0, 4.0)

    np.testing.assert_allclose(kept.bounds(share, 200.0, days), published_band(share, 200.0, 0.9))
    bands = recall_bands(days, survival, arrivals, 200.0)
    np.testing.assert_allclose(found.bounds(bands.value, 0.0, days), bands.prediction_interval(0.9))


def test_a_series_has_the_band_of_its_sum():
    series = Autoregression(-0.02, np.array([0.6]), (1,), variance=1e-4)
    past, days = np.array([-0.06]), np.arange(1.0, 6.0)
    band = NormalBand(np.sqrt(series.variance_of_sum(5)), 0.1, logarithmic=True)

    found = band.bounds(series.quality(past, 5), 0.0, days)

    np.testing.assert_allclose(found, series.band(past, 5, 1.6448536), rtol=1e-6)
    floor = band.raw(series.quality(past, 5), 0.0, days, 0.05)
    assert floor == pytest.approx(found[0])


@pytest.mark.parametrize("name", ["static", "refit", "survival", "ar", "ar-published", "ar-fixed"])
def test_a_lower_level_has_a_narrower_band(name):
    world = constant(1)
    training = [world.advance(1) for _ in range(40)]
    ends = {}
    for level in (0.5, 0.9):
        method = method_named(name, level=level)
        ends[level] = method.forecast(method.start(training), world.stock(), 7)

    assert (ends[0.9].low.recall < ends[0.5].low.recall).all()
    assert (ends[0.5].high.precision <= ends[0.9].high.precision).all()


def test_parameters_follow_the_name():
    found = method_named("ar-published:learning=0.1:weekly=yes:interpolation=model")

    assert found == Autoregressive("ar-published", 0.1, weekly=True, interpolation="model")
    assert METHODS["ar-fixed"] == method_named("ar-published:learning=0")


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("ar:weekly=perhaps", "weekly must be one of yes, no (got 'perhaps')"),
        ("ar:learning=2", "learning must be a number from 0 to 1 (got '2')"),
        ("ar:learning=0.1:learning=0.2", "each once"),
        ("static:learning=0.1", "parameters of a method must look like ar:learning=0.1:weekly=yes"),
        ("ar:interpolation=no", "interpolation must be one of uniform, model (got 'no')"),
    ],
)
def test_parameters_that_a_method_does_not_have(method, said):
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        method_named(method)
