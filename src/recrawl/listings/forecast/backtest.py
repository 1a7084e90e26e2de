"""Backtest of forecasts of a listing, from what syncs would have seen.

A forecaster gets cycles and stocks from `Syncs` and nothing else: every crawled day of training,
then one sync every so many days, and nothing between two of them. Each cycle is
forecast before it is seen. All phases of the cycle are run, and each is a run of its own.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.attributes import REST, ObjectGroups, commonest, grouping
from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.listings.forecast.methods import BASELINE, TRAIN_DAYS, SyncReplay, method_named
from recrawl.listings.groups.informative import informative_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.attributes import Attribute
    from recrawl.listings.data.cycles import Cycle
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.forecast.forecast import Forecast

KINDS = ("regular", "all")


@dataclass(frozen=True, slots=True, eq=False)
class CycleScores:
    """Forecasts of cycles and what came, one row per cycle; precision in the first column.

    Args:
        start: Day the forecast was made.
        typical: Error of the typical forecast.
        expected: Error of the expected forecast.
        covered: Whether the band held the outcome; nan where there is no band.
        truth: What came.
        regular: Whether nothing out of the ordinary happened.
    """

    start: Ints
    typical: Floats
    expected: Floats
    covered: Floats
    truth: Floats
    regular: Bools

    def error(self, metric: str, kind: str) -> float:
        """Mean squared error: typical forecasts of regular cycles, expected ones of all."""
        column = QUALITIES.index(metric)
        regular = kind == KINDS[0]
        errors = self.typical[self.regular, column] if regular else self.expected[:, column]
        return float(np.mean(errors**2)) if len(errors) else float("nan")

    def coverage(self, metric: str, kind: str) -> float:
        """Share of outcomes that the bands held."""
        held = self.covered[:, QUALITIES.index(metric)]
        held = held[self.regular] if kind == KINDS[0] else held
        return float(np.mean(held)) if len(held) else float("nan")

    def count(self, kind: str) -> int:
        """How many cycles were scored."""
        return int(np.count_nonzero(self.regular)) if kind == KINDS[0] else len(self.start)


def score_cycles(
    run: SyncReplay,
    *,
    cycle: int,
    train: int,
    marks: DayMarks,
    phases: Sequence[int] | None = None,
) -> CycleScores:
    """Forecast every cycle of so many days after training, in all phases.

    Days in gaps are left out: the next sync ends a longer cycle, which is learned but
    not scored. Cycles that hold a change of keys are learned and not scored.

    Args:
        run: The forecaster at the end of training.
        cycle: Days of a cycle.
        train: Days of training.
        marks: Days out of the ordinary.
        phases: Days after training on which the first cycle begins; all below `cycle` if None.
    """
    wanted = range(cycle) if phases is None else phases
    rows = [row for phase in wanted for row in _phase(run, cycle, train + phase)]
    start = np.array([row[0] for row in rows], dtype=np.int64)
    figures = np.array([row[1] for row in rows]).reshape(len(rows), 4, 2)
    scored = marks.scored(start, start + cycle)
    start, figures = start[scored], figures[scored]
    regular = marks.regular(start, start + cycle)
    typical, expected, covered, truth = (figures[:, row] for row in range(4))
    return CycleScores(start, typical, expected, covered, truth, regular)


def _phase(run: SyncReplay, cycle: int, first: int) -> Iterator[tuple[int, Floats]]:
    """Start and figures of all cycles of one phase that are of full length."""
    run.restart()
    for day in range(first, len(run.grid), cycle):
        if run.grid.gap[day] or day <= run.syncs.day:
            continue
        full = day - run.syncs.day == cycle
        forecast = run.forecast(cycle) if full else None
        seen = run.advance(day)
        if forecast is not None and seen.stock.listed > 0:
            yield seen.start, _figures(forecast, seen)


def _figures(forecast: Forecast, seen: Cycle) -> Floats:
    """Errors of the typical and of the expected forecast, whether bands held, and the outcome."""
    last = seen.days - 1
    true = {
        "precision": seen.survived / seen.stock.listed,
        "recall": seen.survived / seen.listed if seen.listed else 1.0,
    }
    figures = np.empty((4, 2))
    for column, name in enumerate(QUALITIES):
        figures[0, column] = getattr(forecast.typical, name)[last] - true[name]
        figures[1, column] = getattr(forecast.expected, name)[last] - true[name]
        low, high = getattr(forecast.low, name)[last], getattr(forecast.high, name)[last]
        held = low - 1e-9 <= true[name] <= high + 1e-9
        figures[2, column] = np.nan if np.isnan(low) else held
        figures[3, column] = true[name]
    return figures


@dataclass(frozen=True, slots=True)
class CycleRow:
    """A row of a backtest of cycles.

    Args:
        metric: `precision` or `recall`.
        cycle_days: Days of a cycle.
        cycles_kind: `regular`, or `all`.
        method: Name of the forecaster.
        cycles: How many were scored.
        squared_error: Mean squared error.
        relative_error: That over the one of the forecaster that all are compared with.
        covered: Share of outcomes within their bands; nan for a method without bands.
    """

    metric: str
    cycle_days: int
    cycles_kind: str
    method: str
    cycles: int
    squared_error: float
    relative_error: float
    covered: float


def backtest(
    grid: DayGrid,
    groups: ObjectGroups,
    methods: Sequence[str],
    *,
    train: int = TRAIN_DAYS,
    cycles: Sequence[int] = (3, 7, 14),
    against: str = BASELINE,
) -> list[CycleRow]:
    """Forecast errors of some methods by metric, length and kind of cycle.

    Args:
        grid: The listing day by day.
        groups: Group of each object; those of `groups_of_training` know nothing later.
        methods: Names of `METHODS`, with parameters as `method_named` reads them.
        train: Days of training.
        cycles: Lengths of cycles in days.
        against: The method that all are compared with.
    """
    marks = DayMarks.of(grid)
    runs = {
        name: SyncReplay(grid, groups, method_named(name), train=train)
        for name in dict.fromkeys([against, *methods])
    }
    rows = []
    for cycle in cycles:
        scores = {
            name: score_cycles(run, cycle=cycle, train=train, marks=marks)
            for name, run in runs.items()
        }
        rows += [
            _row(metric, cycle, kind, scores[name], scores[against], name)
            for metric in QUALITIES
            for kind in KINDS
            for name in methods
        ]
    return rows


def _row(
    metric: str, cycle: int, kind: str, own: CycleScores, other: CycleScores, name: str
) -> CycleRow:
    error, theirs = own.error(metric, kind), other.error(metric, kind)
    relative = error / theirs if theirs else float("nan")
    covered = own.coverage(metric, kind)
    return CycleRow(metric, cycle, kind, name, own.count(kind), error, relative, covered)


def groups_of_training(
    attributes: Mapping[str, Attribute],
    grid: DayGrid,
    train: int,
    names: Sequence[str] | None = None,
) -> ObjectGroups:
    """Groups chosen by what was listed in training, for all objects.

    Groups chosen on the whole history would tell of later days which combinations become common.

    Args:
        attributes: Columns by name.
        grid: The listing day by day.
        train: Days of training.
        names: Attributes that make the groups; None for those with the fewest values.
    """
    seen = np.unique(grid.object[grid.first <= train])
    if names is None:
        some = {name: column.rows(seen) for name, column in attributes.items()}
        names = grouping(some, len(seen)).attributes
    if not names:
        return ObjectGroups.one(grid.objects)
    codes = np.zeros(grid.objects, dtype=np.int64)
    for name in names:
        more, words = attributes[name].values()
        codes = np.unique(codes * len(words) + more, return_inverse=True)[1]
    common, group = commonest(np.bincount(codes[seen], minlength=int(codes.max()) + 1))
    labels = tuple(f"group {number + 1}" for number in range(len(common)))
    return ObjectGroups(group[codes], (*labels, REST), tuple(names))


def informative_groups_of_training(listing: Listing, grid: DayGrid, train: int) -> ObjectGroups:
    """Groups by the attributes that told most about lifetimes in training.

    Args:
        listing: Objects and their attributes.
        grid: The same day by day.
        train: Days of training.
    """
    if train >= len(grid):
        return informative_groups(listing)
    names = informative_groups(listing, until=grid.instants[train]).attributes
    return groups_of_training(listing.attributes, grid, train, names)
