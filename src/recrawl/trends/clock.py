r"""Operational time: a clock that runs fast in the hours in which a site changes, slow in others.

Most pages change at work and rest at night. A `Clock` has a speed for each of the 168 hours of
the week (Monday 00:00 UTC is the first; clocks in UTC know no summer time), with mean 1. Between
two instants it shows

$$ \Delta^* = \int_{t_1}^{t_2} s(t) \, dt $$

*operational days*. On its time a page that follows the site's week changes at a constant rate, so
every estimator works unchanged on `Clock.on_clock(histories)`.

A week on the clock is seven days. So the clock never strays far from the sun: what it shows is
the days gone by and a *deviation* that depends on the hour of the week alone.

`fit_clock` finds the speeds by going round (EM). With rate $r$ of a page and speed $s_h$, a hidden
change in a gap that lies for $w_h$ days in hour $h$ makes

$$ r s_h w_h / (1 - e^{-r \sum_k s_k w_k}) $$

changes to expect in that hour. Changes over the exposure $r w_h$ are the new speeds. The overlap
of all gaps with all hours takes a few sums over the ends of the gaps, however long they are.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS, MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.visits.arrays import Bools, Floats, Instants, Ints
    from recrawl.visits.histories import Histories

HOURS_A_WEEK = 168
_HOURS_A_DAY = 24
_DAYS_A_WEEK = 7
_MICROSECONDS_AN_HOUR = int(MICROSECONDS_A_DAY) // _HOURS_A_DAY
_MICROSECONDS_A_WEEK = int(MICROSECONDS_A_DAY) * _DAYS_A_WEEK
_MONDAY = 3 * int(MICROSECONDS_A_DAY)  # 1970 began on a Thursday
_LONGEST_DAYS = (LATEST_MICROSECONDS - EARLIEST_MICROSECONDS) / MICROSECONDS_A_DAY

# On a made site (working hours eight times as fast as nights, gaps of six hours) 240 hidden changes
# give three quarters of what the true clock adds to the log score, 1000 give 95 %. Smoothing by 3
# gives 93 % and 98 %, but where there is no week it costs 0.0026 a visit with 240 changes, and
# smoothing by 10 only 0.0013 (0.0008 and 0.0003 with 1000).
_FEWEST_CHANGES = 200
_SMOOTHING = 10.0
_ROUNDS = 60
_SETTLED = 1e-3
# A page's rate is pulled towards its site's by half a change.
_PULL = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """Speeds of the hours of the week, a row a site, and which site each page belongs to.

    Args:
        speeds: 168 positive numbers with mean 1, from Monday 00:00 UTC; or a row of them a site.
        site_of_page: Row of each page's site; None where all pages share the first.

    Examples:
        A site that works in the first half of the week only, nearly:

        >>> half = Clock(np.repeat([1.9, 0.1], 84))
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
        """Refuse speeds that make no clock."""
        speeds = np.atleast_2d(np.asarray(self.speeds, np.float64))
        if speeds.ndim > 2 or speeds.shape[1] != HOURS_A_WEEK or not len(speeds):  # noqa: PLR2004
            shape = np.shape(self.speeds)
            message = (
                f"speeds must be {HOURS_A_WEEK} numbers, or a row of them a site (got {shape})"
            )
            raise InvalidParameter(message)
        mean = speeds.mean(axis=1, keepdims=True)
        if not (speeds > 0).all() or not (np.abs(mean - 1) < 1e-6).all():  # noqa: PLR2004
            message = f"speeds must be positive with mean 1 (got mean {mean.ravel()})"
            raise InvalidParameter(message)
        even = (speeds == 1).all(axis=1, keepdims=True)
        object.__setattr__(self, "speeds", np.where(even, 1.0, speeds / mean))
        if self.site_of_page is not None:
            sites = np.asarray(self.site_of_page, np.int64)
            object.__setattr__(self, "site_of_page", sites)
            _check_sites(sites, len(speeds))

    @classmethod
    def even(cls) -> Clock:
        """Return the clock on the wall."""
        return cls(np.ones(HOURS_A_WEEK))

    @property
    def is_even(self) -> Bools:
        """Whether each site's clock is the one on the wall."""
        even: Bools = (self.speeds == 1).all(axis=1)
        return even

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
        known = ~np.isnat(start) & (np.abs(days) < _LONGEST_DAYS)
        moment, days = np.where(known, start.astype(np.int64), 0), np.where(known, days, 0.0)
        place = (moment + _MONDAY) % _MICROSECONDS_A_WEEK
        goal = place / MICROSECONDS_A_DAY + self._deviation(place, site) + days
        weeks = np.floor(goal / _DAYS_A_WEEK)
        within = goal - weeks * _DAYS_A_WEEK

        ends = np.cumsum(self.speeds, axis=1) / _HOURS_A_DAY
        # One search for all sites: each has seven operational days of its own.
        shelves = ends + _DAYS_A_WEEK * np.arange(len(ends))[:, np.newaxis]
        row = np.searchsorted(shelves.ravel(), (within + _DAYS_A_WEEK * site).ravel(), side="right")
        hour = np.clip(row.reshape(np.shape(site)) - HOURS_A_WEEK * site, 0, HOURS_A_WEEK - 1)
        speed = self.speeds[site, hour]
        part = (within - ends[site, hour] + speed / _HOURS_A_DAY) * _HOURS_A_DAY / speed
        day = weeks * _DAYS_A_WEEK + (hour + np.clip(part, 0, 1)) / _HOURS_A_DAY
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
            >>> Clock(np.repeat([1.9, 0.1], 84)).on_clock(week).gaps
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
            change = last - _microseconds(np.nan_to_num(histories.age))
            age = np.where(
                unknown, histories.age, self._shown(histories.age, change, last, site_of_gap)
            )
            # The same change in a gap that both lost or gained a rounding error.
            columns["age"] = np.minimum(age, np.nextafter(gaps, 0))
        known = ~np.isnan(histories.first_age) & ~np.isnat(histories.first_visit)
        if known.any():
            visit = np.where(known, histories.first_visit.astype(np.int64), 0)
            days = np.where(known, histories.first_age, 0.0)
            shown = self._shown(days, visit - _microseconds(days), visit, site)
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
        start, end = ((at + _MONDAY) % _MICROSECONDS_A_WEEK for at in (first, last))
        hour = start // _MICROSECONDS_AN_HOUR
        same = np.abs(last - first) < _MICROSECONDS_AN_HOUR
        same &= hour == end // _MICROSECONDS_AN_HOUR
        across = days + (self._deviation(end, site) - self._deviation(start, site))
        shown = np.where(same, days * self.speeds[site, hour], across)
        least = self.speeds.min(axis=1)[site] * days
        found: Floats = np.where(days > 0, np.maximum(shown, least), shown)
        return found

    def _deviation(self, place: Ints, site: Any) -> Floats:  # noqa: ANN401 - a number or a column
        """How far ahead of the wall the clock is, so many microseconds into the week."""
        ahead = np.cumsum(self.speeds - 1, axis=1) / _HOURS_A_DAY
        hour, rest = np.divmod(place, _MICROSECONDS_AN_HOUR)
        left = 1 - rest / _MICROSECONDS_AN_HOUR
        deviation: Floats = ahead[site, hour] - (self.speeds[site, hour] - 1) * left / _HOURS_A_DAY
        return deviation


def visit_instants(histories: Histories) -> tuple[Instants, Instants]:
    """Instants of the two visits of each gap; NaT where only gaps are known.

    Visits beyond the year 2200 are unknown, too.

    Examples:
        >>> from recrawl import Histories
        >>> first = np.array(["2026-01-01"], "datetime64[us]")
        >>> seen = Histories(np.array([1.0, 0.5]), [True, False], [0, 2], first_visit=first)
        >>> visit_instants(seen)[1].astype("datetime64[h]")
        array(['2026-01-02T00', '2026-01-02T12'], dtype='datetime64[h]')
    """
    counts = histories.gaps_of_page
    days = histories.total(np.minimum(histories.gaps, _LONGEST_DAYS))
    first = histories.first_visit.astype(np.int64)
    known = ~np.isnat(histories.first_visit)
    late = first / MICROSECONDS_A_DAY + days > LATEST_MICROSECONDS / MICROSECONDS_A_DAY
    known &= ~late & (first >= EARLIEST_MICROSECONDS)

    # Sums of whole microseconds are exact, and right even if the sum over all pages wraps around.
    lengths = _microseconds(np.where(np.repeat(known, counts), histories.gaps, 0.0))
    ends = np.cumsum(lengths)
    before = np.concatenate([[0], ends])[histories.offsets[:-1]]
    ends += np.repeat(first - before, counts)
    nothing = np.repeat(~known, counts)
    last: Instants = ends.astype("datetime64[us]")
    start: Instants = (ends - lengths).astype("datetime64[us]")
    start[nothing] = last[nothing] = np.datetime64("NaT")
    return start, last


def fit_clock(
    histories: Histories,
    sites: Ints | None = None,
    *,
    smoothing: float = _SMOOTHING,
    fewest_changes: int = _FEWEST_CHANGES,
) -> Clock:
    """Clock of each site from the changes of all its pages.

    Each hour of the day, each day of the week, and each hour of the week beyond what these two
    make of it, is pulled towards the average by `smoothing` changes.

    Args:
        histories: The pages. Those whose first visit is unknown tell nothing.
        sites: Number of each page's site, from 0; None where all are of one site.
        smoothing: Changes an hour must outweigh.
        fewest_changes: A site has an even clock unless so many changes are dated or lie in gaps
            of less than a week.

    Examples:
        Changes at noon, seen by visits every six hours, make a clock that runs fast then:

        >>> from recrawl import Histories
        >>> changed = np.tile([False, False, True, False], 250)
        >>> monday = np.array(["2026-01-05"], "datetime64[us]")
        >>> seen = Histories(np.full(1000, 0.25), changed, [0, 1000], first_visit=monday)
        >>> fit_clock(seen).speeds[0, :24:6].round(1)
        array([0.3, 0.3, 3.2, 0.3])
    """
    if not smoothing > 0:
        message = f"smoothing must be a positive number of changes (got {smoothing})"
        raise InvalidParameter(message)
    site_of_page = np.zeros(len(histories), np.int64) if sites is None else np.asarray(sites)
    if len(site_of_page) != len(histories):
        message = f"sites must name a site a page, {len(histories)} (got {len(site_of_page)})"
        raise InvalidParameter(message)
    count = int(site_of_page.max(initial=0)) + 1
    _check_sites(site_of_page, count)

    start, _ = visit_instants(histories)
    telling = histories.changed & ~np.isnat(start)
    telling &= ~np.isnan(histories.age) | (histories.gaps < _DAYS_A_WEEK)
    changes = np.bincount(site_of_page, histories.total(telling), count)
    enough = changes >= fewest_changes
    speeds = np.ones((count, HOURS_A_WEEK))
    pages = np.flatnonzero(enough[site_of_page] & (histories.gaps_of_page > 0))
    if len(pages):
        fitted = _fit(histories.take(pages), site_of_page[pages], count, smoothing)
        speeds[enough] = fitted[enough]
    return Clock(speeds, None if sites is None else site_of_page)


def _check_sites(sites: Ints, count: int) -> None:
    """Refuse numbers that name no site."""
    if sites.ndim != 1 or sites.dtype.kind not in "iu":
        message = f"sites must be one column of whole numbers (got {sites})"
        raise InvalidParameter(message)
    bad = (sites < 0) | (sites >= count)
    if bad.any():
        page = int(np.argmax(bad))
        message = f"page {page}: site must be a number from 0 to {count - 1} (got {sites[page]})"
        raise InvalidParameter(message)


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """Stretches of time in which pages were watched, on the week.

    Args:
        site: Site of each stretch.
        weeks: Whole weeks from the week of its start to that of its end.
        start: Hour of the week in which it starts, counted through all sites.
        end: Hour in which it ends.
        start_part: Part of the hour gone by at its start.
        end_part: Part gone by at its end.
    """

    site: Ints
    weeks: Floats
    start: Ints
    end: Ints
    start_part: Floats
    end_part: Floats

    @classmethod
    def between(cls, first: Ints, last: Ints, site: Ints) -> _Stretches:
        """Stretches from `first` to `last`, in microseconds."""
        week, place = np.divmod(first + _MONDAY, _MICROSECONDS_A_WEEK)
        hour, rest = np.divmod(place, _MICROSECONDS_AN_HOUR)
        last_week, last_place = np.divmod(last + _MONDAY, _MICROSECONDS_A_WEEK)
        last_hour, last_rest = np.divmod(last_place, _MICROSECONDS_AN_HOUR)
        return cls(
            site,
            (last_week - week).astype(np.float64),
            hour + HOURS_A_WEEK * site,
            last_hour + HOURS_A_WEEK * site,
            rest / _MICROSECONDS_AN_HOUR,
            last_rest / _MICROSECONDS_AN_HOUR,
        )

    def take(self, rows: Bools) -> _Stretches:
        """Only some of the stretches."""
        return _Stretches(
            *(getattr(self, name)[rows] for name in _Stretches.__slots__)  # all are columns
        )

    def shown(self, speeds: Floats) -> Floats:
        """Days that the clocks show for each stretch."""
        before = (np.cumsum(speeds, axis=1) - speeds).ravel()
        speed = speeds.ravel()
        end = before[self.end] + speed[self.end] * self.end_part
        start = before[self.start] + speed[self.start] * self.start_part
        shown: Floats = self.weeks * _DAYS_A_WEEK + (end - start) / _HOURS_A_DAY
        return shown

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
        days: Floats = (weeks + after + part.reshape(sites, HOURS_A_WEEK)) / _HOURS_A_DAY
        return np.maximum(days, 0)


def _fit(histories: Histories, site: Ints, sites: int, smoothing: float) -> Floats:
    """Speeds of each site by going round; pages without a known first visit are left out."""
    start, end = visit_instants(histories)
    known = ~np.isnat(start)
    page = histories.page_of_gap
    counted = histories.count >= 0
    dated = ~np.isnan(histories.age) & ~counted
    # Before the last change of a gap anything may have happened; a change has some age.
    age = np.maximum(_microseconds(np.where(dated, histories.age, 0.0)), 1)
    first = np.where(dated, end.astype(np.int64) - age, start.astype(np.int64))
    first, last = np.where(known, first, 0), np.where(known, end.astype(np.int64), 0)
    watched = _Stretches.between(first, last, site[page])

    events = np.bincount(watched.start, (dated & known).astype(np.float64), sites * HOURS_A_WEEK)
    hidden = known & histories.changed & ~dated
    within, hidden_page = watched.take(hidden), page[hidden]
    count = np.where(counted, histories.count, 0)[hidden].astype(np.float64)
    told = histories.total((dated & known).astype(np.float64))

    speeds = np.ones((sites, HOURS_A_WEEK))
    changes = np.bincount(site, histories.total(hidden | (dated & known)), sites)
    days = np.bincount(site, histories.total(watched.shown(speeds) * known), sites)
    pooled = np.maximum(changes, _PULL) / np.maximum(days, 1 / MICROSECONDS_A_DAY)
    rate = pooled[site]
    for _ in range(_ROUNDS):
        shown = within.shown(speeds)
        x = np.maximum(rate[hidden_page] * shown, 1e-12)
        expected = np.where(count > 0, count, x / -np.expm1(-x))
        by_day = expected / np.maximum(shown, 1e-15)

        in_hours = within.days_in_hours(by_day, sites) * speeds
        in_hours += events.reshape(sites, HOURS_A_WEEK)
        exposure = watched.days_in_hours(rate[page] * known, sites)
        before, speeds = speeds, _smoothed(in_hours, exposure, smoothing)
        # Rates on the new clock.
        of_page = told + np.bincount(hidden_page, expected, len(rate))
        shown_all = histories.total(watched.shown(speeds) * known)
        rate = (of_page + _PULL) / (shown_all + _PULL / pooled[site])
        if np.abs(np.log(speeds / before)).max() < _SETTLED:
            break
    return speeds


def _smoothed(changes: Floats, exposure: Floats, smoothing: float) -> Floats:
    """Speeds with mean 1: hours of the day, days of the week, and what is left over.

    Hour and day are found in turn; each hour of the week starts from their product.
    """
    shape = (len(changes), _DAYS_A_WEEK, _HOURS_A_DAY)
    changes, exposure = changes.reshape(shape), exposure.reshape(shape)
    # Both may be off by a page's rate, the same for all hours.
    total = exposure.sum(axis=(1, 2), keepdims=True)
    exposure = exposure * changes.sum(axis=(1, 2), keepdims=True) / np.where(total > 0, total, 1)
    day = np.ones((len(changes), _DAYS_A_WEEK, 1))
    hour = np.ones((len(changes), 1, _HOURS_A_DAY))
    for _ in range(4):
        hour = changes.sum(axis=1, keepdims=True) + smoothing
        hour /= (exposure * day).sum(axis=1, keepdims=True) + smoothing
        day = changes.sum(axis=2, keepdims=True) + smoothing
        day /= (exposure * hour).sum(axis=2, keepdims=True) + smoothing
    guess = hour * day
    speeds = guess * (changes + smoothing) / (exposure * guess + smoothing)
    flat = speeds.reshape(len(changes), HOURS_A_WEEK)
    even: Floats = flat / flat.mean(axis=1, keepdims=True)
    return even


def _microseconds(days: Floats) -> Ints:
    """Whole microseconds, at most three centuries."""
    return np.rint(np.minimum(days, _LONGEST_DAYS) * MICROSECONDS_A_DAY).astype(np.int64)
