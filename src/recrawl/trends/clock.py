r"""Operational time: a clock that runs fast in the hours in which a site changes, slow in others.

Most pages change at work and rest at night. A `SiteClock` has a speed for each of the 168 hours of
the week (Monday 00:00 UTC is the first; clocks in UTC know no summer time), with mean 1. Between
two instants it shows

$$ \Delta^* = \int_{t_1}^{t_2} s(t) \, dt $$

*operational days*. On its time a page that follows the site's week changes at a constant rate, so
every estimator works unchanged on `SiteClock.on_clock(histories)`.

A week on the clock is seven days. So the clock never strays far from the sun: what it shows is
the days gone by and a *deviation* that depends on the hour of the week alone.

`recrawl.trends.clock_fit` finds the speeds.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.trends.visit_instants import LONGEST_DAYS, microseconds, visit_instants
from recrawl.trends.week import (
    DAYS_A_WEEK,
    HOURS_A_DAY,
    HOURS_A_WEEK,
    MICROSECONDS_A_WEEK,
    MICROSECONDS_AN_HOUR,
    MONDAY,
)
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.sites import check_sites

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True, eq=False)
class SiteClock:
    """Speeds of the hours of the week, one row per site, and which site each page belongs to.

    Args:
        speeds: 168 positive numbers with mean 1, from Monday 00:00 UTC; or a row of them a site.
        site_of_page: Row of each page's site; None where all pages share the first.

    Examples:
        A site that works in the first half of the week only, nearly:

        >>> half = SiteClock(np.repeat([1.9, 0.1], 84))
        >>> monday, friday = np.array(["2026-01-05", "2026-01-09"], "datetime64[us]")
        >>> day = np.timedelta64(1, "D")
        >>> half.elapsed(monday, monday + day), half.elapsed(friday, friday + day)
        (array(1.9), array(0.1))
        >>> half.later(monday, 1.9)
        array('2026-01-06T00:00:00.000000', dtype='datetime64[us]')
    """

    speeds: Floats
    site_of_page: Ints | None = None

    def __post_init__(self) -> None:
        """Check the speeds."""
        speeds = np.atleast_2d(np.asarray(self.speeds, np.float64))
        if speeds.ndim > 2 or speeds.shape[1] != HOURS_A_WEEK or not len(speeds):  # noqa: PLR2004
            shape = np.shape(self.speeds)
            raise InvalidParameter(
                f"speeds must be {HOURS_A_WEEK} numbers, or a row of them a site (got {shape})"
            )
        mean = speeds.mean(axis=1, keepdims=True)
        if not (speeds > 0).all() or not (np.abs(mean - 1) < 1e-6).all():  # noqa: PLR2004
            raise InvalidParameter(f"speeds must be positive with mean 1 (got mean {mean.ravel()})")
        even = (speeds == 1).all(axis=1, keepdims=True)
        object.__setattr__(self, "speeds", np.where(even, 1.0, speeds / mean))
        if self.site_of_page is not None:
            sites = np.asarray(self.site_of_page, np.int64)
            object.__setattr__(self, "site_of_page", sites)
            check_sites(sites, len(speeds))

    @classmethod
    def even(cls) -> SiteClock:
        """Return the clock that runs evenly."""
        return cls(np.ones(HOURS_A_WEEK))

    def elapsed(self, start: Any, end: Any, site: Any = 0) -> Floats:  # noqa: ANN401 - array-likes
        """Operational days from `start` to `end`, arrays of instants; nan where one is NaT."""
        start, end, site = np.broadcast_arrays(
            np.asarray(start, "datetime64[us]"), np.asarray(end, "datetime64[us]"), site
        )
        unknown = np.isnat(start) | np.isnat(end)
        first, last = (np.where(unknown, 0, at.astype(np.int64)) for at in (start, end))
        days = np.where(unknown, np.nan, (last - first) / MICROSECONDS_A_DAY)
        return self._shown(days, first, last, site)

    def later(self, start: Any, days: Any, site: Any = 0) -> Instants:  # noqa: ANN401 - array-likes
        """Instant at which so many operational days have passed since `start`.

        Negative days lead back. NaT where the start is NaT or the instant lies more than three
        centuries away.
        """
        start, days, site = np.broadcast_arrays(
            np.asarray(start, "datetime64[us]"), np.asarray(days, np.float64), site
        )
        known = ~np.isnat(start) & (np.abs(days) < LONGEST_DAYS)
        moment, days = np.where(known, start.astype(np.int64), 0), np.where(known, days, 0.0)
        place = (moment + MONDAY) % MICROSECONDS_A_WEEK
        goal = place / MICROSECONDS_A_DAY + self._deviation(place, site) + days
        weeks = np.floor(goal / DAYS_A_WEEK)
        within = goal - weeks * DAYS_A_WEEK

        ends = np.cumsum(self.speeds, axis=1) / HOURS_A_DAY
        # One search for all sites: each has seven operational days of its own.
        shelves = ends + DAYS_A_WEEK * np.arange(len(ends))[:, np.newaxis]
        row = np.searchsorted(shelves.ravel(), (within + DAYS_A_WEEK * site).ravel(), side="right")
        hour = np.clip(row.reshape(np.shape(site)) - HOURS_A_WEEK * site, 0, HOURS_A_WEEK - 1)
        speed = self.speeds[site, hour]
        part = (within - ends[site, hour] + speed / HOURS_A_DAY) * HOURS_A_DAY / speed
        day = weeks * DAYS_A_WEEK + (hour + np.clip(part, 0, 1)) / HOURS_A_DAY
        moved = np.rint(day * MICROSECONDS_A_DAY).astype(np.int64) - place
        found: Instants = (moment + moved).astype("datetime64[us]")
        return np.where(known, found, np.datetime64("NaT", "us"))

    def on_clock(self, histories: Histories) -> Histories:
        """The same pages with gaps and ages in operational days.

        Pages whose first visit is unknown stay as they are. First visits remain the instants
        they were.

        Examples:
            >>> from recrawl import Histories
            >>> monday = np.array(["2026-01-05"], "datetime64[us]")
            >>> week = Histories(np.ones(7), np.ones(7, bool), np.array([0, 7]), first_visit=monday)
            >>> SiteClock(np.repeat([1.9, 0.1], 84)).on_clock(week).gaps
            array([1.9, 1.9, 1.9, 1. , 0.1, 0.1, 0.1])
        """
        site = self._sites(len(histories))
        start, end = visit_instants(histories)
        unknown = np.isnat(start)
        first, last = start.astype(np.int64), end.astype(np.int64)
        site_of_gap = np.repeat(site, histories.gaps_of_page)
        gaps = np.where(unknown, 0.0, histories.gaps)
        gaps = np.where(unknown, histories.gaps, self._shown(gaps, first, last, site_of_gap))
        columns: dict[str, Any] = {}
        if histories.knows_age:
            change = last - microseconds(np.nan_to_num(histories.age))
            age = np.where(
                unknown, histories.age, self._shown(histories.age, change, last, site_of_gap)
            )
            # The same change in a gap that both lost or gained a rounding error.
            columns["age"] = np.minimum(age, np.nextafter(gaps, 0))
        known = ~np.isnan(histories.first_age) & ~np.isnat(histories.first_visit)
        if known.any():
            visit = np.where(known, histories.first_visit.astype(np.int64), 0)
            days = np.where(known, histories.first_age, 0.0)
            shown = self._shown(days, visit - microseconds(days), visit, site)
            columns["first_age"] = np.where(known, shown, histories.first_age)
        return replace(histories, gaps=gaps, **columns)

    def _sites(self, pages: int) -> Ints:
        if self.site_of_page is None:
            return np.zeros(pages, np.int64)
        if len(self.site_of_page) != pages:
            count = len(self.site_of_page)
            message = f"the clock was made for {count} pages and must meet as many (got {pages})"
            raise InvalidParameter(message)
        return self.site_of_page

    def _shown(self, days: Floats, first: Ints, last: Ints, site: Any) -> Floats:  # noqa: ANN401
        """What the clock shows between instants that lie so many days apart.

        The days and what the clock deviates more at the end than at the start. Within an hour a
        difference of deviations would leave few digits, and no stretch is shorter than at the
        slowest speed.
        """
        start, end = ((at + MONDAY) % MICROSECONDS_A_WEEK for at in (first, last))
        hour = start // MICROSECONDS_AN_HOUR
        same = np.abs(last - first) < MICROSECONDS_AN_HOUR
        same &= hour == end // MICROSECONDS_AN_HOUR
        across = days + (self._deviation(end, site) - self._deviation(start, site))
        shown = np.where(same, days * self.speeds[site, hour], across)
        least = self.speeds.min(axis=1)[site] * days
        return np.where(days > 0, np.maximum(shown, least), shown)

    def _deviation(self, place: Ints, site: Any) -> Floats:  # noqa: ANN401 - a number or a column
        """How far ahead of the wall the clock is, so many microseconds into the week."""
        ahead = np.cumsum(self.speeds - 1, axis=1) / HOURS_A_DAY
        hour, rest = np.divmod(place, MICROSECONDS_AN_HOUR)
        left = 1 - rest / MICROSECONDS_AN_HOUR
        deviation: Floats = ahead[site, hour] - (self.speeds[site, hour] - 1) * left / HOURS_A_DAY
        return deviation
