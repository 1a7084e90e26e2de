"""`recrawl export`: what a crawl holds, as files for other programs.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import looking, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.texts import Texts
    from recrawl.entries.columns import VisitColumns
    from recrawl.entries.store import ReadStore

_KINDS = ("visits", "rates", "pages")

_WHAT = typer.Argument(metavar="WHAT", help="visits, rates or pages.", show_default=False)
_STORE = typer.Argument(
    metavar="STORE",
    help="Store to read  [default: the one that the settings name]",
    show_default=False,
)
_SETTINGS = typer.Option(
    "--settings",
    metavar="FILE",
    help="Settings of the crawl  [default: recrawl.toml beside STORE]",
    show_default=False,
)


def export(
    what: Annotated[str, _WHAT],
    store: Annotated[Path | None, _STORE] = None,
    *,
    settings: Annotated[Path | None, _SETTINGS] = None,
    output: Annotated[Path, shared.OUTPUT],
) -> None:
    """Write the visits, rates or pages of a crawl to a file.

    Visits are a log as recrawl estimate and others read it, one row per visit.
    Rates are what the crawl believes now, one row per page that has a copy; this
    is what recrawl plan reads. Pages are all pages as recrawl pages shows them. A
    crawl may be running meanwhile; nothing of it is changed.

    \b
    Examples:
        recrawl export visits -o visits.parquet
        recrawl export rates -o rates.csv
        recrawl export pages news/recrawl.db -o pages.jsonl
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli import screen, shared

    if what not in _KINDS:
        message = f"must be one of {', '.join(_KINDS)} (got {what!r})"
        raise typer.BadParameter(message, param_hint="WHAT")
    beside = Path("recrawl.toml") if store is None else store.parent / "recrawl.toml"
    asked = beside if settings is None else settings
    shared.check_place(output, asked if store is None else store)
    if what == "visits":
        count = _write_visits(_store(asked, store), output)
    else:
        count = _write_pages(asked, store, output, rates=what == "rates")
    unit = "visit" if what == "visits" else "page"
    screen.remark(f"Wrote {count:,} {unit}{'s' * (count != 1)} to {output}.")


def _store(settings: Path, store: Path | None) -> Path:
    """Where the store is; settings are not needed where that was said."""
    from recrawl.cli.crawling import load_settings, store_of

    return store if store is not None else store_of(settings, load_settings(settings))


def _write_visits(store: Path, output: Path) -> int:
    """Write all visits in the order in which they were made; return how many."""
    from recrawl.cli import screen
    from recrawl.report.histories import VISIT_COLUMNS, visit_columns
    from recrawl.store import open_store

    count = 0
    with open_store(store) as reader, screen.progress("writing visits") as progress:
        whole = max(reader.last_visit(), 1)
        with shared.target("", output, VISIT_COLUMNS) as writer:
            for names, visits in _named(reader):
                writer.write(names, visit_columns(visits))
                count += len(visits.at)
                if progress is not None:
                    progress(min(count / whole, 1.0))
    return count


def _named(reader: ReadStore) -> Iterator[tuple[Texts, VisitColumns]]:
    """Visits with the addresses of their pages."""
    from recrawl.arrays.texts import Texts

    names = Texts.of([])
    for visits in reader.visits():
        if visits.page.max() >= len(names):
            more = (Texts.of(some) for some in reader.all_addresses(len(names)))
            names = Texts.joined([names, *more])
        yield names.take(visits.page), visits


def _write_pages(settings: Path, store: Path | None, output: Path, *, rates: bool) -> int:
    """Write what is believed of pages, in the order in which they were found; return how many."""
    import numpy as np

    from recrawl.arrays.texts import Texts
    from recrawl.cli.pages import write_pages
    from recrawl.inspect.pages import page_rows
    from recrawl.report.pages import RATE_COLUMNS, rate_columns

    with looking.looked_at(settings, store) as (sight, reader):
        rows = page_rows(sight, reader)
        if not rates:
            pages = np.arange(len(rows))
            write_pages(pages, rows, sight, reader, kind="", output=output)
            return len(pages)
        pages = np.flatnonzero(~np.isnan(rows.rate))
        names = Texts.of(reader.addresses(pages.tolist()))
        with shared.target("", output, RATE_COLUMNS) as writer:
            writer.write(names, rate_columns(rows.take(pages)))
        return len(pages)
