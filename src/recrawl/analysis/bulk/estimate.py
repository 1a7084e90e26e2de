"""Change rates of a log in partitions: one file of rates per file of visits.

`estimate_file` is all that an engine calls, a path in and a path out. `estimate_partitions` lets
an engine call it for every partition, after a first pass that gives sites their priors.

Touches: files, processes, the clock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters import places
from recrawl.adapters.tables.outputs import to_file
from recrawl.adapters.tables.samples import (
    PageNames,
    SampleFile,
    SitePriors,
    check_pages,
    fit_samples,
)
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.analysis.bulk.first_pass import LogReading, fit_run
from recrawl.analysis.bulk.reports import BulkReport, FileReport
from recrawl.analysis.bulk.runs import BulkRun, partitions_of
from recrawl.analysis.estimate import RateQuestion
from recrawl.analysis.sources import instant_of
from recrawl.errors import InvalidTable
from recrawl.rates.estimates import STATUS_NAMES
from recrawl.rates.priors import fit_prior
from recrawl.report.rates import CLASS_COLUMNS, COLUMNS
from recrawl.settings.keys import size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recrawl.adapters.engines import Engine
    from recrawl.adapters.tables.results import PieceEstimates
    from recrawl.analysis.sources import Moment


@dataclass(frozen=True, slots=True)
class EstimateJob:
    """How the rates of a partition are estimated. It can be pickled.

    Args:
        method: Name of the estimator, or "compare".
        level: Probability that a rate lies in its band.
        classes: Mean intervals of the method "classes".
        false_changes: Probability that an unchanged page looks changed.
        now: Instant of `fresh_now`, as ISO 8601.
        options: How tables are read.
        memory: Bytes that the visits of a partition may take.
    """

    method: str = "gamma"
    level: float = 0.9
    classes: str = ""
    false_changes: float = 0.0
    now: str = ""
    options: TableOptions = TableOptions()  # noqa: RUF009 - it cannot be changed
    memory: int = 1 << 31

    @property
    def question(self) -> RateQuestion:
        """What is asked, checked."""
        return RateQuestion.of(
            self.method,
            level=self.level,
            classes=self.classes,
            false_changes=self.false_changes,
        )

    @property
    def reading(self) -> LogReading:
        """How partitions are read."""
        return LogReading(self.options, self.memory)

    def estimate(self, task: tuple[str, str], priors: str = "") -> FileReport:
        """Write the rates of a partition: from one place to another.

        Args:
            task: Both places.
            priors: File of the priors of sites; fitted to the partition alone if empty.
        """
        source, into = task
        question, names = self.question, None if priors else PageNames()
        of_sites = SitePriors.read(priors) if priors else None
        now, counts = np.datetime64(self.now, "us"), Counter[str]()
        header = (*COLUMNS, *CLASS_COLUMNS) if question.has_classes else COLUMNS
        with (
            places.written(into) as path,
            self.reading.open(source, path.parent) as (log, table),
        ):
            if names is not None:
                for piece in log.pieces():
                    names.add(piece)
            answers = question.answers(log, path.parent, of_sites)
            with to_file(path, header) as writer:
                for found in answers:
                    writer.write(*question.rows(found, now))
                    counts += _statuses(found)
            named = names.tolist() if names else []
            return FileReport.of(table, counts, reverts=log.reverts, names=named)


def _statuses(found: PieceEstimates) -> Counter[str]:
    status = found.estimates[0].status
    return Counter({name: int((status == code).sum()) for code, name in enumerate(STATUS_NAMES)})


def estimate_file(  # noqa: PLR0913 - the options of the verb
    source: str,
    into: str,
    *,
    priors: str = "",
    method: str = "gamma",
    level: float = 0.9,
    now: Moment = None,
    columns: Mapping[str, str] | None = None,
    memory: str = "2G",
) -> FileReport:
    r"""Estimate the change rates of one file of visits, and write them to another.

    Small enough to be handed to any engine with a list of paths. All visits of a page must lie in
    the file. The result appears whole or not at all.

    Args:
        source: File of visits, or an address that fsspec knows.
        into: File of rates; its name says in which format.
        priors: File of priors of sites whose pages lie in several files (`fit_priors`); fitted to
            this file alone if empty.
        method: Name of the estimator.
        level: Probability that a rate lies in its band.
        now: Instant of `fresh_now`; the current time by default.
        columns: Your names of the columns, where they differ.
        memory: Memory for visits.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import recrawl
        >>> with TemporaryDirectory() as folder:
        ...     log, rates = Path(folder, "part-0.csv"), Path(folder, "rates-0.csv")
        ...     _ = log.write_text(
        ...         "page,visited_at,changed\n/a,2026-01-01,\n/a,2026-01-02,true\n"
        ...     )
        ...     report = recrawl.estimate_file(str(log), str(rates), now="2026-01-03")
        ...     report.total, len(rates.read_text().splitlines())
        (1, 2)
    """
    job = EstimateJob(
        method,
        level,
        now=str(instant_of(now)),
        options=TableOptions.of(columns),
        memory=size_of(memory, "memory"),
    )
    return job.estimate((str(source), str(into)), priors)


def sample_file(source: str, into: str, *, columns: Mapping[str, str] | None = None) -> None:
    r"""Write the pages of one file of visits that make the priors of its sites.

    Args:
        source: File of visits, or an address that fsspec knows.
        into: File for the sample, `.npz`.
        columns: Your names of the columns, where they differ.

    Examples:
        The pages of a site lie in two files; its prior comes from both:

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import recrawl
        >>> with TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     for page in "ab":
        ...         rows = f"/{page},2026-01-01,\n/{page},2026-01-02,true\n"
        ...         _ = (folder / page).write_text(f"page,visited_at,changed\n{rows}")
        ...         recrawl.sample_file(f"{folder}/{page}", f"{folder}/{page}.npz")
        ...     recrawl.fit_priors([f"{folder}/{page}.npz" for page in "ab"], f"{folder}/p.npz")
        ...     rates = f"{folder}/rates.csv"
        ...     recrawl.estimate_file(f"{folder}/a", rates, priors=f"{folder}/p.npz").total
        1
    """
    EstimateJob(options=TableOptions.of(columns)).reading.sample((str(source), str(into)))


def fit_priors(samples: Sequence[str], into: str) -> None:
    r"""Write the priors of the sites of all samples, for `estimate_file`.

    Args:
        samples: What `sample_file` wrote of every partition.
        into: File for the priors, `.npz`.

    Examples:
        See `sample_file`. A page in two samples is refused, for its visits must lie in one file:

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import recrawl
        >>> with TemporaryDirectory() as folder:
        ...     log, samples = Path(folder, "log.csv"), [f"{folder}/{part}.npz" for part in "ab"]
        ...     _ = log.write_text("page,visited_at,changed\n/a,2026-01-01,\n")
        ...     for sample in samples:
        ...         recrawl.sample_file(str(log), sample)
        ...     try:
        ...         recrawl.fit_priors(samples, f"{folder}/priors.npz")
        ...     except recrawl.errors.InvalidTable:
        ...         print("refused")
        refused
    """
    files = {str(place): SampleFile.read(str(place)) for place in samples}
    check_pages({name: file.pages.tolist() for name, file in files.items()})
    with places.written(str(into)) as path:
        fit_samples(files.values(), false_changes=0.0, fit=fit_prior).write(path)


def estimate_partitions(
    given: Sequence[str],
    folder: str,
    job: EstimateJob,
    *,
    engine: Engine,
    progress: Callable[[float], None] | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> BulkReport:
    """Estimate the rates of all partitions, one file of rates for each.

    Args:
        given: Files, patterns and folders, or addresses that fsspec knows.
        folder: Where the rates go.
        job: How they are estimated. Without `now` it is that of the run that is gone on with, or
            the current time.
        engine: What does the work.
        progress: Called with the share of the work that is done.
        remark: Called with what a user should know at once.
    """
    question = job.question  # raises for what is wrong before anything is read
    partitions = partitions_of(given, folder)
    run = BulkRun.begin(engine, folder, partitions, _asked(job), progress)
    if run.record["now"] is None:
        run.record["now"] = str(instant_of(None))
        run.note()
    job = replace(job, now=run.record["now"])
    priors, begun = "", 0.0
    if question.uses_priors and run.left:
        begun = 0.4
        priors = fit_run(
            run, job.reading, false_changes=job.false_changes, fit=question.fit, until=begun
        )
    if run.done_before:
        remark(f"{len(run.done_before):,} of {len(partitions):,} partitions were finished before.")
    tasks = {each.name: (each.source, each.into) for each in run.left}
    reports = run.do(partial(job.estimate, priors=priors), tasks, (begun, 1.0))
    try:
        check_pages({name: report.names for name, report in reports.items()})
    except InvalidTable as error:
        run.note(refused=str(error))  # the results are there, and wrong
        raise
    run.end()
    files = FileReport.together(reports.values())
    return BulkReport(len(partitions), len(run.done_before), files)


def _asked(job: EstimateJob) -> dict[str, Any]:
    """What makes two runs the same."""
    asked = asdict(replace(job, options=TableOptions()))
    del asked["options"], asked["memory"]
    read_as = job.options
    return {
        **asked,
        "verb": "estimate",
        "now": job.now or None,
        "columns": dict(read_as.columns),
        "read_as": repr(replace(read_as, columns={}, remarks={})),
    }
