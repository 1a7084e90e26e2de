"""Columns of times: texts and numbers in, microseconds since 1970 and a flag per wrong cell out.

Whole columns are read at once where cells have the usual forms, and one by one where some do not.
What a number means is told by its size:

    up to 11 digits    epoch seconds, if they lie between 1900 and 2200
    12 to 14           milliseconds; 14 that read as YYYYMMDDHHMMSS are that
    15 to 17           microseconds
    more               nanoseconds

Only where all numbers of a column lie between 1900 and 2200 are they years, and only where all
read as YYYYMMDD are they days: nobody's log is of an hour or of a summer in 1970.

Pure.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidInput
from recrawl.units import (
    EARLIEST,
    EARLIEST_MICROSECONDS,
    LATEST,
    LATEST_MICROSECONDS,
    MICROSECONDS_FROM,
    MILLISECONDS_FROM,
    NANOSECONDS_FROM,
    microseconds,
    worded_instant,
)
from recrawl.visits.rows import UNKNOWN_TIME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from recrawl.arrays.types import Bools, Floats, Ints

TIME_RULE = "must be a time in ISO 8601 or an epoch number, from 1900 to 2200"
_SLASHED = re.compile(r"\s*\d{1,2}([/.-])\d{1,2}\1\d{2,4}\b.*")
_SLASHED_RULE = "must be a time in ISO 8601, for day and month could be swapped: write 2026-01-31"

_SECOND, _DAY_SECONDS = 1_000_000, 86_400
_DAY = _DAY_SECONDS * _SECOND
_STEP = 5  # days; no clock was ever changed twice in fewer, in a law that lasted
_NUMBER = re.compile(r"\s*[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\s*", re.ASCII)
_ISO = re.compile(
    r"(\d{4})([-/])(\d\d)\2(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(?:([Zz])|[+-](\d\d):?(\d\d)?))?)?",
    re.ASCII,
)
_ZERO = ord("0")
_MICROSECOND_DIGITS = 6
_EXACT = 2.0**53  # whole floats below it are what was written


class Zone:
    """How times without an offset are read.

    An hour that a clock shows twice, when summer time ends, is taken for the first of the two; one
    that it skips is taken as if the clock had not been changed yet, as Python has it.

    Args:
        info: Their time zone; None for UTC where nobody said so.

    Attributes:
        assumed: Whether a time was taken for UTC though nobody said so.
    """

    def __init__(self, info: tzinfo | None = None) -> None:
        self.assumed = False
        self._info = info
        self._span = (0, 0)
        self._edges: Ints = np.empty(0, np.int64)
        self._offsets: Ints = np.zeros(1, np.int64)

    def utc(self, local: Ints, *, days: bool = False) -> Ints:
        """Instants in UTC of what a clock showed, both in microseconds since 1970.

        Args:
            local: What the clock showed.
            days: Whether that is a day without a time, of which nobody knows the hour anyway.
        """
        if not len(local):
            return local
        if self._info is None:
            self.assumed |= not days
            return local
        self._cover(int(local.min()), int(local.max()), self._info)
        return local - self._offsets[np.searchsorted(self._edges, local, side="right")]

    def _cover(self, first: int, last: int, info: tzinfo) -> None:
        """Find out when the offset changes between two instants, give or take two days."""
        first = max(first, EARLIEST_MICROSECONDS) // _DAY - 2
        last = min(last, LATEST_MICROSECONDS) // _DAY + 2
        if self._span[0] <= first and last <= self._span[1] and self._span != (0, 0):
            return
        if self._span != (0, 0):
            first, last = min(first, self._span[0]), max(last, self._span[1])
        edges, offsets = [], [_offset(info, first * _DAY_SECONDS)]
        for day in range(first, last, _STEP):
            start, end = day * _DAY_SECONDS, (day + _STEP) * _DAY_SECONDS
            before, after = offsets[-1], _offset(info, end)
            if before == after:
                continue
            while end - start > 1:
                middle = (start + end) // 2
                start, end = (middle, end) if _offset(info, middle) == before else (start, middle)
            # The old offset holds until the clock has shown all that it shows under either.
            edges.append(end * _SECOND + max(before, after))
            offsets.append(after)
        self._span = (first, last)
        self._edges, self._offsets = np.array(edges, np.int64), np.array(offsets, np.int64)


def _offset(info: tzinfo, seconds: int) -> int:
    """Microseconds that clocks are ahead of UTC at an instant."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    found = moment.astimezone(info).utcoffset()
    return 0 if found is None else found // timedelta(microseconds=1)


def time_rule(text: str) -> str:
    """What a time must be, for a cell that is none.

    >>> time_rule("03/04/2026")
    'must be a time in ISO 8601, for day and month could be swapped: write 2026-01-31'
    """
    return _SLASHED_RULE if _SLASHED.fullmatch(text) else TIME_RULE


def times(texts: Sequence[str], *, optional: bool, zone: Zone | None = None) -> tuple[Ints, Bools]:
    """Microseconds since 1970, and which cells are wrong; empty ones are if not `optional`.

    >>> times(["1970-01-02", "86400", "soon"], optional=False)[1]
    array([False, False,  True])
    """
    zone = zone or Zone()
    for read in (_number_column, _iso_column):
        found = read(texts, zone)
        if found is not None:
            return found
    some = np.array([bool(text.strip()) for text in texts], np.bool_)
    if some.all():
        return _one_by_one(texts, zone)
    values, wrong = np.full(len(texts), UNKNOWN_TIME, np.int64), np.full(len(texts), not optional)
    rows = np.flatnonzero(some)
    if len(rows):
        filled = [texts[row] for row in rows.tolist()]
        values[rows], wrong[rows] = times(filled, optional=optional, zone=zone)
    return values, wrong


def _number_column(texts: Sequence[str], zone: Zone) -> tuple[Ints, Bools] | None:
    """All cells as numbers, or None where some are something else."""
    if not texts or _NUMBER.fullmatch(texts[0]) is None:
        return None
    together = "".join(texts)
    if "_" in together or not together.isascii():  # which numbers in Python may have
        return None
    try:
        return _whole_times(np.array(texts, np.int64), zone)
    except (ValueError, OverflowError):
        pass
    try:
        return epoch_times(np.array(texts, np.float64), zone)
    except ValueError:
        return None


def epoch_times(numbers: Ints | Floats, zone: Zone | None = None) -> tuple[Ints, Bools]:
    """Microseconds since 1970 from numbers of any of the kinds above, and which are none."""
    zone = zone or Zone()
    if numbers.dtype.kind == "i":
        return _whole_times(numbers.astype(np.int64), zone)
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is wrong, too
        size = np.abs(numbers)
        if (size < _EXACT).all() and (numbers == np.rint(numbers)).all():
            return _whole_times(numbers.astype(np.int64), zone)
        unit = np.select(
            [size < MILLISECONDS_FROM, size < MICROSECONDS_FROM, size < NANOSECONDS_FROM],
            [1e6, 1e3, 1.0],
            1e-3,
        )
        scaled = np.rint(numbers * unit)
        wrong = ~((scaled >= EARLIEST_MICROSECONDS) & (scaled <= LATEST_MICROSECONDS))
        values = np.where(wrong, 0, scaled).astype(np.int64)
        compact = np.where((size < _EXACT) & (numbers == np.rint(numbers)), numbers, 0)
    _read_compact(compact.astype(np.int64), values, wrong, zone)
    return values, wrong


def _whole_times(numbers: Ints, zone: Zone) -> tuple[Ints, Bools]:
    if len(numbers):
        calendar = _years(numbers)
        calendar = _calendar_days(numbers) if calendar is None else calendar
        if calendar is not None:
            return zone.utc(calendar, days=True), np.zeros(len(numbers), np.bool_)
    size = np.abs(numbers)
    values = np.where(size < MILLISECONDS_FROM, numbers, 0) * _SECOND
    values += np.where((size >= MILLISECONDS_FROM) & (size < MICROSECONDS_FROM), numbers, 0) * 1000
    values += np.where((size >= MICROSECONDS_FROM) & (size < NANOSECONDS_FROM), numbers, 0)
    values += np.where(size >= NANOSECONDS_FROM, numbers // 1000, 0)
    wrong = _out_of_range(values) | (size < 0)  # the smallest integer has no other sign
    if wrong.any():
        values[wrong] = 0
        _read_compact(numbers, values, wrong, zone)
    return values, wrong


def _out_of_range(values: Ints) -> Bools:
    wrong: Bools = (values < EARLIEST_MICROSECONDS) | (values > LATEST_MICROSECONDS)
    return wrong


def _years(numbers: Ints) -> Ints | None:
    """Beginnings of years, where all numbers are years."""
    if not (EARLIEST.year <= int(numbers.min()) and int(numbers.max()) <= LATEST.year):
        return None
    return _days_of(numbers, np.ones_like(numbers), np.ones_like(numbers))[0] * _DAY


def _calendar_days(numbers: Ints) -> Ints | None:
    """Beginnings of days, where all numbers are days as YYYYMMDD."""
    low, high = EARLIEST.year * 10_000, LATEST.year * 10_000 + 1231
    if not (low <= int(numbers.min()) and int(numbers.max()) <= high):
        return None
    days, right = _days_of(numbers // 10_000, numbers // 100 % 100, numbers % 100)
    return days * _DAY if right.all() else None


def _read_compact(numbers: Ints, values: Ints, wrong: Bools, zone: Zone) -> None:
    """Read, in place, what is written as YYYYMMDDHHMMSS and too large for milliseconds."""
    rows = np.flatnonzero(wrong & (numbers > 0) & (numbers < 10**14))
    date, clock = numbers[rows] // 1_000_000, numbers[rows] % 1_000_000
    days, right = _days_of(date // 10_000, date // 100 % 100, date % 100)
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    right &= (date >= EARLIEST.year * 10_000) & (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    rows = rows[right]
    local = days * _DAY + ((hour * 60 + minute) * 60 + second) * _SECOND
    values[rows] = zone.utc(local[right])
    wrong[rows] = _out_of_range(values[rows])


def _days_of(year: Ints, month: Ints, day: Ints) -> tuple[Ints, Bools]:
    """Days from 1970 to each date, and whether there is such a date."""
    right = (month >= 1) & (month <= 12)  # noqa: PLR2004 - months
    months = ((year - 1970) * 12 + np.where(right, month - 1, 0)).view("datetime64[M]")
    first = months.astype("datetime64[D]").view(np.int64)
    after = (months + 1).astype("datetime64[D]").view(np.int64)
    return first + day - 1, right & (day >= 1) & (day <= after - first)


def _iso_column(texts: Sequence[str], zone: Zone) -> tuple[Ints, Bools] | None:
    """All cells as ISO 8601, or None where some are something else."""
    if not texts:
        return None
    values = np.empty(len(texts), np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        alike = len(rows) == len(texts)
        cells = texts if alike else [texts[row] for row in rows.tolist()]
        form = _ISO.fullmatch(cells[0])
        found = None if form is None else _iso_cells(cells, form, zone)
        if found is None:
            return None
        values[rows] = found
    return values, _out_of_range(values)


def _iso_cells(cells: Sequence[str], form: re.Match[str], zone: Zone) -> Ints | None:
    """Cells that all have the form of the first one, or None where some have not."""
    width = form.end()
    letters = np.array(cells, f"U{width}").view(np.uint32).reshape(len(cells), width).T
    digits = np.ascontiguousarray(letters, np.uint32) - np.uint32(_ZERO)  # wraps below zero
    for place, letter in enumerate(form.string):
        fits = digits[place] <= 9 if letter.isdigit() else letters[place] == ord(letter)  # noqa: PLR2004
        if not fits.all():
            return None

    def number(group: int, most: int = 9) -> Ints:
        start, end = form.span(group)
        value = np.zeros(len(cells), np.int64)
        for place in range(start, min(end, start + most)):
            value = value * 10 + digits[place]
        return value

    days, right = _days_of(number(1), number(3), number(4))
    hour, minute, second = number(5), number(6), number(7)
    right &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    if not right.all():
        return None
    shown: Ints = days * _DAY + ((hour * 60 + minute) * 60 + second) * _SECOND
    if form[8]:
        shown += number(8, _MICROSECOND_DIGITS) * 10 ** max(_MICROSECOND_DIGITS - len(form[8]), 0)
    if form[9]:
        return shown
    if form[10]:
        hours, minutes = number(10), number(11)
        if not ((hours < 24) & (minutes < 60)).all():  # noqa: PLR2004 - a clock
            return None
        ahead = (hours * 60 + minutes) * 60 * _SECOND
        west = form.string[form.start(10) - 1] == "-"
        return shown + ahead if west else shown - ahead
    return zone.utc(shown, days=form[5] is None)


def _one_by_one(texts: Sequence[str], zone: Zone) -> tuple[Ints, Bools]:
    values, wrong = np.zeros(len(texts), np.int64), np.ones(len(texts), np.bool_)
    numeric = [row for row, text in enumerate(texts) if _NUMBER.fullmatch(text)]
    if numeric:
        found = _number_column([texts[row] for row in numeric], zone)
        assert found is not None  # noqa: S101 - all of them are numbers
        values[numeric], wrong[numeric] = found
    known: dict[str, int | None] = {}
    counted = set(numeric)
    for row, text in enumerate(texts):
        if row in counted:
            continue
        if text not in known:
            known[text] = _worded(text, zone)
        value = known[text]
        if value is not None:
            values[row], wrong[row] = value, False
    return values, wrong


def _worded(text: str, zone: Zone) -> int | None:
    """Microseconds since 1970 of a time in words; None for no time."""
    try:
        moment = worded_instant(text)
    except InvalidInput:
        return None
    if moment.tzinfo is not None:
        shown = microseconds(moment)
    else:
        local = np.array([microseconds(moment.replace(tzinfo=UTC))])
        shown = int(zone.utc(local, days=":" not in text)[0])
    return shown if EARLIEST_MICROSECONDS <= shown <= LATEST_MICROSECONDS else None
