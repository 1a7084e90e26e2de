"""Dates of headers, feeds and sitemaps, as epoch seconds; None for what is not a date.

    http_date   Sun, 06 Nov 1994 08:49:37 GMT      headers; and two older forms
    mail_date   Sun, 6 Nov 94 08:49 EST            RSS
    w3c_date    1994-11-06T08:49:37.5+01:00        sitemaps, Atom; or less of it

Years before 1900 and after 2200 are mistakes. The name of the weekday is not looked at: it says
nothing new, and where it contradicts the date nobody knows which is wrong.

Pure.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from recrawl.units import EARLIEST, LATEST

_PIVOT = 69  # as in POSIX: 68 is 2068, 69 is 1969
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_HOURS_OF_ZONE = {
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7
}  # fmt: skip
_MONTH = f"(?P<month>{_MONTHS.replace(' ', '|')})"
_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_HTTP_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_CLOCK} (?:gmt|utc)",
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_CLOCK} (?:gmt|utc)",
        rf"[a-z]{{3}} {_MONTH} (?P<day>[ 0-9][0-9]) {_CLOCK} (?P<year>[0-9]{{4}})",
    )
)
_MAIL_FORM = re.compile(
    rf"""(?:[a-z]{{3,9}},?\s+)? (?P<day>[0-9]{{1,2}}) [\s-]+ {_MONTH}[a-z]* [\s-]+
    (?P<year>[0-9]{{4}}|[0-9]{{2}}) (?:\s+
    (?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}}) (?::(?P<second>[0-9]{{2}}))?
    (?:\s* (?P<zone>[a-z]+|[+-][0-9]{{2}}:?[0-9]{{2}}) )? )?""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_W3C_FORM = re.compile(
    r"""(?P<year>[0-9]{4}) (?:-(?P<month>[0-9]{2}) (?:-(?P<day>[0-9]{2}) (?:[T\ ]
    (?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}) (?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?
    \s* (?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})? )? )? )?""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)


@lru_cache(maxsize=4096)  # pages of a site share dates, and a page keeps its own
def http_date(text: str) -> float | None:
    """Epoch seconds of a date in a header, in any of the three forms of RFC 9110.

    >>> http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777.0
    >>> http_date("Sunday, 06-Nov-94 08:49:37 GMT") == http_date("Sun Nov  6 08:49:37 1994")
    True
    >>> http_date("0") is None
    True
    """
    text = text.strip()
    for form in _HTTP_FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return _epoch_seconds(match.groupdict())
    return None


def mail_date(text: str) -> float | None:
    """Epoch seconds of a date as in mail (RFC 822), which RSS took over; UTC without a zone.

    >>> mail_date("6 Nov 94 03:49 EST") == http_date("Sun, 06 Nov 1994 08:49:00 GMT")
    True
    """
    match = _MAIL_FORM.fullmatch(text.strip())
    return None if match is None else _epoch_seconds(match.groupdict())


def w3c_date(text: str) -> float | None:
    """Epoch seconds of a date as in sitemaps: from a year to parts of a second, UTC without a zone.

    >>> w3c_date("1970-01-02"), w3c_date("1970-01-01T01:00:00.5+01:00"), w3c_date("1970-13")
    (86400.0, 0.5, None)
    """
    match = _W3C_FORM.fullmatch(text.strip())
    return None if match is None else _epoch_seconds(match.groupdict())


def _epoch_seconds(found: dict[str, str | None]) -> float | None:
    """Epoch seconds of the parts of a date; what is missing is the first or zero."""
    month, year = found["month"] or "1", found["year"] or ""
    second = int(found["second"] or 0)
    try:
        moment = datetime(
            _whole_year(year),
            int(month) if month.isdigit() else 1 + _MONTHS.index(month.lower()) // 4,
            int(found["day"] or 1),
            int(found["hour"] or 0),
            int(found["minute"] or 0),
            min(second, 59) if second <= 60 else second,  # noqa: PLR2004 - 60 is a leap second
            tzinfo=UTC,
        )
        moment += timedelta(seconds=second // 60) - _offset(found.get("zone"))
    except (ValueError, OverflowError):
        return None
    if not EARLIEST <= moment <= LATEST:
        return None
    return moment.timestamp() + float(f"0.{found.get('part') or 0}")


def _whole_year(text: str) -> int:
    year = int(text)
    if len(text) > 2:  # noqa: PLR2004 - the two figures of old forms
        return year
    return year + (1900 if year >= _PIVOT else 2000)


def _offset(zone: str | None) -> timedelta:
    """How far a zone's clock is ahead; letters that nobody agrees on count as UTC."""
    if zone is None or zone[0] not in "+-":
        return timedelta(hours=_HOURS_OF_ZONE.get((zone or "").lower(), 0))
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - the last hour and minute
        raise ValueError(zone)
    ahead = timedelta(hours=hours, minutes=minutes)
    return ahead if zone[0] == "+" else -ahead
