"""`recrawl listing schedule`: plan syncs that keep a target quality.

Touches: files, the standard streams.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import options, screen, shared
from recrawl.cli.listing import shared as listing_shared
from recrawl.errors import InvalidDuration, InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.forecast.tracked import TrackedSource
    from recrawl.listings.schedule.plan import PlannedSync
    from recrawl.listings.schedule.schedule import Goal, Limit
    from recrawl.report.listings.sheets import Sheet

_KEEP = typer.Option(
    metavar="TARGET",
    help="Quality to keep: 'recall >= 0.9 and precision >= 0.8'.",
    show_default=False,
)
_CONFIDENCE = typer.Option(
    metavar="SHARE", parser=options.fraction, help="Probability of keeping it, from 0.5 to below 1."
)
_POINT = typer.Option(
    "--point",
    help="Use the expected quality, which is often below the target at the end of a cycle.",
)
_METHOD = typer.Option(
    metavar="METHOD", help="Forecaster, as in backtest: mixture, ar-published, static, ..."
)
_AT_MOST = typer.Option(
    metavar="SYNCS",
    help="Maximum syncs of one source or group: 2/7d, or 2/7d,5/30d.",
    show_default=False,
)
_BUDGET = typer.Option(
    metavar="BUDGET",
    help="Instead of --keep: total syncs of all sources and groups, e.g. 10/7d.",
    show_default=False,
)
_FOR = typer.Option("--for", metavar="TIME", help="How far ahead to plan.")
_BY = typer.Option(
    metavar="ATTRIBUTES",
    help="Attributes whose groups are synced separately, comma-separated.",
    show_default=False,
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the expected quality of up to 8 groups to FILE: .svg or .png.",
    show_default=False,
)

_COUNT = re.compile(r"\s*[0-9]{1,9}\s*")
_LONGEST = 365.0


@shared.with_options(shared.table_options, "read_as")
def schedule(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    keep: Annotated[str, _KEEP] = "",
    confidence: Annotated[float, _CONFIDENCE] = 0.8,
    point: Annotated[bool, _POINT] = False,
    guarantee: Annotated[bool, listing_shared.GUARANTEE] = True,
    method: Annotated[str, _METHOD] = "mixture",
    at_most: Annotated[str, _AT_MOST] = "",
    budget: Annotated[str, _BUDGET] = "",
    lasting: Annotated[str, _FOR] = "30d",
    by: Annotated[str, _BY] = "",
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
    """Plan syncs so that a copy keeps a target quality.

    Writes one row per planned sync: its time, the expected precision and recall
    just before it, their lower bounds at the given confidence, and what determines
    the time. Each is on the last day that keeps the target. With --by each group
    has its own schedule; with --budget sources and groups share a number of syncs.
    No file is changed.

    \b
    Examples:
        recrawl listing schedule cars/ --keep "recall >= 0.9 and precision >= 0.8"
        recrawl listing schedule cars/ --keep "recall >= 0.9" --confidence 0.9 --at-most 2/7d
        recrawl listing schedule cars/ --keep "recall >= 0.9" --method ar-published --point
        recrawl listing schedule cars/ jobs/ --budget 10/7d
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.listings.schedule.plan import plan_to_keep
    from recrawl.units import days

    out = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    if bool(keep) == bool(budget):
        raise typer.BadParameter("give either --keep or --budget")
    listing_shared.check_method(method, part=bool(by))
    span = days(lasting)
    limits = limits_of(at_most)
    goal = goal_of(keep, None if point else confidence, guarantee=guarantee) if keep else None
    spent = _spent(budget, span) if budget else 0
    alone = plot is not None
    sources = listing_shared.SourceReader(files, key, grace, lenient, name, alone, read_as).read()
    tracked = _track(sources, listing_shared.named(by), method)
    plans = (
        _evenly(tracked, spent, span)
        if goal is None
        else [plan_to_keep(each.forecast, goal, limits, span) for _, each in tracked]
    )
    if plot is not None:
        _draw(plot, tracked, plans, goal)
    listing_shared.put(_sheet(tracked, plans), out)
    listing_shared.remarks(sources)
    _remarks(plans, goal, span)
    for source, each in tracked:
        listing_shared.model_remarks(source.name, method, each.state)
    if goal is not None and goal.confidence is not None:
        listing_shared.band_remark(method)


def goal_of(text: str, confidence: float | None, *, guarantee: bool = False) -> Goal:
    """Parse a goal such as `recall >= 0.9 and precision >= 0.8`."""
    from recrawl.listings.forecast.forecast import QUALITIES
    from recrawl.listings.schedule.schedule import Goal
    from recrawl.parse.conditions import conditions

    rule = "keep must look like 'recall >= 0.9 and precision >= 0.8'"
    targets: dict[str, float] = {}
    try:
        found = conditions(text)
        for condition in found:
            if condition.name not in QUALITIES or condition.operator != ">=":
                raise ValueError  # noqa: TRY301 - one sentence for all that can be wrong
            if condition.name in targets:
                raise ValueError  # noqa: TRY301 - one sentence for all that can be wrong
            targets[condition.name] = float(condition.values[0])
    except ValueError:  # InvalidParameter is one
        raise InvalidParameter(f"{rule} (got {text!r})") from None
    return Goal(**targets, confidence=confidence, guarantee=guarantee)


def limits_of(text: str) -> list[Limit]:
    """Parse limits such as `2/7d,5/30d`."""
    from recrawl.listings.schedule.schedule import Limit
    from recrawl.units import period

    found = []
    for part in listing_shared.named(text):
        count, _, span = part.partition("/")
        try:
            if not _COUNT.fullmatch(count):
                raise InvalidDuration  # noqa: TRY301 - one sentence for all that can be wrong
            found.append(Limit(int(count), period(span)))
        except InvalidDuration:
            raise InvalidParameter(f"at-most must look like 2/7d (got {part!r})") from None
    return found


def _spent(text: str, span: float) -> int:
    """Syncs that a budget allows within a span."""
    from recrawl.plan.budget import Budget

    return int(Budget.read(text, kinds=("crawl",)).visits * span + 1e-9)


def _track(
    sources: Sequence[ListingSource], by: list[str], method: str
) -> list[tuple[ListingSource, TrackedSource]]:
    from recrawl.listings.forecast.tracked import track_groups, track_source

    found: list[tuple[ListingSource, TrackedSource]] = []
    for source in sources:
        listing_shared.check_attributes(source, by)
        listing, grid = source.listing, source.grid
        parts = (
            track_groups(listing, grid, by) if by else [track_source(listing, grid, method=method)]
        )
        found += [(source, part) for part in parts]
    return found


def _evenly(
    tracked: Sequence[tuple[ListingSource, TrackedSource]], syncs: int, span: float
) -> list[list[PlannedSync]]:
    """A budget divided among sources and groups to minimise the loss of quality."""
    import numpy as np

    from recrawl.listings.schedule.plan import plan_evenly
    from recrawl.listings.schedule.schedule import MOST_DAYS
    from recrawl.listings.schedule.sources import BudgetedSource, share_budget

    found = [each.forecast(max(MOST_DAYS, int(span) + 1)) for _, each in tracked]
    paths = [
        np.nan_to_num(ahead.expected.precision * ahead.expected.recall, nan=1.0) for ahead in found
    ]
    shares = share_budget([BudgetedSource(path) for path in paths], float(syncs), span)
    return [
        plan_evenly(ahead, int(share), span) for ahead, share in zip(found, shares, strict=True)
    ]


def _sheet(
    tracked: Sequence[tuple[ListingSource, TrackedSource]], plans: Sequence[list[PlannedSync]]
) -> Sheet:
    from recrawl.report.listings.schedules import schedule_sheet
    from recrawl.report.listings.sheets import joined

    return joined(
        [
            schedule_sheet(source.name, each.name, each.synced_at, plan)
            for (source, each), plan in zip(tracked, plans, strict=True)
        ]
    )


def _draw(
    path: Path,
    tracked: Sequence[tuple[ListingSource, TrackedSource]],
    plans: Sequence[list[PlannedSync]],
    goal: Goal | None,
) -> None:
    """Draw the groups, and print how many are left out."""
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.schedule_chart import MOST_GROUPS, GroupSchedule, schedule_chart

    groups = [
        GroupSchedule(each.name, each.synced_at, plan, each.forecast, each.listed)
        for (_, each), plan in zip(tracked, plans, strict=True)
    ]
    write_picture(path, schedule_chart(tracked[0][0].name, groups, goal))
    left = len(groups) - MOST_GROUPS
    if left > 0:
        most = f"{path}: the {MOST_GROUPS} groups that list most objects"
        screen.remark(f"{most}; {left:,} others are not drawn.")


def _remarks(plans: Sequence[list[PlannedSync]], goal: Goal | None, span: float) -> None:
    """Print the number of syncs, and the targets that are missed."""
    from recrawl.report.listings.schedules import missed_words
    from recrawl.report.words import counted, every

    within = [[sync for sync in plan if sync.after <= span] for plan in plans]
    screen.remark(f"{counted(sum(map(len, within)), 'sync')} in {every(span)}.")
    limited = sum(sync.reason == "limit" for plan in plans for sync in plan)
    if goal is None:
        return
    if limited:
        screen.remark(f"{limited:,} later than the target requires, because of --at-most.")
    for line in missed_words(within, goal):
        screen.remark(line)
