"""Change rates as a table: the columns, the empty cells, the words."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from recrawl import Flag, Gamma, Histories, Likelihood, Priors, Ratio, Status
from recrawl.rates import METHODS
from recrawl.rates.estimates import STATUS_NAMES
from recrawl.report.rates import (
    COLUMNS,
    HEADER,
    STATUS_REMARKS,
    Named,
    fresh_at,
    rate_columns,
    rate_words,
)
from tests.strategies import history_of
from tests.visits.building import of_columns

START = np.datetime64("2026-01-01", "us")
FIGURES = (
    "rate_per_day",
    "low",
    "high",
    "mean_interval_days",
    "shape",
    "exposure_days",
    "fresh_now",
)


def day(number):
    return START + np.timedelta64(round(number * 86_400e6), "us")


def visited(gaps, changed, **columns):
    """One page, first visited on day 0."""
    return of_columns(gaps, changed, [0, len(gaps)], first_visit=[START], **columns)


def test_the_chance_of_being_fresh_is_averaged_over_the_rate():
    """A prior of 2 events in 10 days and an unchanged day: (11 / (11 + 4))^2 after 4 more days."""
    seen = visited([1.0], [False])
    estimates = Gamma(Priors.one(shape=2.0, exposure=10.0)).estimate(seen)

    fresh = fresh_at(estimates, seen.last_visit, day(5))

    assert fresh == pytest.approx([(11 / 15) ** 2])


def test_without_a_distribution_the_chance_is_that_of_the_rate():
    """Three quarters of the gaps unchanged: rate 0 with no shape leaves the page as it is."""
    seen = visited([1.0, 1.0], [False, False])
    estimates = Ratio().estimate(seen)

    assert fresh_at(estimates, seen.last_visit, day(9)).tolist() == [1.0]


def test_at_the_visit_itself_a_page_is_fresh():
    seen = visited([1.0], [True])

    assert fresh_at(Gamma().estimate(seen), seen.last_visit, day(1)).tolist() == [1.0]


def test_before_the_last_visit_a_page_is_no_fresher_than_fresh():
    """`--now` may lie in the past."""
    seen = visited([1.0], [True])

    assert fresh_at(Gamma().estimate(seen), seen.last_visit, day(-5)).tolist() == [1.0]


@pytest.mark.parametrize("method", METHODS)
def test_a_page_that_changed_every_time_is_fresh_at_its_visit(method):
    """Even where the rate is infinite: no time has passed. And without a warning."""
    seen = visited([1.0], [True])
    estimates = METHODS[method](Priors.one(), 0.9).estimate(seen)

    assert fresh_at(estimates, seen.last_visit, day(1)).tolist() == [1.0]


def test_a_page_that_is_gone_is_not_fresh_or_stale():
    seen = visited([1.0], [True], flags=[Flag.GONE | Flag.LM_TOUCH])

    assert np.isnan(fresh_at(Gamma().estimate(seen), seen.last_visit, day(2))).all()


def test_a_page_that_was_never_seen_is_not_fresh_or_stale():
    seen = of_columns([], [], [0, 0])

    assert np.isnan(fresh_at(Gamma().estimate(seen), seen.last_visit, day(2))).all()


def test_columns_are_those_of_the_header():
    seen = visited([1.0], [True])
    columns = rate_columns(Gamma().estimate(seen), seen.last_visit, day(2))

    assert ("page", *columns) == COLUMNS


def test_flags_and_statuses_are_words():
    flags = np.array([Flag.LM_TOUCH | Flag.GONE, 0, Flag.RETURNED, Flag.LM_TOUCH | Flag.GONE])
    seen = of_columns([1, 1, 1], [True, False, True], [0, 1, 2, 2, 3], flags=flags)
    columns = rate_columns(Ratio().estimate(seen), seen.last_visit, day(2))

    assert columns["flags"].tolist() == ["lm_touch gone", "", "returned", "lm_touch gone"]
    assert columns["status"].tolist() == [
        "all_changed",
        "no_change_seen",
        "no_visits",
        "all_changed",
    ]
    assert columns["method"].tolist() == ["ratio"] * 4


_gaps = st.tuples(st.floats(1e-4, 1e3), st.booleans())


@given(pages=st.lists(st.lists(_gaps, max_size=4), max_size=5), later=st.floats(0, 1000))
def test_every_empty_figure_has_a_reason(pages, later):
    """A status other than ok, or the flag of a page that is gone; nothing is infinite."""
    for method in METHODS:
        note(f"method {method}")
        check_reasons(method, pages, later)


def check_reasons(method, pages, later):
    first = np.array([START if number % 3 else "NaT" for number in range(len(pages))], "M8[us]")
    flags = [Flag.GONE if number % 4 == 3 else 0 for number in range(len(pages))]
    seen = history_of(*pages, first_visit=first, flags=flags)
    estimates = METHODS[method](Priors.one(), 0.9).estimate(seen)

    columns = rate_columns(estimates, seen.last_visit, day(1000 + later))

    status, flag_words = columns["status"].tolist(), columns["flags"].tolist()
    for name in FIGURES:
        column = columns[name]
        assert isinstance(column, np.ndarray)
        assert not np.isinf(column).any()
        for page in np.flatnonzero(np.isnan(column)).tolist():
            unseen = name == "fresh_now" and np.isnat(seen.first_visit[page])
            assert status[page] != "ok" or "gone" in flag_words[page] or unseen


def test_no_pages_make_empty_columns():
    none = Histories.from_lists([])
    columns = rate_columns(Gamma().estimate(none), none.last_visit, day(0))

    assert all(len(column.tolist()) == 0 for column in columns.values())


def test_rows_for_people():
    """Six changes in ten daily visits: 0.6 a day, every 40 hours."""
    seen = visited([1.0] * 10, [True] * 6 + [False] * 4, flags=[Flag.LM_STALE])
    estimates = Ratio().estimate(seen)

    (row,) = rate_words(["/a"], estimates, np.array([0.256]))

    assert dict(zip(HEADER, row, strict=True)) == {
        "page": "/a",
        "visits": "11",
        "changes": "6",
        "every": "1.7d",
        "between": "20h - 3.8d",
        "fresh now": "26 %",
        "status": "ok lm_stale",
    }


def test_rows_for_people_say_never_and_nothing():
    """No change seen, and no visit at all."""
    seen = of_columns([1.0], [False], [0, 1, 1])

    rows = rate_words(["/a", "/b"], Ratio().estimate(seen), np.array([1.0, np.nan]))

    assert [row[3] for row in rows] == ["never", "-"]
    assert [row[4].endswith("never") for row in rows] == [True, False]
    assert [row[5] for row in rows] == ["100 %", "-"]


def test_rows_for_people_of_rates_without_bounds():
    """All changed, by the plain likelihood: the rate is infinite, the interval nothing."""
    seen = visited([1.0], [True])

    (row,) = rate_words(["/a"], Likelihood(singularity="none").estimate(seen), np.array([0.0]))

    assert row[3] == "0s"
    assert row[-1] == "all_changed"


def test_every_status_that_tells_little_has_a_remark():
    """All but ok, for methods that pool pages and for those that do not."""
    assert set(STATUS_REMARKS) == set(STATUS_NAMES) - {"ok"}
    for remarks in STATUS_REMARKS.values():
        assert set(remarks) == {"pooled", "alone"}
    assert len(Status) == len(STATUS_NAMES)


def test_named_columns_are_taken_like_arrays():
    column = Named(np.array([1, 0, 1]), ["no", "yes"])

    assert column.tolist() == ["yes", "no", "yes"]
    assert column[np.array([1])].tolist() == ["no"]
