"""A source, or part of it, tracked by a forecaster up to its last crawl.

Every day that was crawled is training: the forecaster learns from all snapshots. In a backtest it
learns only from what syncs see.

A part of a source is one of its groups. It vanishes by the ages and the level of the whole, times
a factor of its own that is drawn towards 1 while its removals are few, and has its own share of the
arrivals. How far outcomes scatter is learned from the part alone.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.listings.data.attributes import ObjectGroups, groups_by
from recrawl.listings.data.sync import cycles
from recrawl.listings.forecast.forecast import Forecast, ForecastPath
from recrawl.listings.forecast.forecaster import finished, start_of, status_of
from recrawl.listings.forecast.methods import DEFAULT, SyncReplay, method_named
from recrawl.listings.groups.informative import informative_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Ints
    from recrawl.listings.data.cycles import Stock
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.forecast.methods import Method
    from recrawl.listings.forecast.state import ForecasterState

WHOLE = ""
_RECENT_DAYS = 120
_MANY = 200  # arrivals that tell how they are shared


@dataclass(frozen=True, slots=True, eq=False)
class GroupShare:
    """State of a group besides that of its source.

    Args:
        share: Its share of the source's arrivals.
        alone: What a forecaster would know that saw the group alone: its bands are the group's.
    """

    share: float
    alone: ForecasterState


@dataclass(frozen=True, slots=True, eq=False)
class TrackedSource:
    """A forecaster's state for a source, or a group of it, after the last crawl.

    Args:
        name: Name of the group; empty for a whole source.
        synced_at: Instant of the last crawl's day.
        method: The forecaster.
        state: What it has learned; None where there is nothing to learn from.
        stock: What the last crawl found; None where there was no crawl.
        part: State of a group; None for a whole source.
        status: What is the matter where there is no state.
    """

    name: str
    synced_at: np.datetime64
    method: Method[Any]
    state: Any
    stock: Stock | None
    part: GroupShare | None = None
    status: str = ""

    @property
    def listed(self) -> float:
        """How many objects the last crawl found."""
        return 0.0 if self.stock is None else self.stock.listed

    def forecast(self, ahead: int, later: int = 0) -> Forecast:
        """Look ahead from the last crawl, or from one some days later with a stock as now."""
        if self.state is None or self.stock is None:
            nothing = ForecastPath.unknown(ahead)
            return Forecast(0.0, nothing, nothing, nothing, nothing, None, (self.status,))
        stock = _moved(self.stock, later)
        found = (
            self.method.forecast(self.state, stock, ahead)
            if self.part is None
            else _of_part(self.state, stock, ahead, self.part)
        )
        # A sync to come will show the new keys.
        kept = [word for word in found.status if not (later and word == "rekey?")]
        return replace(found, status=tuple(kept))


def track_source(
    listing: Listing, grid: DayGrid, *, method: str = DEFAULT, level: float = 0.9
) -> TrackedSource:
    """Track a whole source.

    Args:
        listing: Its objects.
        grid: The same day by day.
        method: Name of the forecaster.
        level: Share of outcomes that bands are to hold.

    Examples:
        Ten objects a day, each listed for ten days; of a copy the tenth is gone a day later:

        >>> from recrawl.listings.data.grid import DayGrid
        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-01", "2026-03-02", dtype="datetime64[D]")
        >>> spells = [(row, row // 10, min(row // 10 + 10, 60)) for row in range(600)]
        >>> listing = Listing.of([str(row) for row in range(600)], crawls, spells)
        >>> found = track_source(listing, DayGrid.of(listing))
        >>> found.listed, found.forecast(1).expected.precision.round(1)
        (100.0, array([0.9]))
    """
    how = method_of(method, level=level, part=False)
    return _tracked(listing, grid, informative_groups(listing), how)[0]


def track_part(
    listing: Listing, grid: DayGrid, wanted: Bools, *, method: str = DEFAULT, level: float = 0.9
) -> TrackedSource:
    """Track some objects of a source: those that are `wanted`."""
    how = method_of(method, level=level, part=True)
    groups = informative_groups(listing)
    own = np.where(wanted, len(groups), groups.codes)
    parted = ObjectGroups(own, (*groups.names, "(chosen)"), groups.attributes)
    return _tracked(listing, grid, parted, how, parts=[len(groups)])[0]


def track_groups(
    listing: Listing, grid: DayGrid, by: Sequence[str], *, level: float = 0.9
) -> list[TrackedSource]:
    """Track each group of a source that some attributes make."""
    how = method_of(DEFAULT, level=level, part=True)
    groups = groups_by(listing.attributes, by, len(listing))
    return _tracked(listing, grid, groups, how, parts=list(range(len(groups))))


def method_of(name: str, *, level: float, part: bool) -> Method[Any]:
    """A forecaster by its name; only the default knows of parts of a source."""
    found = method_named(name, level=level)
    if part and name != DEFAULT:
        raise InvalidParameter(f"method for a part of a source must be {DEFAULT} (got {name!r})")
    return found


def _tracked(
    listing: Listing,
    grid: DayGrid,
    groups: ObjectGroups,
    method: Method[Any],
    parts: Sequence[int] | None = None,
) -> list[TrackedSource]:
    """A whole source where `parts` is None, else groups of it."""
    names = [WHOLE] if parts is None else [groups.names[part] for part in parts]
    last = grid.instants[grid.crawled[-1]] if len(grid.crawled) else grid.start
    if listing.status != "ok":
        return [
            TrackedSource(name, last, method, None, None, status=listing.status) for name in names
        ]
    run = SyncReplay(grid, groups, method, train=len(grid))
    if parts is None:
        return [TrackedSource(WHOLE, last, method, run.state, run.syncs.stock)]
    arrived = _arrivals(grid, groups)
    total = max(float(arrived.sum()), 1.0)
    return [
        TrackedSource(
            name,
            last,
            method,
            run.state,
            _only(run.syncs.stock, part),
            GroupShare(
                float(arrived[part]) / total, _alone(grid.only(groups.codes == part), method)
            ),
        )
        for name, part in zip(names, parts, strict=True)
    ]


def _arrivals(grid: DayGrid, groups: ObjectGroups) -> Ints:
    """Arrivals of each group: of the last months where they are many, else of all time."""
    new = grid.first > 0
    late = new & (grid.first >= len(grid) - _RECENT_DAYS)
    chosen = late if np.count_nonzero(late) >= _MANY else new
    return np.bincount(groups.codes[grid.object[chosen]], minlength=len(groups))


def _only(stock: Stock, group: int) -> Stock:
    """What of a stock belongs to a group."""
    rows = stock.group == group
    return replace(
        stock,
        seen=stock.seen[rows],
        before=stock.before[rows],
        group=stock.group[rows],
        count=stock.count[rows],
    )


def _alone(grid: DayGrid, method: Method[Any]) -> ForecasterState:
    """State after training on a part of a source alone."""
    seen = list(cycles(grid, ObjectGroups.one(grid.objects), grid.crawled.tolist()))
    state: ForecasterState = method.start(seen, 1)
    return state


def _of_part(state: ForecasterState, stock: Stock, ahead: int, part: GroupShare) -> Forecast:
    """Forecast of a group: only the expert by age and group knows of groups."""
    start = start_of(state.aged, state, stock, ahead)
    whole = state.aged.outlook(start, np.arange(1, ahead + 1))
    left = stock.listed - whole.deleted
    typical = ForecastPath.of_counts(stock.listed, left, whole.inserted * part.share)
    found = finished(replace(state, bands=part.alone.bands), stock, typical)
    status = status_of(replace(part.alone, mass=state.mass, rekeys=state.rekeys), stock)
    return replace(found, status=status, arrivals=found.arrivals * part.share)


def _moved(stock: Stock, days: int) -> Stock:
    """The same objects of the same ages on a later day."""
    before = np.where(stock.before >= 0, stock.before + days, stock.before)
    return replace(stock, day=stock.day + days, seen=stock.seen + days, before=before)
