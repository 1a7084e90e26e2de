"""`recrawl listing looks`: every look at a listing, and how good its forecast was.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.listings.syncs import Look


def looks(
    store: Annotated[Path, listing_shared.STORE],
    *,
    name: Annotated[str, listing_shared.NAME] = "",
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Say when a crawl looked at its listings, what it found and what it had expected.

    Writes a row a look: what came of it, how good the copy had been just before,
    what had been forecast, and when the next is due and why. Says how often the
    forecasts' bands held, and what is the matter. STORE is not changed.

    \b
    Examples:
        recrawl listing looks recrawl.db
        recrawl listing looks recrawl.db --name jobs --csv > looks.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.listings import read_store_looks
    from recrawl.report.listings.sheets import joined
    from recrawl.report.listings.syncs import looks_sheet

    kind = listing_shared.check([store], output, None, formats=(as_csv, as_json))
    found = read_store_looks(store, name=name)
    sheet = joined([looks_sheet(each, looks) for each, looks in found])
    listing_shared.put(sheet, kind, output)
    for each, made in found:
        _remark(each, made)


def _remark(name: str, looks: Sequence[Look]) -> None:
    """Say on stderr how often bands held, and what is the matter."""
    from recrawl.cli import screen
    from recrawl.listings.forecast.forecast import QUALITIES
    from recrawl.report.listings.syncs import LOOK_OUTCOMES, held

    for metric in QUALITIES:
        inside, known = held(looks, metric)
        if known:
            screen.remark(f"{name}: bands of {metric} held {inside:,} times of {known:,}.")
    last = looks[-1]
    if last.detail:
        screen.remark(f"{name} {last.outcome}, {LOOK_OUTCOMES[last.outcome]}: {last.detail}.")
