"""When visits were: each gap ends where the next one begins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from recrawl.trends.visit_instants import visit_instants
from tests import strategies
from tests.strategies import Seen, history_of
from tests.trends.made import MONDAY


def test_a_gap_begins_where_the_one_before_ends():
    """Visits on Monday, a day later, and half a day after that."""
    seen = history_of([Seen(1.0, True), Seen(0.5, False)], first_visit=np.array([MONDAY]))

    start, end = visit_instants(seen)

    hours = np.timedelta64(1, "h")
    assert start.tolist() == [MONDAY, MONDAY + 24 * hours]
    assert end.tolist() == [MONDAY + 24 * hours, MONDAY + 36 * hours]


@given(strategies.histories())
def test_the_visits_of_a_page_follow_each_other(histories):
    start, end = visit_instants(histories)
    days = (end - start) / np.timedelta64(1, "D")
    known = ~np.isnat(start)

    assert days[known] == pytest.approx(histories.gaps[known], abs=1e-10)
    last = histories.offsets[1:][histories.gaps_of_page > 0] - 1
    of_page = histories.last_visit[histories.gaps_of_page > 0]
    away = (end[last] - of_page) / np.timedelta64(1, "us")
    assert (np.abs(away[~np.isnan(away)]) <= 12).all()


def test_visits_after_2200_are_unknown():
    seen = history_of([Seen(1e9, True)], [Seen(1.0, True)], first_visit=np.array([MONDAY, MONDAY]))

    start, _ = visit_instants(seen)

    assert np.isnat(start).tolist() == [True, False]
