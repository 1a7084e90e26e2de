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
from datetime import UTC
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.errors import InvalidInput
from recrawl.parse.time_forms import USUAL_FORMS
from recrawl.parse.time_zones import Zone
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
    from datetime import datetime

    import numpy.typing as npt

    from recrawl.arrays.types import Bools, Floats, Ints

    _Letters: TypeAlias = npt.NDArray[np.uint32]

TIME_RULE = "must be a time in ISO 8601 or an epoch number, from 1900 to 2200"
_SLASHED = re.compile(r"\s*\d{1,2}([/.-])\d{1,2}\1\d{2,4}\b.*")
_SLASHED_RULE = (
    "must be a time in ISO 8601, because day and month could be swapped: write "
    "2026-01-31, or give the format: --time-format '%d/%m/%Y'"
)

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_NUMBER = re.compile(r"\s*[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\s*", re.ASCII)
_ZERO = ord("0")
_MICROSECOND_DIGITS = 6
_EXACT = 2.0**53  # whole floats below it are what was written


def time_rule(text: str, zone: Zone | None = None) -> str:
    """What a time must be, for a cell that is none.

    >>> time_rule("03/04/2026").partition(":")[0]
    'must be a time in ISO 8601, because day and month could be swapped'
    """
    if zone is not None and zone.form is not None:
        return (
            f"must be a time such as {zone.form.sample}, from 1900 to 2200, as --time-format says"
        )
    return _SLASHED_RULE if _SLASHED.fullmatch(text) else TIME_RULE


def times(texts: Sequence[str], *, optional: bool, zone: Zone | None = None) -> tuple[Ints, Bools]:
    """Microseconds since 1970, and which cells are wrong; empty ones are if not `optional`.

    >>> times(["1970-01-02", "86400", "soon"], optional=False)[1]
    array([False, False,  True])
    """
    zone = zone or Zone()
    for read in (_number_column, _formed_column):
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
    if not texts or zone.form is not None or _NUMBER.fullmatch(texts[0]) is None:
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


def _formed_column(texts: Sequence[str], zone: Zone) -> tuple[Ints, Bools] | None:
    """All cells as one of the forms, or None where some are something else."""
    if not texts:
        return None
    values = np.empty(len(texts), np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        if not length:
            return None
        alike = len(rows) == len(texts)
        cells = texts if alike else [texts[row] for row in rows.tolist()]
        letters = np.array(cells, f"U{length}").view(np.uint32).reshape(len(cells), length)
        for some in _alike(letters):
            found = _formed_cells(letters[some].T, _form_of(cells[some[0]], zone), zone)
            if found is None:
                return None
            values[rows[some]] = found
    return values, _out_of_range(values)


def _alike(letters: _Letters) -> list[Ints]:
    """Rows of cells that have digits in the same places."""
    digits = letters - np.uint32(_ZERO) <= 9  # noqa: PLR2004 - wraps below zero
    if (digits == digits[0]).all():
        return [np.arange(len(letters))]
    _, kind = np.unique(np.packbits(digits, axis=1), axis=0, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)


def _form_of(text: str, zone: Zone) -> re.Match[str] | None:
    forms = USUAL_FORMS if zone.form is None else zone.form.patterns
    found = (form.fullmatch(text) for form in forms)
    return next((each for each in found if each is not None), None)


def _formed_cells(letters: _Letters, form: re.Match[str] | None, zone: Zone) -> Ints | None:
    """Cells, letter by letter, in the form of the first one; None where some are in another."""
    if form is None:
        return None
    digits = np.ascontiguousarray(letters, np.uint32) - np.uint32(_ZERO)  # wraps below zero
    for place, letter in enumerate(form.string):
        if not letter.isdigit() and not (letters[place] == ord(letter)).all():
            return None
    parts = {name: text for name, text in form.groupdict().items() if text}

    def number(part: str, most: int = 9) -> Ints:
        start, end = form.span(part) if part in parts else (0, 0)
        value = np.zeros(letters.shape[1], np.int64)
        for place in range(start, min(end, start + most)):
            value = value * 10 + digits[place]
        return value

    days, right = _days_of(number("year"), number("month"), number("day"))
    hour, minute, second = number("hour"), number("minute"), number("second")
    hours, minutes = number("hours"), number("minutes")  # of the offset
    right &= (hour < 24) & (minute < 60) & (second < 60) & (hours < 24) & (minutes < 60)  # noqa: PLR2004 - a clock
    if not right.all():
        return None
    shown: Ints = days * _DAY + ((hour * 60 + minute) * 60 + second) * _SECOND
    if "fraction" in parts:
        finer = 10 ** max(_MICROSECOND_DIGITS - len(parts["fraction"]), 0)
        shown += number("fraction", _MICROSECOND_DIGITS) * finer
    if "utc" not in parts and "hours" not in parts:
        return zone.utc(shown, days="hour" not in parts)
    west = "hours" in parts and form.string[form.start("hours") - 1] == "-"
    ahead = (hours * 60 + minutes) * 60 * _SECOND
    return shown + ahead if west else shown - ahead


def _one_by_one(texts: Sequence[str], zone: Zone) -> tuple[Ints, Bools]:
    values, wrong = np.zeros(len(texts), np.int64), np.ones(len(texts), np.bool_)
    numeric = [row for row, text in enumerate(texts) if _NUMBER.fullmatch(text)]
    if numeric and zone.form is None:
        found = _number_column([texts[row] for row in numeric], zone)
        assert found is not None  # noqa: S101 - all of them are numbers
        values[numeric], wrong[numeric] = found
    known: dict[str, int | None] = {}
    counted = set(numeric) if zone.form is None else set()
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
    moment = _moment(text, zone)
    if moment is None:
        return None
    if moment.tzinfo is not None:
        shown = microseconds(moment)
    else:
        local = np.array([microseconds(moment.replace(tzinfo=UTC))])
        shown = int(zone.utc(local, days=":" not in text)[0])
    return shown if EARLIEST_MICROSECONDS <= shown <= LATEST_MICROSECONDS else None


def _moment(text: str, zone: Zone) -> datetime | None:
    if zone.form is not None:
        return zone.form.moment(text)
    try:
        return worded_instant(text)
    except InvalidInput:
        return None
