"""`recrawl listing partition`: groups of objects with similar removal rates.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.checks import check_choice
from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.groups.partition import Partitioner
    from recrawl.report.listings.partitions import Partition

_SEARCH = typer.Option(
    metavar="METHOD",
    help="reclustered or hierarchical (one attribute at a time), tree (all together) or shrunk.",
)
_CRITERION = typer.Option(
    metavar="TEST", help="Test statistic for the gain of one more group: lr or pearson."
)
_MIN_GAIN = typer.Option(
    metavar="NUMBER",
    help="Least gain of one more group: 3.84 for a 5 % test, 1.5 as published.",
    min=0.0,
)
_UNWEIGHTED = typer.Option(
    "--unweighted", help="Give values with few removals the same weight as others, as published."
)
_STEPS = typer.Option(
    "--steps", help="Write each step of the search instead: its groups, rates and gain."
)
_MOST = typer.Option(
    "--groups",
    metavar="N",
    help="Most groups of an attribute.  [default: as many as the data support]",
    min=1,
    show_default=False,
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the survival of each group of the first attribute to FILE: .svg or .png.",
    show_default=False,
)

_SEARCHES: tuple[Literal["reclustered", "hierarchical"], ...] = ("reclustered", "hierarchical")
_CRITERIA: tuple[Literal["lr", "pearson"], ...] = ("lr", "pearson")
_TREE, _SHRUNK = "tree", "shrunk"


@shared.with_options(shared.table_options, "read_as")
def partition(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    by: Annotated[str, listing_shared.BY] = "",
    search: Annotated[str, _SEARCH] = "reclustered",
    criterion: Annotated[str, _CRITERION] = "lr",
    min_gain: Annotated[float, _MIN_GAIN] = 3.84,
    unweighted: Annotated[bool, _UNWEIGHTED] = False,
    most: Annotated[int | None, _MOST] = None,
    steps: Annotated[bool, _STEPS] = False,
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
    """Partition objects into groups with similar removal rates.

    Writes one row per group: its values of the attribute, its removal rate with a
    band, its median lifetime, how much better the groups fit than a single one,
    and whether that may be chance. With --steps, one row per step of the search,
    the refused one last. No file is changed.

    \b
    Examples:
        recrawl listing partition cars/ --by make,year
        recrawl listing partition cars/ --by make,year --search tree --plot groups.svg
        recrawl listing partition cars/ --by make --steps --criterion pearson --min-gain 1.5
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.listings.partitions import partition_sheet, steps_sheet
    from recrawl.report.listings.sheets import joined

    out = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    found = _partitioner(search, criterion, min_gain, weighted=not unweighted)
    how = replace(found, most=most)
    if steps and search not in _SEARCHES:
        raise typer.BadParameter(f"--steps needs --search {' or '.join(_SEARCHES)}")
    alone = plot is not None
    reading = listing_shared.SourceReader(files, key, grace, lenient, name, alone, read_as)
    sources = [listing_shared.chosen(source, where) for source in reading.read()]
    wanted = listing_shared.named(by)
    sheets, first = [], None
    for source in sources:
        listing_shared.check_attributes(source, wanted)
        parts = _parts(source, wanted, how, search)
        first = first or (parts[0] if parts else None)
        sheets.append(
            steps_sheet(source.name, source.listing, [part.attribute for part in parts], how)
            if steps
            else partition_sheet(source.name, source.listing, parts)
        )
    if plot is not None and first is not None:
        _draw(plot, sources[0], first)
    listing_shared.put(joined(sheets), out)
    listing_shared.remarks(sources)
    listing_shared.lifetime_remarks(sources)


def _partitioner(search: str, criterion: str, min_gain: float, *, weighted: bool) -> Partitioner:
    """Build the search from its options."""
    from recrawl.listings.groups.partition import Partitioner

    check_choice((*_SEARCHES, _TREE, _SHRUNK), search=search)
    check_choice(_CRITERIA, criterion=criterion)
    searches: dict[str, Literal["reclustered", "hierarchical"]] = {w: w for w in _SEARCHES}
    criteria: dict[str, Literal["lr", "pearson"]] = {word: word for word in _CRITERIA}
    return Partitioner(
        search=searches.get(search, _SEARCHES[0]),
        criterion=criteria[criterion],
        threshold=min_gain,
        weighted=weighted,
    )


def _parts(
    source: ListingSource, by: Sequence[str], how: Partitioner, search: str
) -> list[Partition]:
    from recrawl.errors import InvalidTable
    from recrawl.report.listings.describe import attributes_to_show
    from recrawl.report.listings.partitions import grown, partitioned, shrunk

    listing = source.listing
    names = list(by) or attributes_to_show(listing)
    if not names:
        raise InvalidTable(f"{source.name}: no attribute found to group objects by")
    if search == _TREE:
        return [grown(listing, names)]
    if search == _SHRUNK:
        return [shrunk(listing, name) for name in names]
    return [partitioned(listing, name, how) for name in names]


def _draw(path: Path, source: ListingSource, part: Partition) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.charts import partition_chart

    write_picture(path, partition_chart(source.name, source.listing, part))
