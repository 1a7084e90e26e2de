"""What the verbs of `recrawl listing` share: options, sources, output.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recrawl.cli import options, screen, shared
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.report.listings.sheets import Sheet

FILES = typer.Argument(
    metavar="FILE...",
    help="One folder per source (objects, events, crawls, or dated snapshots), the files of one "
    "source or a quoted pattern of them, - for the standard input, or the store of a crawl.",
    show_default=False,
    parser=place_of,
)
WHERE = typer.Option(
    metavar="CONDITION",
    help="Only matching objects, e.g. 'make = BMW and year > 2002'.",
    show_default="",
)
BY = typer.Option(
    metavar="ATTRIBUTES",
    help="Attributes, comma-separated.  [default: numbers, and texts of 2 to 50 values]",
    show_default=False,
)
KEY = typer.Option(
    metavar="COLUMN",
    help="Column with the key of an object.  [default: key, id, uid, object or url]",
    show_default=False,
)
GRACE = typer.Option(
    metavar="TIME", help="Ignore absences from snapshots that are shorter than this."
)
LENIENT = typer.Option("--lenient", help="Skip objects with contradictory times, and count them.")
LEVEL = typer.Option(metavar="SHARE", parser=options.fraction, help="Probability of the bands.")
GUARANTEE = typer.Option(
    "--guarantee/--first-missed",
    help="Sync on the last day that keeps the target, or, as published, the first that misses it.",
)
NAME = typer.Option(
    "--name",
    metavar="NAME",
    help="Only this listing (stores only).  [default: all]",
    show_default=False,
)

_TABLES = ("objects", "events", "crawls")


@dataclass(frozen=True, slots=True, eq=False)
class ListingSource:
    """A source.

    Args:
        name: Its name in rows.
        listing: Its objects.
        grid: The same day by day.
        missing: Number of objects that lack each attribute asked for.
        alarm: Why the last sync of a store's listing was not accepted; empty if it was.
    """

    name: str
    listing: Listing
    grid: DayGrid
    missing: Mapping[str, int]
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reader of sources.

    Args:
        files: Folders, files and stores.
        key: Column with the key of an object; empty for the usual ones.
        grace: Absences shorter than this are ignored.
        lenient: Whether to skip objects with contradictory times.
        name: For a store, only the listing of this name; empty for all.
        alone: Whether there must be a single source.
        read_as: How tables are read.
    """

    files: Sequence[Path]
    key: str
    grace: str
    lenient: bool
    name: str = ""
    alone: bool = False
    read_as: TableOptions | None = None

    def read(self) -> list[ListingSource]:
        """All sources: each folder, all files together, and each listing of a store."""
        from recrawl.adapters.tables.inputs import expand
        from recrawl.adapters.tables.listings import read_listing
        from recrawl.listings.data.grid import DayGrid
        from recrawl.store import is_store
        from recrawl.units import days

        grace = days(self.grace)
        given = expand(self.files, folders=False)
        stores = [path for path in given if is_store(path)]
        if self.name and not stores:
            raise typer.BadParameter("--name needs a store")
        found = []
        for name, paths in self._parts([path for path in given if path not in stores]):
            listing = read_listing(
                *paths, key=self.key, grace=grace, lenient=self.lenient, options=self.read_as
            )
            found.append(ListingSource(name, listing, DayGrid.of(listing), {}))
        found += [source for store in stores for source in self._stored(store, grace)]
        for sentence in self.read_as.remarks if self.read_as else ():
            screen.remark(sentence)
        if self.alone and len(found) > 1:
            raise typer.BadParameter(
                "--plot needs a single source; for a store, --name chooses one"
            )
        return found

    def _stored(self, store: Path, grace: float) -> list[ListingSource]:
        from recrawl.adapters.stores.listings import read_store_listings

        listings = read_store_listings(store, name=self.name, grace=grace)
        return [
            ListingSource(each.name, each.listing, each.grid, {}, each.alarm) for each in listings
        ]

    def _parts(self, given: Sequence[Path]) -> list[tuple[str, list[Path]]]:
        folders = [path for path in given if path.is_dir()]
        files = [path for path in given if not path.is_dir()]
        parts = [[folder] for folder in folders] + ([files] if files else [])
        names = [_name(part) for part in parts]
        if len(set(names)) < len(names):
            names = [str(part[0]) for part in parts]
        return list(zip(names, parts, strict=True))


def _name(paths: Sequence[Path]) -> str:
    """Name of a folder or file; of its folder if the file has a generic name."""
    from recrawl.adapters.tables.formats import table_stem

    stem = table_stem(paths[0].name)
    if len(paths) == 1 and stem not in _TABLES:
        return paths[0].resolve().name if paths[0].is_dir() else stem
    return paths[0].resolve().parent.name


def check(
    files: Sequence[Path],
    output: Path | None,
    plot: Path | None,
    *,
    formats: tuple[bool | None, bool],
) -> shared.Output:
    """Check the outputs before anything is read."""
    from recrawl.adapters.pictures import check_picture

    as_csv, as_json = formats
    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    if plot is not None:
        check_picture(plot)
        folders = sum(file.is_dir() for file in files)
        if folders + (folders < len(files)) > 1:
            raise typer.BadParameter("--plot needs a single source")
    return out


def chosen(source: ListingSource, text: str) -> ListingSource:
    """The objects of a source that meet the conditions; all without any."""
    if not text:
        return source
    from recrawl.listings.data.where import where

    listing = source.listing
    found = where(listing.attributes, text, len(listing))
    part = listing.only(found.wanted)
    grid = source.grid.only(found.wanted)
    return ListingSource(source.name, part, grid, found.missing, source.alarm)


def put(sheet: Sheet, out: shared.Output, *, most: int = 0) -> None:
    """Print the first rows as a table, or write all rows."""
    from recrawl.report.listings.sheets import shown

    if out.interactive:
        header, rows, left = shown(sheet, most or screen.most_rows())
        shared.show(header, rows, total=len(sheet.words), unit="row", left=left)
    else:
        out.write(list(sheet.names), sheet.columns, first=sheet.first)


def remarks(sources: Sequence[ListingSource]) -> None:
    """Print what was read, and what limits its use."""
    from recrawl.listings.describe import statuses
    from recrawl.report.listings.describe import source_remarks
    from recrawl.report.words import counted

    for source in sources:
        words = statuses(source.listing, source.grid)
        for line in source_remarks(source.name, source.listing, source.grid, words):
            screen.remark(line)
        if source.alarm:
            screen.remark(f"{source.name}: the last sync was not accepted: {source.alarm}.")
        for name, count in source.missing.items():
            if count:
                screen.remark(f"{source.name}: {counted(count, 'object')} without {name} left out.")


def lifetime_remarks(sources: Sequence[ListingSource]) -> None:
    """Print what medians leave out, and what counts as a removal."""
    from recrawl.report.listings.describe import early_remarks, return_remarks

    for source in sources:
        for said in (early_remarks, return_remarks):
            for line in said(source.name, source.listing):
                screen.remark(line)


def whole_days_of(text: str, name: str) -> int:
    """Whole days of a duration."""
    from recrawl.errors import InvalidParameter
    from recrawl.units import days

    found = days(text)
    if found != int(found) or found < 1:
        raise InvalidParameter(f"{name} must be a whole number of days (got {text.strip()!r})")
    return int(found)


def named(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def check_attributes(source: ListingSource, names: Sequence[str]) -> None:
    """Check that a source has some attributes."""
    from recrawl.errors import InvalidParameter
    from recrawl.listings.data.attributes import not_found

    for name in names:
        if name not in source.listing.attributes:
            message = not_found(name, source.listing.attributes)
            raise InvalidParameter(f"{source.name}: {message}")


def model_remarks(source: str, method: str, state: object) -> None:
    """Print the series that an autoregressive forecaster has fitted."""
    from recrawl.listings.forecast.ar_forecaster import Tracks
    from recrawl.report.listings.forecasts import series_words

    if isinstance(state, Tracks):
        for metric, track in (("precision", state.precision), ("recall", state.recall)):
            screen.remark(f"{source}, {method}, {metric}: {series_words(track.series)}.")


def band_remark(method: str) -> None:
    """Print what the bands of a published method leave out."""
    from recrawl.listings.forecast.forecaster import Forecaster
    from recrawl.listings.forecast.methods import method_named

    if isinstance(method_named(method), Forecaster):
        return
    screen.remark(
        f"{method}: bands as published, which assume constant rates and independent removals; "
        "`recrawl listing backtest` shows how often they hold."
    )


def check_method(name: str, *, part: bool) -> None:
    """Check the name of a forecaster, and that it can forecast parts of a source."""
    from recrawl.listings.forecast.tracked import method_of

    method_of(name, level=0.9, part=part)
