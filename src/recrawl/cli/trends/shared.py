"""What the verbs of `recrawl trends` share: options, the pages of a log, output.

Touches: files, the standard streams.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, screen, shared
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.adapters.tables.results import PieceRows
    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.analysis.trends import TrendLog
    from recrawl.report.rates import Column
    from recrawl.trends.weibull import Variant
    from recrawl.trends.windows import Windowing

FILES = typer.Argument(
    metavar="FILE...",
    help="Visits as for estimate, or all changes (page, changed_at); or the store of a crawl.",
    show_default=False,
    parser=place_of,
)
PARTITIONS = typer.Argument(
    metavar=FILES.metavar, help=FILES.help, show_default=False
)  # of a log that may lie elsewhere
PAGE = typer.Option(metavar="PAGE", help="Only this page.", show_default=False)
PLACE = typer.Option(
    metavar="WHERE", help="Where in its gap to place an undated change: middle, end or random."
)
READING = typer.Option(
    metavar="METHOD",
    help="How windows are cut: likelihood, or as published, point, budget, envelope (by days "
    "that contradict the state) or count (by gaps that do).",
)
THRESHOLD = typer.Option(
    metavar="NUMBER",
    help="Threshold that ends a window: gain in ln(changes) for likelihood, gaps for count, "
    "days for the others.",
    min=0,
)
BACKWARD = typer.Option(
    "--backward", help="Cut from the last change backwards (not with likelihood)."
)
VARIANT = typer.Option(
    metavar="VARIANT", help="Weibull rate: corrected, likely, check, bar, unbiased or least."
)
NEXT_LEVEL = typer.Option(
    metavar="SHARE",
    parser=options.fraction,
    help="Probability that the next change falls into its band.",
)


@dataclass(frozen=True, slots=True)
class TrendOptions:
    """How a log is read.

    Args:
        table: How its files are read.
        memory: Bytes that its visits may take.
    """

    table: TableOptions
    memory: int


def trend_options(
    *,
    memory: Annotated[str, shared.MEMORY] = "2G",
    site_column: Annotated[str, shared.SITE_COLUMN] = "",
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    skip_bad_rows: Annotated[bool, shared.SKIP] = False,
    delimiter: Annotated[str, shared.DELIMITER] = "",
    tz: Annotated[str, shared.TIME_ZONE] = "",
) -> TrendOptions:
    """How a log is read, checked before it is."""
    table = shared.log_options(
        site_column=site_column,
        column=column,
        skip_bad_rows=skip_bad_rows,
        delimiter=delimiter,
        tz=tz,
    )
    from recrawl.settings.keys import size_of

    return TrendOptions(table, size_of(memory, "memory"))


@contextmanager
def open_log(
    files: Sequence[Path], page: str, read_as: TrendOptions, out: shared.Output
) -> Iterator[TrendLog]:
    """The pages of a log, or one of them; temporary files lie beside the output."""
    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.logs import Log
    from recrawl.adapters.tables.visits import VisitReading
    from recrawl.analysis.trends import TrendLog

    scratch = Path() if out.file is None else out.file.parent
    with ExitStack() as reading:
        progress = reading.enter_context(screen.progress("reading visits"))
        with (
            open_table(files, read_as.table, progress) as table,
            Log(VisitReading(table, change_times=True), read_as.memory, scratch) as log,
        ):
            found = TrendLog(log, page)
            reading.close()
            with screen.progress("finding trends") as found.progress:
                yield found


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


def write(rows: Iterator[PieceRows], out: shared.Output) -> RowsToShow | None:
    """Write all rows; of a terminal only go through them, and return the first ones."""
    from recrawl.adapters.tables.results import PieceRows

    first = next(rows)  # raises for a bad input before anything is written
    if not out.interactive:
        with out.writer(("page", *first.columns)) as writer:
            for part in chain([first], rows):
                writer.write(part.names.take(part.page), part.columns)
        return None
    total, some = len(first), [first]
    for part in rows:
        if total < screen.most_rows():
            some.append(part)
        total += len(part)
    return RowsToShow(PieceRows.joined(some), total)


@dataclass(frozen=True, slots=True, eq=False)
class RowsToShow:
    """What a terminal shows.

    Args:
        rows: The first rows, and maybe more.
        total: Number of all rows.
    """

    rows: PieceRows
    total: int


def show(first: RowsToShow | None) -> None:
    """Print the first rows as a table, once all progress is over."""
    from recrawl.report.trends import Table, shown

    if first is None:
        return
    some = Table(first.rows.page, dict(first.rows.columns)).first(screen.most_rows())
    header, words = shown(some)
    names = first.rows.names.take(some.page).tolist()
    rows = [[page, *row] for page, row in zip(names, words, strict=True)]
    shared.show(["page", *header], rows, total=first.total, unit="row")


def put_rows(
    names: Sequence[str], columns: Mapping[str, Column], out: shared.Output, *, first: str
) -> None:
    """Print or write rows that are not of pages: `first` is what their names are."""
    import numpy as np

    from recrawl.report.trends import Table, shown

    if not out.interactive:
        out.write(list(names), columns, first=first)
        return
    header, words = shown(Table(np.arange(len(names)), dict(columns)))
    rows = [[name, *row] for name, row in zip(names, words, strict=True)]
    shared.show([first, *header], rows, total=len(rows), unit="row")


def remarks(found: TrendLog) -> None:
    """Print what was read."""
    from recrawl.report.words import counted

    what = "all changes" if found.complete else "visits"
    screen.remark(f"{counted(len(found), 'page')} of {found.table.names} ({what}).")
    shared.read_remarks(found.table)
    shared.revert_remark(found.reverts)
