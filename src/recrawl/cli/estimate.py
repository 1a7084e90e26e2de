"""`recrawl estimate`: visits in, one change rate per page out.

Touches: files, the standard streams, the clock.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import options, screen, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.results import PieceEstimates
    from recrawl.analysis.estimate import RateQuestion

_COMPARE = "compare"

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
    help="For --method gamma or npmle: probability that an unchanged page looks changed (clocks, "
    "tokens, advertisements).",
)
_NOW = typer.Option(
    metavar="TIME",
    help="Instant of fresh_now, e.g. 2026-01-31 or 2026.  [default: the current time]",
    show_default=False,
)


@shared.with_options(shared.log_options, "read_as")
def estimate(
    files: Annotated[list[Path], _FILES],
    *,
    method: Annotated[str, _METHOD] = "gamma",
    classes: Annotated[str, _CLASSES] = "",
    false_changes: Annotated[float, _FALSE_CHANGES] = 0.0,
    level: Annotated[float, shared.LEVEL] = 0.9,
    now: Annotated[str, _NOW] = "",
    memory: Annotated[str, shared.MEMORY] = "2G",
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
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

    \b
    Examples:
        recrawl estimate visits.csv
        recrawl estimate 'logs/*.csv.gz' --column digest=sha1 --tz Europe/Berlin
        zcat visits.jsonl.gz | recrawl estimate - --csv
        recrawl estimate visits.parquet --method likelihood -o rates.parquet
        recrawl estimate visits.csv --method compare
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import numpy as np

    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.logs import Log
    from recrawl.adapters.tables.visits import CHANGE_TIME, VisitReading
    from recrawl.settings.keys import size_of

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    if CHANGE_TIME in read_as.columns:
        raise typer.BadParameter("--column changed_at is for recrawl trends")
    question = _question(method, classes, level, false_changes)
    until = np.datetime64(options.moment(now).replace(tzinfo=None), "us")
    scratch = Path() if output is None else output.parent
    first: PieceEstimates | None = None
    with (
        screen.progress("reading visits") as progress,
        open_table(files, read_as, progress) as table,
        Log(VisitReading(table), size_of(memory, "memory"), scratch) as log,
    ):
        results = question.answers(log, scratch)
        if out.interactive:
            counts, first = _first_rows(results)
        else:
            counts = _written(question, results, until, out)
    shown = counts.total() if first is None else _show(first, until)
    _remarks(counts, table, method, unshown=counts.total() - shown)
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
    if false_changes and method not in ("gamma", "npmle"):
        raise typer.BadParameter("--false-changes needs --method gamma or --method npmle")
    return RateQuestion.of(
        method,
        level=level,
        classes=classes,
        false_changes=false_changes,
    )


def _written(
    question: RateQuestion,
    results: Iterator[PieceEstimates],
    now: np.datetime64,
    out: shared.Output,
) -> Counter[str]:
    """Write all rows, one per page and method; count pages by status."""
    from recrawl.report.rates import CLASS_COLUMNS, COLUMNS

    counts: Counter[str] = Counter()
    header = (*COLUMNS, *CLASS_COLUMNS) if question.has_classes else COLUMNS
    first = next(results)  # raises for a bad input before anything is written
    with out.writer(header) as writer:
        for result in chain([first], results):
            writer.write(*question.rows(result, now))
            counts.update(_count(result))
    return counts


def _first_rows(results: Iterator[PieceEstimates]) -> tuple[Counter[str], PieceEstimates]:
    """The first pages, and the number of all pages by status."""
    import numpy as np

    from recrawl.adapters.tables.results import PieceEstimates

    counts: Counter[str] = Counter()
    parts: list[PieceEstimates] = []
    left = screen.most_rows()
    for result in results:
        counts.update(_count(result))
        parts.append(result.take(np.arange(min(len(result.names), left))))
        left -= len(parts[-1].names)
    return counts, PieceEstimates.joined(parts)


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


def _count(result: PieceEstimates) -> Counter[str]:
    from recrawl.rates.estimates import STATUS_NAMES

    status = result.estimates[0].status
    return Counter({name: int((status == code).sum()) for code, name in enumerate(STATUS_NAMES)})


def _remarks(counts: Counter[str], table: TableInput, method: str, unshown: int) -> None:
    """Print what was done, and what the visits could not reveal."""
    from recrawl.rates import POOLED
    from recrawl.report.rates import STATUS_REMARKS
    from recrawl.report.words import counted

    if unshown:
        more = counted(unshown, "more page")
        screen.remark(f"... and {more}; --csv, --json or -o writes all of them.")
    pages = counted(counts.total(), "page")
    by = "all methods" if method == _COMPARE else f"method {method}"
    screen.remark(f"{pages} of {table.names}, {by}.")
    kind = "pooled" if method in POOLED else "alone"
    for status, remarks in STATUS_REMARKS.items():
        if counts[status]:
            screen.remark(f"{counts[status]:,} {remarks[kind]}")
    shared.read_remarks(table)
