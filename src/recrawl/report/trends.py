"""Rates that move, as tables: what `recrawl trends` writes.

Every table has one row per page, or several; `page` says which. Figures that a status explains are
empty. `increasing` and `decreasing` always say what the rate does: in `state` inside a window,
where the band of its beta leaves out 1, in `trend` over the whole record.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.rates.estimates import STATUS_NAMES
from recrawl.report.rates import Group, Named, Nullable, finite
from recrawl.report.words import every
from recrawl.trends.next_change import last_windows
from recrawl.trends.trend_test import TrendStatus
from recrawl.trends.windows import STATE_NAMES, State
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.report.rates import Column
    from recrawl.trends.change_points import Segments
    from recrawl.trends.counts import ChangeCounts
    from recrawl.trends.fits import WindowFits
    from recrawl.trends.gap_shares import GapShares
    from recrawl.trends.local_rates import LocalRates
    from recrawl.trends.next_change import NextChange
    from recrawl.trends.points import Points
    from recrawl.trends.power_law import PowerLaw
    from recrawl.trends.prediction import Detection, Forecasting
    from recrawl.trends.seasons import SeasonalForecast
    from recrawl.trends.trend_test import TrendTest
    from recrawl.trends.windows import Windows
    from recrawl.visits.histories import Histories


_LONGEST = 36_525.0  # days: what lies farther ahead is as good as never
_DIRECTIONS = ["", "increasing", "decreasing", "none"]
_DAYS_DO = np.timedelta64(3, "D")  # between two instants that are told by their days
_SURE = 0.05  # p below which a trend is named: one page in twenty without a trend has one by chance


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of some pages.

    Args:
        page: Page of each row.
        columns: All columns but the page's name.
    """

    page: Ints
    columns: dict[str, Column]

    def first(self, rows: int) -> Table:
        """Only so many rows, from the first on."""
        some = np.arange(min(rows, len(self.page)))
        return Table(self.page[some], {name: part[some] for name, part in self.columns.items()})


def window_table(points: Points, windows: Windows, fits: WindowFits) -> Table:
    """One row per window."""
    begins = np.searchsorted(windows.page, windows.page)
    origins, lasts = windows.origins(points), points.times[windows.offsets[1:] - 1]
    return Table(
        windows.page,
        {
            "window": np.arange(len(windows)) - begins + 1,
            "start": _instants(points.origin, windows.page, origins),
            "end": _instants(points.origin, windows.page, lasts),
            "points": windows.points,
            "state": Named(fits.state(windows), STATE_NAMES),
            "beta": finite(fits.beta),
            "beta_low": finite(fits.beta_low),
            "beta_high": finite(fits.beta_high),
            "eta": finite(fits.eta),
            "rate_per_day": finite(fits.rate),
            "mtbu_days": finite(1 / fits.rate),
            "mse": Group({name: finite(error) for name, error in fits.errors.items()}),
            "error_sum": Group({name: finite(error) for name, error in fits.error_sums.items()}),
        },
    )


def local_table(rates: LocalRates, status_names: Sequence[str]) -> Table:
    """One row per page and period."""
    labels, codes = np.unique(np.asarray(rates.period, str), return_inverse=True)
    return Table(
        rates.page,
        {
            "period": Named(codes, labels.tolist()),
            "start": rates.start,
            "end": rates.end,
            "changes": rates.changes,
            "exposure_days": rates.exposure,
            "rate_per_day": finite(rates.rate),
            "low": finite(rates.low),
            "high": finite(rates.high),
            "status": Named(rates.status, status_names),
        },
    )


def season_table(forecast: SeasonalForecast, status_names: Sequence[str]) -> Table:
    """One row per page: the rate to expect in a month."""
    pages = len(forecast)
    return Table(
        np.arange(pages),
        {
            "month": Named(np.zeros(pages, np.int64), [str(forecast.month)]),
            "rate_per_day": finite(forecast.rate),
            "low": finite(forecast.low),
            "high": finite(forecast.high),
            "season_per_day": finite(forecast.season),
            "recent_per_day": finite(forecast.recent),
            "season_weight": forecast.season_weight,
            "status": Named(forecast.status, status_names),
        },
    )


def next_table(found: Mapping[str, NextChange], last_visit: Instants) -> Table:
    """One row per page and method, all methods of a page together."""
    pages, names = len(last_visit), list(found)

    def column(which: str) -> Instants:
        waits = np.stack([getattr(found[name], which) for name in names], axis=1)
        page = np.repeat(np.arange(pages), len(names))
        return _instants(last_visit, page, waits.ravel())

    return Table(
        np.repeat(np.arange(pages), len(names)),
        {
            "method": Named(np.tile(np.arange(len(names)), pages), names),
            "next_at": column("wait"),
            "low": column("low"),
            "high": column("high"),
        },
    )


def test_table(test: TrendTest, status_names: Sequence[str]) -> Table:
    """One row per page: the test for a trend."""
    return Table(
        np.arange(len(test.p)),
        {
            "statistic": finite(test.statistic),
            "p": finite(test.p),
            "direction": Named(_direction(test), _DIRECTIONS),
            "status": Named(test.status, status_names),
        },
    )


def count_table(found: Mapping[str, ChangeCounts]) -> Table:
    """One row per page and method, all methods of a page together."""
    names = list(found)
    pages = len(found[names[0]].mean)
    mean = np.stack([found[name].mean for name in names], axis=1).ravel()
    chance = np.stack([found[name].chance for name in names], axis=1)
    chance = chance.reshape(-1, chance.shape[-1])
    return Table(
        np.repeat(np.arange(pages), len(names)),
        {
            "method": Named(np.tile(np.arange(len(names)), pages), names),
            "mean": finite(mean),
            "chance": Group({str(k): finite(column) for k, column in enumerate(chance.T)}),
        },
    )


def segment_table(segments: Segments, histories: Histories) -> Table:
    """One row per stretch of constant rate."""
    counts, first_visit = np.diff(segments.offsets), histories.first_visit
    page = np.repeat(np.arange(len(segments)), counts)
    return Table(
        page,
        {
            "stretch": np.arange(len(page)) - np.repeat(segments.offsets[:-1], counts) + 1,
            "start": _instants(first_visit, page, segments.start),
            "end": _instants(first_visit, page, segments.end),
            "changes": _changes(segments, page, histories),
            "rate_per_day": finite(segments.rate),
            "low": finite(segments.low),
            "high": finite(segments.high),
            "status": Named(segments.status, STATUS_NAMES),
        },
    )


def _changes(segments: Segments, page: Ints, histories: Histories) -> Ints:
    """Changes seen in each stretch."""
    before = np.concatenate([[0], np.cumsum(histories.changed)])
    begin = histories.offsets[:-1][page]
    changes: Ints = before[begin + segments.stop] - before[begin + segments.first]
    return changes


def power_table(fit: PowerLaw) -> Table:
    """One row per page: its power law."""
    return Table(
        np.arange(len(fit)),
        {
            "beta": finite(fit.beta),
            "beta_low": finite(fit.beta_low),
            "beta_high": finite(fit.beta_high),
            "eta": finite(fit.eta),
            "rate_per_day": finite(fit.rate),
            "gain": finite(fit.gain),
            "status": Named(fit.status, [status.name.lower() for status in TrendStatus]),
        },
    )


def follow_columns(ways: Sequence[Forecasting], found: Sequence[Detection]) -> dict[str, Column]:
    """One row per way to follow forecasts, all pages together."""
    changes, observed, premature = (
        np.array([int(getattr(each, name).sum()) for each in found])
        for name in ("changes", "observed", "premature")
    )
    return {
        "wait": np.array([way.share for way in ways]),
        "wait_decreasing": np.array([way.decreasing for way in ways]),
        "changes": changes,
        "observed": observed,
        "recall": np.array([each.recall for each in found]),
        "visits": observed + premature,
        "premature": premature,
        "precision": np.array([each.precision for each in found]),
    }


def gap_columns(found: GapShares) -> tuple[list[str], dict[str, Column]]:
    """Name of each class of lengths, and its columns."""
    names = [f"{start:g}-{stop:g}" for start, stop in zip(found.start, found.stop, strict=True)]
    names[-1] = f"{found.start[-1]:g}+"
    columns: dict[str, Column] = {
        "gaps": found.gaps,
        "share": found.share,
        "random": found.exponential,
    }
    return names, columns


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What the row of a page is made of, all of the same pages."""

    points: Points
    windows: Windows
    fits: WindowFits
    rate: Floats
    test: TrendTest
    kinds: Named
    next_change: NextChange
    last_visit: Instants
    status: Named


def page_table(seen: Summary) -> Table:
    """One row per page."""
    pages = len(seen.points)
    last = last_windows(seen.windows, pages)
    some = last >= 0

    def of_window(column: Floats) -> Floats:
        return finite(np.where(some, column[last] if len(column) else np.nan, np.nan))

    state = np.full(pages, int(State.SHORT))
    state[some] = seen.fits.state(seen.windows)[last[some]]
    wait = seen.next_change
    page = np.arange(pages)
    return Table(
        page,
        {
            "changes": seen.points.points_of_page,
            "state": Named(state, STATE_NAMES),
            "beta": of_window(seen.fits.beta),
            "beta_low": of_window(seen.fits.beta_low),
            "beta_high": of_window(seen.fits.beta_high),
            "rate_per_day": finite(seen.rate),
            "trend_p": finite(seen.test.p),
            "trend": Named(_direction(seen.test), _DIRECTIONS),
            "kind": seen.kinds,
            "next_at": _instants(seen.last_visit, page, wait.wait),
            "low": _instants(seen.last_visit, page, wait.low),
            "high": _instants(seen.last_visit, page, wait.high),
            "status": seen.status,
        },
    )


def shown(table: Table) -> tuple[list[str], list[list[str]]]:
    """Header and rows for people, without the page: bands beside figures, rates as intervals."""
    cells: dict[str, list[str]] = {}
    columns = table.columns
    for name, column in columns.items():
        if name in _NOT_SHOWN:
            continue
        if name == "beta":
            cells["beta"] = _banded(columns["beta"], columns["beta_low"], columns["beta_high"])
        elif name == "rate_per_day":
            cells |= _rates(columns)
        elif name in ("season_per_day", "recent_per_day"):
            cells[name.removesuffix("_per_day")] = _intervals(column)
        elif name == "next_at":
            unit = _unit(columns["low"], columns["high"])
            cells["next change"] = _times(column, unit)
            cells["between"] = _joined(*(_times(columns[end], unit) for end in ("low", "high")))
        elif isinstance(column, Group):
            cells |= _grouped(name, column)
        else:
            cells[_PLAIN.get(name, name)] = _words(column, 3 if name in _FINER else 2)
    return list(cells), [list(row) for row in zip(*cells.values(), strict=True)]


_NOT_SHOWN = (
    *("low", "high", "beta_low", "beta_high"),  # beside the figure they belong to
    *("eta", "mtbu_days", "error_sum", "beats"),
)
_FINER = ("mse", "best", "recall", "precision", "share", "random", "mean")
_PLAIN = {"trend_p": "p", "exposure_days": "days", "season_weight": "weight"}


def _grouped(name: str, group: Group) -> dict[str, list[str]]:
    """Errors as the name of the least, all else as columns."""
    if name == "mse":
        return {"fits best": [_best(row) for row in group.tolist()]}
    return {f"{name} of {key}": _words(column) for key, column in group.columns.items()}


def _rates(columns: Mapping[str, Column]) -> dict[str, list[str]]:
    """Rates as mean intervals, with a band where there is one of the rate."""
    cells = {"every": _intervals(columns["rate_per_day"])}
    if any(name in columns for name in ("period", "stretch", "month")):
        fast, slow = _intervals(columns["high"]), _intervals(columns["low"])
        cells["between"] = _joined(fast, slow)
    return cells


def _intervals(rates: Any) -> list[str]:  # noqa: ANN401 - a column of figures
    with np.errstate(divide="ignore"):
        return [every(float(interval)) for interval in 1 / rates]


def _banded(middle: Any, low: Any, high: Any) -> list[str]:  # noqa: ANN401 - columns of figures
    rows = zip(_words(middle), _words(low), _words(high), strict=True)
    return [one if one == "-" else f"{one} ({least}-{most})" for one, least, most in rows]


def _joined(ones: list[str], others: list[str]) -> list[str]:
    return [f"{one} - {other}" for one, other in zip(ones, others, strict=True)]


def _words(column: Column, digits: int = 2) -> list[str]:
    """A column's cells for people."""
    if isinstance(column, Named):
        return column.tolist()
    assert not isinstance(column, Group)  # noqa: S101 - several columns
    if isinstance(column, Nullable):
        return ["-" if value is None else str(value).lower() for value in column.tolist()]
    if column.dtype.kind == "M":
        return _times(column, "m")
    if column.dtype.kind == "f":
        return ["-" if np.isnan(value) else f"{value:.{digits}g}" for value in column.tolist()]
    return [str(value) for value in column.tolist()]


def _times(instants: Any, unit: str) -> list[str]:  # noqa: ANN401 - a column of instants
    texts = np.datetime_as_string(instants.astype(f"datetime64[{unit}]")).tolist()
    return ["-" if text == "NaT" else text.replace("T", " ") for text in texts]


def _unit(low: Any, high: Any) -> str:  # noqa: ANN401 - columns of instants
    """Days where every band is longer than a few of them, else minutes."""
    width = (high - low)[~np.isnat(high - low)]
    return "D" if (width > _DAYS_DO).all() else "m"


def _best(errors: Mapping[str, float]) -> str:
    """Name of the estimator with the least error."""
    known = {name: error for name, error in errors.items() if not np.isnan(error)}
    return min(known, key=lambda name: known[name]) if known else "-"


def _direction(test: TrendTest) -> Ints:
    """Where the rate of each page went, as a place of `_DIRECTIONS`; the first if not tested."""
    direction = np.where(test.statistic > 0, 1, 2)
    return np.select([np.isnan(test.p), test.p >= _SURE], [0, 3], direction)


def _instants(origin: Instants | None, page: Ints, days: Floats) -> Instants:
    """Instants so many days after each page's origin; none where that is not known or too far."""
    if origin is None:
        return np.full(len(page), "NaT", "datetime64[us]")
    near = np.abs(days) <= _LONGEST  # false for nan, too
    elapsed = np.rint(np.where(near, days, 0.0) * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    instants: Instants = origin[page] + elapsed
    instants[~near] = np.datetime64("NaT")
    return instants
