"""`recrawl move`: a store from a file to PostgreSQL, or back.

Touches: files, the network, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen
from recrawl.store.places import place_of

_FROM = typer.Argument(metavar="FROM", help="Store to move.", show_default=False, parser=place_of)
_TO = typer.Argument(
    metavar="TO",
    help="Where to: a new file, or postgresql://user@host/database.",
    show_default=False,
    parser=place_of,
)


def move(source: Annotated[Path, _FROM], target: Annotated[Path, _TO]) -> None:
    """Move a store to PostgreSQL, or from there to a file.

    Everything goes along: pages, visits, versions, the change feed with its cursors,
    and what was learned. All rows are compared at the end. FROM stays as it is;
    no crawl can run on it meanwhile. If the command is interrupted, repeat it to
    go on. A store that has other content is never overwritten.

    \b
    Examples:
        recrawl move recrawl.db postgresql://crawler@db.example.org/pages
        recrawl move postgresql:///pages?schema=news news.db
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.words import counted
    from recrawl.store import moving

    with screen.progress("moving") as progress:
        moved = moving.move(source, target, progress or bool)
    rows = counted(moved.rows, "row")
    screen.remark(
        f"Moved {source} up to visit {moved.visit:,} to {target}: {rows} in {moved.tables} tables, "
        "all compared."
    )
    screen.remark(f'To use it, write store = "{target}" under [storage] in recrawl.toml.')
