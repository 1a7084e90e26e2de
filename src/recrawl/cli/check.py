"""`recrawl check`: look for damage in a store.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.errors import StoreCorrupt

if TYPE_CHECKING:
    from recrawl.entries.records import Checked

_QUICK = typer.Option("--quick", help="Skip the checks that read every byte: indexes and bodies.")
_WARC = typer.Option(
    "--warc", metavar="DIR", help="Also check the WARC files in this folder.", show_default=False
)
_PARTS = 9  # about as many as are checked


def check(
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    quick: Annotated[bool, _QUICK] = False,
    warc: Annotated[Path | None, _WARC] = None,
) -> None:
    """Check a store for damage: checksums, and rows that do not match.

    Writes one row per part: the rows checked and the problems found; each problem
    is then described. Reads everything, also while a crawl is running; nothing is
    changed. The exit code is 1 if something is damaged.

    \b
    Examples:
        recrawl check
        recrawl check news/recrawl.db --quick
        recrawl check --warc archive
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.warc.folder import check_files
    from recrawl.store import open_store

    place = shared.store_in(store, settings)
    found: list[Checked] = []
    with open_store(place) as reader, screen.progress("checking") as progress:
        for part in reader.check(quick=quick):
            found.append(part)
            if progress is not None:
                progress(min(len(found) / _PARTS, 1.0))
    if warc is not None:
        found.append(check_files(warc))
    rows = [(each.what, f"{each.rows:,}", f"{each.found:,}") for each in found]
    screen.show_table(("part", "rows", "problems"), rows)
    for part in found:
        for sentence in part.problems:
            screen.remark(f"{part.what}: {sentence}")
    damaged = [each.what for each in found if each.found]
    if damaged:
        raise StoreCorrupt(f"{place} is damaged ({', '.join(damaged)})")
