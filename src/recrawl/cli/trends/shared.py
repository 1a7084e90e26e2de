"""What the verbs of `recrawl trends` share: options, the pages of a file, output.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.analysis.trends import TrendPages
    from recrawl.report.rates import Column
    from recrawl.report.trends import Table
    from recrawl.trends.weibull import Variant
    from recrawl.trends.windows import Windowing

FILES = typer.Argument(
    metavar="FILE...",
    help="Visits as for estimate, or all changes (page, changed_at); or the store of a crawl.",
    show_default=False,
)
PAGE = typer.Option(metavar="PAGE", help="Only this page.", show_default=False)
PLACE = typer.Option(
    metavar="WHERE", help="Place of an undated change within its gap: middle, end or random."
)
READING = typer.Option(
    metavar="METHOD",
    help="How windows are cut: by likelihood; or as published, where a gap contradicts a window's "
    "state by days (point, budget, envelope) or one gap too many does (count).",
)
THRESHOLD = typer.Option(
    metavar="NUMBER",
    help="What ends a window: its gain in ln(changes) for likelihood, days for point, budget and "
    "envelope, gaps for count.",
    min=0,
)
BACKWARD = typer.Option("--backward", help="Cut from the last change back; not by likelihood.")
VARIANT = typer.Option(
    metavar="VARIANT", help="Weibull rate: corrected, likely, check, bar, unbiased or least."
)
NEXT_LEVEL = typer.Option(
    metavar="SHARE", help="Probability that the next change falls into its band."
)


@dataclass(frozen=True, slots=True)
class TrendReader:
    """Reader of the pages of a log.

    Args:
        files: Visits, or all changes.
        page: The only page; empty for all.
        options: How to read the files.
    """

    files: Sequence[Path]
    page: str
    options: TableOptions

    def read(self) -> TrendPages:
        """Read the whole log; one of all changes covers the time between them, too."""
        from recrawl.adapters.tables.inputs import open_table
        from recrawl.adapters.tables.visits import VisitReading
        from recrawl.analysis.trends import TrendPages

        with (
            screen.progress("reading visits") as progress,
            open_table(self.files, self.options, progress) as table,
        ):
            return TrendPages.read(VisitReading(table, change_times=True), self.page)


def windowing_of(reading: str, threshold: float, *, backward: bool) -> Windowing:
    """How the options cut windows."""
    from recrawl.checks import check_choice
    from recrawl.trends.windows import READINGS, Reading, Windowing

    check_choice(READINGS, reading=reading)
    readings: dict[str, Reading] = {name: name for name in READINGS}
    return Windowing(threshold, readings[reading], backward)


def variant_of(name: str) -> Variant:
    """Variant of the Weibull rate."""
    from recrawl.checks import check_choice
    from recrawl.trends.weibull import VARIANTS

    check_choice(VARIANTS, variant=name)
    variants: dict[str, Variant] = {variant: variant for variant in VARIANTS}
    return variants[name]


def check_place(place: str) -> None:
    """Check the place of an undated change."""
    from recrawl.checks import check_choice
    from recrawl.trends.points import PLACES

    check_choice(PLACES, place=place)


def check_level(level: float) -> None:
    """Check the probability of a band."""
    from recrawl.checks import check_fraction

    check_fraction(level=level)


def check_plot(plot: Path | None, page: str) -> None:
    """Raise for a chart that cannot be drawn, before anything is read."""
    from recrawl.adapters.pictures import check_picture

    if plot is not None:
        check_picture(plot)
        if not page:
            raise typer.BadParameter("--plot needs --page")


def put(table: Table, pages: TrendPages, out: shared.Output) -> None:
    """Print the first rows as a table, or write all rows."""
    from recrawl.report.trends import shown

    if not out.interactive:
        out.write(pages.names.take(table.page), table.columns)
        return
    some = table.first(screen.most_rows())
    header, words = shown(some)
    names = pages.names.take(some.page).tolist()
    rows = [[page, *row] for page, row in zip(names, words, strict=True)]
    shared.show(["page", *header], rows, total=len(table.page), unit="rows")


def put_rows(
    names: Sequence[str], columns: Mapping[str, Column], out: shared.Output, *, first: str
) -> None:
    """The same for rows that are not of pages: `first` is what their names are."""
    import numpy as np

    from recrawl.report.trends import Table, shown

    if not out.interactive:
        out.write(list(names), columns, first=first)
        return
    header, words = shown(Table(np.arange(len(names)), dict(columns)))
    rows = [[name, *row] for name, row in zip(names, words, strict=True)]
    shared.show([first, *header], rows, total=len(rows), unit="rows")


def remarks(pages: TrendPages) -> None:
    """Print what was read."""
    from recrawl.report.words import counted

    what = "all changes" if pages.complete else "visits"
    screen.remark(f"{counted(len(pages.names), 'page')} of {pages.table.names} ({what}).")
    shared.read_remarks(pages.table)
    shared.revert_remark(int(pages.histories.reverts.sum()))
