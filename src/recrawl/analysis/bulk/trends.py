"""Trends of a log in partitions: one file of trends per file of visits.

Touches: files, processes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from recrawl.adapters import places
from recrawl.adapters.tables.outputs import to_file
from recrawl.adapters.tables.samples import SitePriors
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.analysis.bulk.first_pass import LogReading, fit_run
from recrawl.analysis.bulk.reports import BulkReport, FileReport
from recrawl.analysis.bulk.runs import BulkRun, partitions_of
from recrawl.analysis.trends import TrendLog, page_rows
from recrawl.trends.windows import Windowing, consistent_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.adapters.engines import Engine
    from recrawl.analysis.trends import TrendPages
    from recrawl.report.trends import Table


@dataclass(frozen=True, slots=True)
class TrendJob:
    """How the trends of a partition are found, as by `recrawl trends pages`. It can be pickled.

    Args:
        place: Where in its gap an undated change is placed.
        windowing: How windows are cut.
        level: Probability that a figure lies in its band.
        options: How tables are read.
        memory: Bytes that the visits of a partition may take.
    """

    place: str = "middle"
    windowing: Windowing = Windowing()  # noqa: RUF009 - it cannot be changed
    level: float = 0.9
    options: TableOptions = TableOptions()  # noqa: RUF009 - the same
    memory: int = 1 << 31

    @property
    def reading(self) -> LogReading:
        """How partitions are read."""
        return LogReading(self.options, self.memory, change_times=True)

    def rows(self, pages: TrendPages) -> Table:
        """One row per page: how its rate moves."""
        points = pages.points(self.place)
        return page_rows(pages, points, consistent_windows(points, self.windowing), self.level)

    def write(self, task: tuple[str, str], priors: str) -> FileReport:
        """Write the trends of a partition: from one place to another.

        Args:
            task: Both places.
            priors: File of the priors of sites.
        """
        source, into = task
        kinds, of_sites = Counter[str](), SitePriors.read(priors)
        with (
            places.written(into) as path,
            self.reading.open(source, path.parent) as (log, table),
        ):
            found = TrendLog(log, given=of_sites)
            rows = found.rows(self.rows)
            first = next(rows)
            with to_file(path, ("page", *first.columns)) as writer:
                for part in (first, *rows):
                    writer.write(part.names.take(part.page), part.columns)
                    kinds.update(map(str, part.columns["kind"].tolist()))
            return FileReport.of(table, kinds, reverts=found.reverts)


def trend_partitions(
    given: Sequence[str],
    folder: str,
    job: TrendJob,
    *,
    engine: Engine,
    progress: Callable[[float], None] | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> BulkReport:
    """Find the trends of all partitions, one file for each.

    Args:
        given: Files, patterns and folders, or addresses that fsspec knows.
        folder: Where the trends go.
        job: How they are found.
        engine: What does the work.
        progress: Called with the share of the work that is done.
        remark: Called with what a user should know at once.
    """
    partitions = partitions_of(given, folder)
    run = BulkRun.begin(engine, folder, partitions, _asked(job), progress)
    priors = fit_run(run, job.reading) if run.left else ""
    if run.done_before:
        remark(f"{len(run.done_before):,} of {len(partitions):,} partitions were finished before.")
    tasks = {each.name: (each.source, each.into) for each in run.left}
    reports = run.do(partial(job.write, priors=priors), tasks, (0.4, 1.0))
    run.end()
    files = FileReport.together(reports.values())
    return BulkReport(len(partitions), len(run.done_before), files)


def _asked(job: TrendJob) -> dict[str, Any]:
    """What makes two runs the same."""
    return {
        "verb": "trends",
        "place": job.place,
        "windows": asdict(job.windowing),
        "level": job.level,
        "columns": dict(job.options.columns),
    }
