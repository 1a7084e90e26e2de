"""Single values that a store keeps by name.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw


def get(connection: apsw.Connection, name: str) -> int:
    """A number by its name, 0 where it was never set."""
    value = connection.execute("select value from meta where name = ?", (name,)).get
    return int(value or 0)


def put(connection: apsw.Connection, name: str, value: int) -> None:
    """Set a number."""
    connection.execute("insert or replace into meta values (?, ?)", (name, value))
