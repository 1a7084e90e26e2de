"""`recrawl listing schedule`: when to sync, so that a copy stays as good as is wanted.

Touches: files, the standard streams.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.forecast.tracked import TrackedSource
    from recrawl.listings.schedule.plan import PlannedSync
    from recrawl.listings.schedule.schedule import Goal, Limit
    from recrawl.report.listings.sheets import Sheet

_KEEP = typer.Option(
    metavar="Q", help="Quality to keep: 'recall >= 0.9 and precision >= 0.8'.", show_default=False
)
_CONFIDENCE = typer.Option(help="Probability with which it is to be kept, from 0.5 to below 1.")
_POINT = typer.Option(
    "--point", help="Go by the expected quality: below the target at the end of many a cycle."
)
_GUARANTEE = typer.Option(
    "--guarantee", help="With --point: sync the day before it is below, not the day it is."
)
_AT_MOST = typer.Option(
    metavar="N",
    help="At most so many syncs of one source or group: 2/7d, or 2/7d,5/30d.",
    show_default=False,
)
_BUDGET = typer.Option(
    metavar="B",
    help="Instead of --keep: syncs of all sources and groups together, e.g. 10/7d.",
    show_default=False,
)
_FOR = typer.Option("--for", metavar="T", help="How far ahead to plan.")
_BY = typer.Option(
    metavar="A",
    help="Attributes whose groups are synced separately, comma-separated.",
    show_default=False,
)
_PLOT = typer.Option(
    metavar="F",
    help="Draw the quality to expect, of up to 8 groups, to F: .svg or .png.",
    show_default=False,
)

_LIMIT = re.compile(r"\s*(\d+)\s*/\s*(\S+)\s*")
_LONGEST = 365.0


def schedule(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    keep: Annotated[str, _KEEP] = "",
    confidence: Annotated[float, _CONFIDENCE] = 0.8,
    point: Annotated[bool, _POINT] = False,
    guarantee: Annotated[bool, _GUARANTEE] = False,
    at_most: Annotated[str, _AT_MOST] = "",
    budget: Annotated[str, _BUDGET] = "",
    lasting: Annotated[str, _FOR] = "30d",
    by: Annotated[str, _BY] = "",
    key: Annotated[str, listing_shared.KEY] = "",
    grace: Annotated[str, listing_shared.GRACE] = "1.5d",
    lenient: Annotated[bool, listing_shared.LENIENT] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Say when to sync next, so that a copy stays as good as is wanted.

    Writes one row per planned sync: when, the precision and recall to expect just
    before it, what they reach with the confidence asked for, and why then. With
    --by each group has its own schedule; with --budget sources and groups share
    the syncs there are. No file is changed.

    \b
    Examples:
        recrawl listing schedule cars/ --keep "recall >= 0.9 and precision >= 0.8"
        recrawl listing schedule cars/ --keep "recall >= 0.9" --confidence 0.9 --at-most 2/7d
        recrawl listing schedule cars/ jobs/ --budget 10/7d
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.units import days

    kind = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    if bool(keep) == bool(budget):
        raise typer.BadParameter("expected either --keep or --budget")
    if guarantee and not point:
        raise typer.BadParameter("--guarantee needs --point")
    span = days(lasting)
    limits = limits_of(at_most)
    goal = goal_of(keep, None if point else confidence, guarantee=guarantee) if keep else None
    spent = _spent(budget, span) if budget else 0
    alone = plot is not None
    sources = listing_shared.SourceReader(files, key, grace, lenient, name, alone).read()
    tracked = _track(sources, listing_shared.named(by))
    plans = (
        _evenly(tracked, spent, span)
        if goal is None
        else [_kept(each, goal, limits, span) for _, each in tracked]
    )
    if plot is not None:
        _draw(plot, tracked, plans, goal)
    listing_shared.put(_sheet(tracked, plans), kind, output)
    listing_shared.remarks(sources)
    _remarks(plans, goal, span)


def goal_of(text: str, confidence: float | None, *, guarantee: bool = False) -> Goal:
    """Goal meant by `recall >= 0.9 and precision >= 0.8`."""
    from recrawl.errors import InvalidParameter
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
    """Limits meant by `2/7d,5/30d`."""
    from recrawl.errors import InvalidParameter
    from recrawl.listings.schedule.schedule import Limit
    from recrawl.units import days

    found = []
    for part in listing_shared.named(text):
        match = _LIMIT.fullmatch(part)
        if match is None:
            raise InvalidParameter(f"at-most must look like 2/7d (got {part!r})")
        found.append(Limit(int(match[1]), days(match[2])))
    return found


def _spent(text: str, span: float) -> int:
    """Syncs that a budget allows within a span."""
    from recrawl.errors import InvalidParameter
    from recrawl.plan.budget import Budget

    found = Budget.read(text)
    if found.each != "crawl":
        raise InvalidParameter(f"budget must look like 10/7d (got {text!r})")
    return int(found.visits * span + 1e-9)


def _track(
    sources: Sequence[ListingSource], by: list[str]
) -> list[tuple[ListingSource, TrackedSource]]:
    from recrawl.listings.forecast.tracked import track_groups, track_source

    found: list[tuple[ListingSource, TrackedSource]] = []
    for source in sources:
        listing_shared.check_attributes(source, by)
        listing, grid = source.listing, source.grid
        parts = track_groups(listing, grid, by) if by else [track_source(listing, grid)]
        found += [(source, part) for part in parts]
    return found


def _kept(
    tracked: TrackedSource, goal: Goal, limits: Sequence[Limit], span: float
) -> list[PlannedSync]:
    from recrawl.listings.schedule.plan import plan_to_keep

    return plan_to_keep(tracked.forecast, goal, limits, span)


def _evenly(
    tracked: Sequence[tuple[ListingSource, TrackedSource]], syncs: int, span: float
) -> list[list[PlannedSync]]:
    """A budget shared among sources and groups where it avoids the greatest loss."""
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
    """Draw all groups, and say on stderr how many there is no room for."""
    from recrawl.adapters.pictures import write_picture
    from recrawl.cli import screen
    from recrawl.report.listings.schedule_chart import MOST_GROUPS, GroupSchedule, schedule_chart

    groups = [
        GroupSchedule(each.name, each.synced_at, plan, each.forecast, each.listed)
        for (_, each), plan in zip(tracked, plans, strict=True)
    ]
    write_picture(path, schedule_chart(tracked[0][0].name, groups, goal))
    left = len(groups) - MOST_GROUPS
    if left > 0:
        most = f"{path}: the {MOST_GROUPS} groups that list most objects"
        screen.remark(f"{most}; {left:,} more {'is' if left == 1 else 'are'} left out.")


def _remarks(plans: Sequence[list[PlannedSync]], goal: Goal | None, span: float) -> None:
    """Say on stderr how many syncs there are, and what is not kept."""
    from recrawl.cli import screen
    from recrawl.report.listings.schedules import missed_words
    from recrawl.report.words import counted, every

    within = [[sync for sync in plan if sync.after <= span] for plan in plans]
    screen.remark(f"{counted(sum(map(len, within)), 'sync')} in {every(span)}.")
    limited = sum(sync.reason == "limit" for plan in plans for sync in plan)
    if goal is None:
        return
    if limited:
        screen.remark(f"{limited:,} later than the target asks for, because of --at-most.")
    for line in missed_words(within, goal):
        screen.remark(line)
