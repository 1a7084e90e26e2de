"""What all verbs of `recrawl listing` share: options, sources, and where their rows go.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recrawl.cli import shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.report.listings.sheets import Sheet

FILES = typer.Argument(
    metavar="FILE...",
    help="One folder per source (objects, events, crawls, or dated snapshots), one source's files, "
    "or the store of a crawl.",
    show_default=False,
)
WHERE = typer.Option(
    metavar="W", help="Only objects like this, e.g. 'make = BMW and year > 2002'.", show_default=""
)
BY = typer.Option(
    metavar="A",
    help="Attributes, comma-separated  [default: numbers, and texts of 2 to 50 values]",
    show_default=False,
)
STORE = typer.Argument(metavar="STORE", help="The store of a crawl.", show_default=False)
KEY = typer.Option(
    metavar="C",
    help="Column that names an object  [default: key, id, uid, object or url]",
    show_default=False,
)
GRACE = typer.Option(
    metavar="T", help="An object missing from snapshots for less than this was there."
)
LENIENT = typer.Option(
    "--lenient", help="Leave out objects whose times contradict each other, and count them."
)
LEVEL = typer.Option(help="Share of outcomes that bands are to hold.")
NAME = typer.Option(
    "--name",
    metavar="N",
    help="Of a store: only the listing of this name  [default: all]",
    show_default=False,
)

_TABLES = ("objects", "events", "crawls")


@dataclass(frozen=True, slots=True, eq=False)
class ListingSource:
    """A source that was read.

    Args:
        name: What rows call it.
        listing: Its objects.
        grid: The same day by day.
        missing: How many objects lack each attribute that was asked for.
        alarm: What is wrong with the listing of a store; empty for nothing.
    """

    name: str
    listing: Listing
    grid: DayGrid
    missing: Mapping[str, int]
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Where sources are, and how to read them.

    Args:
        files: Folders, files and stores.
        key: Column that names an object; empty for the usual ones.
        grace: An object that is missing for less than this was there.
        lenient: Whether to leave out what contradicts itself.
        name: Of a store, only the listing of this name; empty for all.
        alone: Whether there may be one source only.
    """

    files: Sequence[Path]
    key: str
    grace: str
    lenient: bool
    name: str = ""
    alone: bool = False

    def read(self) -> list[ListingSource]:
        """All sources: a folder each, all files together one, and each listing of a store."""
        from recrawl.adapters.tables.listings import read_listing
        from recrawl.listings.data.grid import DayGrid
        from recrawl.store import is_store
        from recrawl.units import days

        grace = days(self.grace)
        stores = [path for path in self.files if is_store(path)]
        if self.name and not stores:
            raise typer.BadParameter("--name needs a store")
        found = []
        for name, paths in self._parts([path for path in self.files if path not in stores]):
            listing = read_listing(*paths, key=self.key, grace=grace, lenient=self.lenient)
            found.append(ListingSource(name, listing, DayGrid.of(listing), {}))
        found += [source for store in stores for source in self._stored(store, grace)]
        if self.alone and len(found) > 1:
            raise typer.BadParameter("--plot needs a single source; of a store --name chooses one")
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
    """Name of a folder, or of the file that is not called as all such files are."""
    if len(paths) == 1 and paths[0].stem not in _TABLES:
        return paths[0].resolve().name if paths[0].is_dir() else paths[0].stem
    return paths[0].resolve().parent.name


def check(
    files: Sequence[Path],
    output: Path | None,
    plot: Path | None,
    *,
    formats: tuple[bool, bool],
) -> str:
    """Check where output goes before anything is read, and return the format of rows."""
    from recrawl.adapters.pictures import check_picture

    as_csv, as_json = formats
    kind = shared.check_one_format(as_csv=as_csv, as_json=as_json, output=output)
    if output is not None:
        for file in files:
            shared.check_place(output, file)
    if plot is not None:
        check_picture(plot)
        folders = sum(file.is_dir() for file in files)
        if folders + (folders < len(files)) > 1:
            raise typer.BadParameter("--plot needs a single source")
    return kind


def chosen(source: ListingSource, text: str) -> ListingSource:
    """Only the objects of a source that meet conditions; all without any."""
    if not text:
        return source
    from recrawl.listings.data.where import where

    listing = source.listing
    found = where(listing.attributes, text, len(listing))
    part = listing.only(found.wanted)
    grid = source.grid.only(found.wanted)
    return ListingSource(source.name, part, grid, found.missing, source.alarm)


def put(sheet: Sheet, kind: str, output: Path | None, *, most: int = 0) -> None:
    """Print a table, or write all rows where they are wanted."""
    from recrawl.arrays.texts import Texts
    from recrawl.cli import screen
    from recrawl.report.listings.sheets import shown

    if shared.is_interactive(kind, output):
        most = most or screen.MOST_ROWS
        header, rows, left = shown(sheet, most)
        screen.show_table(header, rows, left=left)
        if len(sheet.words) > most:
            more = len(sheet.words) - most
            screen.remark(f"... and {more:,} more rows; --csv, --json or -o has them all.")
        return
    header = (sheet.first, *sheet.columns)
    with shared.target(kind, output, header) as writer:
        writer.write(Texts.of(list(sheet.names)), sheet.columns)


def remarks(sources: Sequence[ListingSource]) -> None:
    """Say on stderr what was read, and what must be known before any figure is believed."""
    from recrawl.cli import screen
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


def named(text: str) -> list[str]:
    """Names that people wrote with commas between."""
    return [name.strip() for name in text.split(",") if name.strip()]


def check_attributes(source: ListingSource, names: Sequence[str]) -> None:
    """Check that a source has some attributes."""
    from recrawl.errors import InvalidParameter
    from recrawl.listings.data.attributes import not_found

    for name in names:
        if name not in source.listing.attributes:
            message = not_found(name, source.listing.attributes)
            raise InvalidParameter(f"{source.name}: {message}")


def check_method(name: str, *, part: bool) -> None:
    """Check the name of a forecaster, and that it can forecast parts of a source."""
    from recrawl.listings.forecast.tracked import method_of

    method_of(name, level=0.9, part=part)
