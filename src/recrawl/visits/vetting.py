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

Where a log does not say whether the content differs, digests do: another one than the last before
is a change, and one that the page had earlier a change back. A visit without a digest says nothing;
after a change that came without one, the next digest has nothing to be compared with. A size in
place of a digest is weak: only one that the page never had before is a change, for a page that is
sent packed to some and plain to others has two for each of its versions.

A visit that failed is no visit. 404 or 410 after a visit is a change that ends the history, unless
the page comes back: then its absence lies in the gap between the visits around it, which shows what
the visit after it says of the content.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.errors import InvalidParameter
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.histories import Histories
from recrawl.visits.rows import NO_DIGEST, UNKNOWN_CHANGE, UNKNOWN_TIME, is_size, rows_of
from recrawl.visits.visit import AnswerKind, Flag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints, Words
    from recrawl.visits.rows import Rows
    from recrawl.visits.visit import Visit

_SECOND = 1_000_000
_CHANGED_BACK = 2  # beside 1, in a column of changes: to a version that the page had before
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
    return vet_log(rows, vetting).histories


class VettedLog(NamedTuple):
    """What a log shows.

    Attributes:
        histories: History of each page.
        merged: Visits that were of the same page and second as another one.
        silent: Visits left out because nothing says whether the page had changed.
    """

    histories: Histories
    merged: int
    silent: int


def vet_log(rows: Rows, vetting: Vetting) -> VettedLog:
    """History of each page in `rows`, and what became of rows on the way."""
    plain = _plain_histories(rows, vetting)
    if plain is not None:
        return VettedLog(plain, merged=0, silent=0)
    parts: dict[int, VettedLog] = {}

    def work(pages: slice) -> None:
        parts[pages.start] = _vet(rows.pages(pages), vetting)

    over_blocks(work, len(rows.offsets) - 1)
    found = [parts[start] for start in sorted(parts)]
    histories = Histories.joined([part.histories for part in found])
    merged, silent = sum(part.merged for part in found), sum(part.silent for part in found)
    return VettedLog(histories, merged, silent)


def _plain_histories(rows: Rows, vetting: Vetting) -> Histories | None:
    """Histories of a log without fault: nothing to sort, to merge or to leave out; else None.

    Most logs are such, and their gaps are differences: they are written where they stay.
    """
    if rows.last_modified is not None or rows.answer is not None or rows.digest is not None:
        return None
    pages_before = np.zeros(len(rows.offsets), np.int64)
    np.cumsum(np.diff(rows.offsets) > 0, out=pages_before[1:])
    offsets = rows.offsets - pages_before
    gaps, changed = np.empty(offsets[-1]), np.empty(offsets[-1], np.bool_)
    first_visit = np.full(len(offsets) - 1, UNKNOWN_TIME)
    faults: list[slice] = []

    def work(pages: slice) -> None:
        if faults:
            return
        some = rows.pages(pages)
        into = slice(offsets[pages.start], offsets[pages.stop])
        starts = some.offsets[:-1][np.diff(some.offsets) > 0]
        has_gap = np.ones(len(some.at), np.bool_)
        has_gap[starts] = False
        later = np.flatnonzero(has_gap)  # several times faster than the flags
        told = some.changed.take(later).view(np.uint8)  # what is not known becomes 255
        elapsed = np.diff(some.at).take(later - 1)
        if told.max(initial=0) > 1 or elapsed.min(initial=vetting.resolution) < vetting.resolution:
            faults.append(pages)
            return
        np.divide(elapsed, MICROSECONDS_A_DAY, out=gaps[into])
        changed[into] = told
        first_visit[pages][np.diff(some.offsets) > 0] = some.at[starts]

    over_blocks(work, len(rows.offsets) - 1)
    if faults:
        return None
    return Histories(gaps, changed, offsets, first_visit=first_visit.view("datetime64[us]"))


def _vet(rows: Rows, vetting: Vetting) -> VettedLog:
    flags = np.zeros(len(rows.offsets) - 1, np.uint32)
    rows = _in_order(rows)
    rows = _without_failures(rows)
    rows = _without_absences(rows, flags)
    told = len(rows.at)
    rows = _one_visit_a_moment(rows, vetting)
    merged = told - len(rows.at)
    rows = _without_stamps(rows, flags)
    rows = _compare_digests(rows, vetting)
    rows = _without_open(rows, vetting, flags)
    silent = told - merged - len(rows.at)
    return VettedLog(_gaps(rows, vetting, flags), merged, silent)


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


def _without_absences(rows: Rows, flags: FlagBits) -> Rows:
    """Drop each 404 and 410 but the one that ends a history."""
    if rows.answer is None or not (rows.answer == AnswerKind.GONE).any():
        return rows
    row, per_page = np.arange(len(rows.at)), np.diff(rows.offsets)
    gone = rows.answer == AnswerKind.GONE
    first = rows.of_page(np.minimum, np.where(gone, len(row), row), len(row))
    last = rows.of_page(np.maximum, np.where(gone, -1, row), -1)
    between = gone & (row > np.repeat(first, per_page)) & (row < np.repeat(last, per_page))
    ends = gone & (row == np.repeat(last, per_page) + 1) & (row > np.repeat(first, per_page))
    _mark(flags, rows.of_page(np.maximum, ends, empty=0) > 0, Flag.GONE)
    _mark(flags, rows.of_page(np.maximum, between, empty=0) > 0, Flag.RETURNED)
    return rows.keep(~gone | ends)


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

    return replace(
        one,
        changed=united(rows.changed),
        last_modified=None if rows.last_modified is None else united(rows.last_modified),
        answer=None if rows.answer is None else united(rows.answer),
        digest=None if rows.digest is None else _last_digests(rows.digest, starts),
    )


def _last_digests(digest: Words, starts: Ints) -> Words:
    """The last digest in each range of rows."""
    known = np.where(digest == NO_DIGEST, -1, np.arange(len(digest)))
    last = np.maximum.reduceat(known, starts)
    return np.where(last < 0, NO_DIGEST, digest[last])


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
    return replace(rows, last_modified=believed)


def _compare_digests(rows: Rows, vetting: Vetting) -> Rows:
    """Say whether the content differs, where only digests tell."""
    if rows.digest is None:
        return rows
    rows = _compare_sizes(_from_first_digest(rows, rows.digest))
    digest: Words = np.where(_is_gone(rows), NO_DIGEST, rows.digest)  # type: ignore[arg-type] # not None
    known, first = digest != NO_DIGEST, np.repeat(rows.offsets[:-1], np.diff(rows.offsets))
    # Row that last told the version of the page, or made it unknown; before this row.
    last = _last_before(known | _changes_unseen(rows, known, first, vetting))
    before = np.where(last < first, NO_DIGEST, digest[last])

    compared = known & (before != NO_DIGEST)
    differs = compared & (digest != before)
    silent = compared & (rows.changed == UNKNOWN_CHANGE)
    changed = np.where(silent, differs.astype(np.int8), rows.changed)
    changed[(changed == 1) & differs & _seen_before(digest, first, before)] = _CHANGED_BACK
    return replace(rows, changed=changed, digest=None)


def _from_first_digest(rows: Rows, digest: Words) -> Rows:
    """Drop what comes before a page's first digest and tells nothing itself."""
    telling = (digest != NO_DIGEST) | (rows.changed != UNKNOWN_CHANGE)
    if rows.answer is not None:
        telling |= rows.answer != AnswerKind.OK
    if rows.last_modified is not None:
        telling |= rows.last_modified != UNKNOWN_TIME
    row = np.arange(len(rows.at))
    start = rows.of_page(np.minimum, np.where(telling, row, len(row)), len(row))
    some = start < len(row)
    some[some] = digest[start[some]] != NO_DIGEST
    return rows.keep(row >= np.repeat(np.where(some, start, 0), np.diff(rows.offsets)))


def _compare_sizes(rows: Rows) -> Rows:
    """Say whether the content differs, where sizes tell; they are then no digests any more."""
    digest: Words = rows.digest  # type: ignore[assignment] # not None
    sizes = is_size(digest)
    if not sizes.any():
        return rows
    first = np.repeat(rows.offsets[:-1], np.diff(rows.offsets))
    some = np.flatnonzero(sizes & ~_is_gone(rows))
    begins = np.diff(first[some], prepend=-1) != 0
    known = _seen_before(digest[some], first[some], np.zeros(len(some), np.uint64))
    differs = np.where(begins, UNKNOWN_CHANGE, ~known)
    changed = rows.changed.copy()
    changed[some] = np.where(changed[some] == UNKNOWN_CHANGE, differs, changed[some])
    return replace(rows, changed=changed, digest=np.where(sizes, NO_DIGEST, digest))


def _is_gone(rows: Rows) -> Bools:
    if rows.answer is None:
        return np.zeros(len(rows.at), np.bool_)
    gone: Bools = rows.answer == AnswerKind.GONE
    return gone


def _last_before(marked: Bools) -> Ints:
    """The last marked row before each row, of whatever page; -1 where there is none."""
    rows = np.where(marked, np.arange(len(marked)), -1)
    return np.concatenate([[-1], np.maximum.accumulate(rows)])[:-1]


def _changes_unseen(rows: Rows, known: Bools, first: Ints, vetting: Vetting) -> Bools:
    """Rows without a digest whose content is another one, as the log says or the date."""
    unseen: Bools = rows.changed == 1
    if rows.last_modified is not None:
        last = _last_before(known)
        dated = (last >= first) & (rows.last_modified > rows.at[last])
        dated &= rows.last_modified <= rows.at + vetting.skew
        if rows.answer is not None:
            dated &= rows.answer == AnswerKind.OK
        unseen |= dated & (rows.changed == UNKNOWN_CHANGE)
    return unseen & ~known


def _seen_before(digest: Words, first: Ints, before: Words) -> Bools:
    """Rows whose version the page had before; only where it differs from the last one."""
    seen = np.zeros(len(digest), np.bool_)
    begins = np.flatnonzero((digest != NO_DIGEST) & (digest != before))
    page, version = first[begins], digest[begins]
    order = np.lexsort((version, page))
    page, version = page[order], version[order]
    again = (page[1:] == page[:-1]) & (version[1:] == version[:-1])
    seen[begins[order[1:][again]]] = True
    return seen


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
    changed = rows.changed[later] >= 1
    reverted = rows.changed[later] == _CHANGED_BACK
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

    _mark(flags, sums(reverted, offsets, np.int64) > 0, Flag.REVERTED)
    first_visit = rows.of_page(np.minimum, rows.at, UNKNOWN_TIME).view("datetime64[us]")
    return Histories(
        *(gaps, changed, offsets, age, None, first_visit, first_age, flags),  # type: ignore[arg-type]
        reverted=reverted if reverted.any() else None,  # type: ignore[arg-type]
    )


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
