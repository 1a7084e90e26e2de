"""Table of sources of new pages.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.entries.sources import Source, SourceKind
from recrawl.store.rows.columns import maybe_milliseconds
from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import exactly, figure, maybe_instant, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.store.rows.database import Database

_COLUMNS = (
    "address, origin, kind, parent, tried_at, looked_at, read_at, failures, new, exposure, "
    "squares, dated, listed_at, follows_index, etag, modified, signature, size, listed, "
    "push_hub, push_topic"
)
_PUT = upsert("sources", _COLUMNS, "address")


def put(connection: Database, sources: Iterable[Source]) -> None:
    """Write sources as they stand."""
    connection.executemany(_PUT, map(_row, sources))


def drop(connection: Database, addresses: Iterable[str]) -> None:
    """Forget sources."""
    connection.executemany("delete from sources where address = ?", ((each,) for each in addresses))


def source_at(connection: Database, address: str) -> Source | None:
    """The source at an address; None where there is none."""
    query = f"select {_COLUMNS} from sources where address = ?"  # noqa: S608 - our own names
    rows = connection.execute(query, (address,))
    return next((_source(row) for row in rows), None)


def sources(connection: Database) -> list[Source]:
    """All sources, in the order of their addresses."""
    query = f"select {_COLUMNS} from sources order by address"  # noqa: S608 - our own names
    return [_source(row) for row in connection.execute(query)]


def sources_at(connection: Database, origins: Iterable[str]) -> list[Source]:
    """Sources at some origins, in the order of their addresses."""
    query = f"select {_COLUMNS} from sources where origin"  # noqa: S608 - our own names
    found = map(_source, connection.each(query, origins))
    return sorted(found, key=lambda each: each.address.encode())


def _row(source: Source) -> tuple[Any, ...]:
    return (
        *(source.address, source.origin, int(source.kind), source.parent),
        maybe_milliseconds(source.tried_at_seconds),
        maybe_milliseconds(source.looked_at_seconds),
        maybe_milliseconds(source.read_at_seconds),
        *(source.failures, source.new, source.exposure, source.squares, int(source.dated)),
        maybe_milliseconds(source.listed_at_seconds),
        int(source.follows_index),
        *(source.etag, source.modified, source.signature, source.size),
        *(source.listed, source.push_hub, source.push_topic),
    )


def _source(row: Any) -> Source:  # noqa: ANN401 - a row of a query
    address, origin, kind, parent, tried_at, looked_at, read_at, failures, *row = row
    new, exposure, squares, dated, listed_at, follows_index, *row = row
    etag, modified, signature, size, listed, push_hub, push_topic = row
    return Source(
        exactly(str, address),
        exactly(str, origin),
        SourceKind(number(kind)),
        exactly(str, parent),
        tried_at_seconds=maybe_instant(tried_at),
        looked_at_seconds=maybe_instant(looked_at),
        read_at_seconds=maybe_instant(read_at),
        failures=number(failures),
        new=figure(new, 0.0),
        exposure=figure(exposure, 0.0),
        squares=figure(squares, 0.0),
        dated=bool(number(dated, most=1)),
        listed_at_seconds=maybe_instant(listed_at),
        follows_index=bool(number(follows_index, most=1)),
        etag=exactly(str, etag),
        modified=exactly(str, modified),
        signature=exactly(bytes, signature),
        size=number(size),
        listed=exactly(bytes, listed),
        push_hub=exactly(str, push_hub),
        push_topic=exactly(str, push_topic),
    )
