"""Listings in files: tables of objects, events and crawls, or snapshots of the list.

    objects    object, appeared_at[, removed_at, last_seen_at, prev_crawl_at, attributes...]
    events     object, at, event (appear, remove, reappear, update)[, attribute]
    crawls     crawl_at
    snapshots  key, attributes...: one file per crawl, its time in its name
               snapshot_at, key, attributes...: all in one file

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from recrawl.adapters.tables.columns import listed
from recrawl.adapters.tables.formats import table_stem
from recrawl.adapters.tables.inputs import expand, readable, table_of, tables_in
from recrawl.adapters.tables.listing_snapshots import (
    KEYS,
    date_in,
    key_of,
    read_dated_files,
    read_long_table,
)
from recrawl.adapters.tables.whole import WholeTable
from recrawl.arrays.ranges import begins
from recrawl.errors import InvalidTable
from recrawl.listings.data.snapshots import GRACE
from recrawl.listings.data.spells import (
    EVENTS,
    REMOVE,
    UPDATE,
    Listing,
    Updates,
    raise_wrong,
    spells_of_events,
    spells_of_lifetimes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.adapters.tables.columns import TableFile
    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.arrays.types import Bools, Instants, Ints
    from recrawl.listings.data.attributes import Attribute


# Columns of objects that tell when they were listed, some of it later than it could be known.
_BOOKKEEPING = (
    *("appeared_at", "prev_crawl_at", "last_seen_at", "removed_at", "final_removed_at"),
    *("n_updates", "n_reappearances", "left_truncated"),
    *("n_arrived_same_crawl", "n_removed_same_crawl"),
)
_LONGEST_PAUSE = np.timedelta64(3653, "D")  # between two crawls; beyond it a date is wrong


def read_listing(
    *paths: str | Path,
    key: str = "",
    grace: float = GRACE,
    lenient: bool = False,
    options: TableOptions | None = None,
) -> Listing:
    """A listing from its tables or from snapshots.

    Args:
        paths: A folder that holds `objects`, `events` and `crawls`, or dated snapshots; or such
            files themselves, or patterns of their names. Only objects are needed.
        key: Column that names an object; else the first of key, id, uid, object, url.
        grace: An object that is missing from snapshots for fewer days than this was there.
        lenient: Leave out objects whose times contradict each other, and count them.
        options: How tables are read.

    Raises:
        InvalidTable: A file is not what it should be, a key repeats within a snapshot, an
            object is removed before it appears, or crawls lie more than ten years apart.
    """
    files = expand(paths, folders=False)
    folder = files[0] if len(files) == 1 and files[0].is_dir() else None
    if folder is not None:
        files = tables_in(folder)
        parts = [file for file in files if _stem(file) in ("objects", "events", "crawls")]
        if not any(_stem(file) == "objects" for file in parts):
            parts = []
        files = parts or files
    with readable(files) as found:
        if folder is not None and not parts:
            listing = read_dated_files(str(folder), found, key=key, grace=grace, options=options)
        else:
            listing = _read(found, options, key=key, grace=grace, lenient=lenient)
    _check_crawls(listing.crawls, paths[0])
    return listing


def _stem(file: Path) -> str:
    return table_stem(file.name).lower()


def _read(
    files: Sequence[TableFile],
    options: TableOptions | None,
    *,
    key: str,
    grace: float,
    lenient: bool,
) -> Listing:
    """A listing from files, told apart by their columns; all of a kind are one table."""
    tables = [WholeTable(table_of([file], options)) for file in files]
    kinds = [_kind(table) for table in tables]
    if not any(kinds) and all(date_in(Path(file.label).name) is not None for file in files):
        return read_dated_files(files[0].label, files, key=key, grace=grace, options=options)
    found: dict[str, WholeTable] = {}
    for kind in dict.fromkeys(kinds):
        rows = [row for row, each in enumerate(kinds) if each == kind]
        if not kind:
            _refuse_kind(tables[rows[0]])
        several = table_of([files[row] for row in rows], options)
        found[kind] = tables[rows[0]] if len(rows) == 1 else WholeTable(several)
    if "snapshots" in found:
        if len(found) > 1:
            message = (
                f"{found['snapshots'].name}: snapshots must be the only file; leave out the others"
            )
            raise InvalidTable(message)
        return read_long_table(found["snapshots"], key=key, grace=grace)
    if "objects" not in found:
        raise InvalidTable(f"{files[0].label}: objects not found; give the file of objects too")
    parts = _Tables(found["objects"], found.get("events"), found.get("crawls"))
    return _from_tables(parts, key, lenient=lenient)


def _check_crawls(crawls: Instants, path: str | Path) -> None:
    """Refuse a date that lies decades from its neighbours, such as the 1970 of a time of 0."""
    late = np.flatnonzero(np.diff(crawls) > _LONGEST_PAUSE)
    if len(late):
        before, after = crawls[late[0] : late[0] + 2].astype("datetime64[D]")
        raise InvalidTable(
            f"{path}: crawls must be at most 10 years apart (got {before} and {after})"
        )


@dataclass(frozen=True, slots=True)
class _Tables:
    """The three tables of a listing, told apart by their columns."""

    objects: WholeTable
    events: WholeTable | None = None
    crawls: WholeTable | None = None


def _kind(table: WholeTable) -> str:
    """What a table of a listing holds; empty where its columns do not tell."""
    names = table.names
    if "snapshot_at" in names:
        return "snapshots"
    if "appeared_at" in names:
        return "objects"
    if "event" in names and "at" in names:
        return "events"
    return "crawls" if "crawl_at" in names else ""


def _refuse_kind(table: WholeTable) -> NoReturn:
    raise InvalidTable(
        f"{table.name}: must have a column appeared_at (objects), event and at (events), "
        f"crawl_at (crawls) or snapshot_at (snapshots) (got {listed(table.names)})"
    )


def _from_tables(tables: _Tables, key: str, *, lenient: bool) -> Listing:
    objects, events = tables.objects, tables.events
    shared = [name for name in objects.names if events is None or name in events.names]
    name = key_of(shared, objects.name if events is None else events.name, key)
    keys = objects.keys(name)
    _check_keys(objects, name)
    lifetimes = _Lifetimes.of(objects)
    happened = None if events is None else _Happened.of(events, name, objects)
    wrong = lifetimes.wrong
    if not lenient:
        raise_wrong(wrong, keys, "must be seen last after it appeared, and be removed after that")
    crawls = _crawls(tables, lifetimes.instants(wrong), happened)

    if happened is None:
        found = spells_of_lifetimes(*lifetimes.crawls(crawls))
    else:
        at = np.searchsorted(crawls, happened.at)
        told = (happened.kind != UPDATE) & ~wrong[happened.row]
        found = spells_of_events(
            happened.row[told],
            at[told],
            happened.kind[told] == REMOVE,
            objects=len(keys),
            crawls=len(crawls),
        )
    if not lenient:
        raise_wrong(found.wrong, keys, "events must begin with appear and alternate with remove")
    attributes = _attributes(objects, name)
    wrong = wrong | found.wrong
    kept = ~wrong[found.object]
    listing = Listing(
        keys,
        attributes,
        crawls,
        found.object[kept],
        found.first[kept],
        found.gone[kept],
        Updates.none() if happened is None else happened.updates(crawls, attributes),
    )
    if not wrong.any():
        return listing
    return replace(listing.only(~wrong), dropped=int(np.count_nonzero(wrong)))


def _check_keys(objects: WholeTable, name: str) -> None:
    """Refuse objects without a name, or named twice."""
    if objects.is_unique(name):
        return
    keys = objects.coded(name)
    objects.refuse_any(keys.repeated() | keys.blank(), name, "must name an object, each once")


def _attributes(objects: WholeTable, key: str) -> dict[str, Attribute]:
    left_out = (*_BOOKKEEPING, *KEYS, key)
    return {name: objects.attribute(name) for name in objects.names if name not in left_out}


@dataclass(frozen=True, slots=True, eq=False)
class _Lifetimes:
    """When objects appeared, were last seen and removed, where their table tells."""

    appeared: Instants
    last_seen: Instants | None
    removed: Instants | None
    before: Instants | None

    @classmethod
    def of(cls, objects: WholeTable) -> _Lifetimes:
        known = [
            objects.times(name, optional=True) if name in objects.names else None
            for name in ("last_seen_at", "removed_at", "prev_crawl_at")
        ]
        return cls(objects.times("appeared_at"), *known)

    @property
    def wrong(self) -> Bools:
        """Which objects are removed before they appear, or seen after they are removed."""
        wrong = np.zeros(len(self.appeared), np.bool_)
        if self.removed is not None:
            wrong |= self.removed <= self.appeared
            if self.last_seen is not None:
                wrong |= self.removed <= self.last_seen
        if self.last_seen is not None:
            wrong |= self.last_seen < self.appeared
        return wrong

    def instants(self, wrong: Bools) -> list[Instants]:
        """All instants at which someone looked, but for objects that contradict themselves."""
        known = (self.appeared, self.last_seen, self.removed, self.before)
        right = ~wrong if wrong.any() else slice(None)
        found = [_distinct(column[right]) for column in known if column is not None]
        return [column[~np.isnat(column)] for column in found]

    def crawls(self, crawls: Instants) -> tuple[Ints, Ints]:
        """First crawl that saw each object, and first that no longer did."""
        first = np.searchsorted(crawls, self.appeared)
        if self.removed is not None:
            gone = np.searchsorted(crawls, self.removed)  # NaT comes last: still listed
            return first, np.where(np.isnat(self.removed), len(crawls), gone)
        if self.last_seen is not None:
            last = np.searchsorted(crawls, self.last_seen)
            return first, np.where(np.isnat(self.last_seen), len(crawls), last + 1)
        return first, np.full(len(first), len(crawls))


@dataclass(frozen=True, slots=True, eq=False)
class _Happened:
    """Events of objects: row of the object, instant, number in `EVENTS`."""

    row: Ints
    at: Instants
    kind: Ints
    attribute: tuple[Ints, list[str]] | None

    @classmethod
    def of(cls, events: WholeTable, key: str, objects: WholeTable) -> _Happened:
        row = events.places(key, objects)
        events.refuse_any(row < 0, key, f"must be an object of {objects.name}")
        words = events.coded("event")
        numbers = [EVENTS.index(word) if word in EVENTS else -1 for word in words.words]
        kind = np.array(numbers, np.int64)[words.codes]
        events.refuse_any(kind < 0, "event", f"must be one of {', '.join(EVENTS)}")
        named = events.coded("attribute") if "attribute" in events.names else None
        attribute = None if named is None else (named.codes, named.words)
        return cls(row, events.times("at"), kind, attribute)

    def updates(self, crawls: Instants, attributes: Mapping[str, Attribute]) -> Updates:
        """Changes of attributes."""
        rows = np.flatnonzero(self.kind == UPDATE)
        number = np.full(len(rows), -1, np.int64)
        if self.attribute is not None:
            place = {name: index for index, name in enumerate(attributes)}
            codes, words = self.attribute
            number = np.array([place.get(word, -1) for word in words], np.int64)[codes[rows]]
        return Updates(self.row[rows], np.searchsorted(crawls, self.at[rows]), number)


def _crawls(tables: _Tables, seen: list[Instants], happened: _Happened | None) -> Instants:
    """All crawls: those of the table, and every instant at which something was seen."""
    if happened is not None:
        seen.append(_distinct(happened.at))
    if tables.crawls is not None:
        seen.append(tables.crawls.times("crawl_at"))
    return _distinct(np.concatenate(seen))


def _distinct(instants: Instants) -> Instants:
    """Instants in order, each once; by sorting, as numpy's own way is slow for many different."""
    whole = np.sort(instants.view(np.int64))
    return whole[begins(whole)].view("datetime64[us]")
