"""`recrawl listing syncs`: the syncs of listings, and how good their forecasts were.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import screen, shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.listings import Sync


def syncs(
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    name: Annotated[str, listing_shared.NAME] = "",
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show the syncs of a crawl, and how good their forecasts were.

    Writes one row per sync: its outcome, the quality of the copy just before, its
    forecast, and when the next sync is due and why. Also shows how often forecasts
    were within their bands, and what is wrong with a listing. The store is not
    changed.

    \b
    Examples:
        recrawl listing syncs
        recrawl listing syncs --name jobs --csv > syncs.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.listings import read_store_syncs
    from recrawl.report.listings.sheets import joined
    from recrawl.report.listings.syncs import syncs_sheet

    place = shared.store_in(store, settings)
    out = listing_shared.check([place], output, None, formats=(as_csv, as_json))
    found = read_store_syncs(place, name=name)
    sheet = joined([syncs_sheet(each, rows) for each, rows in found])
    listing_shared.put(sheet, out)
    for each, rows in found:
        _remark(each, rows)


def _remark(name: str, rows: Sequence[Sync]) -> None:
    """Print how often outcomes were within their bands, and what is wrong."""
    from recrawl.listings.forecast.forecast import QUALITIES
    from recrawl.report.listings.syncs import SYNC_OUTCOMES, held
    from recrawl.report.words import counted

    for metric in QUALITIES:
        inside, known = held(rows, metric)
        if known:
            syncs = counted(known, "sync")
            screen.remark(f"{name}: {metric} was within its band in {inside:,} of {syncs}.")
    last = rows[-1]
    if last.detail:
        outcome = last.outcome.label
        screen.remark(f"{name} {outcome}, {SYNC_OUTCOMES[outcome]}: {last.detail}.")
