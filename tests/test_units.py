import contextlib
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidDuration, InvalidInstant
from recrawl.units import (
    days,
    days_between,
    duration,
    instant,
    instant_after_epoch,
    instants_after_epoch,
    microseconds,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

moments = st.integers(-2_200_000_000_000_000, 7_200_000_000_000_000).map(
    lambda number: EPOCH + timedelta(microseconds=number)
)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90 / 86_400), ("30m", 1 / 48), ("6h", 0.25), ("3d", 3.0), ("2w", 14.0), ("1.5d", 1.5)],
)
def test_a_duration_is_a_number_and_a_unit(text, expected):
    assert days(text) == pytest.approx(expected, rel=1e-12)


def test_spaces_around_a_duration_do_not_matter():
    assert days(" 6h\n") == 0.25


@pytest.mark.parametrize(
    "text", ["", "6", "h", "-1h", "1e3d", "6 h", "day", "1.d", ".5d", "6h30m", "inf"]
)
def test_what_is_no_duration_is_refused(text):
    """The sentence says what must hold and what came."""
    with pytest.raises(InvalidDuration) as refusal:
        days(text)

    rule = "duration must look like 90s, 30m, 6h, 3d, 2w or 1y"
    assert str(refusal.value) == f"{rule} (got {text!r})"


@pytest.mark.parametrize("text", ["0h", "0.0d", " 0s "])
def test_a_duration_of_nothing_is_refused_as_that(text):
    """An example would show the form that it has."""
    with pytest.raises(InvalidDuration) as refusal:
        days(text)

    assert str(refusal.value) == f"duration must be above 0 (got {text!r})"


def test_a_duration_is_finite():
    """Four hundred digits are more days than a float can hold."""
    with pytest.raises(InvalidDuration):
        days("9" * 400 + "d")


@pytest.mark.parametrize(
    ("of_days", "text"),
    [
        (30 / 86_400, "30s"),
        (1 / 1440, "1.0m"),
        (0.25, "6.0h"),
        (1.0, "1.0d"),
        (13.0, "13d"),
        (14.0, "2.0w"),
        (363.0, "52w"),
        (364.0, "1.0y"),
        (400.0, "1.1y"),
        (731.0, "2.0y"),
        (36_526.0, ">100y"),
        (float("inf"), "never"),
    ],
)
def test_people_read_days_in_the_unit_that_fits(of_days, text):
    assert duration(of_days) == text


@given(st.floats(1 / 86_400, 36_000))
def test_what_people_read_they_can_type(of_days):
    """Two figures: at most 5 % are lost; seconds are whole, so up to half of the first one."""
    assert days(duration(of_days)) == pytest.approx(of_days, rel=0.051, abs=0.51 / 86_400)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02", "2026-01-02T00:00:00+00:00"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05+00:00"),
        ("2026-01-02T23:30-02:30", "2026-01-03T02:00:00+00:00"),
        ("2026-01-02T03:04:05.000001", "2026-01-02T03:04:05.000001+00:00"),
        ("1767225600", "2026-01-01T00:00:00+00:00"),
        ("-100000000", "1966-10-31T14:13:20+00:00"),
        (" 1767225600.25 ", "2026-01-01T00:00:00.250000+00:00"),
        ("1767225600000", "2026-01-01T00:00:00+00:00"),
        ("1767225600000000", "2026-01-01T00:00:00+00:00"),
        ("1767225600000000000", "2026-01-01T00:00:00+00:00"),
        ("2026", "2026-01-01T00:00:00+00:00"),
        ("2200", "2200-01-01T00:00:00+00:00"),
        ("2026-02", "2026-02-01T00:00:00+00:00"),
        ("20260203", "2026-02-03T00:00:00+00:00"),
        ("20260203040506", "2026-02-03T04:05:06+00:00"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05+00:00"),
        ("2026/01/02 03:04:05 +0100", "2026-01-02T02:04:05+00:00"),
        ("02/Jan/2026:03:04:05 +0100", "2026-01-02T02:04:05+00:00"),
        ("2026-01-02T03:04:05,5", "2026-01-02T03:04:05.500000+00:00"),
        ("Fri, 02 Jan 2026 03:04:05 GMT", "2026-01-02T03:04:05+00:00"),
        ("Fri, 02 Jan 2026 03:04:05 +0100", "2026-01-02T02:04:05+00:00"),
    ],
)
def test_an_instant_is_iso_8601_or_epoch_seconds(text, expected):
    """UTC where no offset is given; or as HTTP writes it. A comma begins a fraction, too."""
    assert instant(text).isoformat() == expected


@pytest.mark.parametrize("text", ["0", "86400", "-1", "12", "202601", "0.25", "99999999", "1800"])
def test_a_small_number_is_refused_with_what_to_write(text):
    """Nobody means 1970; nor is it a year or a day."""
    with pytest.raises(InvalidInstant, match="write 2026-01-31, or epoch seconds of nine digits"):
        instant(text)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "nan", "inf", "-inf", "1e999", "2026-13-01", "2026-02-30", "2026-01-01T25:00"],
)
def test_what_is_no_instant_is_refused(text):
    with pytest.raises(InvalidInstant, match=rf"^time must be ISO 8601 or .*\(got '?{text}'?\)$"):
        instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-14:00",
        "Fri, 02 Jan 1970 00:00:00 +99999999999999999999",
        "Mon, Jan 1970 00:00:00 999999999999",
        "Fri, 32 Jan 2026 00:00:00 GMT",
        "1" * 500,
        "9" * 5000,
    ],
)
def test_what_no_calendar_holds_is_refused(text):
    """Python's own functions raise errors of many kinds for these."""
    with pytest.raises(InvalidInstant):
        instant(text)


_fragments = st.sampled_from(
    [
        *("Mon,", "Fri, ", "Jan", " ", ",", "1970", "02", "00:00:00", "T", "GMT", "+0100", "-9999"),
        *("+", "-", ":", "24:61", "9" * 12, "-0000", ".", "e", "W01", "Z", "\0", "\ud800", "٣"),
    ]
)


@given(st.lists(_fragments, max_size=9).map("".join) | st.text(max_size=30))
def test_any_text_is_an_instant_or_refused(text):
    """Hostile text in, a value or one sentence out."""
    with contextlib.suppress(InvalidInstant):
        assert instant(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["1899-12-31", "2200-01-02", "17000000000", "-10000000000"])
def test_an_instant_outside_three_centuries_is_refused(text):
    """Such a number is something else, far more often than it is a time."""
    with pytest.raises(InvalidInstant):
        instant(text)


@given(moments, offsets)
def test_an_offset_says_where_not_when(moment, offset):
    assert instant(moment.astimezone(offset).isoformat()) == moment


@given(moments)
def test_epoch_seconds_say_the_same_as_iso(moment):
    """A float of seconds holds any microsecond of these centuries, to the nearest one."""
    seconds = (moment - EPOCH) / timedelta(seconds=1)

    if abs(seconds) >= 1e8:  # smaller ones are no instants
        assert abs(instant(f"{seconds:.7f}") - moment) <= timedelta(microseconds=1)


@given(st.integers(-2_000_000_000_000_000, 7_000_000_000_000_000))
def test_microseconds_are_exact(number):
    assert microseconds(EPOCH + timedelta(microseconds=number)) == number


def test_days_between_instants():
    start = np.array(["2026-01-01T00:00", "2026-01-01T12:00"], "datetime64[us]")
    end = np.array(["2026-01-03T00:00", "2026-01-01T06:00"], "datetime64[us]")

    assert days_between(start, end).tolist() == [2.0, -0.25]


def test_days_between_unknown_instants_are_unknown():
    known = np.array(["2026-01-01", "NaT", "NaT"], "datetime64[us]")
    other = np.array(["NaT", "2026-01-01", "NaT"], "datetime64[us]")

    assert np.isnan(days_between(known, other)).all()


@given(st.floats())
def test_an_instant_after_1970_is_the_same_alone_and_among_others(day):
    (among,) = instants_after_epoch(np.array([day]))

    alone = instant_after_epoch(day)

    assert alone.dtype == among.dtype
    assert alone == among or (np.isnat(alone) and np.isnat(among))
