"""Periods of time that cut gaps into pieces: months and years, weekdays and hours, two instants.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.ranges import expand_ranges
from recrawl.trends.visit_instants import visit_instants
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.visits.histories import Histories

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = int(MICROSECONDS_A_DAY)

CALENDAR = {"month": "datetime64[M]", "year": "datetime64[Y]"}
# Microseconds of a bin, and bins of a round. Weeks begin on Mondays, 1970 on a Thursday.
CYCLES = {"weekday": (_DAY, 7, 3 * _DAY), "hour": (_DAY // 24, 24, 0)}


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """The part of each gap that tells something, in microseconds, and what it tells.

    Args:
        gap: Row of the gap.
        first: Where the part begins: at the last change if that is dated.
        last: Where it ends.
    """

    gap: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, histories: Histories) -> _Watched:
        """Gaps of all pages whose first visit is known."""
        start, end = visit_instants(histories)
        gap = np.flatnonzero(~np.isnat(start))
        first, last = start[gap].astype(np.int64), end[gap].astype(np.int64)
        age = np.where(is_dated(histories)[gap], histories.age[gap], np.inf)
        # Instants are no finer: a change in the very moment of the visit has some age, too.
        back = np.maximum(np.rint(np.minimum(age, 1e6) * MICROSECONDS_A_DAY).astype(np.int64), 1)
        return cls(gap, np.maximum(first, last - back), last)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Pieces of gaps in *cells*: a cell is a page in a period.

    Args:
        page: Page of each cell.
        period: Label of each cell.
        start: Where its period begins.
        end: Where its period ends.
        gap: Gap of each piece, rising.
        cell: Cell of each piece.
        days: Length of each piece.
        event: Cell in which the watched part of a gap begins, one row per gap; -1 where unknown.
    """

    page: Ints
    period: Any
    start: Instants
    end: Instants
    gap: Ints
    cell: Ints
    days: Floats
    event: Ints


def is_dated(histories: Histories) -> Bools:
    """Whether the last change of each gap has a date."""
    return ~np.isnan(histories.age) & (histories.count < 0)


def by_calendar(histories: Histories, by: str) -> Cut:
    """Pieces by calendar months or years, from each page's first visit to its last."""
    watched, unit = _Watched.of(histories), CALENDAR[by]
    known = ~np.isnat(histories.first_visit)
    page_of_gap = histories.page_of_gap
    some = np.zeros(len(histories), np.bool_)
    some[page_of_gap[watched.gap]] = True
    known &= some | (histories.gaps_of_page == 0)
    first_visit = np.where(known, histories.first_visit, np.datetime64(0, "us"))
    earliest = first_visit.astype(unit).astype(np.int64)
    latest = earliest.copy()
    # A visit on the stroke of midnight ends the period before.
    final = (watched.last - 1).astype("datetime64[us]").astype(unit).astype(np.int64)
    np.maximum.at(latest, page_of_gap[watched.gap], final)

    counts = np.where(known, latest - earliest + 1, 0)
    page = np.repeat(np.arange(len(histories)), counts)
    number = expand_ranges(earliest, counts)
    offset = np.cumsum(counts) - counts - earliest  # from a period's number to its cell
    edges = np.arange(earliest.min(initial=0), latest.max(initial=0) + 2).astype(unit)
    instants = edges.astype("datetime64[us]")
    least = int(edges[0].astype(np.int64))
    piece_gap, piece, days, event = _pieces(watched, instants.astype(np.int64), histories)
    return Cut(
        page,
        np.datetime_as_string(edges[number - least]),
        instants[number - least],
        instants[number - least + 1],
        piece_gap,
        piece + least + offset[page_of_gap[piece_gap]],
        days,
        np.where(event < 0, -1, event + least + offset[page_of_gap]),
    )


def by_month_of_year(histories: Histories) -> Cut:
    """Pieces by month of the year, pooled over all years: twelve cells a page, from January."""
    cut, pages = by_calendar(histories, "month"), len(histories)
    cell = cut.page * 12 + cut.start.astype("datetime64[M]").astype(np.int64) % 12
    return Cut(
        np.repeat(np.arange(pages), 12),
        np.tile(np.array([f"{month:02d}" for month in range(1, 13)]), pages),
        np.repeat(histories.first_visit, 12),
        np.repeat(histories.last_visit, 12),
        cut.gap,
        cell[cut.cell],
        cut.days,
        np.where(cut.event < 0, -1, cell[cut.event]) if len(cell) else cut.event,
    )


def by_edges(histories: Histories, edges: Instants) -> Cut:
    """Pieces before, between and after two instants: three cells a page."""
    least, most = np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max
    walls = np.array([least, *edges.astype(np.int64), most])
    piece_gap, piece, days, event = _pieces(_Watched.of(histories), walls, histories)
    page_of_gap, pages = histories.page_of_gap, len(histories)
    label = "/".join(np.datetime_as_string(edges, unit="s").tolist())
    return Cut(
        np.repeat(np.arange(pages), 3),
        np.tile(np.array(["", label, ""]), pages),
        np.tile(np.array(["NaT", edges[0], edges[1]], "datetime64[us]"), pages),
        np.tile(np.array([edges[0], edges[1], "NaT"], "datetime64[us]"), pages),
        piece_gap,
        piece + 3 * page_of_gap[piece_gap],
        days,
        np.where(event < 0, -1, event + 3 * page_of_gap),
    )


def _pieces(
    watched: _Watched, walls: Ints, histories: Histories
) -> tuple[Ints, Ints, Floats, Ints]:
    """Gap, number between the walls and days of each piece, and where each gap's part begins."""
    begin = np.searchsorted(walls, watched.first, side="right") - 1
    final = np.maximum(np.searchsorted(walls, watched.last, side="left") - 1, begin)
    counts = final - begin + 1
    row = np.repeat(np.arange(len(counts)), counts)
    number = expand_ranges(begin, counts)
    first = np.maximum(watched.first[row], walls[number])
    last = np.minimum(watched.last[row], walls[number + 1])
    whole = _days(watched, histories)
    share = (last - first) / np.maximum(watched.last - watched.first, 1)[row]
    # A gap too short for two instants lies in one piece.
    days = np.where(counts[row] == 1, whole[row], share * whole[row])
    event = np.full(len(histories.gaps), -1, np.int64)
    event[watched.gap] = begin
    return watched.gap[row], number, days, event


def _days(watched: _Watched, histories: Histories) -> Floats:
    """Days of the watched part of each gap."""
    dated = is_dated(histories)[watched.gap]
    age = np.maximum(histories.age[watched.gap], 1 / MICROSECONDS_A_DAY)
    return np.where(dated, age, histories.gaps[watched.gap])


def by_cycle(histories: Histories, by: str) -> Cut:
    """Pieces by weekday or hour: a gap's time in a bin is one piece, however many rounds long."""
    width, bins, shift = CYCLES[by]
    watched = _Watched.of(histories)
    page_of_gap, pages = histories.page_of_gap, len(histories)
    found: list[tuple[Ints, Ints, Floats]] = []
    for begin in range(0, len(watched.gap), 1 << 16):  # so many rows of bins at a time
        rows = slice(begin, begin + (1 << 16))
        first, last = watched.first[rows] + shift, watched.last[rows] + shift
        time = (_until(last, width, bins) - _until(first, width, bins)) / MICROSECONDS_A_DAY
        row, number = np.nonzero(time)
        found.append((begin + row, number, time[row, number]))
    # A gap too short for two instants has no time in any bin: it lies where it begins.
    begin_bin = (watched.first + shift) // width % bins
    short = np.flatnonzero(watched.first == watched.last)
    found.append((short, begin_bin[short], _days(watched, histories)[short]))
    row, number, days = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    row, number, days = row[order], number[order], days[order]

    event = np.full(len(histories.gaps), -1, np.int64)
    event[watched.gap] = begin_bin + bins * page_of_gap[watched.gap]
    gap = watched.gap[row]
    labels = _WEEKDAYS if by == "weekday" else [f"{hour:02d}" for hour in range(bins)]
    return Cut(
        np.repeat(np.arange(pages), bins),
        np.tile(np.array(labels), pages),
        np.repeat(histories.first_visit, bins),
        np.repeat(histories.last_visit, bins),
        gap,
        number + bins * page_of_gap[gap],
        days,
        event,
    )


def _until(instant: Ints, width: int, bins: int) -> Ints:
    """Microseconds that each bin of a round has had by each instant."""
    rounds, place = np.divmod(instant, width * bins)
    part = np.clip(place[:, np.newaxis] - np.arange(bins) * width, 0, width)
    until: Ints = part + (rounds * width)[:, np.newaxis]
    return until
