"""Single values that a store keeps by name.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import exactly, number

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_PUT = upsert("meta", "name, value", "name")
_MOST = (1 << 63) - 1


def get(connection: Database, name: str) -> int:
    """A number by its name, 0 where it was never set."""
    value = connection.execute("select value from meta where name = ?", (name,)).get
    if isinstance(value, str):  # of a database whose column is one of texts
        value = int(value)
    return number(value or 0, most=_MOST)


def get_text(connection: Database, name: str) -> str:
    """A text by its name, empty where it was never set."""
    value = connection.execute("select value from meta where name = ?", (name,)).get
    return exactly(str, value or "")


def put(connection: Database, name: str, value: int | str) -> None:
    """Set a number or a text."""
    connection.execute(_PUT, (name, connection.named(value)))
