"""`recrawl prune`: delete the pages that belong to no site of the settings any more.

Touches: files, a store, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.store import ReadStore

_DRY_RUN = typer.Option("--dry-run", help="Only show the pages; delete nothing.")
_HEADER = ("page", "status")


def prune(
    *,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    yes: Annotated[bool, shared.YES] = False,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Delete the pages that belong to no site any more.

    Pages of a site that was taken out of recrawl.toml stay in the store, unvisited,
    and `recrawl pages` calls them unlisted. This shows them, asks, and deletes their
    addresses, copies, versions and masks; the times and outcomes of their visits
    stay. If the site is added again, they are found as new pages. WARC files are
    left as they are. No crawl of this store may be running. If it is
    interrupted, run the same command again.

    \b
    Examples:
        recrawl prune --dry-run
        recrawl prune --yes
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import time

    from recrawl.crawl.removal import prune_pages, unlisted_pages
    from recrawl.report.words import counted, size_text
    from recrawl.store import open_for_writing, open_store
    from recrawl.store.settings_file import load_settings, store_of

    out = shared.Output.of(settings, as_csv=as_csv, as_json=as_json, file=output)
    asked = load_settings(settings)
    place = store_of(settings, asked)
    if dry_run:
        with open_store(place) as reader:
            found = unlisted_pages(asked, reader).tolist()
            _show(reader, found, out)
        screen.remark(f"{counted(len(found), 'page')} would be deleted.")
        return
    with open_for_writing(place) as store, open_store(place) as reader:
        found = unlisted_pages(asked, reader).tolist()
        pages = counted(len(found), "page")
        if found and not yes:
            shared.check_asked(for_good=True)
        _show(reader, found, out)
        if found:
            shared.confirm(f"Delete {pages} for good?", yes=yes, for_good=True)
        erased = prune_pages(store, reader, found, time.time())
        reader.close()  # what it reads could not be written over
        whole = store.wipe()
    freed = f"{counted(erased.versions, 'version')} ({size_text(erased.bytes)}) of {pages}"
    screen.remark(f"Deleted {freed}." if found else "Every page belongs to a site.")
    if not whole:
        screen.remark(
            "Another program is reading the store; run `recrawl prune` again later to free the "
            "space."
        )


def _show(reader: ReadStore, pages: Sequence[int], out: shared.Output) -> None:
    """Show which pages they are, and where they stood."""
    import numpy as np

    from recrawl.report.rates import Named
    from recrawl.visits.status import PageStatus

    status = reader.pages().status[np.array(pages, np.int64)]
    if not out.interactive:
        labels = [each.label for each in PageStatus]
        out.write(reader.addresses(pages), {"status": Named(status.astype(np.int64), labels)})
        return
    if not pages:
        return
    shown = pages[: screen.most_rows()]
    labels = [PageStatus(each).label for each in status[: len(shown)].tolist()]
    rows = list(zip(reader.addresses(shown), labels, strict=True))
    shared.show(_HEADER, rows, total=len(pages), left=(0, 1))
