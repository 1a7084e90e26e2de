"""`recrawl listing forecast`: decay of a copy after its last sync.

Touches: files, the standard streams.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import screen, shared
from recrawl.cli.listing import shared as listing_shared

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.cli.listing.shared import ListingSource
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.forecast.tracked import TrackedSource

_HORIZON = typer.Option(
    metavar="TIMES",
    help="Time after the last sync: 3d, a range 1d..30d, or hours: 6h,12h.",
)
_TYPICAL = typer.Option(
    "--typical", help="Forecast a typical period, without bulk loads and mass closures."
)
_METHOD = typer.Option(
    metavar="METHOD",
    help="Forecaster, as in backtest: mixture, static, ar-published:weekly=yes, ...",
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot precision and recall with bands to FILE: .svg or .png.",
    show_default=False,
)

_LONGEST = 365
_ROUNDING = 1e-6  # hours
_NOTABLE = 1 / 24  # days between the crawl that counts and the last one, to be worth a remark


@shared.with_options(shared.table_options, "read_as")
def forecast(
    files: Annotated[list[Path], listing_shared.FILES],
    *,
    horizon: Annotated[str, _HORIZON] = "1d..30d",
    where: Annotated[str, listing_shared.WHERE] = "",
    typical: Annotated[bool, _TYPICAL] = False,
    method: Annotated[str, _METHOD] = "mixture",
    level: Annotated[float, listing_shared.LEVEL] = 0.9,
    key: Annotated[str, listing_shared.KEY] = "",
    grace: Annotated[str, listing_shared.GRACE] = "1.5d",
    lenient: Annotated[bool, listing_shared.LENIENT] = False,
    name: Annotated[str, listing_shared.NAME] = "",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: TableOptions,
) -> None:
    """Forecast how a copy of a listing decays after its last sync.

    Writes one row per day or hour: precision (the share of the copy that is still
    listed), recall (the share of the listing that is in the copy), and the number
    of objects deleted, inserted and listed, each with a band. No file is changed.

    \b
    Examples:
        recrawl listing forecast cars/
        recrawl listing forecast cars/ --horizon 3d --where "make = BMW and year > 2002"
        recrawl listing forecast cars/ --horizon 1d..14d --plot decay.svg --json
        recrawl listing forecast cars/ --horizon 7d --method ar-published:weekly=yes
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.checks import check_fraction
    from recrawl.report.listings.forecasts import forecast_sheet
    from recrawl.report.listings.sheets import joined

    out = listing_shared.check(files, output, plot, formats=(as_csv, as_json))
    check_fraction(level=level)
    days = days_of(horizon)
    listing_shared.check_method(method, part=bool(where))
    alone = plot is not None
    sources = listing_shared.SourceReader(files, key, grace, lenient, name, alone, read_as).read()
    parts = [listing_shared.chosen(source, where) for source in sources]
    tracked = [_track(source, where, method, level) for source in sources]
    found = [each.forecast(ceil(days[-1])) for each in tracked]
    sheet = joined(
        [
            forecast_sheet(source.name, ahead, each.synced_at, days, typical=typical)
            for source, each, ahead in zip(sources, tracked, found, strict=True)
        ]
    )
    if plot is not None:
        _draw(plot, sources[0], found[0], where)
    listing_shared.put(sheet, out, most=len(sheet.names))
    listing_shared.remarks(parts)
    _remarks(sources, tracked, found)
    for source, each in zip(sources, tracked, strict=True):
        listing_shared.model_remarks(source.name, method, each.state)
    if any(ahead.bands is not None for ahead in found):
        listing_shared.band_remark(method)


def days_of(text: str) -> Floats:
    """Parse `3d`, `1d,7d`, `1d..30d`, `6h` or `1h..24h` as days."""
    import numpy as np

    from recrawl.errors import InvalidParameter
    from recrawl.units import days

    hours: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        low, high = (24 * days(word) for word in (first, last if dots else first))
        ends = round(low), round(high)
        if max(abs(low - ends[0]), abs(high - ends[1])) > _ROUNDING or not (
            1 <= low <= high <= 24 * _LONGEST
        ):
            raise InvalidParameter(
                f"horizon must be whole hours or days from 1h to {_LONGEST}d, such as 6h, 3d or "
                f"1d..30d (got {text!r})"
            )
        hours += range(ends[0], ends[1] + 1, 1 if first.strip().endswith("h") else 24)
    return np.unique(hours) / 24


def _track(source: ListingSource, where: str, method: str, level: float) -> TrackedSource:
    from recrawl.listings.data.where import where as meets
    from recrawl.listings.forecast.tracked import track_part, track_source

    listing, grid = source.listing, source.grid
    if not where:
        return track_source(listing, grid, method=method, level=level)
    wanted = meets(listing.attributes, where, len(listing)).wanted
    return track_part(listing, grid, wanted, method=method, level=level)


def _draw(path: Path, source: ListingSource, found: Forecast, where: str) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.listings.forecast_chart import forecast_chart

    said = f"{found.stock:,.0f} objects{f' where {where}' if where else ''}"
    write_picture(path, forecast_chart(source.name, found, subtitle=said))


def _remarks(
    sources: list[ListingSource], tracked: list[TrackedSource], found: list[Forecast]
) -> None:
    """Print where the forecast starts."""
    import numpy as np

    from recrawl.report.words import every
    from recrawl.units import days_between

    for source, each, ahead in zip(sources, tracked, found, strict=True):
        if each.state is not None:
            day = str(np.datetime_as_string(each.synced_at, unit="m"))
            day = day.removesuffix("T00:00").replace("T", " ")
            said = f"{source.name}: {ahead.stock:,.0f} listed on {day}"
            (later,) = days_between(np.array([each.synced_at]), source.listing.crawls[-1])
            if later > _NOTABLE:
                said += f", where the forecast starts; the last crawl was {every(later)} later"
            screen.remark(f"{said}.")
