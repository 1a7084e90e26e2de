"""`recrawl listing backtest`: quality of past forecasts and schedules.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.checks import check_choice
from recrawl.cli import screen, shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.schedule.schedule import Goal

_TRAIN = typer.Option(metavar="T", help="Training period at the start, observed daily.")
_CYCLE = typer.Option(metavar="T", help="Days between later syncs, comma-separated.")
_METHOD = typer.Option(
    metavar="M",
    help="Forecasters, comma-separated: mixture, pooled, age, decay, static, refit, ar, "
    "ar-published, survival; or all.",
)
_KEEP = typer.Option(
    metavar="Q",
    help="Backtest schedules that keep this: 'recall >= 0.9 and precision >= 0.8'.",
    show_default=False,
)
_CONFIDENCE = typer.Option(
    help="With --keep: probability of keeping it  [default: by the expected quality]",
    show_default=False,
)


def backtest(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    train: Annotated[str, _TRAIN] = "80d",
    cycle: Annotated[str, _CYCLE] = "3d,7d,14d",
    method: Annotated[str, _METHOD] = "mixture,static,ar",
    keep: Annotated[str, _KEEP] = "",
    confidence: Annotated[float | None, _CONFIDENCE] = None,
    key: Annotated[str, listing_shared.KEY] = "",
    grace: Annotated[str, listing_shared.GRACE] = "1.5d",
    lenient: Annotated[bool, listing_shared.LENIENT] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Measure how good forecasts and schedules would have been.

    Forecasts know only what syncs have seen. Writes one row per metric, length and
    kind of cycles (regular, or all) and method: the squared error of forecasts,
    its ratio to that of constant rates, and the share of outcomes within their
    bands. With --keep, one row per target and method: the number of syncs, the
    mean quality, its difference from the target, and the share of time below the
    target. No file is changed.

    \b
    Examples:
        recrawl listing backtest cars/
        recrawl listing backtest cars/ --train 60d --cycle 7d --method all
        recrawl listing backtest cars/ --keep "recall >= 0.9" --confidence 0.9
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.listing.schedule import goal_of
    from recrawl.report.listings.backtests import CYCLE_COLUMNS, KEEP_COLUMNS, backtest_sheet

    out = listing_shared.check(files, output, None, formats=(as_csv, as_json))
    if confidence is not None and not keep:
        raise typer.BadParameter("--confidence needs --keep")
    methods = _methods(method)
    trained, cycles = _whole(train, "train"), [_whole(part, "cycle") for part in cycle.split(",")]
    goal = goal_of(keep, confidence) if keep else None
    sources = listing_shared.SourceReader(files, key, grace, lenient, name).read()
    for source in sources:
        _check(source, trained, cycles)
    rows = []
    with screen.progress("running cycles") as progress:
        for number, source in enumerate(sources):
            on_progress = _progress_of(progress, number, len(sources))
            found = (
                _cycle_rows(source, methods, trained, cycles, on_progress)
                if goal is None
                else _keep_rows(source, methods, trained, goal, on_progress)
            )
            rows += [(source.name, row) for row in found]
    columns = CYCLE_COLUMNS if goal is None else KEEP_COLUMNS
    listing_shared.put(backtest_sheet(rows, columns), out, most=len(rows))
    listing_shared.remarks(sources)


def _methods(text: str) -> list[str]:
    from recrawl.listings.forecast.methods import METHODS

    names = list(METHODS) if text.strip() == "all" else listing_shared.named(text)
    for name in names or [""]:
        check_choice([*METHODS, "all"], method=name)
    return list(dict.fromkeys(names))


def _whole(text: str, name: str) -> int:
    """Whole days of a duration."""
    from recrawl.errors import InvalidParameter
    from recrawl.units import days

    found = days(text)
    if found != int(found) or found < 1:
        raise InvalidParameter(f"{name} must be a whole number of days (got {text.strip()!r})")
    return int(found)


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
    source: ListingSource,
    methods: Sequence[str],
    train: int,
    cycles: Sequence[int],
    on_progress: Callable[[float], None],
) -> list[Any]:
    from recrawl.listings.forecast.backtest import backtest as run
    from recrawl.listings.forecast.backtest import informative_groups_of_training

    groups = informative_groups_of_training(source.listing, source.grid, train)
    rows: list[Any] = []
    for done, cycle in enumerate(cycles, start=1):
        rows += run(source.grid, groups, methods, train=train, cycles=[cycle])
        on_progress(done / len(cycles))
    return rows


def _keep_rows(
    source: ListingSource,
    methods: Sequence[str],
    train: int,
    goal: Goal,
    on_progress: Callable[[float], None],
) -> list[Any]:
    from recrawl.listings.forecast.backtest import informative_groups_of_training
    from recrawl.listings.schedule.backtest import backtest_schedule

    groups = informative_groups_of_training(source.listing, source.grid, train)
    rows: list[Any] = []
    for done, method in enumerate(methods, start=1):
        rows += backtest_schedule(source.grid, groups, [method], goal, train=train)
        on_progress(done / len(methods))
    return rows
