"""The terms on which pages are visited."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.settings.terms import VisitTerms

DAY = 20_480
hours = st.tuples(st.integers(0, 23), st.integers(0, 24))


def test_without_hours_a_page_is_always_open():
    assert VisitTerms().opens(DAY + 0.3) == DAY + 0.3
    assert VisitTerms().begins(DAY + 0.3) == inf


@pytest.mark.parametrize(
    ("at", "opens"), [(3, 8), (7.99, 8), (8, 8), (12, 12), (17.9, 17.9), (18, 32), (23, 32)]
)
def test_hours_of_the_day(at, opens):
    assert VisitTerms(hours=(8, 18)).opens(DAY + at / 24) == pytest.approx(DAY + opens / 24)


@pytest.mark.parametrize(("at", "opens"), [(5, 5), (6, 22), (21, 22), (22, 22), (23.5, 23.5)])
def test_hours_over_midnight(at, opens):
    assert VisitTerms(hours=(22, 6)).opens(DAY + at / 24) == pytest.approx(DAY + opens / 24)


@pytest.mark.parametrize("all_day", [(0, 24), (0, 0), (7, 7)])
def test_the_same_hour_twice_is_all_day(all_day):
    assert VisitTerms(hours=all_day).opens(DAY + 0.99) == DAY + 0.99


@given(hours, st.floats(DAY, DAY + 3))
def test_a_page_is_open_when_it_opens_and_not_before(first_and_end, at):
    terms = VisitTerms(hours=first_and_end)
    opens = terms.opens(at)

    assert opens >= at
    assert terms.opens(opens) == opens
    if opens > at:
        halfway = (at + opens) / 2
        assert terms.opens(halfway) == pytest.approx(opens)


@given(hours, st.floats(DAY, DAY + 3))
def test_hours_begin_once_a_day(first_and_end, at):
    terms = VisitTerms(hours=first_and_end)
    begins = terms.begins(at)

    assert at < begins <= at + 1 + 1e-6
    assert terms.begins(begins) == pytest.approx(begins + 1)
    assert begins % 1 * 24 == pytest.approx(first_and_end[0], abs=1e-6)


@pytest.mark.parametrize(
    ("hours", "open_in"),
    [
        ((22, 6), [0, 1, 2, 3, 4, 5, 22, 23]),
        ((6, 8), [6, 7]),
        ((0, 24), list(range(24))),
        ((22, 24), [22, 23]),
        ((22, 0), [22, 23]),
        (None, list(range(24))),
    ],
)
def test_whole_hours_that_are_open(hours, open_in):
    terms, middle = VisitTerms(hours=hours), [100 + (hour + 0.5) / 24 for hour in range(24)]

    assert [hour for hour, at in enumerate(middle) if terms.opens(at) == at] == open_in
