"""Verbs over partitions: the options that they share, and what they say.

Touches: files, processes, the standard streams.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recrawl.adapters.engines import Engine
    from recrawl.analysis.bulk.estimate import EstimateJob
    from recrawl.analysis.bulk.imports import ImportJob
    from recrawl.analysis.bulk.plan import PlanJob
    from recrawl.analysis.bulk.reports import FileReport
    from recrawl.analysis.bulk.trends import TrendJob

_MOST_REMARKS = 10  # on single files
ENGINE = typer.Option(
    metavar="ENGINE",
    help="Take every FILE for a partition, worked on by itself, and write one file for each into "
    "the folder -o: local (processes of this machine), ray or spark. FILE and -o may be addresses "
    "such as s3://bucket/logs/*.parquet.",
    show_default=False,
)
JOBS = typer.Option(
    metavar="N",
    min=0,
    help="Processes of --engine local.  [default: one per core]",
    show_default=False,
)


def folder(output: str | None, others: Mapping[str, object]) -> str:
    """The folder for one file per partition; refuse what only a single output can have.

    Args:
        output: What -o names.
        others: Whether options were given that --engine excludes, by their names.
    """
    if not output or output == "-":
        raise typer.BadParameter("--engine needs -o with a folder")
    for name, given in others.items():
        if given:
            raise typer.BadParameter(f"{name} is not for --engine, which writes one file each")
    return output


def refuse_jobs(jobs: int) -> None:
    """Refuse a number of processes where only one works."""
    if jobs:
        raise typer.BadParameter("--jobs needs --engine local")


@contextmanager
def _at_work(
    doing: str, engine: str, jobs: int
) -> Iterator[tuple[Callable[[float], None] | None, Engine]]:
    """An engine with progress shown; refuse a number of processes that is not ours to choose."""
    from recrawl.adapters.engines import open_engine

    if engine != "local":
        refuse_jobs(jobs)
    with screen.progress(doing) as progress, open_engine(engine, jobs=jobs) as running:
        yield progress, running


def estimate(files: Sequence[str], into: str, job: EstimateJob, *, engine: str, jobs: int) -> None:
    """Estimate the rates of all partitions."""
    from recrawl.analysis.bulk.estimate import estimate_partitions
    from recrawl.rates import POOLED
    from recrawl.report.rates import STATUS_REMARKS
    from recrawl.report.words import counted

    with _at_work("estimating", engine, jobs) as (progress, running):
        found = estimate_partitions(
            files, into, job, engine=running, progress=progress, remark=screen.remark
        )
    read, made = found.files, counted(found.partitions - found.done_before, "partition")
    by = "all methods" if job.method == "compare" else f"method {job.method}"
    screen.remark(f"{counted(read.total, 'page')} of {made}, {by}, in {into}.")
    kind = "pooled" if job.method in POOLED else "alone"
    for status, remarks in STATUS_REMARKS.items():
        if read.counts.get(status):
            screen.remark(f"{read.counts[status]:,} {remarks[kind]}")
    _read_remarks(read)


def trends(files: Sequence[str], into: str, job: TrendJob, *, engine: str, jobs: int) -> None:
    """Find the trends of all partitions."""
    from recrawl.analysis.bulk.trends import trend_partitions
    from recrawl.report.words import counted
    from recrawl.trends.regularity import WARNINGS

    with _at_work("finding trends", engine, jobs) as (progress, running):
        found = trend_partitions(
            files, into, job, engine=running, progress=progress, remark=screen.remark
        )
    read, made = found.files, counted(found.partitions - found.done_before, "partition")
    screen.remark(f"{counted(read.total, 'page')} of {made}, in {into}.")
    for kind, warning in WARNINGS.items():
        if read.counts.get(kind):
            screen.remark(f"{counted(read.counts[kind], 'page')} {kind}: {warning}.")
    _read_remarks(read)


def plan(files: Sequence[str], into: str, job: PlanJob, *, engine: str, jobs: int) -> None:
    """Plan all partitions."""
    from recrawl.analysis.bulk.plan import plan_partitions
    from recrawl.analysis.plan import UNSEEN
    from recrawl.report.plans import budget_words, figure
    from recrawl.report.words import counted

    with _at_work("planning", engine, jobs) as (progress, running):
        found = plan_partitions(
            files, into, job, engine=running, progress=progress, remark=screen.remark
        )
    totals, made = found.totals, counted(found.partitions - found.done_before, "partition")
    screen.remark(
        f"{counted(totals.pages, 'page')} of {made}, planned for {budget_words(totals.spent)}, in "
        f"{into}; one more visit per day is worth {figure(found.price)}."
    )
    if totals.weight > 0:
        fresh, even = (100 * part / totals.weight for part in (totals.fresh, totals.even))
        screen.remark(
            f"Expected freshness {fresh:.1f} %; {even:.1f} % if all pages were visited equally "
            "often."
        )
    if totals.starved:
        pages = counted(totals.starved, "page")
        screen.remark(f"{pages} never visited: other pages are worth more.")
    if totals.unknown:
        screen.remark(
            f"{totals.unknown:,} without a rate: treated as never visited, {UNSEEN[0]:g} changes "
            f"in {UNSEEN[1]:g} days."
        )


def import_visits(
    files: Sequence[str], into: str, job: ImportJob, *, engine: str, jobs: int
) -> None:
    """Import all files, each by itself."""
    from recrawl.analysis.bulk.imports import import_partitions
    from recrawl.report.words import counted

    with _at_work("importing", engine, jobs) as (progress, running):
        found = import_partitions(
            files, into, job, engine=running, progress=progress, remark=screen.remark
        )
    made = counted(found.partitions - found.done_before, "partition")
    screen.remark(f"{counted(found.files.total, 'visit')} of {made}, in {into}.")
    remarks = found.files.remarks
    for sentence in remarks[:_MOST_REMARKS]:
        screen.remark(sentence)
    if len(remarks) > _MOST_REMARKS:
        more = counted(len(remarks) - _MOST_REMARKS, "remark")
        screen.remark(f"... and {more} of this kind on other files.")


def _read_remarks(read: FileReport) -> None:
    """Print how partitions were understood, and what was left out."""
    for sentence in read.remarks:
        screen.remark(sentence)
    shared.count_remarks(read.skipped, read.merged, read.silent)
    shared.revert_remark(read.reverts)
