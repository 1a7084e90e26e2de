"""`recrawl listing describe`: arrivals, lifetimes and updates, by what objects are like.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.report.listings.sheets import Sheet

_UPDATES = typer.Option(
    "--updates", help="Write how often attributes change, and what that leaves stale."
)
_DAYS = typer.Option("--days", help="Write what came and went on each day.")
_PLOT = typer.Option(
    metavar="F",
    help="Draw arrivals with their fit, and survival by the first attribute, to F: .svg or .png.",
    show_default=False,
)


def describe(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    by: Annotated[str, listing_shared.BY] = "",
    updates: Annotated[bool, _UPDATES] = False,
    days: Annotated[bool, _DAYS] = False,
    where: Annotated[str, listing_shared.WHERE] = "",
    key: Annotated[str, listing_shared.KEY] = "",
    grace: Annotated[str, listing_shared.GRACE] = "1.5d",
    lenient: Annotated[bool, listing_shared.LENIENT] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Say how objects of a listing arrive, how long they stay and how often they change.

    Writes one row for all objects, then one row per value of each attribute: how
    many there are, how many arrive per day, at what rate they are removed, with a
    band, the age that half of them reach, and whether age matters. --updates and --days write
    other tables instead. No file is changed.

    \b
    Examples:
        recrawl listing describe cars/
        recrawl listing describe cars/ --by make,year --plot cars.svg
        recrawl listing describe objects.csv crawls.csv --updates --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.listings.sheets import joined

    kind = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    if updates and days:
        raise typer.BadParameter("only one of --updates and --days can be given")
    alone = plot is not None
    reading = listing_shared.SourceReader(files, key, grace, lenient, name, alone)
    sources = [listing_shared.chosen(source, where) for source in reading.read()]
    wanted = listing_shared.named(by)
    for source in sources:
        listing_shared.check_attributes(source, wanted)
    make = _updates if updates else _days if days else _groups
    sheet = joined([make(source, wanted) for source in sources])
    if plot is not None:
        _draw(plot, sources[0], wanted)
    listing_shared.put(sheet, kind, output)
    listing_shared.remarks(sources)


def _groups(source: ListingSource, by: Sequence[str]) -> Sheet:
    from recrawl.report.listings.describe import attributes_to_show, describe_sheet

    shown = by or attributes_to_show(source.listing)
    return describe_sheet(source.name, source.listing, source.grid, shown)


def _updates(source: ListingSource, by: Sequence[str]) -> Sheet:
    from recrawl.report.listings.describe import update_sheet

    del by
    return update_sheet(source.name, source.listing)


def _days(source: ListingSource, by: Sequence[str]) -> Sheet:
    from recrawl.report.listings.describe import day_sheet

    del by
    return day_sheet(source.name, source.grid)


def _draw(path: Path, source: ListingSource, by: Sequence[str]) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.charts import describe_chart

    write_picture(path, describe_chart(source.name, source.listing, source.grid, list(by[:1])))
