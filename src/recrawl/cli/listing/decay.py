"""`recrawl listing decay`: how copies have decayed, by source, attribute and day.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import screen, shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.data.grid import DayGrid
    from recrawl.report.listings.decays import NamedDecay

_ON = typer.Option(
    metavar="DATES",
    help="Days on which copies are made, comma-separated.  [default: the mean of all days]",
    show_default=False,
)
_BY = typer.Option(
    metavar="ATTRIBUTE",
    help="Attribute whose values are shown apart.  [default: none]",
    show_default=False,
)
_FOR = typer.Option("--for", metavar="TIME", help="Days to follow a copy.")
_PLOT = typer.Option(
    metavar="FILE", help="Plot precision and recall to FILE: .svg or .png.", show_default=False
)
_LONGEST = 365


@shared.with_options(shared.table_options, "read_as")
def decay(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    on: Annotated[str, _ON] = "",
    by: Annotated[str, _BY] = "",
    lasting: Annotated[str, _FOR] = "30d",
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
    """Show how copies of a listing have decayed.

    Writes one row per day after a copy was made: the precision and recall that it
    had then. Copies are made on the days that --on names, or on every day, of which
    the mean is taken; with --by, of each value of an attribute. Nothing is forecast,
    and no file is changed.

    \b
    Examples:
        recrawl listing decay cars/ jobs/ --plot decay.svg
        recrawl listing decay cars/ --by make --on 2026-01-15
        recrawl listing decay cars/ --on 2026-01-15,2026-02-01,2026-03-01 --for 14d --csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture
    from recrawl.report.listings.decays import decay_sheet

    out = listing_shared.check(files, output, None, formats=(as_csv, as_json))
    if plot is not None:
        check_picture(plot)
    until = listing_shared.whole_days_of(lasting, "for")
    reading = listing_shared.SourceReader(files, key, grace, lenient, name, read_as=read_as)
    sources = [listing_shared.chosen(source, where) for source in reading.read()]
    found: list[NamedDecay] = []
    for source in sources:
        found += _decays(source, listing_shared.named(on), by.strip(), min(until, _LONGEST))
    if plot is not None:
        _draw(plot, found)
    sheet = decay_sheet(found)
    listing_shared.put(sheet, out)
    listing_shared.remarks(sources)


def _decays(source: ListingSource, on: Sequence[str], by: str, until: int) -> list[NamedDecay]:
    from recrawl.listings.data.decay import decay_after, mean_decay
    from recrawl.report.listings.decays import NamedDecay

    days = [(day, _day_of(source, day)) for day in on]
    found = []
    for group, grid in _parts(source, by):
        for day, number in days:
            found.append(NamedDecay(source.name, group, day, decay_after(grid, number, until)))
        if not days:
            found.append(NamedDecay(source.name, group, "", mean_decay(grid, until)))
    return found


def _parts(source: ListingSource, by: str) -> list[tuple[str, DayGrid]]:
    """Grid of the source, or of each value of an attribute, the commonest first."""
    import numpy as np

    from recrawl.listings.describe import kinds

    if not by:
        return [("", source.grid)]
    listing_shared.check_attributes(source, [by])
    codes, values = kinds(source.listing.attributes[by])
    counts = np.bincount(codes, minlength=len(values))
    order = [row for row in np.argsort(-counts, kind="stable").tolist() if counts[row]]
    return [(values[row], source.grid.only(codes == row)) for row in order]


def _day_of(source: ListingSource, text: str) -> int:
    """Number of a day in a source's grid."""
    import numpy as np

    from recrawl.errors import InvalidParameter

    grid = source.grid
    shown = grid.instants.astype("datetime64[D]").astype(str)
    (rows,) = np.nonzero(shown == text)
    if not len(rows) or grid.gap[rows[0]]:
        known = shown[grid.crawled]
        ends = f"{known[0]} to {known[-1]}" if len(known) else "no day"
        raise InvalidParameter(
            f"{source.name}: on must be a day with a crawl, from {ends} (got {text!r})"
        )
    return int(rows[0])


def _draw(path: Path, found: Sequence[NamedDecay]) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.decays import MOST_LINES, decay_chart

    write_picture(path, decay_chart(found))
    if len(found) > MOST_LINES:
        left = len(found) - MOST_LINES
        screen.remark(f"{path}: the first {MOST_LINES} copies; {left:,} others are not drawn.")
