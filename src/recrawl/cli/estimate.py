"""`recrawl estimate`: visits in, one change rate per page out.

Touches: files, the standard streams, the clock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import bulk, options, screen, shared
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.results import PieceEstimates
    from recrawl.analysis.estimate import RateQuestion

_COMPARE = "compare"
_ORDERS = ("rate", "fresh", "page", "visits")

_FILES = typer.Argument(
    metavar="FILE...",
    help="Visits: files, folders, quoted patterns, - for the standard input; or stores of crawls.",
    show_default=False,
)
_METHOD = typer.Option(
    metavar="METHOD",
    help="gamma, npmle, bank, grid, likelihood, likelihood-plain, moment-matching, "
    "ratio, cho, cho-exact, matloff, beta, malcolm, malcolm-age, last-modified, "
    "last-modified-raw, classes, lln, sa, sam, or compare for all of them.",
)
_CLASSES = typer.Option(
    metavar="TIMES",
    help="For --method classes: mean intervals, e.g. 1d,7d,30d, or with weights, 1d=3,7d=1.  "
    "[default: 12h to a year]",
    show_default=False,
)
_FALSE_CHANGES = typer.Option(
    metavar="SHARE",
    parser=options.fraction,
    help="For --method gamma or npmle: probability that an unchanged page looks changed (clocks, "
    "tokens, advertisements).",
)
_SORT = typer.Option(
    metavar="ORDER",
    help="Order of pages: rate (fastest first), fresh (least fresh first), visits (most first) or "
    "page; all rows are then held in memory.  [default: as in FILE]",
    show_default=False,
)
_NOW = typer.Option(
    metavar="TIME",
    help="Instant of fresh_now, e.g. 2026-01-31 or 2026.  [default: the current time]",
    show_default=False,
)


@shared.with_options(shared.log_options, "read_as")
def estimate(
    files: Annotated[list[str], _FILES],
    *,
    method: Annotated[str, _METHOD] = "gamma",
    classes: Annotated[str, _CLASSES] = "",
    false_changes: Annotated[float, _FALSE_CHANGES] = 0.0,
    level: Annotated[float, shared.LEVEL] = 0.9,
    now: Annotated[str, _NOW] = "",
    sort: Annotated[str, _SORT] = "",
    memory: Annotated[str, shared.MEMORY] = "2G",
    engine: Annotated[str, bulk.ENGINE] = "",
    jobs: Annotated[int, bulk.JOBS] = 0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[str | None, shared.OUTPUT] = None,
    read_as: TableOptions,
) -> None:
    """Estimate how often each page of a visit log changes.

    FILE is CSV, JSON lines, a JSON array, Parquet or Arrow, packed (.gz .bz2 .zst
    .xz) or not; all files together are one log. It has one row per visit, in any
    order: page, visited_at (ISO 8601, an epoch number or a date of HTTP), changed
    (true, false, or empty if unknown) or a digest of the content and, optionally,
    last_modified and status (an HTTP code, ok, failed or gone). What
    `recrawl crawl --visit-log` and `recrawl export visits` write, and the store of a
    crawl, are read as they are. Writes one row per page: its change rate with a
    band, the probability that it has not changed since its last visit, and a
    status that says how much the visits reveal. To add rates up over pages, use
    the column expected_per_day of the files: rate_per_day is a typical rate, a
    geometric mean, and its sum is too small. No input is changed.

    With --engine every file is a partition: -o names a folder, which gets one file
    of rates per partition. All visits of a page must lie in one partition; pages
    of a site may lie in many. The same command again goes on where one stopped.

    \b
    Examples:
        recrawl estimate visits.csv
        recrawl estimate 'logs/*.csv.gz' --column digest=sha1 --tz Europe/Berlin
        zcat visits.jsonl.gz | recrawl estimate - --csv
        recrawl estimate visits.parquet --method likelihood -o rates.parquet
        recrawl estimate visits.csv --method compare
        recrawl estimate 'logs/part-*.parquet' --engine local -o rates/
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import numpy as np

    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.logs import Log
    from recrawl.adapters.tables.visits import CHANGE_TIME, VisitReading
    from recrawl.analysis.bulk.estimate import EstimateJob
    from recrawl.settings.keys import size_of

    if CHANGE_TIME in read_as.columns:
        raise typer.BadParameter("--column changed_at is for recrawl trends")
    question = _question(method, classes, level, false_changes)
    if engine:
        others = {"--sort": sort, "--csv or --spreadsheet": as_csv is not None, "--json": as_json}
        folder = bulk.folder(output, others)
        at = str(np.datetime64(options.moment(now).replace(tzinfo=None), "us")) if now else ""
        job = EstimateJob(
            *(method, level, classes, false_changes, at, read_as, size_of(memory, "memory"))
        )
        bulk.estimate(files, folder, job, engine=engine, jobs=jobs)
        return
    bulk.refuse_jobs(jobs)
    named, file = [place_of(each) for each in files], None if output is None else Path(output)
    out = shared.Output.of(*named, as_csv=as_csv, as_json=as_json, file=file)
    _check_sort(sort, method)
    until = np.datetime64(options.moment(now).replace(tzinfo=None), "us")
    scratch = Path() if file is None else file.parent
    first: PieceEstimates | None = None
    with (
        screen.progress("reading visits") as progress,
        open_table(named, read_as, progress) as table,
        Log(VisitReading(table), size_of(memory, "memory"), scratch) as log,
    ):
        results = question.answers(log, scratch)
        if sort:
            results = iter([_sorted(results, sort, until)])
        tally = _Tally(until)
        if out.interactive:
            first = _first_rows(results, tally)
        else:
            _write(question, results, tally, out)
    shown = tally.total if first is None else _show(first, until)
    if shown < tally.total and screen.limit is None:
        more = tally.total - shown
        screen.remark(f"... and {more:,} more pages; --csv, --json or -o writes all of them.")
    if method == _COMPARE and not out.interactive:
        shared.limit_remark(tally.total * len(question.methods), "rows")
    else:
        shared.limit_remark(tally.total, "pages")
    _remarks(tally, table, method)
    shared.revert_remark(log.reverts)


def _question(method: str, classes: str, level: float, false_changes: float) -> RateQuestion:
    """What is asked, checked before anything is read."""
    from recrawl.analysis.estimate import RateQuestion
    from recrawl.checks import check_fraction
    from recrawl.rates import check_method

    check_fraction(level=level)
    check_method(method, _COMPARE)
    if classes and method not in ("classes", _COMPARE):
        raise typer.BadParameter("--classes needs --method classes or --method compare")
    if false_changes:  # 0 is none
        check_fraction(**{"--false-changes": false_changes})
    if false_changes and method not in ("gamma", "npmle"):
        raise typer.BadParameter("--false-changes needs --method gamma or --method npmle")
    return RateQuestion.of(
        method,
        level=level,
        classes=classes,
        false_changes=false_changes,
    )


def _check_sort(sort: str, method: str) -> None:
    if sort and sort not in _ORDERS:
        said = f"must be one of {', '.join(_ORDERS)} (got {sort!r})"
        raise typer.BadParameter(said, param_hint="--sort")
    if sort and method == _COMPARE:
        raise typer.BadParameter("--sort needs a single method")


def _sorted(results: Iterator[PieceEstimates], sort: str, now: np.datetime64) -> PieceEstimates:
    """All pages in another order; those without a figure come last."""
    import numpy as np

    from recrawl.adapters.tables.results import PieceEstimates
    from recrawl.report.rates import fresh_at

    whole = PieceEstimates.joined(list(results))
    (estimates,) = whole.estimates
    if sort == "page":
        names = whole.names.tolist()
        return whole.take(np.array(sorted(range(len(names)), key=names.__getitem__), np.int64))
    keys = {
        "rate": -estimates.rate,
        "fresh": fresh_at(estimates, whole.last_visit, now),
        "visits": -estimates.visits,
    }
    return whole.take(np.argsort(keys[sort], kind="stable"))


@dataclass(slots=True)
class _Tally:
    """Pages that were written or shown, and what is to be said of them.

    Args:
        now: Instant of `fresh_now`.
        counts: Pages by status.
        late: Pages whose last visit is after that instant, without those that are gone.
    """

    now: np.datetime64
    counts: Counter[str] = field(default_factory=Counter)
    late: int = 0

    @property
    def total(self) -> int:
        return self.counts.total()

    def add(self, result: PieceEstimates) -> None:
        import numpy as np

        from recrawl.rates.estimates import STATUS_NAMES
        from recrawl.visits.visit import Flag

        first = result.estimates[0]
        for code, name in enumerate(STATUS_NAMES):
            self.counts[name] += int((first.status == code).sum())
        gone = (first.flags & np.uint32(Flag.GONE)) > 0
        self.late += int(((result.last_visit > self.now) & ~gone).sum())


def _write(
    question: RateQuestion, results: Iterator[PieceEstimates], tally: _Tally, out: shared.Output
) -> None:
    """Write all rows, one per page and method."""
    from recrawl.report.rates import CLASS_COLUMNS, COLUMNS

    header = (*COLUMNS, *CLASS_COLUMNS) if question.has_classes else COLUMNS
    first = next(results)  # raises for a bad input before anything is written
    with out.writer(header) as writer:
        for result in chain([first], results):
            writer.write(*question.rows(result, tally.now))
            tally.add(result)


def _first_rows(results: Iterator[PieceEstimates], tally: _Tally) -> PieceEstimates:
    """The first pages; all of them are counted."""
    import numpy as np

    from recrawl.adapters.tables.results import PieceEstimates

    parts: list[PieceEstimates] = []
    left = screen.most_rows()
    for result in results:
        tally.add(result)
        parts.append(result.take(np.arange(min(len(result.names), left))))
        left -= len(parts[-1].names)
    return PieceEstimates.joined(parts)


def _show(first: PieceEstimates, now: np.datetime64) -> int:
    """Print the first pages, or methods side by side; return the number of pages shown."""
    from recrawl.report.comparison import FALLBACK_REMARK, marked, side_by_side
    from recrawl.report.rates import HEADER, SPARE, fresh_at, rate_words

    names = first.names.tolist()
    if len(first.estimates) == 1:
        (estimates,) = first.estimates
        rows = rate_words(names, estimates, fresh_at(estimates, first.last_visit, now))
        screen.show_table(HEADER, rows, left=(0, len(HEADER) - 1), spare=SPARE)
        return len(names)
    panels = side_by_side(names, first.estimates, width=screen.width())
    for header, rows in panels:
        screen.show_table(header, rows)
        screen.say("")
    screen.remark("Mean interval between changes by each method.")
    if any(marked(rows) for _, rows in panels):
        screen.remark(FALLBACK_REMARK)
    return len(names)


def _remarks(tally: _Tally, table: TableInput, method: str) -> None:
    """Print what was done, and what the visits could not reveal."""
    from recrawl.rates import POOLED
    from recrawl.report.rates import STATUS_REMARKS
    from recrawl.report.words import counted

    pages = counted(tally.total, "page")
    by = "all methods" if method == _COMPARE else f"method {method}"
    screen.remark(f"{pages} of {table.names}, {by}.")
    kind = "pooled" if method in POOLED else "alone"
    for status, remarks in STATUS_REMARKS.items():
        if tally.counts[status]:
            screen.remark(f"{tally.counts[status]:,} {remarks[kind]}")
    if tally.late:
        were, copy = (
            ("was", "its copy counts") if tally.late == 1 else ("were", "their copies count")
        )
        late = counted(tally.late, "page")
        screen.remark(f"{late} {were} visited after --now; {copy} as fresh.")
    shared.read_remarks(table)
