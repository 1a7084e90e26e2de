"""Turnbull's curve: lifelines, Kaplan-Meier where times are known, recovery between crawls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.models.kaplan_meier import kaplan_meier
from recrawl.listings.models.turnbull import turnbull
from tests.listings.lifetimes import BETWEEN, KNOWN, crawled


def test_lifelines_finds_the_same():
    """`npmle` on the same twelve lifetimes, with intervals open below."""
    curve = turnbull(BETWEEN)

    assert curve.age.tolist() == [2, 3, 4, 5, 7, 8, 11]
    chances = -np.diff(np.append(1.0, curve.survival))
    assert chances == pytest.approx(
        [1 / 12, 1 / 6, 0, 1 / 6, 0.11888463182, 0.15978458909, 0.10155470414], abs=1e-4
    )


def test_known_ages_give_kaplan_and_meiers_curve():
    curve, theirs = turnbull(KNOWN), kaplan_meier(KNOWN)

    assert curve.age.tolist() == theirs.age.tolist()
    assert curve.survival == pytest.approx(theirs.survival, abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(1, 4)), min_size=1, max_size=12))
def test_no_small_shift_of_chance_is_more_likely(rows):
    """At the maximum every cell's derivative is at most the number of objects."""
    low = np.array([float(start) for start, _ in rows])
    high = low + [float(wide) for _, wide in rows]
    curve = turnbull(Lifetimes.of(low, high))
    chance = -np.diff(np.append(1.0, curve.survival))
    inside = (curve.age > low[:, None]) & (curve.age <= high[:, None])
    mass = inside @ chance
    slopes = (inside / mass[:, None]).sum(axis=0)

    assert np.all(mass > 0)
    assert np.all(slopes <= len(rows) * 1.02)


def test_crawls_three_days_apart_still_show_the_curve():
    """Given that an object lives to be seen, about a day and a half on average."""
    rng = np.random.default_rng(1)
    lifetimes = crawled(rng, 20_000, gap=3.0, window=120, lifetime=lambda n: rng.exponential(20, n))
    curve = turnbull(lifetimes, watched_by=2.0)

    assert curve.at(np.array([13.5])) == pytest.approx([np.exp(-12 / 20)], abs=0.02)
    assert np.all(np.diff(curve.survival) <= 1e-12)


def test_without_removals_there_is_no_curve():
    assert len(turnbull(Lifetimes.of([5.0], [np.inf])).age) == 0
    assert len(turnbull(Lifetimes.of([5.0], [6.0], entry=4.0)).age) == 0
