"""Hints that pages have changed: written by anybody, also while a crawl runs, taken by the crawl.

A crawl writes those that lists and pushes bring it, too, so that none is lost where it is killed.
The only table that is written without the lock of a store: rows are added by one short transaction,
and taken away by the crawl once it has heard them.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter
from recrawl.store.sqlite import schema
from recrawl.store.sqlite.columns import milliseconds
from recrawl.store.sqlite.connections import (
    connect,
    connect_to_read,
    prepare_to_write,
    transaction,
    translate_errors,
)
from recrawl.store.sqlite.values import exactly, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import apsw

MOST_WAITING = 1_000_000


def add_hints(path: Path, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints to a store that somebody else may be writing to.

    Args:
        path: File of the store.
        addresses: Canonical addresses.
        at_seconds: When, in epoch seconds.

    Raises:
        InvalidParameter: So many hints wait that nobody seems to take them.
    """
    reader = connect_to_read(path)
    try:
        schema.require_current(path, reader, schema.steps_in())
    finally:
        reader.close()
    connection = connect(path)
    try:
        with translate_errors(path):
            prepare_to_write(connection)
            with transaction(connection):
                waiting = _waiting(connection)
                if waiting + len(addresses) > MOST_WAITING:
                    raise InvalidParameter(
                        f"{path}: {waiting:,} hints wait already; `recrawl crawl` takes them"
                    )
                _insert(connection, addresses, at_seconds)
    finally:
        connection.close()


def put_hints(connection: apsw.Connection, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints of the crawl that holds the store, as far as there is room for them."""
    _insert(connection, addresses[: max(MOST_WAITING - _waiting(connection), 0)], at_seconds)


def hints_after(connection: apsw.Connection, after: int, most: int) -> list[tuple[int, str]]:
    """Hints above a number, with their numbers, in order."""
    query = "select id, address from hints where id > ? order by id limit ?"
    rows = connection.execute(query, (after, most))
    return [(number(each), exactly(str, address)) for each, address in rows]


def take_hints(connection: apsw.Connection, last: int) -> None:
    """Delete hints up to a number."""
    connection.execute("delete from hints where id <= ?", (last,))


def _waiting(connection: apsw.Connection) -> int:
    return number(connection.execute("select count(*) from hints").get)


def _insert(connection: apsw.Connection, addresses: Sequence[str], at_seconds: float) -> None:
    at = milliseconds(at_seconds)
    rows = ((address, at) for address in addresses)
    connection.executemany("insert into hints (address, at) values (?, ?)", rows)
