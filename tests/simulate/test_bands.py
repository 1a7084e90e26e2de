"""Bands: wide where little is known, and as wide as the truth spreads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.simulate.bands import ratio_band, staleness_band
from recrawl.simulate.made import poisson, sections
from tests.simulate.made import Timetable, run, world


def random():
    return np.random.default_rng(0)


def test_a_band_is_around_its_figure():
    found = run(poisson(np.full(300, 0.2), days=40.0, random=random()), budget="60/1d")

    figure, low, high = staleness_band(found, random=random())

    assert figure == found.staleness
    assert low < figure < high
    wide = staleness_band(found, random=random(), level=0.99)
    assert wide.low < low
    assert high < wide.high


def test_one_page_has_no_band():
    band = staleness_band(run(world([1.0], end=3.0)), random=random())

    assert np.isnan(band.low)
    assert np.isnan(band.high)


def test_no_live_page_has_no_band():
    some = world([1.0], [2.0], gone=[3.0, 3.0], end=9.0).after(5.0)

    assert all(np.isnan(staleness_band(run(some), random=random())))


@pytest.mark.parametrize("maker", [poisson, sections])
def test_as_many_worlds_lie_in_the_band_as_its_level_says(maker):
    """Pages that change together are told from pages that do not: both keep the level."""
    stale, widths = [], []
    for seed in range(60):
        some = maker(np.full(1000, 0.1), days=30.0, random=np.random.default_rng(seed))
        found = run(some, budget="100/1d", step=1.0)
        band = staleness_band(found, random=random(), level=0.9)
        stale.append(found.staleness)
        widths.append(band.high - band.low)

    spread = 2 * 1.645 * np.std(stale)
    assert np.mean(widths) == pytest.approx(spread, rel=0.3)


def test_many_sections_are_put_together_and_the_band_stays():
    rates = np.full(3000, 0.1)
    some = poisson(rates, days=20.0, random=random())
    found = run(some, budget="300/1d")
    alone = world(*([] for _ in range(3000)), end=1.0).address

    apart = staleness_band(run(replace(some, address=alone), budget="300/1d"), random=random())
    band = staleness_band(found, random=random())
    assert apart.high - apart.low == pytest.approx(band.high - band.low, rel=0.2)


def test_a_run_over_itself_is_one():
    found = run(poisson(np.full(300, 0.2), days=40.0, random=random()), budget="60/1d")

    assert ratio_band(found, found, random=random()) == (1.0, 1.0, 1.0)


def test_a_ratio_is_surer_than_its_parts():
    """Both runs are of the same pages: what is chance in the pages cancels."""
    some = poisson(np.full(400, 0.2), days=40.0, random=random())
    few, many = (run(some, budget=budget) for budget in ("40/1d", "50/1d"))

    ratio, low, high = ratio_band(many, few, random=random())

    assert ratio == pytest.approx(many.staleness / few.staleness)
    assert low < ratio < high < 1
    band = staleness_band(few, random=random())
    assert (high - low) / ratio < (band.high - band.low) / band.figure * 1.2


def test_runs_of_different_worlds_have_no_ratio():
    one, other = run(world([1.0])), run(world([1.0], []), policy=Timetable({}))

    with pytest.raises(InvalidParameter, match=r"must be of one world \(got 1 and 2 pages\)"):
        ratio_band(one, other, random=random())
