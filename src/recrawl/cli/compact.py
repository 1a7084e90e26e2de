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

    What is deleted leaves room in the file, which the next visits use; only this
    gives it back to the system. Needs room for two copies beside the store, and
    leaves it as it was if it is interrupted.

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
    screen.remark(f"{store} takes {after} instead of {size_text(before)}.")
