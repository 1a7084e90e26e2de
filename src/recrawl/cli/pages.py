"""`recrawl pages`: what a crawl believes of its pages, and when it visits them next.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import looking, shared

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.pages import PageRows
    from recrawl.state.snapshot import Snapshot

_SORT = typer.Option(
    metavar="O",
    help="What comes first: the fastest (rate), stalest (fresh), soonest (next), longest "
    "unvisited (visited), or by address.",
)
_HOST = typer.Option(metavar="H", help="Only pages of this host.", show_default=False)
_STATUS = typer.Option(
    metavar="S",
    help="Only pages that are new, copied, suspected, gone, refused or moved.",
    show_default=False,
)


def pages(
    *,
    settings: Annotated[Path, looking.SETTINGS] = Path("recrawl.toml"),
    sort: Annotated[str, _SORT] = "rate",
    host: Annotated[str, _HOST] = "",
    status: Annotated[str, _STATUS] = "",
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show how often the pages of a crawl change and how fresh they are.

    Reads recrawl.toml and the store beside it, whether a crawl is running or
    not; nothing is changed. One row per page: where it stands, its rate with a
    band, the chance that its copy is fresh, when it was visited and when it will
    be.
    The next visit is found by simulating the crawl from now on, as `why` does;
    above 2,000 pages, from what visits are worth, and it is then empty for new
    pages.

    \b
    Examples:
        recrawl pages
        recrawl pages --sort fresh --host www.example.org
        recrawl pages --status gone -o gone.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.inspect.pages import page_rows
    from recrawl.report.pages import ORDERS, status_named

    kind = shared.check_one_format(as_csv=as_csv, as_json=as_json, output=output)
    if sort not in ORDERS:
        message = f"must be one of {', '.join(ORDERS)} (got {sort!r})"
        raise typer.BadParameter(message, param_hint="--sort")
    if status:
        status_named(status)
    if output is not None:
        shared.check_place(output, settings)
    with looking.looked_at(settings) as (snapshot, reader):
        rows, chosen = page_rows(snapshot, reader), _chosen(snapshot, reader, host, status)
        chosen = _ordered(chosen, sort, rows, snapshot, reader)
        if shared.is_interactive(kind, output):
            _show(chosen, rows, snapshot, reader)
        else:
            write_pages(chosen, rows, snapshot, reader, kind=kind, output=output)


def _chosen(snapshot: Snapshot, reader: ReadStore, host: str, status: str) -> Ints:
    """The pages that are asked for, counted from 0."""
    import numpy as np

    from recrawl.errors import UnknownPage
    from recrawl.report.pages import status_named

    asked = np.ones(len(snapshot.rule), np.bool_)
    if host:
        known = reader.host(host)
        if known is None:
            raise UnknownPage(f"{reader.name}: --host must be a host of the crawl (got {host!r})")
        asked &= snapshot.columns.host == known.number
    if status:
        asked &= snapshot.columns.status == status_named(status)
    return np.flatnonzero(asked)


def _ordered(
    chosen: Ints, sort: str, rows: PageRows, snapshot: Snapshot, reader: ReadStore
) -> Ints:
    """The same pages in the order that is asked for."""
    from recrawl.inspect.next_visits import next_visits
    from recrawl.report.pages import ordered

    next_visit = next_visits(snapshot, reader, chosen) if sort == "next" else None
    addresses = reader.addresses(chosen.tolist()) if sort == "address" else []
    return chosen[ordered(rows.take(chosen), sort, next_visit, addresses)]


def _show(chosen: Ints, rows: PageRows, snapshot: Snapshot, reader: ReadStore) -> None:
    """Print the first of the pages."""
    from recrawl.cli import screen
    from recrawl.inspect.next_visits import next_visits
    from recrawl.report.pages import HEADER, page_words

    first = chosen[: screen.MOST_ROWS]
    addresses = reader.addresses(first.tolist())
    coming, now = next_visits(snapshot, reader, first), looking.instant_of(snapshot)
    words = page_words(addresses, rows.take(first), coming, now)
    screen.show_table(HEADER, words, left=(0, 1))
    left = len(chosen) - len(first)
    if left:
        screen.remark(f"... and {left:,} more pages; --csv, --json or -o has them all.")


def write_pages(
    chosen: Ints,
    rows: PageRows,
    snapshot: Snapshot,
    reader: ReadStore,
    *,
    kind: str,
    output: Path | None,
) -> None:
    """Write all that is known of some pages."""
    from recrawl.arrays.texts import Texts
    from recrawl.inspect.next_visits import next_visits
    from recrawl.report.pages import PAGE_COLUMNS, page_columns

    with shared.target(kind, output, PAGE_COLUMNS) as writer:
        names = Texts.of(reader.addresses(chosen.tolist()))
        writer.write(names, page_columns(rows.take(chosen), next_visits(snapshot, reader, chosen)))
