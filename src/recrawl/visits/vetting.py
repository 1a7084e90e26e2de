"""Vetting of logged visits: failures, duplicates and wrong dates removed, histories out.

Logs hold visits out of order and twice, failed fetches, pages that vanish, and Last-Modified
dates that are stale, touched, in the future or made up. The content decides *whether* a page
changed; Last-Modified only *when*. One table says what each gap shows, by the visit before
(p), this visit (t), the date (m) and the clock skew allowed:

    content      date                 outcome         flag
    same         any                  unchanged       lm_touch if p < m
    differs      p < m <= t           changed at m
    differs      m <= p               changed         lm_stale
    differs      t < m <= t + skew    changed at t-   lm_skew
    differs      t + skew < m         changed         lm_future
    not known    304                  unchanged       lm_touch if p < m
    not known    p < m <= t + skew    changed at m    lm_skew if t < m
    not known    m <= p               unchanged
    not known    none, or future      open: the gap goes on to the next visit

A visit that failed is no visit. 404 or 410 after a visit is a change that ends the history.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.errors import InvalidParameter
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.histories import Histories
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME, Rows, rows_of
from recrawl.visits.visit import AnswerKind, Flag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.visits.visit import Visit

_SECOND = 1_000_000
_LEAST_RESOLUTION = 1e-6  # instants are no finer

# A host that stamps "now" on every answer: at least 80 % of its last ten dates are this young.
# Fewer than five dates could be chance (a page visited because it had just changed).
_STAMPED_AGE = 2 * _SECOND
_STAMPED_SHARE = 0.8
_STAMPED_WINDOW = 10
_STAMPED_LEAST = 5


@dataclass(frozen=True, slots=True)
class Vetting:
    """How far clocks are trusted.

    Args:
        skew_seconds: How far a host's clock may run ahead before its date is not believed.
        resolution_seconds: Visits within the same such step are one visit, and the age given to
            a change that its date puts after the visit.
    """

    skew_seconds: float = 300.0
    resolution_seconds: float = 1.0

    def __post_init__(self) -> None:
        """Check the durations."""
        if not 0 <= self.skew_seconds < math.inf:
            raise InvalidParameter(
                f"skew must be finite and at least 0 seconds (got {self.skew_seconds})"
            )
        if not _LEAST_RESOLUTION <= self.resolution_seconds < math.inf:
            raise InvalidParameter(
                f"resolution must be finite and at least {_LEAST_RESOLUTION} "
                f"(got {self.resolution_seconds})"
            )

    @property
    def skew(self) -> int:
        """Allowed skew in microseconds."""
        return round(self.skew_seconds * _SECOND)

    @property
    def resolution(self) -> int:
        """Resolution in microseconds."""
        return round(self.resolution_seconds * _SECOND)


def histories_of(
    visits: Iterable[Visit], vetting: Vetting | None = None
) -> tuple[list[str], Histories]:
    """Page names in order of first appearance, and the history of each.

    >>> from datetime import UTC, datetime
    >>> from recrawl import Visit
    >>> day = lambda number: datetime(2026, 1, number, tzinfo=UTC)
    >>> pages, seen = histories_of([
    ...     Visit("/a", day(1)), Visit("/a", day(4), changed=True, last_modified=day(3)),
    ... ])
    >>> pages, seen.gaps, seen.age
    (['/a'], array([3.]), array([1.]))
    """
    names, rows = rows_of(visits)
    return names, vet(rows, vetting or Vetting())


def vet(rows: Rows, vetting: Vetting) -> Histories:
    """History of each page in `rows`."""
    parts: dict[int, Histories] = {}

    def work(pages: slice) -> None:
        parts[pages.start] = _vet(rows.pages(pages), vetting)

    over_blocks(work, len(rows.offsets) - 1)
    return Histories.joined([parts[start] for start in sorted(parts)])


def _vet(rows: Rows, vetting: Vetting) -> Histories:
    flags = np.zeros(len(rows.offsets) - 1, np.uint32)
    rows = _in_order(rows)
    rows = _without_failures(rows)
    rows = _until_gone(rows, flags)
    rows = _one_visit_a_moment(rows, vetting)
    rows = _without_stamps(rows, flags)
    rows = _without_open(rows, vetting, flags)
    return _gaps(rows, vetting, flags)


def _in_order(rows: Rows) -> Rows:
    """Each page's rows by time; rows of one instant stay as they came."""
    out_of_order = np.diff(rows.at) < 0
    out_of_order &= ~rows.is_first[1:]
    if not out_of_order.any():
        return rows
    page = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    return rows.take(np.lexsort((rows.at, page)))


def _without_failures(rows: Rows) -> Rows:
    return rows if rows.answer is None else rows.keep(rows.answer != AnswerKind.FAILED)


def _until_gone(rows: Rows, flags: FlagBits) -> Rows:
    """Drop what came before the page was ever seen and after it was gone."""
    if rows.answer is None or not (rows.answer == AnswerKind.GONE).any():
        return rows
    row = np.arange(len(rows.at))
    seen = rows.of_page(np.minimum, np.where(rows.answer == AnswerKind.GONE, len(row), row), 0)
    rows = rows.keep(row >= np.repeat(seen, np.diff(rows.offsets)))

    row = np.arange(len(rows.at))
    gone = np.asarray(rows.answer) == AnswerKind.GONE
    end = rows.of_page(np.minimum, np.where(gone, row, len(row)), len(row))
    after = row > np.repeat(end, np.diff(rows.offsets))
    _mark(flags, rows.of_page(np.maximum, gone, empty=0) > 0, Flag.GONE)
    _mark(flags, rows.of_page(np.maximum, after & ~gone, empty=0) > 0, Flag.RETURNED)
    return rows.keep(~after)


def _one_visit_a_moment(rows: Rows, vetting: Vetting) -> Rows:
    """Merge visits within one step of the resolution into one, at the time of the first.

    A change among them then belongs to the gap that ends there, and no gap is zero.
    """
    close = np.diff(rows.at) < vetting.resolution
    close &= ~rows.is_first[1:]
    if not close.any():
        return rows
    step = rows.at // vetting.resolution
    begins = np.concatenate([[True], ~(close & (step[1:] == step[:-1]))])
    starts = np.flatnonzero(begins)
    one = rows.keep(begins)

    def united(column: Any) -> Any:  # noqa: ANN401 - a column of the same type
        return np.maximum.reduceat(column, starts)

    return Rows(
        offsets=one.offsets,
        at=one.at,
        changed=united(rows.changed),
        last_modified=None if rows.last_modified is None else united(rows.last_modified),
        answer=None if rows.answer is None else united(rows.answer),
    )


def _without_stamps(rows: Rows, flags: FlagBits) -> Rows:
    """Forget the dates of pages whose host stamps "now" on every answer."""
    if rows.last_modified is None:
        return rows
    known = rows.last_modified != UNKNOWN_TIME
    per_page = np.diff(rows.offsets)
    # How many dates the page has from this row to its last one.
    so_far = np.concatenate([[0], np.cumsum(known)])
    still = np.repeat(so_far[rows.offsets[1:]], per_page) - so_far[:-1]
    recent = known & (still <= _STAMPED_WINDOW)
    young = recent & (rows.at - np.where(known, rows.last_modified, 0) < _STAMPED_AGE)

    dates = rows.of_page(np.add, recent.astype(np.int64), 0)
    now = rows.of_page(np.add, young.astype(np.int64), 0)
    stamped = (dates >= _STAMPED_LEAST) & (now >= _STAMPED_SHARE * dates)
    _mark(flags, stamped, Flag.LM_GENERATED)
    believed = np.where(np.repeat(stamped, per_page), UNKNOWN_TIME, rows.last_modified)
    return Rows(rows.offsets, rows.at, rows.changed, believed, rows.answer)


def _without_open(rows: Rows, vetting: Vetting, flags: FlagBits) -> Rows:
    """Drop visits without information: the content was not compared and no date helps."""
    silent = rows.changed == UNKNOWN_CHANGE
    silent &= ~rows.is_first
    if rows.answer is not None:
        silent &= rows.answer == AnswerKind.OK
    if rows.last_modified is not None:
        future = rows.last_modified > rows.at + vetting.skew
        wrong = rows.of_page(np.maximum, silent & future, empty=0) > 0
        _mark(flags, wrong, Flag.LM_FUTURE)
        silent &= future | (rows.last_modified == UNKNOWN_TIME)
    return rows.keep(~silent)


def _gaps(rows: Rows, vetting: Vetting, flags: FlagBits) -> Histories:
    """Read each pair of neighbouring visits by the table above."""
    # By number, not by flag: numpy is several times faster so.
    later = np.flatnonzero(~rows.is_first)
    gaps = np.diff(rows.at)[later - 1] / MICROSECONDS_A_DAY
    changed = rows.changed[later] == 1
    pages_seen = np.cumsum(np.diff(rows.offsets) > 0)
    offsets = rows.offsets - np.concatenate([[0], pages_seen])

    age, first_age = None, None
    if rows.answer is not None:
        answer = rows.answer[later]
        changed |= answer == AnswerKind.GONE
    if rows.last_modified is not None:
        same = rows.changed[later] == 0
        if rows.answer is not None:
            same |= (answer == AnswerKind.NOT_MODIFIED) & ~changed
        at, before = rows.at[later], rows.at[later - 1]
        dates = _Dates(at, before, rows.last_modified[later], vetting)
        usable = dates.within
        if rows.answer is not None:
            usable &= answer != AnswerKind.GONE
        changed |= usable & ~same
        age = np.where(changed & usable, dates.age(gaps), np.nan)
        gap_flags = dates.flags(changed)
        if rows.answer is not None:
            gap_flags[answer == AnswerKind.GONE] = 0
        _collect(flags, gap_flags, offsets)
        first_age = _first_age(rows, vetting, flags)

    first_visit = rows.of_page(np.minimum, rows.at, UNKNOWN_TIME).view("datetime64[us]")
    return Histories(gaps, changed, offsets, age, None, first_visit, first_age, flags)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Dates:
    """Where a gap's Last-Modified lies: before it, in it, just after it, far after it."""

    at: Ints
    before: Ints
    date: Ints
    vetting: Vetting

    @property
    def within(self) -> Bools:
        """In the gap, or after it by no more than the skew."""
        return (self.date > self.before) & (self.date <= self.at + self.vetting.skew)

    def age(self, gaps: Floats) -> Floats:
        """Days from the date to the visit, at least the resolution where the date is later."""
        exact = (self.at - np.where(self.within, self.date, self.at)) / MICROSECONDS_A_DAY
        least = np.minimum(self.vetting.resolution / MICROSECONDS_A_DAY, gaps / 2)
        ages = np.where(self.date > self.at, least, exact)
        # A date within a microsecond of the visit before may round to the whole gap.
        return np.minimum(ages, np.nextafter(gaps, 0))

    def flags(self, changed: Bools) -> FlagBits:
        known = self.date != UNKNOWN_TIME
        bits = np.zeros(len(self.at), np.uint32)
        bits[~changed & (self.date > self.before)] = Flag.LM_TOUCH
        bits[changed & known & (self.date <= self.before)] = Flag.LM_STALE
        bits[changed & (self.date > self.at)] = Flag.LM_SKEW
        bits[changed & (self.date > self.at + self.vetting.skew)] = Flag.LM_FUTURE
        return bits


def _mark(flags: FlagBits, pages: Bools | Ints, flag: Flag) -> None:
    flags[pages] |= np.uint32(flag)


def _collect(flags: FlagBits, gap_flags: FlagBits, offsets: Ints) -> None:
    some = np.diff(offsets) > 0
    if some.any():
        flags[some] |= np.bitwise_or.reduceat(gap_flags, offsets[:-1][some])


def _first_age(rows: Rows, vetting: Vetting, flags: FlagBits) -> Floats:
    """Days from each page's last change to its first visit, where the date can be believed."""
    first = rows.is_first
    some = np.diff(rows.offsets) > 0
    at, date = rows.at[first], rows.last_modified[first]  # type: ignore[index] # not None here
    known = (date != UNKNOWN_TIME) & (date <= at + vetting.skew)
    late = date > at + vetting.skew
    elapsed = np.maximum(at - np.where(known, date, at), 0)
    elapsed = np.where(date > at, vetting.resolution, elapsed)
    ages = np.full(len(some), np.nan)
    ages[some] = np.where(known, elapsed / MICROSECONDS_A_DAY, np.nan)
    _mark(flags, np.flatnonzero(some)[late], Flag.LM_FUTURE)
    return ages
