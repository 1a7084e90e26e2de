"""Hints that pages have changed: written by anybody, also while a crawl runs, taken by the crawl.

A crawl writes those that lists and pushes bring it, too, so that none is lost where it is killed.
The only table that is written without the lock of a store: rows are added by one short transaction,
and taken away by the crawl once a checkpoint knows of them. A hint is never older than what the
store says was done before it: whoever gives it may have a clock that is behind.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter
from recrawl.store.rows.clock_ahead import newest_instant
from recrawl.store.rows.columns import milliseconds
from recrawl.store.rows.values import exactly, instant, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.store.rows.database import Database

MOST_WAITING = 1_000_000


def add_hints(connection: Database, name: str, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints to a store that somebody else may be writing to; inside of a transaction.

    Args:
        connection: To the store.
        name: Of the store, for messages.
        addresses: Canonical addresses.
        at_seconds: When, in epoch seconds.

    Raises:
        InvalidParameter: So many hints wait that nobody seems to take them.
    """
    waiting = _waiting(connection)
    if waiting + len(addresses) > MOST_WAITING:
        raise InvalidParameter(
            f"{name}: {waiting:,} hints wait already; `recrawl crawl` takes them"
        )
    _insert(connection, addresses, at_seconds)


def put_hints(connection: Database, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints of the crawl that holds the store, as far as there is room for them."""
    _insert(connection, addresses[: max(MOST_WAITING - _waiting(connection), 0)], at_seconds)


def hints_after(connection: Database, after: int, most: int) -> list[tuple[int, float, str]]:
    """Hints above a number, with their numbers and epoch seconds, in order."""
    query = "select id, at, address from hints where id > ? order by id limit ?"
    rows = connection.execute(query, (after, most))
    return [(number(each), instant(at), exactly(str, address)) for each, at, address in rows]


def take_hints(connection: Database, last: int) -> None:
    """Delete hints up to a number."""
    connection.execute("delete from hints where id <= ?", (last,))


def _waiting(connection: Database) -> int:
    return number(connection.execute("select count(*) from hints").get)


def _insert(connection: Database, addresses: Sequence[str], at_seconds: float) -> None:
    at = max(milliseconds(at_seconds), newest_instant(connection))
    first = connection.take_numbers("hints", len(addresses))
    rows = ((number, address, at) for number, address in enumerate(addresses, first))
    connection.append("hints", "id, address, at", rows)
