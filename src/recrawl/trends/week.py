"""Time spent in each of the 168 hours of the week, for stretches of time, from Monday 00:00 UTC.

The overlap of all stretches with all hours takes a few sums over their ends, however long they are.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints

HOURS_A_WEEK = 168
HOURS_A_DAY = 24
DAYS_A_WEEK = 7
MICROSECONDS_AN_HOUR = int(MICROSECONDS_A_DAY) // HOURS_A_DAY
MICROSECONDS_A_WEEK = int(MICROSECONDS_A_DAY) * DAYS_A_WEEK
MONDAY = 3 * int(MICROSECONDS_A_DAY)  # 1970 began on a Thursday


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches of time on the weeks of sites, a row each.

    Args:
        site: Site of each stretch.
        weeks: Whole weeks from the week of its start to that of its end.
        start: Hour of the week in which it starts, counted through all sites.
        end: Hour in which it ends.
        start_part: Part of the hour gone by at its start.
        end_part: Part gone by at its end.

    Examples:
        Monday from half past nine to eleven, in hours:

        >>> half_past_nine, eleven = (
        ...     np.array([day], "datetime64[us]").astype(np.int64)
        ...     for day in ("2026-01-05T09:30", "2026-01-05T11:00")
        ... )
        >>> morning = Stretches.between(half_past_nine, eleven, site=np.array([0]))
        >>> (24 * morning.days_in_hours(np.ones(1), sites=1))[0, 8:12].round(6)
        array([0. , 0.5, 1. , 0. ])
    """

    site: Ints
    weeks: Floats
    start: Ints
    end: Ints
    start_part: Floats
    end_part: Floats

    @classmethod
    def between(cls, first: Ints, last: Ints, site: Ints) -> Stretches:
        """Stretches from `first` to `last`, in microseconds."""
        week, place = np.divmod(first + MONDAY, MICROSECONDS_A_WEEK)
        hour, rest = np.divmod(place, MICROSECONDS_AN_HOUR)
        last_week, last_place = np.divmod(last + MONDAY, MICROSECONDS_A_WEEK)
        last_hour, last_rest = np.divmod(last_place, MICROSECONDS_AN_HOUR)
        return cls(
            site,
            (last_week - week).astype(np.float64),
            hour + HOURS_A_WEEK * site,
            last_hour + HOURS_A_WEEK * site,
            rest / MICROSECONDS_AN_HOUR,
            last_rest / MICROSECONDS_AN_HOUR,
        )

    def take(self, rows: Bools) -> Stretches:
        """Only some of the stretches."""
        return Stretches(
            *(getattr(self, name)[rows] for name in Stretches.__slots__)  # all are columns
        )

    def shown(self, speeds: Floats) -> Floats:
        """Days that the clocks show for each stretch."""
        before = (np.cumsum(speeds, axis=1) - speeds).ravel()
        speed = speeds.ravel()
        end = before[self.end] + speed[self.end] * self.end_part
        start = before[self.start] + speed[self.start] * self.start_part
        return self.weeks * DAYS_A_WEEK + (end - start) / HOURS_A_DAY

    def days_in_hours(self, weight: Floats, sites: int) -> Floats:
        """Sum over the stretches of each site of weight times days in each hour of the week.

        Time from Monday to an instant covers all hours before the instant's and a part of that
        one, so it is enough to sum the weights by the hours of the ends.
        """
        size = sites * HOURS_A_WEEK
        whole = np.bincount(self.end, weight, size) - np.bincount(self.start, weight, size)
        part = np.bincount(self.end, weight * self.end_part, size)
        part -= np.bincount(self.start, weight * self.start_part, size)
        whole = whole.reshape(sites, HOURS_A_WEEK)
        after = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1] - whole
        weeks = np.bincount(self.site, weight * self.weeks, sites)[:, np.newaxis]
        days: Floats = (weeks + after + part.reshape(sites, HOURS_A_WEEK)) / HOURS_A_DAY
        return np.maximum(days, 0)
