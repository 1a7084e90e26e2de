"""`recrawl listing objects`: objects that a crawl has copied from its listings.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

_LISTED = typer.Option("--listed", help="Only objects that are listed now.")


def objects(
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    listed: Annotated[bool, _LISTED] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Write the objects that a crawl has copied from its listings.

    One row per object: its key, its listing, when it appeared, was last seen and
    was removed, the address of its detail page where the settings ask for one, and
    its attributes when last seen. The other verbs read such a file. The store is
    not changed.

    \b
    Examples:
        recrawl listing objects --listed
        recrawl listing objects --name jobs -o objects.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.listings import read_store_objects
    from recrawl.report.listings.objects import objects_sheet
    from recrawl.units import SECONDS_A_DAY

    place = shared.store_in(store, settings)
    out = listing_shared.check([place], output, None, formats=(as_csv, as_json))
    found = read_store_objects(place, name=name, listed=listed)
    days = [
        (
            one.appeared_seconds / SECONDS_A_DAY,
            one.last_seen_seconds / SECONDS_A_DAY,
            None if one.removed_seconds is None else one.removed_seconds / SECONDS_A_DAY,
        )
        for _, one in found
    ]
    sheet = objects_sheet(
        [source for source, _ in found],
        [one.key for _, one in found],
        [one.attributes for _, one in found],
        days,
        [one.address for _, one in found],
    )
    listing_shared.put(sheet, out)
