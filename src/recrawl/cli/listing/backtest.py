"""`recrawl listing backtest`: quality of past forecasts and schedules.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.checks import check_choice
from recrawl.cli import screen, shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.schedule.schedule import Goal

_TRAIN = typer.Option(metavar="TIME", help="Training period at the start, observed daily.")
_CYCLE = typer.Option(metavar="DAYS", help="Days between later syncs, comma-separated.")
_METHOD = typer.Option(
    metavar="METHOD",
    help="Forecasters, comma-separated: mixture, pooled, age, decay, static, refit, ar, "
    "ar-published, ar-fixed, survival, survival-weibull; or all. Those of ar take "
    "parameters: ar-published:learning=0.1:weekly=yes.",
)
_AGAINST = typer.Option(
    metavar="METHOD", help="Forecaster that errors and schedules are compared with."
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot forecasts and outcomes for cycles of the first length to FILE: .svg or .png.",
    show_default=False,
)
_KEEP = typer.Option(
    metavar="TARGET",
    help="Backtest schedules that keep this: 'recall >= 0.9 and precision >= 0.8'.",
    show_default=False,
)
_CONFIDENCE = typer.Option(
    metavar="SHARE",
    help="With --keep: probability of keeping the target.  [default: by the expected quality]",
    show_default=False,
)


@shared.with_options(shared.table_options, "read_as")
def backtest(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    train: Annotated[str, _TRAIN] = "80d",
    cycle: Annotated[str, _CYCLE] = "3d,7d,14d",
    method: Annotated[str, _METHOD] = "mixture,static,ar",
    keep: Annotated[str, _KEEP] = "",
    confidence: Annotated[float | None, _CONFIDENCE] = None,
    guarantee: Annotated[bool, listing_shared.GUARANTEE] = True,
    against: Annotated[str, _AGAINST] = "static",
    key: Annotated[str, listing_shared.KEY] = "",
    grace: Annotated[str, listing_shared.GRACE] = "1.5d",
    lenient: Annotated[bool, listing_shared.LENIENT] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: TableOptions,
) -> None:
    """Measure how good forecasts and schedules would have been.

    Forecasts know only what syncs have seen. Writes one row per metric, length and
    kind of cycles (regular, or all) and method: the squared error of forecasts,
    its ratio to that of another method (--against), and the share of outcomes
    within their bands. With --keep, one row per target and method: the number of
    syncs, the mean quality, how far it is from what was promised, the share of time
    below the target, and quality over syncs. No file is changed.

    \b
    Examples:
        recrawl listing backtest cars/
        recrawl listing backtest cars/ --train 60d --cycle 7d --method all
        recrawl listing backtest cars/ --cycle 12d --method ar-published --against ar-fixed
        recrawl listing backtest cars/ --keep "recall >= 0.9" --confidence 0.9
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.listing.schedule import goal_of
    from recrawl.report.listings.backtests import CYCLE_COLUMNS, KEEP_COLUMNS, backtest_sheet

    out = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    if confidence is not None and not keep:
        raise typer.BadParameter("--confidence needs --keep")
    if plot is not None and keep:
        raise typer.BadParameter("--plot and --keep exclude each other")
    methods, compared = _methods(method), _methods(against)
    if len(compared) > 1:
        raise typer.BadParameter("--against needs a single forecaster")
    trained, cycles = (
        listing_shared.whole_days_of(train, "train"),
        [listing_shared.whole_days_of(part, "cycle") for part in cycle.split(",")],
    )
    goal = goal_of(keep, confidence, guarantee=guarantee) if keep else None
    alone = plot is not None
    sources = listing_shared.SourceReader(files, key, grace, lenient, name, alone, read_as).read()
    for source in sources:
        _check(source, trained, cycles)
    rows = []
    with screen.progress("running cycles") as progress:
        for number, source in enumerate(sources):
            on_progress = _progress_of(progress, number, len(sources))
            trial = _Trial(source, methods, compared[0], trained)
            found = (
                _cycle_rows(trial, cycles, on_progress)
                if goal is None
                else _keep_rows(trial, goal, on_progress)
            )
            rows += [(source.name, row) for row in found]
    if plot is not None:
        _draw(plot, _Trial(sources[0], methods, compared[0], trained), cycles[0])
    columns = CYCLE_COLUMNS if goal is None else KEEP_COLUMNS
    listing_shared.put(backtest_sheet(rows, columns), out, most=len(rows))
    listing_shared.remarks(sources)
    for source in sources:
        _remark_models(_Trial(source, [*methods, *compared], compared[0], trained))


@dataclass(frozen=True, slots=True)
class _Trial:
    """A source, the methods to try on it, the one they are compared with, days of training."""

    source: ListingSource
    methods: list[str]
    against: str
    train: int

    @property
    def groups(self) -> ObjectGroups:
        from recrawl.listings.forecast.backtest import informative_groups_of_training

        return informative_groups_of_training(self.source.listing, self.source.grid, self.train)


def _remark_models(trial: _Trial) -> None:
    """Print the series that autoregressive forecasters fitted to the training."""
    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.forecast.ar_forecaster import Autoregressive
    from recrawl.listings.forecast.methods import SyncReplay, method_named

    grid = trial.source.grid
    for name in dict.fromkeys(trial.methods):
        method = method_named(name)
        if isinstance(method, Autoregressive):
            run = SyncReplay(grid, ObjectGroups.one(grid.objects), method, train=trial.train)
            listing_shared.model_remarks(trial.source.name, name, run.state)


def _draw(path: Path, trial: _Trial, cycle: int) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.listings.data.day_marks import DayMarks
    from recrawl.listings.forecast.backtest import score_cycles
    from recrawl.listings.forecast.methods import SyncReplay, method_named
    from recrawl.report.listings.backtest_chart import backtest_chart

    grid, groups = trial.source.grid, trial.groups
    marks = DayMarks.of(grid)
    scores = {
        name: score_cycles(
            SyncReplay(grid, groups, method_named(name), train=trial.train),
            cycle=cycle,
            train=trial.train,
            marks=marks,
            phases=[0],
        )
        for name in dict.fromkeys([*trial.methods, trial.against])
    }
    write_picture(path, backtest_chart(trial.source.name, grid, cycle, scores))


def _methods(text: str) -> list[str]:
    from recrawl.listings.forecast.methods import METHODS, method_named

    names = list(METHODS) if text.strip() == "all" else listing_shared.named(text)
    for name in names or [""]:
        check_choice([*METHODS, "all"], method=name.partition(":")[0].strip())
        method_named(name)
    return list(dict.fromkeys(names))


def _check(source: ListingSource, train: int, cycles: Sequence[int]) -> None:
    """Raise for a history that leaves nothing to forecast."""
    from recrawl.errors import InvalidTable

    days = max(len(source.grid) - 1, 0)
    if source.listing.status == "empty":
        raise InvalidTable(f"{source.name}: no object in {days} days, so nothing to forecast")
    if days < train + max(cycles):
        raise InvalidTable(
            f"{source.name}: expected at least {train + max(cycles)} days, for training and a "
            f"cycle, got {days}"
        )


def _progress_of(
    progress: Callable[[float], None] | None, number: int, count: int
) -> Callable[[float], None]:
    """Progress of one source, as part of the whole."""
    return lambda share: None if progress is None else progress((number + share) / count)


def _cycle_rows(
    trial: _Trial, cycles: Sequence[int], on_progress: Callable[[float], None]
) -> list[Any]:
    from recrawl.listings.forecast.backtest import backtest as run

    grid, groups = trial.source.grid, trial.groups
    rows: list[Any] = []
    for done, cycle in enumerate(cycles, start=1):
        rows += run(
            grid, groups, trial.methods, train=trial.train, cycles=[cycle], against=trial.against
        )
        on_progress(done / len(cycles))
    return rows


def _keep_rows(trial: _Trial, goal: Goal, on_progress: Callable[[float], None]) -> list[Any]:
    from recrawl.listings.schedule.backtest import backtest_schedule

    grid, groups = trial.source.grid, trial.groups
    rows: list[Any] = []
    for done, method in enumerate(trial.methods, start=1):
        rows += backtest_schedule(
            grid, groups, [method], goal, train=trial.train, against=trial.against
        )
        on_progress(done / len(trial.methods))
    return rows
