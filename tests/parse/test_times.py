"""Times are read a column at a time where they are alike and one by one where not: no cell may be
read differently because of its neighbours, but for years and days that are written as numbers."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidInput, InvalidParameter
from recrawl.parse.time_forms import TimeForm
from recrawl.parse.time_zones import Zone
from recrawl.parse.times import epoch_times, time_rule, times
from recrawl.units import microseconds, worded_instant
from recrawl.visits.rows import UNKNOWN_TIME

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEW_YEAR = 1_767_225_600  # 2026, in seconds

# Times as people and programs write them, and what is almost a time.
TIMES = [
    *("2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05.123456", "2026-01-02T03:04Z"),
    *("2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05-0130", "1900-01-01", "2200-01-01"),
    *("0", "86400", "1700000000.25", "-86400", "1e9", "1.7E9", "1700000000000", "1700000000000000"),
    *("2026-01-02t03:04:05z", "2026-01-02 03:04:05+00", "2026/01/02 03:04:05", "2026-01"),
    *("2026-01-02 03:04 UTC", "2026/01/02 03:04:05 GMT", "2026-01-02T03:04:05.1 UTC"),
    *("2026-01-02 03:04:05.123456789 UTC", "Fri, 02 Jan 2026 03:04:05 GMT", "20260102030405"),
    *("10/Oct/2000:13:55:36 -0700", "[10/Oct/2000:13:55:36 -0700]", "2026-W02", "20260102T0304Z"),
    *("02.01.2026", "02.01.2026 03:04", "2.1.2026 3:04:05", "02.01.2026, 03:04:05.5+01:00"),
]
ALMOST = [
    *("2026-13-01", "2026-02-30", "2026-01-02T25:00", "2026-01-02T", "2026-1-2", "02.01.26"),
    *(
        "31.02.2026",
        "01.13.2026",
        "02.01.2026 25:00",
        "02.01.2026 3",
        "02.01.2026 03:4",
        "2.01.2026.",
    ),
    *("2026-01-02Z", "2026-01-02T03:04ZZ", "2026-01-02T03:04:05.", "2026-01-02\0", "86400\0"),
    *("2026-01-0x", "0x1F", "86400s", "1_000", "\u0661", "20261302030405", "20260102250405"),
    *("2026-01-02T03:04:60", "2026-01-02T24:00", "2026-01-02 UTC", "20262-01-02", "NaT", "now"),
    *("1899-12-31", "2200-01-02", "17000000000", "nan", "inf", "-inf", "1e999", "soon", "true"),
    *(
        "today",
        "2026-01-02T03:04:05+1",
        "+",
        "-",
        "Z",
        "0x10",
        "03/04/2026",
        "10/Foo/2000:13:55:36",
    ),
    *("99999999999999999999999", "-9223372036854775808", "2026-01-02T03:04+24:00"),
]
MISSING = ["", " "]

_times = st.sampled_from([*TIMES, *ALMOST, *MISSING])
_NUMBER = re.compile("[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?", re.ASCII)


def one_time(text, *, optional):
    """What a single cell means: microseconds, `UNKNOWN_TIME`, or None where it is wrong."""
    words = text.strip()
    if not words:
        return UNKNOWN_TIME if optional else None
    try:
        if _NUMBER.fullmatch(words):
            return one_number(words)
        moment = worded_instant(words)
    except InvalidInput:
        return None
    found = microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return found if in_range(found) else None


def one_number(words):
    """The same of a number, by its size alone."""
    number = float(words) if re.search("[.eE]", words) else int(words)
    size = abs(number)
    if size == float("inf"):
        return None
    unit = 10**6 if size < 1e11 else 10**3 if size < 1e14 else 1
    found = number // 1000 if size >= 1e17 and isinstance(number, int) else round(number * unit)
    if in_range(found):
        return found
    if re.fullmatch("[0-9]{14}", words):
        try:
            found = microseconds(datetime.strptime(words, "%Y%m%d%H%M%S").replace(tzinfo=UTC))
        except ValueError:
            return None
    return found if in_range(found) else None


def in_range(found):
    moment = timedelta(microseconds=found) if abs(found) < 1e17 else timedelta.max
    return (
        datetime(1900, 1, 1, tzinfo=UTC) - EPOCH
        <= moment
        <= datetime(2200, 1, 1, tzinfo=UTC) - EPOCH
    )


def read(texts, *, optional):
    """The same of a column."""
    values, wrong = times(texts, optional=optional)
    pairs = zip(values.tolist(), wrong.tolist(), strict=True)
    return [None if is_wrong else value for value, is_wrong in pairs]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01T01:00:00Z", 3600),
        ("1970-01-01 01:00:00.5", 3600.5),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T01:00:00.123456789-0030", 5400.123456),
        ("86400", 86_400),
        ("-1.5", -1.5),
        ("1767225600", NEW_YEAR),
        ("1767225600000", NEW_YEAR),
        ("1767225600000.5", NEW_YEAR + 0.0005),
        ("1767225600000000", NEW_YEAR),
        ("1767225600000000000", NEW_YEAR),
        ("1767225600000001999", NEW_YEAR + 0.000001),
        ("2026", NEW_YEAR),
        ("2026-01", NEW_YEAR),
        ("20260101", NEW_YEAR),
        ("20260101000001", NEW_YEAR + 1),
        ("2026/01/01", NEW_YEAR),
        ("Thu, 01 Jan 2026 00:00:00 GMT", NEW_YEAR),
        ("01/Jan/2026:01:00:00 +0100", NEW_YEAR),
        ("01.01.2026", NEW_YEAR),
        ("01.01.2026 01:18", NEW_YEAR + 4680),
        ("1.1.2026, 1:18:00", NEW_YEAR + 4680),
    ],
)
def test_a_time_is_read_to_the_microsecond(text, seconds):
    """Alone, among others of its kind, and among others of any kind."""
    for column in ([text], [text] * 3, [text, "2026-01-02", ""]):
        values, wrong = times(column, optional=True)

        assert values[0] == round(seconds * 1e6)
        assert not wrong.any()


@pytest.mark.parametrize("text", ALMOST)
def test_what_is_almost_a_time_is_wrong(text):
    """Also in a column of nothing else, which is read as a whole."""
    _, wrong = times([text, text], optional=True)

    assert wrong.all()


@pytest.mark.parametrize("text", MISSING)
def test_a_missing_time_is_wrong_unless_it_may_be_missing(text):
    values, wrong = times([text, "86400"], optional=True)

    assert values.tolist() == [UNKNOWN_TIME, 86_400_000_000]
    assert not wrong.any()
    assert times([text, "86400"], optional=False)[1].tolist() == [True, False]


def test_no_times_are_none():
    values, wrong = times([], optional=False)

    assert (len(values), len(wrong)) == (0, 0)


@settings(max_examples=300)
@given(st.lists(_times, max_size=5), st.booleans())
def test_a_time_means_the_same_whatever_its_neighbours(texts, optional):
    assert read(texts, optional=optional) == [one_time(text, optional=optional) for text in texts]


@settings(max_examples=300)
@given(st.text(alphabet="0123456789-:T .+Z\0/_", max_size=28))
def test_a_column_of_anything_is_read_like_a_single_cell(text):
    """Numpy reads more than ISO 8601; what it alone understands must not get through."""
    calendar = re.fullmatch("[+-]?[0-9]{4}|[+-]?[0-9]{8}", text.strip().lstrip("0"))
    if not calendar or text.strip().endswith("."):
        assert read([text, text], optional=True) == [one_time(text, optional=True)] * 2


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)), min_size=1))  # noqa: DTZ001 - without a zone is UTC
def test_a_column_of_iso_times_is_exact(moments):
    values, wrong = times([moment.isoformat() for moment in moments], optional=False)

    exact = [microseconds(moment.replace(tzinfo=UTC)) for moment in moments]
    assert values.tolist() == exact
    assert not wrong.any()


@given(
    st.lists(
        st.datetimes(datetime(1971, 1, 1), datetime(2199, 12, 31), timezones=st.timezones()),  # noqa: DTZ001
        min_size=1,
    )
)
def test_offsets_are_taken_off(moments):
    """In every form that programs write, mixed in one column."""
    texts = [moment.isoformat(sep=" ") for moment in moments]
    short = [moment.strftime("%Y-%m-%dT%H:%M:%S.%f%z") for moment in moments]
    values, wrong = times([*texts, *short], optional=False)

    assert values.tolist() == [microseconds(moment) for moment in moments] * 2
    assert not wrong.any()


@given(st.lists(st.integers(-2_000_000_000, 7_000_000_000), min_size=1))
def test_a_column_of_epoch_seconds_is_exact(seconds):
    values, wrong = times([str(second) for second in [*seconds, 1]], optional=False)

    assert values.tolist() == [second * 1_000_000 for second in [*seconds, 1]]
    assert not wrong.any()


@given(
    st.lists(st.integers(100_000_000 * 10**6, 7_000_000_000 * 10**6), min_size=1),
    st.sampled_from([0, 3, -3]),
)
def test_numbers_of_every_unit_are_exact(instants, finer):
    """Microseconds, milliseconds with a part, nanoseconds; text, whole numbers and floats alike."""
    exact = [instant // 1000 * 1000 for instant in instants]
    scaled = [instant * 1000 if finer > 0 else instant // 10**-finer for instant in exact]
    for column in (
        times([str(number) for number in scaled], optional=False),
        epoch_times(np.array(scaled, np.int64)),
        epoch_times(np.array(scaled, np.float64)),
    ):
        assert column[0].tolist() == exact
        assert not column[1].any()


def test_numbers_of_several_units_may_be_mixed():
    """Each is read by its own size."""
    texts = ["1767225600", "1767225600000", "1767225600000000000", "5"]

    assert read(texts, optional=False) == [NEW_YEAR * 10**6] * 3 + [5_000_000]


def test_numbers_are_years_only_where_all_of_them_could_be():
    assert read(["2025", "2026"], optional=False)[1] == NEW_YEAR * 10**6
    assert read(["2025", "", "2026"], optional=True)[2] == NEW_YEAR * 10**6
    assert read(["2026", "3600"], optional=False) == [2026 * 10**6, 3600 * 10**6]
    assert epoch_times(np.array([2026.0]))[0].tolist() == [NEW_YEAR * 10**6]


def test_numbers_that_are_no_time_are_wrong():
    """Not finite, or of another millennium; the others are kept."""
    seconds = np.array([0.5, np.nan, np.inf, 1e308, -np.inf, 1.7e10, -1e10, 7e9])
    values, wrong = epoch_times(seconds)

    assert wrong.tolist() == [False, *[True] * 6, False]
    assert values[~wrong].tolist() == [500_000, 7_000_000_000_000_000]


def test_the_bounds_are_inside():
    first = (datetime(1900, 1, 1, tzinfo=UTC) - EPOCH) / timedelta(seconds=1)
    last = (datetime(2200, 1, 1, tzinfo=UTC) - EPOCH) / timedelta(seconds=1)

    _, wrong = epoch_times(np.array([first - 1, first, last, last + 1]))

    assert wrong.tolist() == [True, False, False, True]


@pytest.mark.parametrize("text", ["03/04/2026", "3.4.26 10:00", "31-12-2026"])
def test_a_date_that_could_be_two_days_is_refused_with_what_to_write(text):
    assert times([text], optional=False)[1].all()
    assert "write 2026-01-31" in time_rule(text)
    assert "write" not in time_rule("soon")


# Forms that somebody names.


@pytest.mark.parametrize(
    ("form", "cells", "expected"),
    [
        ("%d/%m/%Y %H:%M", ["03/04/2026 01:18", "13/04/2026 23:59"],
         ["04-03T01:18", "04-13T23:59"]),
        ("%m/%d/%Y %H:%M", ["3/4/2026 1:18", "12/13/2026 11:18"], ["03-04T01:18", "12-13T11:18"]),
        ("%Y%m%d%H%M", ["202604030118"], ["04-03T01:18"]),
        ("%d %b %Y, %I:%M %p", ["03 Apr 2026, 01:18 PM"], ["04-03T13:18"]),
        ("%y.%m.%d %H:%M", ["26.04.03 01:18"], ["04-03T01:18"]),
        ("%d/%m/%Y %H:%M %z", ["03/04/2026 01:18 +0200", "03/04/2026 01:18 Z"],
         ["04-02T23:18", "04-03T01:18"]),
    ],
)  # fmt: skip
def test_a_form_that_is_named_is_read(form, cells, expected):
    """Padded or not, by columns or, with names of months, one by one; as `strptime` has it."""
    zone = Zone(UTC, TimeForm.of(form))
    values, wrong = times([*cells, "", "2026-04-03"], optional=True, zone=zone)

    found = np.datetime_as_string(values[: len(cells)].view("datetime64[us]"), unit="m").tolist()
    assert found == [f"2026-{each}" for each in expected]
    assert wrong.tolist() == [False] * (len(cells) + 1) + [True]
    assert "--time-format" in time_rule("2026-04-03", zone)


@pytest.mark.parametrize(
    "form", ["", "%d/%m", "%H:%M", "%Y", "%Q", "%", "%d%d%Y%m", "x" * 200, "%d/%m/%Y %"]
)
def test_a_form_must_tell_the_day(form):
    with pytest.raises(InvalidParameter, match="time-format must tell year, month and day"):
        TimeForm.of(form)


@given(st.lists(st.datetimes(datetime(1901, 1, 1), datetime(2199, 1, 1)), min_size=1, max_size=5))  # noqa: DTZ001
def test_columns_of_a_form_are_read_as_strptime_reads_cells(moments):
    form = "%d/%m/%Y %H:%M:%S.%f"
    cells = [moment.strftime(form).replace("/0", "/") for moment in moments]
    values, _ = times(cells, optional=False, zone=Zone(UTC, TimeForm.of(form)))

    expected = [datetime.strptime(cell, form).replace(tzinfo=UTC) for cell in cells]
    assert values.tolist() == [microseconds(moment) for moment in expected]


# Times without an offset.


@settings(max_examples=50)
@given(
    st.lists(st.datetimes(datetime(1920, 1, 1), datetime(2180, 1, 1)), min_size=1, max_size=4),  # noqa: DTZ001
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
def test_naive_times_are_of_their_zone(moments, name):
    """As Python has it, whose `fold` is 0; also an hour that is shown twice or never."""
    info = ZoneInfo(name)
    texts = [moment.isoformat() for moment in moments]
    values, wrong = times(texts, optional=False, zone=Zone(info))

    assert values.tolist() == [microseconds(moment.replace(tzinfo=info)) for moment in moments]
    assert not wrong.any()


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-29 01:59:59", "2026-03-29T00:59:59"),
        ("2026-03-29 02:30:00", "2026-03-29T01:30:00"),  # skipped: as if the clock were not changed
        ("2026-03-29 03:00:00", "2026-03-29T01:00:00"),
        ("2026-10-25 02:30:00", "2026-10-25T00:30:00"),  # shown twice: the first
        ("2026-10-25 03:00:00", "2026-10-25T02:00:00"),
        ("2026-07-01", "2026-06-30T22:00:00"),
        ("20260701000000", "2026-06-30T22:00:00"),
        ("2026-07-01T00:00:00Z", "2026-07-01T00:00:00"),
        ("1782864000", "2026-07-01T00:00:00"),
        ("Wed, 01 Jul 2026 00:00:00 GMT", "2026-07-01T00:00:00"),
    ],
)
def test_the_hours_at_which_clocks_change(text, utc):
    values, _ = times([text], optional=False, zone=Zone(ZoneInfo("Europe/Berlin")))

    assert str(values.view("datetime64[us]").astype("datetime64[s]")[0]) == utc


def test_a_zone_remembers_that_utc_was_assumed():
    """For a time of day; of a day, a number and what has an offset there is nothing to say."""
    for text in ("2026-01-01", "2026", "1767225600", "2026-01-01T00:00:00Z", "2026-01-01 00:00+01"):
        zone = Zone()
        times([text], optional=False, zone=zone)
        assert not zone.assumed, text
    zone = Zone()
    times(["2026-01-01 10:00"], optional=False, zone=zone)
    assert zone.assumed
    said = Zone(UTC)
    times(["2026-01-01 10:00"], optional=False, zone=said)
    assert not said.assumed


def test_a_zone_covers_more_as_more_comes():
    zone = Zone(ZoneInfo("Europe/Berlin"))
    for year in (2026, 1980, 2100, 2026):
        values, _ = times([f"{year}-07-01 00:00:00"], optional=False, zone=zone)
        expected = microseconds(datetime(year, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")))
        assert values.tolist() == [expected]


@pytest.mark.parametrize("zone", ["Z", " Z", " UTC", " GMT", "+00:00", " +0000"])
def test_a_column_of_one_form_is_read_at_once(monkeypatch, zone):
    """Cell by cell costs thirty times as much."""
    monkeypatch.delattr("recrawl.parse.times._one_by_one")
    cells = [f"2026-01-01 00:00:0{second}{zone}" for second in range(10)]

    values, wrong = times(cells, optional=False)

    assert ((values - values[0]) / 1e6).tolist() == list(range(10))
    assert not wrong.any()
