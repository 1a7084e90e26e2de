"""`recrawl trends pages`: the trend of each page, in one row.

Touches: files, the standard streams.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import bulk, screen, shared
from recrawl.cli.trends import shared as trends_shared
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from recrawl.analysis.trends import TrendPages
    from recrawl.report.trends import Table
    from recrawl.trends.points import Points

_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the timeline of the one --page to FILE: .svg or .png.",
    show_default=False,
)


@shared.with_options(trends_shared.trend_options, "read_as")
def pages(
    files: Annotated[list[str], trends_shared.PARTITIONS],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    reading: Annotated[str, trends_shared.READING] = "likelihood",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    backward: Annotated[bool, trends_shared.BACKWARD] = False,
    level: Annotated[float, shared.LEVEL] = 0.9,
    plot: Annotated[Path | None, _PLOT] = None,
    engine: Annotated[str, bulk.ENGINE] = "",
    jobs: Annotated[int, bulk.JOBS] = 0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[str | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Summarise how the change rate of each page moves.

    Writes one row per page: the state of its last consistent window, beta with a
    band, the current rate, the p-value of a trend, whether it changes regularly or
    in bursts, and the next change with an 80 % band. What is increasing or
    decreasing is always the rate. Says how many changes the pages have.

    With --engine every file is a partition: -o names a folder, which gets one file
    per partition. All visits of a page must lie in one partition.

    \b
    Examples:
        recrawl trends pages visits.csv
        recrawl trends pages visits.csv --page https://example.org/ --plot page.svg
        recrawl trends pages 'logs/part-*.parquet' --engine local -o trends/
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.bulk.trends import TrendJob
    from recrawl.analysis.trends import page_rows
    from recrawl.trends.windows import consistent_windows

    trends_shared.check_level(level)
    trends_shared.check_place(place)
    windowing = trends_shared.windowing_of(reading, threshold, backward=backward)
    if engine:
        others = {
            "--page": page,
            "--plot": plot,
            "--json": as_json,
            "--csv or --spreadsheet": as_csv is not None,
        }
        job = TrendJob(place, windowing, level, read_as.table, read_as.memory)
        bulk.trends(files, bulk.folder(output, others), job, engine=engine, jobs=jobs)
        return
    bulk.refuse_jobs(jobs)
    named, file = [place_of(each) for each in files], None if output is None else Path(output)
    out = shared.Output.of(*named, as_csv=as_csv, as_json=as_json, file=file)
    trends_shared.check_plot(plot, page)
    tally = _Tally()

    def rows(pages: TrendPages) -> Table:
        points = pages.points(place)
        table = page_rows(pages, points, consistent_windows(points, windowing), level)
        tally.add(points, table)
        return table

    with trends_shared.open_log(named, page, read_as, out) as found:
        first = trends_shared.write(found.rows(rows), out)
        only = next(found.parts()) if page else None
    trends_shared.show(first)
    if only is not None and out.interactive:
        _show_months(only, level)
    if only is not None and plot is not None:
        _draw(plot, only, only.points(place), level)
    trends_shared.remarks(found)
    tally.say()


def _draw(path: Path, found: TrendPages, points: Points, level: float) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.analysis.trend_pictures import timeline

    write_picture(path, timeline(found, points, level=level))


def _show_months(found: TrendPages, level: float) -> None:
    """Print the rate of the one page by month."""
    from recrawl.report.charts.sparks import spark
    from recrawl.report.words import every
    from recrawl.trends.local_rates import local_rates

    months = local_rates(found.histories, "month", priors=found.priors, level=level)
    if not len(months):
        return
    first, last, most = months.period[0], months.period[-1], float(months.rate.max())
    screen.say("")
    screen.say(f"rate by month, {first} to {last}, highest: one change in {every(1 / most)}:")
    screen.say(spark(months.rate.tolist()))


@dataclass(slots=True)
class _Tally:
    """What is said of all pages together: their changes, and where a constant rate would mislead.

    Args:
        pages: Pages with so many changes.
        kinds: Pages of each kind.
    """

    pages: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, points: Points, table: Table) -> None:
        """Count further pages."""
        self.pages.update(points.points_of_page.tolist())
        self.kinds.update(map(str, table.columns["kind"].tolist()))

    def say(self) -> None:
        """Print it."""
        from recrawl.report.words import counted
        from recrawl.trends.regularity import WARNINGS

        if (count := self.pages.total()) > 1:
            total = sum(changes * pages for changes, pages in self.pages.items())
            squares = sum(changes * changes * pages for changes, pages in self.pages.items())
            deviation = sqrt(count * squares - total * total) / count
            spread = f"mean {total / count:.1f}, standard deviation {deviation:.1f}"
            least, most = min(self.pages), max(self.pages)
            screen.remark(f"Changes of a page: {least:,} to {most:,}, {spread}.")
        for kind, warning in WARNINGS.items():
            if self.kinds[kind]:
                screen.remark(f"{counted(self.kinds[kind], 'page')} {kind}: {warning}.")
