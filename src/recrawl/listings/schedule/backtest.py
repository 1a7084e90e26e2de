"""Backtest of schedules: syncs, quality, and how far promises were met.

A schedule is played from several starting days. Between days quality is linear; what is true of it
comes from all crawls, the forecaster knows syncs only. Over a gap of the crawl quality
is linear as between any two days on which the list was seen: to leave gaps out would leave out the
quiet times of sources that are crawled when they change. A sync that falls into a gap
moves to its end, and the time by which it is late counts neither for quality nor for what was
promised. A cycle with a change of keys counts as a sync, but its quality is left out.

Quality over syncs, Q/C, grows by syncing less: it is never shown without the
share of time below the target. Two methods are compared by the syncs they need for the
same share of time below the target: each is asked for looser and stricter targets, and the numbers
are interpolated.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.checks import check_at_least
from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.data.grid import Paths
from recrawl.listings.data.quality import share_below, time_average
from recrawl.listings.forecast.methods import BASELINE, TRAIN_DAYS, SyncReplay, method_named
from recrawl.listings.schedule.schedule import MOST_DAYS, Goal, days_to_next

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.forecast.forecast import Forecast

# Losses allowed, times this, and shares of time below at which to compare.
SWEEP = (1.5, 1.25, 1.0, 0.8, 0.65, 0.5)
SHARES = (0.05, 0.10, 0.15, 0.20)
STARTS = (0, 3, 6)


@dataclass(frozen=True, slots=True)
class ScheduleScore:
    """One metric of one schedule, from one starting day or the mean of several.

    Args:
        syncs: Syncs in a hundred days.
        quality: Time average.
        promise: What had been promised.
        below: Share of time below the target.
        count: Syncs in all.
    """

    syncs: float
    quality: float
    promise: float
    below: float
    count: float


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A row of a backtest of schedules.

    Args:
        metric: `precision` or `recall`.
        target: Least quality wanted.
        method: Name of the forecaster.
        syncs: Syncs, mean of the starting days.
        quality: Time average of the metric.
        promise_error: That less what was promised.
        share_below: Share of time below the target.
        relative_syncs: Syncs over those of the forecaster that all are compared with, at the same
            share of time below the target; nan where the two never reach the same.
        quality_per_sync: Quality over syncs, the paper's rho; grows by syncing less.
        relative_quality_per_sync: That over the one of the forecaster compared with.
    """

    metric: str
    target: float
    method: str
    syncs: float
    quality: float
    promise_error: float
    share_below: float
    relative_syncs: float
    quality_per_sync: float
    relative_quality_per_sync: float


class Truth:
    """What is true of a listing, for scoring.

    Args:
        grid: The listing day by day.
    """

    def __init__(self, grid: DayGrid) -> None:
        self._gap = grid.gap
        self._rekey = DayMarks.of(grid).rekey
        self._paths = Paths.of(grid, min(len(grid), 2 * MOST_DAYS + _longest(grid.gap)))

    def counts(self, start: int, end: int) -> bool:
        """Whether a cycle's quality counts: not where keys changed."""
        return not self._rekey[start + 1 : end + 1].any()

    def path(self, metric: str, start: int, end: int) -> Floats:
        """Quality on each day of a cycle that begins and ends with a crawl."""
        path: Floats = getattr(self._paths, metric)(start, end)
        seen = np.flatnonzero(~self._gap[start : end + 1])
        return np.interp(np.arange(len(path)), seen, path[seen])


def _cycles(run: SyncReplay, goal: Goal, first: int) -> list[tuple[int, int, Forecast]]:
    """Start and end of each cycle, and the forecast that planned it."""
    run.restart()
    last = len(run.grid)
    day = run.grid.next_crawled(first)
    if run.syncs.day < day < last:
        run.advance(day)
    cycles: list[tuple[int, int, Forecast]] = []
    while True:
        forecast = run.forecast(MOST_DAYS)
        start = run.syncs.day
        day = run.grid.next_crawled(min(start + days_to_next(forecast, goal), last))
        if day >= last:
            return cycles
        run.advance(day)
        cycles.append((start, day, forecast))


def _scored(
    cycles: Sequence[tuple[int, int, Forecast]], goal: Goal, target: Goal, truth: Truth
) -> dict[str, ScheduleScore]:
    """Figures of the cycles; the target may differ from what the schedule planned for."""
    found = {}
    for metric, least in target.targets.items():
        rows = np.array(list(_figures(cycles, goal, truth, (metric, least)))).reshape(-1, 4)
        days = rows[:, 0]
        weights = days / max(np.sum(days), 1.0)
        quality, promise, below = weights @ rows[:, 1:]
        count = len(cycles)
        span = max(sum(end - start for start, end, _ in cycles), 1)
        found[metric] = ScheduleScore(100 * count / span, quality, promise, below, count)
    return found


def _figures(
    cycles: Sequence[tuple[int, int, Forecast]], goal: Goal, truth: Truth, target: tuple[str, float]
) -> Iterator[tuple[float, float, float, float]]:
    """Days, quality, promise and share below of each cycle that counts, as long as planned."""
    metric, least = target
    for start, end, forecast in cycles:
        if truth.counts(start, end):
            planned = days_to_next(forecast, goal)
            seen = truth.path(metric, start, end)[: planned + 1]
            promised = np.concatenate([[1.0], getattr(forecast.expected, metric)[:planned]])
            yield planned, time_average(seen), time_average(promised), share_below(seen, least)


def mean_score(
    run: SyncReplay, goal: Goal, target: Goal, truth: Truth, days: Sequence[int]
) -> Results:
    """Mean over starting days of a schedule that plans for `goal` and is judged by `target`."""
    played = [_scored(_cycles(run, goal, day), goal, target, truth) for day in days]
    return {
        metric: ScheduleScore(
            *(
                float(np.mean([getattr(each[metric], name) for each in played]))
                for name in ("syncs", "quality", "promise", "below", "count")
            )
        )
        for metric in target.targets
    }


Results = dict[str, ScheduleScore]


def compared(own: Sequence[ScheduleScore], other: Sequence[ScheduleScore]) -> float:
    """Syncs over another method's at the same share of time below the target.

    The logarithm of syncs is interpolated at 5, 10, 15 and 20 % of time below, where
    both reach that, and the ratios are averaged.

    >>> strict, loose = ScheduleScore(40, 0, 0, 0.05, 0), ScheduleScore(10, 0, 0, 0.2, 0)
    >>> twice = [ScheduleScore(80, 0, 0, 0.05, 0), ScheduleScore(20, 0, 0, 0.2, 0)]
    >>> round(compared([strict, loose], twice), 6)
    0.5
    """
    ratios = []
    for share in SHARES:
        first, second = _at(own, share), _at(other, share)
        if first is not None and second is not None:
            ratios.append(np.exp(first - second))
    return float(np.mean(ratios)) if ratios else float("nan")


def _at(played: Sequence[ScheduleScore], share: float) -> float | None:
    """Logarithm of syncs at a share of time below; None where it is not reached."""
    below = np.array([each.below for each in played])
    logs = np.log([max(each.syncs, 1e-9) for each in played])
    order = np.argsort(below)
    if not below[order[0]] <= share <= below[order[-1]]:
        return None
    return float(np.interp(share, below[order], logs[order]))


def backtest_schedule(  # noqa: PLR0913 - a source, what is compared, and over which days
    grid: DayGrid,
    groups: ObjectGroups,
    methods: Sequence[str],
    goal: Goal,
    *,
    train: int = TRAIN_DAYS,
    starts: Sequence[int] = STARTS,
    against: str = BASELINE,
) -> list[ScheduleRow]:
    """Figures of schedules by some methods that keep a goal.

    Args:
        grid: The listing day by day.
        groups: Group of each object.
        methods: Names of `METHODS`, with parameters as `method_named` reads them.
        goal: What is to be kept. Syncs are compared at equal time below it by the point rule.
        train: Days of training.
        starts: Starting days after training, over which figures are averaged.
        against: The method that all are compared with.
    """
    truth, days = Truth(grid), [train + start for start in starts]
    point = Goal(goal.precision, goal.recall)
    names = list(dict.fromkeys([*methods, against]))
    runs = {name: SyncReplay(grid, groups, method_named(name), train=train) for name in names}
    swept: dict[str, list[Results]] = {
        name: [mean_score(run, point.stricter(times), point, truth, days) for times in SWEEP]
        for name, run in runs.items()
    }
    asked = {name: mean_score(run, goal, goal, truth, days) for name, run in runs.items()}
    rows = []
    for name in methods:
        for metric, target in goal.targets.items():
            own, other = ([each[metric] for each in swept[method]] for method in (name, against))
            scores = asked[name][metric], asked[against][metric]
            rows.append(_row(name, metric, target, scores, compared(own, other)))
    return rows


def _row(
    name: str,
    metric: str,
    target: float,
    scores: tuple[ScheduleScore, ScheduleScore],
    relative: float,
) -> ScheduleRow:
    """Row of a method from its own score and that of the method compared with."""
    played = scores[0]
    own, other = (quality_per_sync(each.quality, max(each.count, 1.0)) for each in scores)
    return ScheduleRow(
        metric=metric,
        target=target,
        method=name,
        syncs=played.count,
        quality=played.quality,
        promise_error=played.quality - played.promise,
        share_below=played.below,
        relative_syncs=relative,
        quality_per_sync=own,
        relative_quality_per_sync=own / other if other else float("nan"),
    )


def quality_per_sync(quality: float, syncs: float) -> float:
    r"""Average quality over the number of syncs, the paper's score $\rho = Q_T / C$.

    A schedule that breaks its threshold scores above one that keeps it: print the share of time
    below the threshold beside it.

    Args:
        quality: Time average of a quality.
        syncs: Number of syncs; the mean over several starting days need not be whole.

    Examples:
        >>> quality_per_sync(0.93, 10)
        0.093
    """
    check_at_least(1, syncs=syncs)
    return quality / syncs


def _longest(gap: Any) -> int:  # noqa: ANN401 - bools
    """Length of the longest run of days in a gap."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], gap.astype(np.int64), [0]])))
    return int(np.max(ends[1::2] - ends[::2], initial=0))
