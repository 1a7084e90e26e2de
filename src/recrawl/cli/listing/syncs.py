"""`recrawl listing syncs`: every sync of a listing, and how good its forecast was.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.listings import Sync


def syncs(
    store: Annotated[Path, listing_shared.STORE],
    *,
    name: Annotated[str, listing_shared.NAME] = "",
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Say when a crawl synced its listings, what it found and what it had expected.

    Writes one row per sync: its outcome, how good the copy had been just before,
    what had been forecast, and when the next is due and why. Says how often the
    forecasts' bands held, and what is wrong. STORE is not changed.

    \b
    Examples:
        recrawl listing syncs recrawl.db
        recrawl listing syncs recrawl.db --name jobs --csv > syncs.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.listings import read_store_syncs
    from recrawl.report.listings.sheets import joined
    from recrawl.report.listings.syncs import syncs_sheet

    kind = listing_shared.check([store], output, None, formats=(as_csv, as_json))
    found = read_store_syncs(store, name=name)
    sheet = joined([syncs_sheet(each, rows) for each, rows in found])
    listing_shared.put(sheet, kind, output)
    for each, rows in found:
        _remark(each, rows)


def _remark(name: str, rows: Sequence[Sync]) -> None:
    """Say on stderr how often bands held, and what is wrong."""
    from recrawl.cli import screen
    from recrawl.listings.forecast.forecast import QUALITIES
    from recrawl.report.listings.syncs import SYNC_OUTCOMES, held

    for metric in QUALITIES:
        inside, known = held(rows, metric)
        if known:
            screen.remark(f"{name}: {metric} was within its band in {inside:,} of {known:,} syncs.")
    last = rows[-1]
    if last.detail:
        outcome = last.outcome.label
        screen.remark(f"{name} {outcome}, {SYNC_OUTCOMES[outcome]}: {last.detail}.")
