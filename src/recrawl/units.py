"""Days, rates and instants: the only module that knows how long a day is.

Everywhere else a duration is a float of days and a rate is per day. Instants are UTC:
`datetime64[us]` in arrays, aware `datetime` singly, epoch seconds in stores. People write
durations as `90s 30m 6h 3d 2w 1y` and instants as ISO 8601 or epoch numbers; both are read here.

Pure.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from recrawl.errors import InvalidDuration, InvalidInstant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SECONDS_A_DAY = 86_400.0
MICROSECONDS_A_DAY = 86_400_000_000.0

_DAYS_A_YEAR = 365.25
_DAYS_IN = {
    "s": 1 / SECONDS_A_DAY,
    "m": 60 / SECONDS_A_DAY,
    "h": 1 / 24,
    "d": 1.0,
    "w": 7.0,
    "y": _DAYS_A_YEAR,
}
_UNIT_NAMES = {
    **{unit: unit for unit in _DAYS_IN},
    "second": "s",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
    "year": "y",
}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdwy])")
_YEARS_FROM = 52 * _DAYS_IN["w"]  # shorter spans are told in weeks
_MOST_YEARS = 100
_TWO_FIGURES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Years outside of which a time is far more often something else.
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
EARLIEST_MICROSECONDS = (EARLIEST - _EPOCH) // timedelta(microseconds=1)
LATEST_MICROSECONDS = (LATEST - _EPOCH) // timedelta(microseconds=1)

# Sizes from which an epoch number is of a finer unit: each is of 1973 in it, and of 5138 before.
MILLISECONDS_FROM = 10**11
MICROSECONDS_FROM = 10**14
NANOSECONDS_FROM = 10**17

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")
_CALENDAR = re.compile(r"(?:19|20|21)\d\d(?:[01]\d[0-3]\d(?:[0-2]\d[0-5]\d[0-5]\d)?)?|2200")
_FEWEST_DIGITS = 9  # of epoch seconds from 1973 on
_APACHE = re.compile(r"\[?(\d{1,2})/([A-Za-z]{3})/(\d{4}):(\d\d:\d\d:\d\d)(?: ([+-]\d{4}))?\]?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:(?:[Tt ]|, ?)(\d{1,2})(?=:))?", re.ASCII)
_BLANK_BEFORE_ZONE = re.compile(r" (Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)$", re.IGNORECASE)


def days(text: str) -> float:
    """Days in a duration such as `90s`, `30m`, `6h`, `3d`, `2w` or `1y`.

    >>> days("6h")
    0.25
    >>> days("2w")
    14.0
    """
    match = _DURATION.fullmatch(text.strip())
    if match is not None and float(match[1]) == 0:
        raise InvalidDuration(f"duration must be above 0 (got {text!r})")
    if match is None or float(match[1]) == math.inf:
        message = f"duration must look like 90s, 30m, 6h, 3d, 2w or 1y (got {text!r})"
        raise InvalidDuration(message)
    return float(match[1]) * _DAYS_IN[match[2]]


def period(text: str) -> float:
    """Days that something is counted over: a duration, or a unit alone for one of it.

    >>> [period("12h"), period("d"), period("week")]
    [0.5, 1.0, 7.0]
    """
    unit = _UNIT_NAMES.get(text.strip())
    return days(text) if unit is None else _DAYS_IN[unit]


def duration(of_days: float) -> str:
    """Days as a person writes them, two or three figures in the unit that fits.

    >>> [duration(0.25), duration(1.5), duration(0.0005), duration(400), duration(1e6)]
    ['6.0h', '1.5d', '43s', '1.1y', '>100y']
    """
    if not math.isfinite(of_days):
        return "never"
    years = of_days / _DAYS_A_YEAR
    if years >= _MOST_YEARS:
        return f">{_MOST_YEARS}y"
    if of_days >= _YEARS_FROM:
        return _figures(years) + "y"
    for unit in ("w", "d", "h", "m"):
        amount = of_days / _DAYS_IN[unit]
        if amount >= (2 if unit == "w" else 1):
            return _figures(amount) + unit
    return f"{of_days * SECONDS_A_DAY:.0f}s"


def _figures(amount: float) -> str:
    return f"{amount:.1f}" if amount < _TWO_FIGURES else f"{amount:.0f}"


def instant(text: str) -> datetime:
    """UTC instant as a person writes one: ISO 8601, a bare year, an epoch number, a date of HTTP.

    UTC where no offset is given. A number of fewer than nine digits is no epoch number: `2026` is
    a year, `20260131` a day, and `86400` is refused, for nobody means 1970.

    >>> instant("2026-01-02T03:04:05+01:00").isoformat()
    '2026-01-02T02:04:05+00:00'
    >>> instant("2026").isoformat(), instant("1767225600000").isoformat()
    ('2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00')
    >>> instant("Fri, 02 Jan 1970 00:00:00 GMT").isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    words = text.strip()
    if _CALENDAR.fullmatch(words) or not _NUMBER.fullmatch(words):
        moment = worded_instant(words)
    elif len(words.partition(".")[0].lstrip("+-")) >= _FEWEST_DIGITS:
        moment = _from_epoch(float(words))
    else:
        example = "write 2026-01-31, or epoch seconds of nine digits or more"
        raise InvalidInstant(f"time must be in ISO 8601: {example} (got {words!r})")
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if not EARLIEST <= moment <= LATEST:
        message = f"time must be between 1900 and 2200 (got {words!r})"
        raise InvalidInstant(message)
    return moment


def worded_instant(text: str) -> datetime:
    """Instant that is no number: in UTC where the text has an offset, else naive.

    ISO 8601, also cut short (`2026`, `2026-01`); with slashes or blanks as programs write it; with
    dots, the day first; as HTTP writes it, or Apache.

    >>> [str(worded_instant(text)) for text in ("2026-01", "2026/01/31 08:00:00 +0100")]
    ['2026-01-01 00:00:00', '2026-01-31 07:00:00+00:00']
    >>> str(worded_instant("31.1.2026 8:05"))
    '2026-01-31 08:05:00'
    >>> str(worded_instant("10/Oct/2000:13:55:36 -0700"))
    '2000-10-10 20:55:36+00:00'
    """
    words = text.strip()
    try:
        if words[:1].isalpha():
            moment = parsedate_to_datetime(words)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        moment = datetime.fromisoformat(_as_iso(words))
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"time must be ISO 8601 or an epoch number (got {words!r})"
        raise InvalidInstant(message) from None


def _as_iso(words: str) -> str:
    """A time in the form that Python reads."""
    if found := _APACHE.fullmatch(words):
        day, month, year, clock, offset = found.groups()
        number = 1 + _MONTHS.index(month.lower())  # raises what the caller catches
        return f"{year}-{number:02}-{int(day):02}T{clock}{offset or ''}"
    if re.fullmatch(r"\d{4}-\d\d|\d{4}", words):
        return words + "-01-01"[len(words) - 4 :]
    if re.fullmatch(r"\d{14}", words):
        return f"{words[:8]}T{words[8:]}"
    if re.match(r"\d{4}/\d\d/\d\d", words):
        words = words.replace("/", "-", 2)
    if found := _DOTTED.match(words):
        day, month, year, hour = found.groups()
        clock = f"T{int(hour):02}{words[found.end() :]}" if hour else words[found.end() :]
        words = f"{year}-{int(month):02}-{int(day):02}{clock}"
    words = _BLANK_BEFORE_ZONE.sub(
        lambda found: found[1].replace("UTC", "Z").replace("GMT", "Z"), words
    )
    return words.upper()


@lru_cache(maxsize=4096)
def http_text(seconds: float) -> str:
    """Epoch seconds as HTTP writes a date.

    >>> http_text(86400)
    'Fri, 02 Jan 1970 00:00:00 GMT'
    """
    return formatdate(seconds, usegmt=True)


def utc_text(seconds: float) -> str:
    """Epoch seconds for people, in UTC, to the second.

    >>> utc_text(86400.9)
    '1970-01-02 00:00:00'
    """
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S")


def _from_epoch(number: float) -> datetime:
    """Instant of an epoch number, whose size tells its unit."""
    size, seconds = abs(number), number
    for most, unit in ((NANOSECONDS_FROM, 1e9), (MICROSECONDS_FROM, 1e6), (MILLISECONDS_FROM, 1e3)):
        if size >= most:
            seconds = number / unit
            break
    try:
        return _EPOCH + timedelta(microseconds=round(seconds * 1e6))
    except (OverflowError, ValueError):
        message = f"time must be ISO 8601 or a finite epoch number (got {number})"
        raise InvalidInstant(message) from None


def microseconds(moment: datetime) -> int:
    """Whole microseconds from 1970 to an aware instant, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def days_between(
    earlier: npt.NDArray[np.datetime64], later: npt.NDArray[np.datetime64] | np.datetime64
) -> npt.NDArray[np.float64]:
    """Days from each of `earlier` to `later`; nan where either is unknown (NaT).

    >>> import numpy as np
    >>> noon = np.array(["2026-01-01T12:00"], "datetime64[us]")
    >>> days_between(noon, noon + np.timedelta64(6, "h"))
    array([0.25])
    """
    import numpy as np  # here, so that reading durations does not load it

    elapsed = (later - earlier).astype("timedelta64[us]")
    whole = elapsed.astype(np.int64).astype(np.float64)
    return np.where(np.isnat(elapsed), np.nan, whole / MICROSECONDS_A_DAY)


def epoch_days(instants: npt.NDArray[np.datetime64] | np.datetime64) -> npt.NDArray[np.float64]:
    """Days from 1970 to each instant; nan where it is unknown (NaT).

    >>> import numpy as np
    >>> epoch_days(np.array(["1970-01-02T12:00", "NaT"], "datetime64[us]"))
    array([1.5, nan])
    """
    import numpy as np  # here, so that reading durations does not load it

    moments = np.asarray(instants, "datetime64[us]")
    whole = moments.view(np.int64).astype(np.float64)
    whole /= MICROSECONDS_A_DAY
    whole[np.isnat(moments)] = np.nan
    return whole


def instant_after_epoch(day: float) -> np.datetime64:
    """The instant some days after 1970; NaT where that is infinite or unknown.

    >>> instant_after_epoch(1.5)
    np.datetime64('1970-01-02T12:00:00.000000')
    """
    import numpy as np  # here, so that reading durations does not load it

    # Years from 1900 to 2200 are all that we read; far beyond them counts as never.
    if not abs(day) < LATEST_MICROSECONDS / MICROSECONDS_A_DAY:
        return np.datetime64("NaT", "us")
    return np.datetime64(round(day * MICROSECONDS_A_DAY), "us")


def instants_after_epoch(days_after: npt.NDArray[np.float64]) -> npt.NDArray[np.datetime64]:
    """Instants some days after 1970, each as `instant_after_epoch` has it.

    >>> import numpy as np
    >>> instants_after_epoch(np.array([1.5, np.inf]))
    array(['1970-01-02T12:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    import numpy as np  # here, so that reading durations does not load it

    known = np.abs(days_after) < LATEST_MICROSECONDS / MICROSECONDS_A_DAY
    whole = np.rint(np.where(known, days_after, 0.0) * MICROSECONDS_A_DAY).astype(np.int64)
    return np.where(known, whole.view("datetime64[us]"), np.datetime64("NaT", "us"))
