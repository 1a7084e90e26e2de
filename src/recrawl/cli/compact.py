"""`recrawl compact`: give the unused room of a store back.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen

_STORE = typer.Argument(metavar="STORE", help="Store to rewrite.", show_default=False)


def compact(store: Annotated[Path, _STORE]) -> None:
    """Make a store smaller, while no crawl is running.

    Deleted rows leave free space in the file, which later visits reuse; this command
    returns it to the system. Needs space for two copies beside the store. If it is
    interrupted, the store is as it was.

    \b
    Examples:
        recrawl compact recrawl.db
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.words import size_text
    from recrawl.store import open_for_writing

    with open_for_writing(store) as written:
        before = store.stat().st_size
        written.compact()
    after = size_text(store.stat().st_size)
    screen.remark(f"Compacted {store} from {size_text(before)} to {after}.")
