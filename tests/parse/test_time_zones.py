"""The hour that clocks show twice, told apart by the order of rows; pandas as the oracle."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.time_zones import RepeatedHours, Zone
from recrawl.parse.times import times

BERLIN = "Europe/Berlin"
NIGHT = datetime(2025, 10, 25, 22, tzinfo=UTC)  # midnight in Berlin, four hours before the change


def settled(rows, name=BERLIN, cut=None):
    """Instants of (page, text) rows in UTC, and the zone that counted; in two batches if cut."""
    zone = Zone(ZoneInfo(name))
    hours, found = RepeatedHours(zone), []
    for some in [rows] if cut is None else [rows[:cut], rows[cut:]]:
        found += _settled(hours, zone, some)
    return [str(np.datetime64(each, "us").astype("datetime64[s]")) for each in found], zone


def _settled(hours, zone, rows):
    def again(some, zone):
        return times([rows[row][1] for row in some.tolist()], optional=True, zone=zone)[0]

    def pages(some):
        return [rows[row][0] for row in some.tolist()]

    at, _ = times([text for _, text in rows], optional=False, zone=zone)
    return hours.settle(at, again, pages).tolist()


def shown(instant, name=BERLIN):
    """What a clock shows."""
    return instant.astimezone(ZoneInfo(name)).strftime("%Y-%m-%d %H:%M:%S")


def utc(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%S")


def crawl(pages, minutes, start=NIGHT, count=6):
    """Pages visited again and again, one after the other, in the order of time."""
    rows = [
        (page, start + timedelta(hours=hour, minutes=minutes * place))
        for hour in range(count)
        for place, page in enumerate(pages)
    ]
    return sorted(rows, key=lambda row: row[1])


@pytest.mark.parametrize("minutes", [0, 1, 7, 19])
@pytest.mark.parametrize("order", ["time", "page"])
@pytest.mark.parametrize("cut", [None, 5, 8])
def test_every_hour_of_an_hourly_crawl_stays_an_hour(minutes, order, cut):
    """Three pages, visited at the same minute or after one another, sorted either way."""
    rows = crawl("abc", minutes)
    if order == "page":
        rows.sort(key=lambda row: row[0])

    found, zone = settled([(page, shown(at)) for page, at in rows], cut=cut)

    assert found == [utc(at) for _, at in rows]
    assert zone.first_hour == zone.second_hour == 3


@pytest.mark.parametrize("name", [BERLIN, "America/New_York", "Australia/Lord_Howe"])
@given(steps=st.lists(st.integers(1, 45), min_size=1, max_size=60))
def test_one_page_is_read_as_pandas_infers_it(name, steps):
    """Where it can: it refuses nights whose order tells nothing."""
    starts = {BERLIN: NIGHT, "America/New_York": datetime(2025, 11, 2, 4, tzinfo=UTC)}
    start = starts.get(name, datetime(2025, 4, 5, 13, tzinfo=UTC))
    instants = [start + timedelta(minutes=sum(steps[: end + 1])) for end in range(len(steps))]
    texts = [shown(instant, name) for instant in instants]
    try:
        expected = pd.DatetimeIndex(texts).tz_localize(name, ambiguous="infer").tz_convert("UTC")
    except ValueError:  # of pandas and of pytz alike
        return

    assert settled([("/a", text) for text in texts], name)[0] == [utc(each) for each in expected]


def test_a_busy_log_in_which_rows_are_there_twice_is_read_by_its_order():
    """Two clients ask for one page in one second: none of them is of the next hour."""
    rows = [("/a", NIGHT + timedelta(seconds=30 * step)) for step in range(8 * 60)]
    rows += rows[200:220]
    rows.sort(key=lambda row: row[1])

    found, _ = settled([(page, shown(at)) for page, at in rows])

    assert found == [utc(at) for _, at in rows]


def test_rows_that_come_late_by_seconds_are_of_their_hour():
    late = [3, 1, 2, 0, 5, 4]
    rows = [(f"/{second}", NIGHT + timedelta(hours=2, seconds=second)) for second in late]

    assert settled([(page, shown(at)) for page, at in rows])[0] == [utc(at) for _, at in rows]


def test_times_with_an_offset_are_in_no_doubt():
    rows = [
        ("/a", "2025-10-26T02:15:00+02:00"),
        ("/a", "2025-10-26T00:15:00Z"),
        ("/a", "1761437700"),
    ]

    found, zone = settled(rows)

    assert found == ["2025-10-26T00:15:00"] * 3
    assert (zone.first_hour, zone.second_hour, zone.skipped_hour) == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "night", "utc"),
    [(BERLIN, "2025-03-30 02:15", "01:15"), ("Europe/London", "2025-03-30 01:15", "01:15")],
)
def test_an_hour_that_was_skipped_is_counted(name, night, utc):
    after = night.replace("02:", "03:").replace("01:15", "02:15")

    found, zone = settled([("/a", night), ("/b", after)], name)

    assert found == [f"2025-03-30T{utc}:00"] * 2
    assert (zone.skipped_hour, zone.first_hour) == (1, 0)


def test_what_was_counted_is_forgotten_before_a_file_is_read_again():
    _, zone = settled([("/a", "2025-03-30 02:15"), ("/a", "2025-10-26 02:15")])
    assert (zone.skipped_hour, zone.first_hour) == (1, 1)

    zone.begin()

    assert (zone.skipped_hour, zone.first_hour, zone.second_hour) == (0, 0, 0)
