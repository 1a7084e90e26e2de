"""`recrawl backup`: copy a store while a crawl runs.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen
from recrawl.store.places import place_of

_STORE = typer.Argument(metavar="STORE", help="Store to copy.", show_default=False, parser=place_of)
_COPY = typer.Argument(metavar="FILE", help="New file for the copy.", show_default=False)


def backup(store: Annotated[Path, _STORE], copy: Annotated[Path, _COPY]) -> None:
    """Copy a store to a file, also while a crawl is running.

    The copy holds every visit that was made before it began. It is checked, and
    appears once it is whole; an existing file is never overwritten. A store is
    restored by copying the file back while no crawl is running.

    \b
    Examples:
        recrawl backup recrawl.db /mnt/backup/recrawl-monday.db
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.words import size_text
    from recrawl.store import back_up

    with screen.progress("copying") as progress:
        visit = back_up(store, copy, progress or bool)
    size = size_text(copy.stat().st_size)
    screen.remark(f"Copied {store} up to visit {visit:,} to {copy} ({size}).")
