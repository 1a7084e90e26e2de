"""Parsers of the columns of a visit log: texts in, numbers and a flag per wrong cell out.

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

    from recrawl.arrays.types import Answers, Bools, Changes, Floats, Ints

TIME_RULE = "must be a time in ISO 8601 or epoch seconds, from 1900 to 2200"
CHANGED_RULE = "must be true, false or empty"
STATUS_RULE = "must be an HTTP code, ok, failed, gone or empty"
PAGE_RULE = "must name a page"

_CHANGED = {"true": 1, "1": 1, "false": 0, "0": 0, "": UNKNOWN_CHANGE}
_ZERO, _NINE = ord("0"), ord("9")
_ISO_FORMS = {
    len(form): form
    for seconds in ("", "T00:00:00", "T00:00:00.000", "T00:00:00.000000")
    for form in ("0000-00-00" + seconds, *(["0000-00-00" + seconds + "Z"] if seconds else []))
}


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
    with np.errstate(over="ignore"):  # what is infinite is wrong, too
        scaled = np.rint(np.asarray(seconds, np.float64) * 1e6)
    wrong = ~((scaled >= EARLIEST_MICROSECONDS) & (scaled <= LATEST_MICROSECONDS))
    return np.where(wrong, 0, scaled).astype(np.int64), wrong


def changes(texts: Sequence[str]) -> tuple[Changes, Bools]:
    """1, 0 or -1 for each of true, false and empty, and which cells are none of them."""
    codes = [_CHANGED.get(text.strip().lower(), 2) for text in texts]
    values = np.array(codes, np.int8)
    return values, values == 2  # noqa: PLR2004 - the code for "none of them", two lines up


def answers(texts: Sequence[str]) -> tuple[Answers, Bools]:
    """Numbers of `AnswerKind`, and which cells mean none."""
    known: dict[str, int] = {}
    for text in set(texts):
        try:
            known[text] = answer_of(text)
        except InvalidInput:
            known[text] = 255
    values = np.array([known[text] for text in texts], np.uint8)
    return values, values == 255  # noqa: PLR2004 - the code for "none of them", above


def unnamed(texts: Sequence[str]) -> Bools:
    """Which cells are no name: blank, or with half of a letter that needs two numbers."""
    return np.array([not text.strip() or not _is_text(text) for text in texts], np.bool_)


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    values = np.empty(len(texts), np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for length in np.unique(lengths).tolist():
        if length not in _ISO_FORMS:
            return None
        rows = np.flatnonzero(lengths == length)
        cells = np.array([texts[row] for row in rows.tolist()], f"U{length}")
        letters = cells.view(np.uint32).reshape(len(rows), length)
        for place, form in enumerate(_ISO_FORMS[length]):
            column = letters[:, place]
            fits = (column >= _ZERO) & (column <= _NINE) if form == "0" else column == ord(form)
            if not fits.all() and not (form == "T" and (column == ord(" ")).all()):
                return None
        try:
            plain = cells.astype(f"U{len(_ISO_FORMS[length].removesuffix('Z'))}")
            values[rows] = plain.astype("datetime64[us]").astype(np.int64)
        except ValueError:  # a thirteenth month
            return None
    return values


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
