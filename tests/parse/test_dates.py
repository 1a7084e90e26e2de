"""Dates of the web; the oracles are the mail and ISO readers of the standard library."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.dates import http_date, mail_date, w3c_date

NOVEMBER = 784_111_777.0  # the example of RFC 9110

_moments = st.datetimes(
    datetime(1900, 1, 2),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2199, 12, 30),  # noqa: DTZ001 - likewise
    timezones=st.just(UTC),
).map(lambda moment: moment.replace(microsecond=0))
_zones = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "  sun, 06 nov 1994 08:49:37 gmt ",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Mon, 06 Nov 1994 08:49:37 GMT",
    ],
)
def test_headers_have_three_forms(text):
    assert http_date(text) == NOVEMBER


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "now",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 0001 08:49:37 GMT",
        "Sun, 06 Nov 9999 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "x" * 1_000_000,
    ],
)
def test_all_else_is_no_date_of_a_header(text):
    assert http_date(text) is None


def test_years_of_two_figures_turn_at_69():
    assert (
        http_date("Sunday, 06-Nov-68 00:00:00 GMT") == datetime(2068, 11, 6, tzinfo=UTC).timestamp()
    )
    assert (
        http_date("Sunday, 06-Nov-69 00:00:00 GMT") == datetime(1969, 11, 6, tzinfo=UTC).timestamp()
    )


def test_a_leap_second_is_the_next_second():
    leap = http_date("Sat, 31 Dec 2016 23:59:60 GMT")

    assert leap == http_date("Sun, 01 Jan 2017 00:00:00 GMT")


@given(_moments)
def test_dates_of_headers_come_back(moment):
    text = format_datetime(moment, usegmt=True)

    assert http_date(text) == moment.timestamp() == parsedate_to_datetime(text).timestamp()
    assert http_date(moment.strftime("%a %b %e %H:%M:%S %Y")) == moment.timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", NOVEMBER),
        ("6 Nov 94 08:49:37 Z", NOVEMBER),
        ("Sun, 6 Nov 1994 03:49:37 EST", NOVEMBER),
        ("Sun, 6 Nov 1994 09:49:37 +0100", NOVEMBER),
        ("Sun, 6 Nov 1994 09:49:37 +01:00", NOVEMBER),
        ("Sunday, 6 November 1994 08:49:37", NOVEMBER),
        ("6 Nov 1994 08:49 UT", NOVEMBER - 37),
        ("06-Nov-1994", NOVEMBER - 31_777),
    ],
)
def test_feeds_write_dates_in_many_ways(text, seconds):
    assert mail_date(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "Nov", "6 Nov", "6 Foo 1994", "32 Nov 1994", "6 Nov 1994 08:49 +2500", "6 Nov 994"]
)
def test_what_is_no_date_of_mail(text):
    assert mail_date(text) is None


@given(_moments, _zones)
def test_dates_of_mail_come_back(moment, zone):
    text = format_datetime(moment.astimezone(zone))

    assert mail_date(text) == moment.timestamp() == parsedate_to_datetime(text).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0.0),
        ("1970-02", 31 * 86400.0),
        ("1970-01-02", 86400.0),
        ("1970-01-01T00:01Z", 60.0),
        ("1970-01-01T00:01:01Z", 61.0),
        ("1970-01-01t00:00:00.25z", 0.25),
        ("1970-01-01T00:00:00.1234567890123Z", 0.1234567890123),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T01:00:00+0100", 0.0),
        ("1969-12-31T20:30:00-03:30", 0.0),
        ("1970-01-01 00:00:05", 5.0),
        ("\n 1970-01-01 \t", 0.0),
    ],
)
def test_sitemaps_write_as_much_of_a_date_as_they_know(text, seconds):
    assert w3c_date(text) == pytest.approx(seconds, abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "70",
        "1970-1-1",
        "1970-00",
        "1970-13",
        "1970-02-30",
        "1970-01-01T",
        "1970-01-01T24:00Z",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+00:60",
        "0000-01-01",
        "1899-12-31",
        "2200-01-02",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59",
        "daily",
        "١٩٧٠",
    ],
)
def test_what_is_no_date_of_a_sitemap(text):
    assert w3c_date(text) is None


@given(_moments, _zones, st.integers(0, 999_999))
def test_dates_in_iso_come_back(moment, zone, microsecond):
    moment = moment.replace(microsecond=microsecond).astimezone(zone)

    assert w3c_date(moment.isoformat()) == pytest.approx(moment.timestamp(), abs=2e-6)


@given(st.text() | st.text(alphabet="0123456789-:+TZ. SunNov,GMT"))
def test_any_text_is_a_date_or_none(text):
    for read in (http_date, mail_date, w3c_date):
        assert read(text) is None or isinstance(read(text), float)
