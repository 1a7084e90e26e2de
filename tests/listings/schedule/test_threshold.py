"""When to synchronise: the paper's example, the guarantee, the closed form, the score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.schedule.score import improvement, quality_per_crawl
from recrawl.listings.schedule.threshold import days_above, first_violation, guarantee


def test_the_papers_example_synchronises_on_day_4():
    """.92 on day 3, .89 on day 4, threshold .9."""
    quality = np.array([0.97, 0.95, 0.92, 0.89])

    assert first_violation(quality, 0.9) == 4
    assert guarantee(quality, 0.9) == 3


def test_a_quality_just_at_the_threshold_is_no_violation():
    assert first_violation(np.array([0.95, 0.9, 0.85]), 0.9) == 3


def test_a_forecast_that_does_not_reach_so_far_says_nothing():
    assert first_violation(np.array([0.99]), 0.9) is None
    assert guarantee(np.array([0.99]), 0.9) is None


@given(st.floats(0.005, 1), st.floats(0.3, 0.99))
def test_without_memory_there_is_a_closed_form(rate, threshold):
    """The first whole day after -ln(threshold) / rate."""
    exact = days_above(rate, threshold)
    found = first_violation(np.exp(-rate * np.arange(1, 500)), threshold)

    assert found == np.floor(exact) + 1 or exact == pytest.approx(np.rint(exact), abs=1e-9)


def test_what_does_not_decay_needs_no_synchronisation():
    assert days_above(0.0, 0.9) == np.inf
    with pytest.raises(InvalidParameter, match="threshold"):
        days_above(0.1, 1.0)


def test_the_score_is_quality_over_crawls():
    assert quality_per_crawl(0.9, 30) == pytest.approx(0.03)
    assert improvement(0.11, 0.10) == pytest.approx(0.1)
    with pytest.raises(InvalidParameter, match="crawls"):
        quality_per_crawl(0.9, 0)


def test_the_score_alone_rewards_a_schedule_that_breaks_its_threshold():
    """Half the crawls, quality .8 instead of .95: the score says it is 68 % better."""
    assert improvement(quality_per_crawl(0.8, 10), quality_per_crawl(0.95, 20)) > 0.6
