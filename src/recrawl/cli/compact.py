"""`recrawl compact`: give the unused room of a store back.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen
from recrawl.store.places import place_of

_STORE = typer.Argument(
    metavar="STORE", help="Store to rewrite.", show_default=False, parser=place_of
)


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
        before = _size(store)
        written.compact()
        after = _size(store)
    screen.remark(f"Compacted {store} from {size_text(before)} to {size_text(after)}.")


def _size(store: Path) -> int:
    """Bytes that a store takes on disk."""
    from recrawl.store import open_store

    with open_store(store) as reader:
        return reader.disk_usage().total_bytes
