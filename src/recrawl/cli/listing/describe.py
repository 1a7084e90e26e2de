"""`recrawl listing describe`: arrivals, lifetimes and updates, by attribute.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource

_UPDATES = typer.Option(
    "--updates", help="Write how often attributes change and how stale a copy becomes."
)
_DAYS = typer.Option("--days", help="Write the arrivals and removals of each day.")
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot arrivals and survival by the first attribute, with fits, to FILE: .svg or .png.",
    show_default=False,
)


@shared.with_options(shared.table_options, "read_as")
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
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: TableOptions,
) -> None:
    """Describe arrivals, lifetimes and updates of objects.

    Writes one row for all objects, then one row per value of each attribute: their
    number, arrivals per day, removal rate with a band, median lifetime, whether the
    removal rate depends on age, and the published models: Gamma arrivals, Weibull
    survival. --updates and --days write other tables instead. No file is changed.

    \b
    Examples:
        recrawl listing describe cars/
        recrawl listing describe cars/ --by make,year --plot cars.svg
        recrawl listing describe objects.csv crawls.csv --updates --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.listings.describe import (
        attributes_to_show,
        day_sheet,
        describe_sheet,
        update_sheet,
    )
    from recrawl.report.listings.sheets import joined

    out = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    if updates and days:
        raise typer.BadParameter("--updates and --days exclude each other")
    alone = plot is not None
    reading = listing_shared.SourceReader(files, key, grace, lenient, name, alone, read_as)
    sources = [listing_shared.chosen(source, where) for source in reading.read()]
    wanted = listing_shared.named(by)
    for source in sources:
        listing_shared.check_attributes(source, wanted)
    if updates:
        sheets = [update_sheet(source.name, source.listing) for source in sources]
    elif days:
        sheets = [day_sheet(source.name, source.grid) for source in sources]
    else:
        sheets = [
            describe_sheet(
                source.name,
                source.listing,
                source.grid,
                wanted or attributes_to_show(source.listing),
            )
            for source in sources
        ]
    if plot is not None:
        _draw(plot, sources[0], wanted)
    listing_shared.put(joined(sheets), out)
    listing_shared.remarks(sources)
    if not (updates or days):
        listing_shared.lifetime_remarks(sources)


def _draw(path: Path, source: ListingSource, by: Sequence[str]) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.charts import describe_chart

    write_picture(path, describe_chart(source.name, source.listing, source.grid, list(by[:1])))
