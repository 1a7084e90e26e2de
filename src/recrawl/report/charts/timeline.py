"""What a timeline shows: visits, changes, and a rate in stretches, as numbers on its axis.

Moments are instants (`datetime64`, UTC) or, where none are known, days since some origin; one
timeline has one kind. As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.report.charts.log_axis import EXTREMES
from recrawl.report.charts.vega import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints

    Moments: TypeAlias = Instants | Floats | Sequence[float]

_BEYOND = 10.0  # how many times the rates a band may reach before it leaves the panel


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of a page, a row each.

    Args:
        at: When it changed: its date, or where in its gap the change is placed.
        since: Visit before the change, where no date is known; nan or NaT where there is one.
            None: all are dated.
        until: Visit that found it, in the same way.

    Examples:
        A dated change, and one hidden between days 4 and 8:

        >>> Changes([2.5, 6.0], since=[math.nan, 4.0], until=[math.nan, 8.0]).hidden
        array([False,  True])
    """

    at: Moments
    since: Moments | None = None
    until: Moments | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        _check_lengths(at=self.at, since=self.since, until=self.until)

    @property
    def hidden(self) -> Bools:
        """Which changes have no date, but a gap."""
        return np.isfinite(_places(self._ends(self.since)) + _places(self._ends(self.until)))

    def _ends(self, ends: Moments | None) -> Moments:
        return np.full(len(self.at), np.nan) if ends is None else ends


@dataclass(frozen=True, slots=True, eq=False)
class RateSteps:
    """A rate over time: one row per period in which it is constant; many short ones make a curve.

    Args:
        start: Where each stretch begins.
        end: Where it ends.
        rate: Changes a day.
        low: Lower end of the band.
        high: Upper end of the band.
    """

    start: Moments
    end: Moments
    rate: Sequence[float] | Floats
    low: Sequence[float] | Floats
    high: Sequence[float] | Floats

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        _check_lengths(start=self.start, end=self.end, rate=self.rate, low=self.low, high=self.high)


def have_instants(*columns: Moments | None) -> bool:
    """Whether moments are instants; refuse instants beside days."""
    kinds = {
        np.asarray(column).dtype.kind == "M"
        for column in columns
        if column is not None and len(column)
    }
    if len(kinds) > 1:
        raise InvalidParameter("moments must be all instants or all days (got both)")
    return True in kinds


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What stands on a timeline, as numbers on its axis.

    Args:
        visits: Visits.
        dated: Changes that have a date.
        placed: Changes that have none, where they are placed.
        since: Where the gap of each of these begins.
        until: Where it ends.
    """

    visits: Floats
    dated: Floats
    placed: Floats
    since: Floats
    until: Floats

    @classmethod
    def of(cls, visits: Moments, changes: Changes) -> Marks:
        """Visits and changes that have a place."""
        at, hidden = _places(changes.at), changes.hidden
        # Without a finite place a change cannot be drawn, but its gap can.
        none = np.zeros(0)
        since = none if changes.since is None else _places(changes.since)[hidden]
        until = none if changes.until is None else _places(changes.until)[hidden]
        seen, dated, placed = (
            some[np.isfinite(some)] for some in (_places(visits), at[~hidden], at[hidden])
        )
        return cls(seen, dated, placed, since, until)

    @property
    def moments(self) -> list[float]:
        """All places on the axis that it takes."""
        every = (self.visits, self.dated, self.placed, self.since, self.until)
        places: list[float] = np.concatenate(every).tolist()
        return places

    def apart(self, least: float) -> Marks:
        """With one of several marks that are less than `least` apart."""
        bars = _apart((self.since + self.until) / 2, least)
        return Marks(
            self.visits[_apart(self.visits, least)],
            self.dated[_apart(self.dated, least)],
            self.placed[_apart(self.placed, least)],
            self.since[bars],
            self.until[bars],
        )


def levels_of(rate: RateSteps) -> list[dict[str, float]]:
    """Both ends of each stretch of the rate; the line breaks where one does not follow another."""
    start, end = _places(rate.start), _places(rate.end)
    rates, low, high = (
        np.asarray(column, np.float64) for column in (rate.rate, rate.low, rate.high)
    )
    least, most = EXTREMES
    there = np.isfinite(start) & np.isfinite(end) & (rates >= least) & (rates <= most)
    if not there.any():
        return []
    floor = max(float(np.fmin(low, rates)[there].min()), float(rates[there].min()) / _BEYOND)
    ceiling = min(float(np.fmax(high, rates)[there].max()), float(rates[there].max()) * _BEYOND)
    rows: list[dict[str, float]] = []
    stretch, before = 0, math.nan
    for row in np.flatnonzero(there).tolist():
        stretch += int(start[row] != before)
        before = end[row]
        figures = {
            "rate": rounded(rates[row]),
            "low": rounded(max(float(np.fmin(low[row], rates[row])), floor)),
            "high": rounded(min(float(np.fmax(high[row], rates[row])), ceiling)),
            "stretch": stretch,
        }
        rows += [{"at": float(at), **figures} for at in (start[row], end[row])]
    return rows


def _check_lengths(**columns: Any) -> None:  # noqa: ANN401 - anything that has a length
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise InvalidParameter(f"columns must be equally long (got {got})")


def _places(moments: Moments) -> Floats:
    """Moments as numbers on an axis: milliseconds since 1970, or days; nan where unknown."""
    given = np.asarray(moments)
    if given.dtype.kind != "M":
        return given.astype(np.float64)
    whole = given.astype("datetime64[ms]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64))


def _apart(places: Floats, least: float) -> Ints:
    """Rows of the first place in each stretch of `least`, in order."""
    _, rows = np.unique(np.floor(places / least), return_index=True)
    return rows
