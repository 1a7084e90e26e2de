"""Times without an offset, as clocks of a time zone showed them.

When summer time ends, clocks show an hour twice, and only the order of rows tells which of the two
a time is of:

    01:40  02:10  02:40  02:10  02:40  03:10      shown
     1st    1st    1st    2nd    2nd    1st        as 02:10 cannot come after 02:40 of the same hour

When it begins, they skip an hour. A time in it is read as if the clock had not been changed yet,
as Python has it: 02:15 is what should have been shown as 03:15.

Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from recrawl.arrays.types import Ints
    from recrawl.parse.time_forms import TimeForm

_SECOND, _DAY_SECONDS = 1_000_000, 86_400
_DAY = _DAY_SECONDS * _SECOND
_STEP = 5  # days; no clock was ever changed twice in fewer, in a law that lasted
_PROBE = timedelta(minutes=1)
# Rows of many workers come late by seconds; a step back by more is the clock's.
_DISORDER = 5 * 60 * _SECOND
# Of the rows of a night: so many must be of a page at a time that it had before, to be visits of
# the second hour. Fewer are rows that are in the log twice.
_REPEATED_SHARE = 1 / 3
_MOST_PAGES = 1 << 20  # whose times of a night are remembered


class Zone:
    """How times are read: those without an offset in this zone.

    Args:
        info: The time zone; None for UTC where nobody said so.
        form: How times are written; None for any usual form.

    Attributes:
        assumed: Whether a time was taken for UTC though nobody said so.
        first_hour: Times of an hour that clocks showed twice, taken for the first of the two.
        second_hour: Those taken for the second.
        skipped_hour: Times of an hour that clocks skipped.
    """

    def __init__(self, info: tzinfo | None = None, form: TimeForm | None = None) -> None:
        self.assumed = False
        self.form = form
        self.first_hour = self.second_hour = self.skipped_hour = 0
        self._info = info
        self._span = (0, 0)
        self._edges: Ints = np.empty(0, np.int64)
        self._offsets: Ints = np.zeros(1, np.int64)
        # Of each change of the offset: instants as which times in doubt are read, from, for how
        # long, and the offset before.
        self._doubtful_from: Ints = np.empty(0, np.int64)

    def utc(self, local: Ints, *, days: bool = False) -> Ints:
        """Instants in UTC of what a clock showed, both in microseconds since 1970.

        An hour shown twice is taken for the first of the two; `RepeatedHours` knows better.

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

    def in_any_form(self) -> Zone:
        """The same zone for times in any usual form."""
        return Zone(self._info)

    def changes_at(self, at: Ints) -> Ints:
        """Which change of the offset puts each instant in doubt, if it had none; -1 for none."""
        if not len(self._edges):
            return np.full(len(at), -1)
        change = np.searchsorted(self._doubtful_from, at, side="right") - 1
        length = np.abs(np.diff(self._offsets))
        inside = (change >= 0) & (at - self._doubtful_from[change] < length[change])
        return np.where(inside, change, -1)

    def shift(self, change: int) -> int:
        """How far clocks were moved, in microseconds; below 0 when an hour was shown twice."""
        return int(self._offsets[change + 1] - self._offsets[change])

    def offset_before(self, change: int) -> int:
        """How far clocks were ahead of UTC before they were moved."""
        return int(self._offsets[change])

    @property
    def doubts(self) -> tuple[int, int, int]:
        """Times of first and of second hours, and of hours that clocks skipped."""
        return self.first_hour, self.second_hour, self.skipped_hour

    def begin(self) -> None:
        """Forget what was counted: all is read anew."""
        self.first_hour = self.second_hour = self.skipped_hour = 0

    def _cover(self, first: int, last: int, info: tzinfo) -> None:
        """Find out when the offset changes between two instants, give or take two days."""
        first = max(first, EARLIEST_MICROSECONDS) // _DAY - 2
        last = min(last, LATEST_MICROSECONDS) // _DAY + 2
        if self._span[0] <= first and last <= self._span[1] and self._span != (0, 0):
            return
        if self._span != (0, 0):
            first, last = min(first, self._span[0]), max(last, self._span[1])
        edges, doubtful, offsets = [], [], [_offset(info, first * _DAY_SECONDS)]
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
            doubtful.append(end * _SECOND + min(after - before, 0))
            offsets.append(after)
        self._span = (first, last)
        self._edges, self._offsets = np.array(edges, np.int64), np.array(offsets, np.int64)
        self._doubtful_from = np.array(doubtful, np.int64)


def _offset(info: tzinfo, seconds: int) -> int:
    """Microseconds that clocks are ahead of UTC at an instant."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    found = moment.astimezone(info).utcoffset()
    return 0 if found is None else found // timedelta(microseconds=1)


class RepeatedHours:
    """Tells apart two hours that clocks showed alike, by the order of the rows of one file.

    Args:
        zone: How times were read; counts those in doubt.
    """

    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self._last = EARLIEST_MICROSECONDS  # instant of the row before
        self._change = -1  # the night that the times below are of
        self._seen: dict[str, int] = {}

    def settle(
        self,
        at: Ints,
        read: Callable[[Ints, Zone], Ints],
        page_of: Callable[[Ints], Sequence[str]],
    ) -> Ints:
        """Instants of some rows, which follow those of the last call.

        Args:
            at: The instants as the zone has them.
            read: Reads the times of some rows again, in another zone.
            page_of: Names the pages of some rows.
        """
        change = self._zone.changes_at(at)
        rows = np.flatnonzero(change >= 0)
        if len(rows):
            form = self._zone.form
            local, probed = (read(rows, Zone(zone, form)) for zone in (UTC, timezone(_PROBE)))
            bare = local != probed  # a time with an offset is the same in every zone
            rows, local = rows[bare], local[bare]
            self._count_skipped(at[rows], local, change[rows])
            twice = np.array([self._zone.shift(each) < 0 for each in change[rows]], np.bool_)
            at = self._settled(at.copy(), rows[twice], change, page_of)
        self._last = int(at[-1]) if len(at) else self._last
        return at

    def _count_skipped(self, at: Ints, local: Ints, change: Ints) -> None:
        for instant, shown, each in zip(at, local, change, strict=True):
            if self._zone.shift(each) > 0 and shown - instant == self._zone.offset_before(each):
                self._zone.skipped_hour += 1

    def _settled(
        self, at: Ints, rows: Ints, change: Ints, page_of: Callable[[Ints], Sequence[str]]
    ) -> Ints:
        """The same instants, those of second hours moved, in place."""
        for cluster in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if not len(cluster):
                continue
            again = self._again(at[cluster], change[cluster], page_of(cluster))
            repeated = sum(again) >= _REPEATED_SHARE * len(again)
            for row, seen in zip(cluster.tolist(), again, strict=True):
                hour = -self._zone.shift(change[row])
                before = int(at[row - 1]) if row else self._last
                early, late = int(at[row]), int(at[row]) + hour
                steps_back = before - early > _DISORDER and before - late <= _DISORDER
                if (seen and repeated) or steps_back:
                    at[row] = late
                    self._zone.second_hour += 1
                else:
                    self._zone.first_hour += 1
        return at

    def _again(self, at: Ints, change: Ints, pages: Sequence[str]) -> list[bool]:
        """Which rows are of a page that had this time, or a later one, in the same night."""
        again = []
        for instant, each, page in zip(at.tolist(), change.tolist(), pages, strict=True):
            if each != self._change or len(self._seen) >= _MOST_PAGES:
                self._change, self._seen = each, {}
            again.append(self._seen.get(page, EARLIEST_MICROSECONDS) >= instant)
            self._seen[page] = instant
        return again
