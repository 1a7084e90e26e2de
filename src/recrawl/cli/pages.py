"""`recrawl pages`: change rates, freshness and next visits of the pages of a crawl.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import inspecting, screen, shared
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.entries.store import ReadStore
    from recrawl.state.snapshot import Snapshot

_SORT = typer.Option(
    metavar="ORDER",
    help="Order: rate (fastest first), fresh (stalest), next (soonest), visited (longest ago) "
    "or address.",
)
_HOST = typer.Option(metavar="HOST", help="Only pages of this host.", show_default=False)
_STATUS = typer.Option(
    metavar="STATUS",
    help="Only pages with this status: new, copied, suspected, gone, refused, moved, duplicate, "
    "removed, failed (no copy: the last visit failed), left_out (by a filter or as a trap), "
    "unlisted (on no site any more) or shell (empty without JavaScript).",
    show_default=False,
)


def pages(
    *,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
    sort: Annotated[str, _SORT] = "rate",
    host: Annotated[str, _HOST] = "",
    status: Annotated[str, _STATUS] = "",
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show how often each page changes, and how fresh its copy is.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. One row per page: its status, its change rate with a band,
    the probability that its copy is fresh, its last and its next visit. The next
    visit is found by simulating the crawl ahead, as `recrawl why` does; above 2,000
    pages it is estimated from the value of visits, and empty for new pages.

    \b
    Examples:
        recrawl pages
        recrawl pages --sort fresh --host www.example.org
        recrawl pages --status gone -o gone.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.inspect.next_visits import next_visits
    from recrawl.inspect.pages import page_rows
    from recrawl.report.pages import (
        HEADER,
        ORDERS,
        PAGE_COLUMNS,
        SPARE,
        ordered,
        page_columns,
        page_words,
        status_named,
    )
    from recrawl.units import instant_after_epoch

    out = shared.Output.of(settings, as_csv=as_csv, as_json=as_json, file=output)
    if sort not in ORDERS:
        raise InvalidParameter(f"--sort must be one of {', '.join(ORDERS)} (got {sort!r})")
    if status:
        status_named(status)
    with inspecting.open_snapshot(settings) as (snapshot, reader):
        rows = page_rows(snapshot, reader)
        chosen = _chosen(snapshot, reader, host, rows.status, status)
        next_visit = next_visits(snapshot, reader, chosen) if sort == "next" else None
        addresses = reader.addresses(chosen.tolist()) if sort == "address" else []
        chosen = chosen[ordered(rows.take(chosen), sort, next_visit, addresses)]
        shown = chosen[: screen.most_rows()] if out.interactive else chosen
        visited_at = next_visits(snapshot, reader, shown)
        if not out.interactive:
            inspecting.write_pages(
                out,
                reader,
                shown,
                PAGE_COLUMNS,
                lambda some: page_columns(rows.take(shown[some]), visited_at[some]),
            )
            return
        names = reader.addresses(shown.tolist())
        words = page_words(names, rows.take(shown), visited_at, instant_after_epoch(snapshot.now))
        shared.show(HEADER, words, total=len(chosen), left=(0, 1), spare=SPARE)


def _chosen(snapshot: Snapshot, reader: ReadStore, host: str, statuses: Ints, status: str) -> Ints:
    """The pages that the options select, counted from 0; erased ones only where asked for."""
    import numpy as np

    from recrawl.report.pages import status_named
    from recrawl.visits.status import PageStatus

    wanted = status_named(status) if status else None
    selected = statuses != PageStatus.ERASED if wanted is None else statuses == wanted
    if host:
        selected &= snapshot.columns.host == inspecting.host_of(reader, host).number
    return np.flatnonzero(selected)
