"""Estimates of change intervals by rules that stop by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.policies.rivals.malcolm import MalcolmLastModified, MalcolmPolicy
from recrawl.rates.published.malcolm import Malcolm
from recrawl.simulate.intervals import study_intervals
from tests.strategies import history_of

OBJECTS = 1500


def study(rule, interval, *, objects=OBJECTS, period=120.0):
    random = np.random.default_rng(1)
    return study_intervals(rule, interval, period=period, objects=objects, random=random)


class Undated(MalcolmLastModified):
    """Listing 1 of pages that do not say at first when they changed."""

    __slots__ = ()

    def begin_dated(self, found, age):
        return super().begin_dated(found, np.full_like(age, np.nan))


def test_a_fixed_schedule_of_one_change_by_hand():
    """Four daily visits: the estimate of the published estimator, averaged over what they find."""
    rule = MalcolmPolicy(soft=1.0, shortest=1.0, ratio=1e9)
    found = study(rule, 2.0, objects=40_000, period=4.0)
    chance, expected = -np.expm1(-0.5), 0.0
    for changes in range(5):
        seen = [(1.0, True)] * changes + [(1.0, False)] * (4 - changes)
        mean = Malcolm().estimate(history_of(seen)).mean_interval[0]
        # Malcolm and Armitage say S where nothing changed, and 0 where all did.
        mean = 4.0 if changes == 0 else 0.0 if changes == 4 else mean
        ways = (1, 4, 6, 4, 1)[changes]
        expected += ways * chance**changes * (1 - chance) ** (4 - changes) * mean

    assert found.visits == 5.0
    assert 2 * (1 + found.bias) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("rule", "interval", "bias", "deviation", "visits"),
    [
        # Listing 2: sections 4 and 6, figures 1a to 1c.
        (MalcolmPolicy(), 5 / 1440, -0.007, 0.117, 116.7),
        (MalcolmPolicy(), 40.0, -0.06, 0.55, 30.0),
        (MalcolmPolicy(), 62.0, -0.17, 0.44, 27.4),
        # Listing 1: biased by 1 to 10 % above a week, 39 % at ten days, far fewer visits than 121.
        (MalcolmLastModified(), 10.0, -0.05, 0.35, 75.3),
        (MalcolmLastModified(), 62.0, -0.05, 0.77, 19.0),
        # Without the first dates it waits too little, and takes pages for far too fast.
        (Undated(), 10.0, -0.15, 0.27, 90.7),
        (Undated(), 62.0, -0.60, 0.12, 51.0),
    ],
)
def test_the_listings_are_as_good_as_their_paper_says(rule, interval, bias, deviation, visits):
    found = study(rule, interval)

    assert found.bias == pytest.approx(bias, abs=4 * deviation / OBJECTS**0.5 + 0.01)
    assert found.deviation == pytest.approx(deviation, abs=0.05)
    assert found.visits == pytest.approx(visits, rel=0.05)


def test_fast_objects_are_done_with_after_so_many_changes():
    """A hundred found changes, and the first visit."""
    found = study(MalcolmLastModified(stop=20), 0.01)

    assert (found.stopped, found.visits) == (1.0, 21.0)
