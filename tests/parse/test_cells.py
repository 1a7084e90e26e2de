"""Cells are read a column at a time where they are alike and one by one where not: no cell may
be read differently because of its neighbours."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl import AnswerKind
from recrawl.errors import InvalidInput
from recrawl.parse import cells
from recrawl.units import instant, microseconds
from recrawl.visits.rows import UNKNOWN_TIME
from recrawl.visits.visit import answer_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Times as people and programs write them, and what is almost a time.
TIMES = [
    *("2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05.123456", "2026-01-02T03:04Z"),
    *("2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05-0130", "1900-01-01", "2200-01-01"),
    *("0", "86400", "1700000000.25", "-86400", "1e9", "1.7E9"),
]
ALMOST = [
    *("2026-13-01", "2026-02-30", "2026-01-02T25:00", "2026-01-02T", "2026-1-2", "02.01.2026"),
    *("2026-01-02Z", "2026-01-02T03:04ZZ", "2026-01-02T03:04:05.", "2026-01-02\0", "86400\0"),
    *("2026-01-0x", "0x1F", "86400s"),
    *("2026-01-02T03:04:60", "2026-01-02T24:00", "2026-01-02 UTC", "20262-01-02", "NaT", "now"),
    *("1899-12-31", "2200-01-02", "1700000000000", "nan", "inf", "-inf", "1e999", "soon", "true"),
    *("today", "2026-01-02T03:04:05+1", "+", "-", "Z", "0x10"),
]
MISSING = ["", " "]

_times = st.sampled_from([*TIMES, *ALMOST, *MISSING])


def one_time(text, *, optional):
    """What a single cell means: microseconds, `UNKNOWN_TIME`, or None where it is wrong."""
    if not text.strip():
        return UNKNOWN_TIME if optional else None
    try:
        return microseconds(instant(text))
    except InvalidInput:
        return None


def read(texts, *, optional):
    """The same of a column."""
    values, wrong = cells.times(texts, optional=optional)
    pairs = zip(values.tolist(), wrong.tolist(), strict=True)
    return [None if is_wrong else value for value, is_wrong in pairs]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01T01:00:00Z", 3600),
        ("1970-01-01 01:00:00.5", 3600.5),
        ("1970-01-01T01:00:00+01:00", 0),
        ("86400", 86_400),
        ("-1.5", -1.5),
    ],
)
def test_a_time_is_read_to_the_microsecond(text, seconds):
    values, wrong = cells.times([text], optional=False)

    assert values.tolist() == [round(seconds * 1e6)]
    assert not wrong.any()


@pytest.mark.parametrize("text", ALMOST)
def test_what_is_almost_a_time_is_wrong(text):
    """Also in a column of nothing else, which is read as a whole."""
    _, wrong = cells.times([text, text], optional=True)

    assert wrong.all()


@pytest.mark.parametrize("text", MISSING)
def test_a_missing_time_is_wrong_unless_it_may_be_missing(text):
    values, wrong = cells.times([text, "86400"], optional=True)

    assert values.tolist() == [UNKNOWN_TIME, 86_400_000_000]
    assert not wrong.any()
    assert cells.times([text, "86400"], optional=False)[1].tolist() == [True, False]


def test_no_times_are_none():
    values, wrong = cells.times([], optional=False)

    assert (len(values), len(wrong)) == (0, 0)


@settings(max_examples=300)
@given(st.lists(_times, max_size=5), st.booleans())
def test_a_time_means_the_same_whatever_its_neighbours(texts, optional):
    assert read(texts, optional=optional) == [one_time(text, optional=optional) for text in texts]


@settings(max_examples=300)
@given(st.text(alphabet="0123456789-:T .+Z\0", max_size=28))
def test_a_column_of_anything_is_read_like_a_single_cell(text):
    """Numpy reads more than ISO 8601; what it alone understands must not get through."""
    assert read([text, text], optional=True) == [one_time(text, optional=True)] * 2


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)), min_size=1))  # noqa: DTZ001 - without a zone is UTC
def test_a_column_of_iso_times_is_exact(moments):
    values, wrong = cells.times([moment.isoformat() for moment in moments], optional=False)

    exact = [microseconds(moment.replace(tzinfo=UTC)) for moment in moments]
    assert values.tolist() == exact
    assert not wrong.any()


@given(st.lists(st.integers(-2_000_000_000, 7_000_000_000), min_size=1))
def test_a_column_of_epoch_seconds_is_exact(seconds):
    values, wrong = cells.times([str(second) for second in seconds], optional=False)

    assert values.tolist() == [second * 1_000_000 for second in seconds]
    assert not wrong.any()


def test_epoch_seconds_that_are_no_time_are_wrong():
    """Not finite, or of another millennium; the others are kept."""
    seconds = np.array([0.5, np.nan, np.inf, 1e308, -np.inf, 1.7e12, -1e10, 7e9])
    values, wrong = cells.epoch_times(seconds)

    assert wrong.tolist() == [False, *[True] * 6, False]
    assert values[~wrong].tolist() == [500_000, 7_000_000_000_000_000]


def test_the_bounds_are_inside():
    first = (datetime(1900, 1, 1, tzinfo=UTC) - EPOCH) / timedelta(seconds=1)
    last = (datetime(2200, 1, 1, tzinfo=UTC) - EPOCH) / timedelta(seconds=1)

    _, wrong = cells.epoch_times(np.array([first - 1, first, last, last + 1]))

    assert wrong.tolist() == [True, False, False, True]


def test_a_change_is_true_false_or_empty():
    texts = ["true", "TRUE", " True ", "1", "false", "False", "0", "", " "]
    values, wrong = cells.changes(texts)

    assert values.tolist() == [1, 1, 1, 1, 0, 0, 0, -1, -1]
    assert not wrong.any()


@pytest.mark.parametrize("text", ["yes", "no", "2", "-1", "t", "1.5", "none", "nan", "null", "\0"])
def test_another_change_is_wrong(text):
    assert cells.changes(["true", text, ""])[1].tolist() == [False, True, False]


@given(st.lists(st.sampled_from(["200", "304", "404", "503", "ok", "gone", "", "99", "up", "2e2"])))
def test_answers_are_those_of_single_cells(texts):
    values, wrong = cells.answers(texts)

    for text, value, is_wrong in zip(texts, values.tolist(), wrong.tolist(), strict=True):
        if text in ("99", "up", "2e2"):
            assert is_wrong
        else:
            assert not is_wrong
            assert AnswerKind(value) is answer_of(text)


def test_a_page_must_have_a_name():
    """Blank in any alphabet is none, and half of a surrogate pair is no text."""
    texts = ["/a", " a ", "日本", "\0", "", " \t", "\u3000", "\ud800", "/\udfff"]

    assert cells.unnamed(texts).tolist() == [False] * 4 + [True] * 5


@given(st.lists(st.text(st.characters(), max_size=4)))
def test_a_name_can_be_written_and_seen(texts):
    expected = []
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            expected.append(True)
        else:
            expected.append(text.strip() == "")

    assert cells.unnamed(texts).tolist() == expected
