"""Archives and indexes as partitions: one visit log per file.

Shards of a ZipNum index and parts of the columnar index are sorted by address, so all captures of a
page lie in one of them, as `recrawl estimate --engine` needs it. WARC files are not.

Touches: files, processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recrawl.adapters import places
from recrawl.adapters.imports.foreign_visits import COLUMNS, ImportReading
from recrawl.adapters.imports.sources import GIT, ImportSource, find_sources, kind_of, read_sources
from recrawl.adapters.tables.outputs import to_file
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.analysis.bulk.reports import BulkReport, FileReport
from recrawl.analysis.bulk.runs import BulkRun, partitions_of
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.adapters.engines import Engine


@dataclass(frozen=True, slots=True)
class ImportJob:
    """How a file is imported. It can be pickled.

    Args:
        kind: What files are; told by their first bytes if empty.
        site: Origin that paths of access logs belong to.
        table: How tables are read.
        agent: Only requests of this agent.
        client: Only requests of this client.
        by_key: Whether pages are named by the keys of an index.
    """

    kind: str = ""
    site: str = ""
    table: TableOptions = TableOptions()  # noqa: RUF009 - it cannot be changed
    agent: str = ""
    client: str = ""
    by_key: bool = False

    def read(self, task: tuple[str, str]) -> FileReport:
        """Write the visits of a file: from one place to another."""
        source, into = task
        reading = ImportReading(
            self.site, self.table, self.agent, self.client, self.by_key, any_name=True
        )
        count = 0
        with places.copied(source) as copy, places.written(into) as path:
            kind = self.kind or kind_of(copy)
            if kind == GIT:
                raise InvalidParameter(f"{source}: a git repository is imported without --engine")
            with to_file(path, COLUMNS) as writer:
                for some in read_sources([ImportSource(copy, kind)], reading, None):
                    writer.write(some.page, some.columns())
                    count += len(some)
        name = places.name_of(source)
        remarks = [f"{name}: {sentence}" for sentence in reading.sentences()]
        return FileReport({"visits": count}, remarks=remarks)


def import_partitions(
    given: Sequence[str],
    folder: str,
    job: ImportJob,
    *,
    engine: Engine,
    progress: Callable[[float], None] | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> BulkReport:
    """Import files, one visit log for each.

    Args:
        given: Files, patterns and folders, or addresses that fsspec knows; a ZipNum index of this
            machine stands for its shards.
        folder: Where the visit logs go.
        job: How files are read.
        engine: What does the work.
        progress: Called with the share of the work that is done.
        remark: Called with what a user should know at once.
    """
    partitions = partitions_of(_files(given, job.kind), folder)
    run = BulkRun.begin(engine, folder, partitions, _asked(job), progress)
    if run.done_before:
        remark(f"{len(run.done_before):,} of {len(partitions):,} partitions were finished before.")
    tasks = {each.name: (each.source, each.into) for each in run.left}
    reports = run.do(job.read, tasks, (0.0, 1.0))
    run.end()
    files = FileReport.together(reports.values())
    return BulkReport(len(partitions), len(run.done_before), files)


def _files(given: Sequence[str], kind: str) -> list[str]:
    """Files that are named; what lies elsewhere is told apart only when it is read."""
    here = [place for place in given if not places.is_remote(place)]
    found = find_sources(here, kind)[0] if here else []
    elsewhere = [place for place in given if places.is_remote(place)]
    return [str(source.path) for source in found] + places.files_at(elsewhere)


def _asked(job: ImportJob) -> dict[str, Any]:
    """What makes two runs the same."""
    return {
        "verb": "import",
        "format": job.kind,
        "site": job.site,
        "user_agent": job.agent,
        "client": job.client,
        "by_key": job.by_key,
        "columns": dict(job.table.columns),
    }
