"""`recrawl export`: visits, rates, pages and copies of a crawl as files for other programs.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import inspecting, screen, shared
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.arrays.texts import Texts
    from recrawl.entries.columns import VisitColumns
    from recrawl.entries.store import ReadStore
    from recrawl.report.rates import Column

_KINDS = ("visits", "rates", "pages", "copies", "chunks")
_CONTENT = ("copies", "chunks")

_WHAT = typer.Argument(
    metavar="WHAT",
    help="What to write: visits, rates, pages, copies or chunks.",
    show_default=False,
)
_AS = typer.Option(
    "--as", metavar="FORM", help="Form of copies: html (the body as received), text or markdown."
)
_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to FILE: .csv, .jsonl or .ndjson, .parquet, .feather or .arrow; copies and chunks "
    "to .jsonl or .ndjson, .parquet, .db or .sqlite, copies also to a folder DIR/; - for the "
    "standard output.",
)
_SETTINGS = typer.Option(
    "--settings",
    "-c",
    metavar="FILE",
    help="Settings of the crawl.  [default: recrawl.toml beside STORE]",
    show_default=False,
)


def export(
    what: Annotated[str, _WHAT],
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    settings: Annotated[Path | None, _SETTINGS] = None,
    form: Annotated[str, _AS] = "html",
    output: Annotated[str, _OUTPUT] = "-",
) -> None:
    """Write visits, rates, pages, copies or chunks of a crawl to a file.

    Visits are a visit log as read by `recrawl estimate`, one row per visit. Rates
    are the current estimates, one row per page that has a copy, as read by
    `recrawl plan`. Pages are all pages as shown by `recrawl pages`. Copies are the
    newest versions: rows of a file, or a folder DIR/ with one file per page, by host
    and path, and a manifest. A later export to the same folder writes only what
    changed and deletes the files of pages that are gone, never files of others.
    Chunks are the copies split for an index, with stable ids. A crawl may be
    running; nothing is changed.

    \b
    Examples:
        recrawl export visits -o visits.parquet
        recrawl export rates -o rates.csv
        recrawl export pages news/recrawl.db -o pages.jsonl
        recrawl export copies -o copies/ --as markdown
        recrawl export chunks -o chunks.parquet
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    if what not in _KINDS:
        raise InvalidParameter(f"WHAT must be one of {', '.join(_KINDS)} (got {what!r})")
    asked = inspecting.settings_beside(store, settings)
    place = asked if store is None else store
    if what in _CONTENT:
        from recrawl.cli.exporting import export_chunks, export_copies

        with inspecting.open_crawl(asked, store) as (crawl, reader):
            if what == "copies":
                export_copies(crawl, reader, output, form)
            else:
                export_chunks(crawl, reader, output)
        return
    out = shared.Output.of(place, as_csv=None, as_json=False, file=Path(output))
    if what == "visits":
        count = _write_visits(asked, store, out)
    else:
        count = _write_pages(asked, store, out, rates=what == "rates")
    unit = "visit" if what == "visits" else "page"
    if output != "-":
        from recrawl.report.words import counted

        screen.remark(f"Wrote {counted(count, unit)} to {output}.")


def _write_visits(settings: Path, store: Path | None, out: shared.Output) -> int:
    """Write all visits in the order in which they were made, and return their number."""
    from recrawl.report.histories import VISIT_COLUMNS, visit_columns
    from recrawl.store import open_store

    count = 0
    with (
        open_store(shared.store_in(store, settings)) as reader,
        screen.progress("writing visits") as progress,
    ):
        whole = max(reader.last_visit(), 1)
        with out.writer(VISIT_COLUMNS) as writer:
            for names, visits in _named(reader):
                writer.write(names, visit_columns(visits))
                count += len(visits.at)
                if progress is not None:
                    progress(min(count / whole, 1.0))
    return count


def _named(reader: ReadStore) -> Iterator[tuple[Texts, VisitColumns]]:
    """Visits with the addresses of their pages; those of erased pages are left out."""
    import numpy as np

    from recrawl.arrays.texts import Texts
    from recrawl.visits.status import PageStatus

    names = Texts.of([])
    erased = [each.page for each in reader.tombstones() if each.status is PageStatus.ERASED]
    for visits in reader.visits():
        if visits.page.max() >= len(names):
            more = (Texts.of(some) for some in reader.all_addresses(len(names)))
            names = Texts.joined([names, *more])
        some = visits.take(~np.isin(visits.page, erased)) if erased else visits
        yield names.take(some.page), some


def _write_pages(settings: Path, store: Path | None, out: shared.Output, *, rates: bool) -> int:
    """Write all pages, or the rates of those that have one, and return their number."""
    import numpy as np

    from recrawl.inspect.next_visits import next_visits
    from recrawl.inspect.pages import page_rows
    from recrawl.report.pages import PAGE_COLUMNS, RATE_COLUMNS, page_columns, rate_columns

    with inspecting.open_snapshot(settings, store) as (snapshot, reader):
        rows = page_rows(snapshot, reader)
        pages = np.flatnonzero(~np.isnan(rows.rate)) if rates else np.arange(len(rows))
        coming = None if rates else next_visits(snapshot, reader, pages)

        def columns(some: slice) -> dict[str, Column]:
            taken = rows.take(pages[some])
            return rate_columns(taken) if coming is None else page_columns(taken, coming[some])

        header: Sequence[str] = RATE_COLUMNS if rates else PAGE_COLUMNS
        inspecting.write_pages(out, reader, pages, header, columns)
    return len(pages)
