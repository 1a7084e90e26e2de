"""Single values that a store keeps by name.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.sqlite.values import exactly, number

if TYPE_CHECKING:
    import apsw

_MOST = (1 << 63) - 1


def get(connection: apsw.Connection, name: str) -> int:
    """A number by its name, 0 where it was never set."""
    value = connection.execute("select value from meta where name = ?", (name,)).get
    return number(value or 0, most=_MOST)


def get_text(connection: apsw.Connection, name: str) -> str:
    """A text by its name, empty where it was never set."""
    value = connection.execute("select value from meta where name = ?", (name,)).get
    return exactly(str, value or "")


def put(connection: apsw.Connection, name: str, value: int | str) -> None:
    """Set a number or a text."""
    connection.execute("insert or replace into meta values (?, ?)", (name, value))
