"""Cells of a visit log, still as text, into the numbers that vetting works on.

Each function takes a column of texts and returns its values with a column that says which cells
are wrong; nothing is guessed. Whole columns are read at once where all cells have the usual
form, and one by one where some do not.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidInput
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS, instant, microseconds
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME
from recrawl.visits.visit import answer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.visits.arrays import Answers, Bools, Changes, Floats, Ints

TIME_RULE = "must be a time in ISO 8601 or epoch seconds, from 1900 to 2200"
CHANGED_RULE = "must be true, false or empty"
STATUS_RULE = "must be an HTTP code, ok, failed, gone or empty"
PAGE_RULE = "must name a page"

_CHANGED = {"true": 1, "1": 1, "false": 0, "0": 0, "": UNKNOWN_CHANGE}
_ISO_LENGTHS = (10, 26)  # 2026-01-02 to 2026-01-02T03:04:05.123456


def times(texts: Sequence[str], *, optional: bool) -> tuple[Ints, Bools]:
    """Microseconds since 1970, and which cells are wrong; empty ones are if not `optional`.

    >>> times(["1970-01-02", "86400", "soon"], optional=False)[1]
    array([False, False,  True])
    """
    for read in (_epoch_column, _iso_column):
        values = read(texts)
        if values is not None:
            return _in_range(values)
    return _one_by_one(texts, _time, UNKNOWN_TIME, optional=optional)


def epoch_times(seconds: Floats) -> tuple[Ints, Bools]:
    """Microseconds since 1970 from epoch seconds, and which are not finite or absurd."""
    scaled = np.rint(np.asarray(seconds, np.float64) * 1e6)
    wrong = ~((scaled >= EARLIEST_MICROSECONDS) & (scaled <= LATEST_MICROSECONDS))
    return np.where(wrong, 0, scaled).astype(np.int64), wrong


def changes(texts: Sequence[str]) -> tuple[Changes, Bools]:
    """1, 0 or -1 for each of true, false and empty, and which cells are none of them."""
    codes = [_CHANGED.get(text.strip().lower(), 2) for text in texts]
    values = np.array(codes, np.int8)
    return values, values == 2  # noqa: PLR2004 - the code for "none of them", two lines up


def answers(texts: Sequence[str]) -> tuple[Answers, Bools]:
    """Numbers of `Answer`, and which cells mean none."""
    known: dict[str, int] = {}
    for text in set(texts):
        try:
            known[text] = answer_of(text)
        except InvalidInput:
            known[text] = 255
    values = np.array([known[text] for text in texts], np.uint8)
    return values, values == 255  # noqa: PLR2004 - the code for "none of them", above


def _in_range(values: Ints) -> tuple[Ints, Bools]:
    return values, (values < EARLIEST_MICROSECONDS) | (values > LATEST_MICROSECONDS)


def _epoch_column(texts: Sequence[str]) -> Ints | None:
    """All cells as epoch seconds, or None where some are something else."""
    if not texts or not texts[0][:1].isdigit() or "-" in texts[0]:
        return None
    try:
        values, wrong = epoch_times(np.array(texts, np.float64))
    except ValueError:
        return None
    return None if wrong.any() else values


def _iso_column(texts: Sequence[str]) -> Ints | None:
    """All cells as ISO 8601 in UTC, or None where some are something else."""
    if not texts:
        return np.empty(0, np.int64)
    plain = np.array([text.removesuffix("Z") for text in texts])
    length = np.strings.str_len(plain)
    if length.min() < _ISO_LENGTHS[0] or length.max() > _ISO_LENGTHS[1]:
        return None
    letters = plain.view(np.uint32).reshape(len(plain), -1)
    # numpy also reads words such as "today", and offsets with a warning: leave those to others.
    digits = (letters[:, :4] >= ord("0")) & (letters[:, :4] <= ord("9"))
    dashes = (letters[:, 4] == ord("-")) & (letters[:, 7] == ord("-"))
    offset = (letters[:, 10:] == ord("+")) | (letters[:, 10:] == ord("-"))
    if not digits.all() or not dashes.all() or offset.any():
        return None
    try:
        return plain.astype("datetime64[us]").astype(np.int64)
    except ValueError:
        return None


def _time(text: str) -> int:
    return microseconds(instant(text))


def _one_by_one(
    texts: Sequence[str], read: Callable[[str], int], empty: int, *, optional: bool
) -> tuple[Ints, Bools]:
    values, wrong = np.full(len(texts), empty, np.int64), np.zeros(len(texts), np.bool_)
    for row, text in enumerate(texts):
        if not text.strip():
            wrong[row] = not optional
            continue
        try:
            values[row] = read(text)
        except InvalidInput:
            wrong[row] = True
    return values, wrong
