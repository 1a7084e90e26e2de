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

from recrawl.report.rates import Group, Named, finite
from recrawl.report.words import every
from recrawl.trends.next_change import last_windows
from recrawl.trends.windows import STATE_NAMES, State
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.report.rates import Column
    from recrawl.trends.fits import WindowFits
    from recrawl.trends.local_rates import LocalRates
    from recrawl.trends.next_change import NextChange
    from recrawl.trends.points import Points
    from recrawl.trends.trend_test import TrendTest
    from recrawl.trends.windows import Windows


_LONGEST = 36_525.0  # days: what lies farther ahead is as good as never
_DIRECTIONS = ["", "increasing", "decreasing"]
_DAYS_DO = np.timedelta64(3, "D")  # between two instants that are told by their days
_SURE = 0.05  # p below which a trend is named


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
    named = np.where(seen.test.p < _SURE, _direction(seen.test), 0)
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
            "trend": Named(named, _DIRECTIONS),
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
        if name in (
            "low",
            "high",
            "beta_low",
            "beta_high",
            "eta",
            "mtbu_days",
            "first_gaps",
            "error_sum",
        ):
            continue
        if name == "beta":
            cells["beta"] = _banded(columns["beta"], columns["beta_low"], columns["beta_high"])
        elif name == "rate_per_day":
            cells |= _rates(columns)
        elif name == "next_at":
            unit = _unit(columns["low"], columns["high"])
            cells["next change"] = _times(column, unit)
            cells["between"] = _joined(*(_times(columns[end], unit) for end in ("low", "high")))
        elif name == "mse":
            cells["fits best"] = _words(column)
        else:
            cells[_PLAIN.get(name, name)] = _words(column)
    return list(cells), [list(row) for row in zip(*cells.values(), strict=True)]


_PLAIN = {"trend_p": "p", "exposure_days": "days"}


def _rates(columns: Mapping[str, Column]) -> dict[str, list[str]]:
    """Rates as mean intervals, with a band where there is one of the rate."""
    cells = {"every": _intervals(columns["rate_per_day"])}
    if "period" in columns:
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


def _words(column: Column) -> list[str]:
    """A column's cells for people."""
    if isinstance(column, Named):
        return column.tolist()
    if isinstance(column, Group):
        return [_best(row) for row in column.tolist()]
    if column.dtype.kind == "M":
        return _times(column, "m")
    if column.dtype.kind == "f":
        return ["-" if np.isnan(value) else f"{value:.2g}" for value in column.tolist()]
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
    return np.where(np.isnan(test.statistic), 0, np.where(test.statistic > 0, 1, 2))


def _instants(origin: Instants | None, page: Ints, days: Floats) -> Instants:
    """Instants so many days after each page's origin; none where that is not known or too far."""
    if origin is None:
        return np.full(len(page), "NaT", "datetime64[us]")
    near = np.abs(days) <= _LONGEST  # false for nan, too
    elapsed = np.rint(np.where(near, days, 0.0) * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    instants: Instants = origin[page] + elapsed
    instants[~near] = np.datetime64("NaT")
    return instants
