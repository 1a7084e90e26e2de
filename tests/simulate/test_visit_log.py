"""A made log: what the visits say must agree with itself, and with the rates it was made by."""

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.simulate.visit_log import visit_log

START = datetime(2026, 1, 1, tzinfo=UTC)


def made(rates, *, days=30.0, gap=1.0, dated=1.0, seed=1):
    random = np.random.default_rng(seed)
    return list(visit_log(rates, start=START, days=days, gap=gap, dated=dated, random=random))


def test_a_page_that_never_changes_never_changes():
    visits = made({"/a": 0.0})

    assert [visit.changed for visit in visits] == [None] + [False] * (len(visits) - 1)
    assert all(visit.last_modified is None for visit in visits)


def test_a_page_that_changes_all_the_time_changes_in_every_gap():
    """A million changes a day: a gap without one has a chance of nothing."""
    visits = made({"/a": 1e6}, days=1.0, gap=0.1)

    assert all(visit.changed for visit in visits[1:])


def test_pages_come_one_after_the_other():
    visits = made({"/b": 1.0, "/a": 2.0})

    assert [page for page, _ in groupby(visit.page for visit in visits)] == ["/b", "/a"]


@given(
    rate=st.floats(0.01, 20),
    days=st.floats(0.5, 50),
    gap=st.floats(0.2, 5),
    seed=st.integers(0, 2**32),
)
def test_visits_agree_with_each_other(rate, days, gap, seed):
    """In order, within the time watched; changed just where a newer date says so."""
    visits = made({"/a": rate}, days=days, gap=gap, seed=seed)

    assert visits[0].at == START
    assert visits[0].changed is None
    assert visits[-1].at <= START + timedelta(days=days)
    second = timedelta(microseconds=1)  # instants are rounded to it
    for before, visit in pairwise(visits):
        assert before.at <= visit.at
        date = visit.last_modified
        assert date is None or date <= visit.at + second
        if visit.changed:
            assert date is not None
            assert date >= before.at - second
        else:
            assert date == before.last_modified


def test_the_same_seed_makes_the_same_log():
    assert made({"/a": 1.0, "/b": 3.0}) == made({"/a": 1.0, "/b": 3.0})
    assert made({"/a": 1.0}, seed=1) != made({"/a": 1.0}, seed=2)


@pytest.mark.parametrize("rate", [0.2, 1.0, 5.0])
def test_gaps_show_changes_as_often_as_the_rate_makes_them(rate):
    """Exponential gaps of mean g show a change with chance rg / (1 + rg); five sigma."""
    visits = made({"/a": rate}, days=20_000.0)
    seen = np.array([visit.changed for visit in visits[1:]])

    chance = rate / (1 + rate)
    assert abs(seen.mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / len(seen))


def test_visits_are_as_frequent_as_asked():
    """Twenty thousand days, a visit every two: ten thousand, within five sigma of Poisson."""
    visits = made({"/a": 0.0}, days=20_000.0, gap=2.0)

    assert abs(len(visits) - 10_001) < 5 * 100


def test_some_pages_tell_when_they_changed():
    """A third of them, within five sigma; a page tells always or never."""
    rates = {f"/{number}": 50.0 for number in range(900)}
    visits = made(rates, days=3.0, dated=1 / 3)

    tells = {
        page: {visit.last_modified is not None for visit in some}
        for page, some in groupby(visits, key=lambda visit: visit.page)
    }
    assert all(len(answers) == 1 for answers in tells.values())
    telling = sum(answers == {True} for answers in tells.values())
    assert abs(telling - 300) < 5 * np.sqrt(900 * 2 / 9)
