"""Snapshots of a listing in files: one file per crawl, or all in one.

Touches: files.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.columns import listed
from recrawl.adapters.tables.inputs import table_of
from recrawl.adapters.tables.whole import WholeTable
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidInput, InvalidTable
from recrawl.listings.data.attributes import attribute_of
from recrawl.listings.data.snapshots import Sightings, joined, listing_of
from recrawl.units import instant, microseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.adapters.tables.columns import CodedTexts, TableFile
    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.arrays.types import Instants, Ints
    from recrawl.listings.data.spells import Listing

KEYS = ("key", "id", "uid", "object", "url")

_KEY_RULE = "must name an object"

_DATE = re.compile(
    r"(?<!\d)(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})"
    r"(?:[T _-]?(\d{2})[-_:.h]?(\d{2})(?:[-_:.m]?(\d{2}))?)?(?!\d)"
)


def key_of(names: Sequence[str], path: str, key: str) -> str:
    """Column that names an object."""
    if key and key not in names:
        raise InvalidTable(f"{path}: column {key!r} not found (got {listed(names)})")
    if key:
        return key
    for name in KEYS:
        if name in names:
            return name
    raise InvalidTable(f"{path}: must have a column {', '.join(KEYS)} (got {listed(names)})")


def date_in(name: str) -> np.datetime64 | None:
    """Instant that a file's name holds, UTC; None where it holds none.

    >>> date_in("cars-2026-01-02.csv")
    np.datetime64('2026-01-02T00:00:00.000000')
    >>> date_in("20260102T030405Z.jsonl")
    np.datetime64('2026-01-02T03:04:05.000000')
    """
    for found in _DATE.finditer(name):
        year, month, day, hour, minute, second = (part or "00" for part in found.groups())
        try:
            moment = instant(f"{year}-{month}-{day}T{hour}:{minute}:{second}")
        except InvalidInput:
            continue
        return np.datetime64(microseconds(moment), "us")
    return None


def read_dated_files(
    folder: str,
    files: Sequence[TableFile],
    *,
    key: str,
    grace: float,
    options: TableOptions | None = None,
) -> Listing:
    """A listing from a folder of files, a snapshot each."""
    dated: dict[np.datetime64, TableFile] = {}
    for file in files:
        when = date_in(PurePath(file.label).name)
        if when is None:
            message = f"{file.label}: no date in the file name; name snapshots like 2026-01-02.csv"
            raise InvalidTable(message)
        if when in dated:
            other = PurePath(dated[when].label).name
            message = f"{file.label}: {other} is a snapshot of the same time; keep one of them"
            raise InvalidTable(message)
        dated[when] = file
    if not dated:
        raise InvalidTable(f"{folder}: neither objects nor snapshots found")
    gathered = _Gathered()
    for number, when in enumerate(sorted(dated)):
        table = WholeTable(table_of([dated[when]], options))
        ours = key_of(table.names, table.name, key)
        columns = {name: table.coded(name) for name in table.names}
        table.refuse_any(columns[ours].blank(), ours, _KEY_RULE)
        gathered.add(columns, ours, np.full(len(table), number))  # without rows: its names
    return gathered.listing(np.array(sorted(dated), "datetime64[us]"), grace)


def read_long_table(table: WholeTable, *, key: str, grace: float) -> Listing:
    """A listing from one file of all snapshots: `snapshot_at`, a key, attributes."""
    name = key_of(table.names, table.name, key)
    crawls, snapshot = np.unique(table.times("snapshot_at"), return_inverse=True)
    columns = {found: table.coded(found) for found in table.names if found != "snapshot_at"}
    table.refuse_any(columns[name].blank(), name, _KEY_RULE)
    gathered = _Gathered()
    gathered.add(columns, name, snapshot)
    return gathered.listing(crawls, grace)


class _Gathered:
    """Sightings of several files, keys and words numbered across them."""

    def __init__(self) -> None:
        self.keys: dict[str, int] = {}
        self.words: dict[str, dict[str, int]] = {}
        self.codes: dict[str, list[Ints]] = {}
        self.objects: list[Ints] = []
        self.snapshots: list[Ints] = []

    def add(self, table: dict[str, CodedTexts], key: str, snapshot: Ints) -> None:
        """Take in rows of one file; an attribute that it lacks is missing in them."""
        named = table[key]
        used, codes = np.unique(named.codes, return_inverse=True)  # a file may know more words
        words = [named.words[code] for code in used.tolist()]
        self.objects.append(joined(words, self.keys)[codes])
        before = sum(map(len, self.snapshots))
        self.snapshots.append(snapshot)
        for name in table:
            if name not in self.words and name != key:
                self.words[name] = {"": 0}
                self.codes[name] = [np.zeros(before, np.int64)]
        for name, numbers in self.words.items():
            cells = table.get(name)
            missing = np.zeros(len(snapshot), np.int64)
            found = missing if cells is None else joined(cells.words, numbers)[cells.codes]
            self.codes[name].append(found)

    def listing(self, crawls: Instants, grace: float) -> Listing:
        """The listing of all files."""
        nothing = np.empty(0, np.int64)
        attributes = {
            name: attribute_of(np.concatenate(self.codes[name]), list(words))
            for name, words in self.words.items()
        }
        sightings = Sightings(
            crawls,
            np.concatenate([nothing, *self.snapshots]),
            np.concatenate([nothing, *self.objects]),
            attributes,
        )
        return listing_of(sightings, Texts.of(list(self.keys)), grace=grace)
