"""Schema migrations of a store: numbered SQL files.

`0001_first.sql` creates format 1, `0002_...` upgrades 1 to 2, and so on. Each file is one
transaction together with the new number, so a store is never between two formats.

A store holds what the migrations made and nothing else. A view, a trigger or a table of somebody
else could take the place of ours, or run when we write; a store that has one is not used.

Touches: files.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import apsw

from recrawl.errors import StoreCorrupt
from recrawl.store.damage import printable
from recrawl.store.migrations import refuse_newer, require_newest, steps_of
from recrawl.store.sqlite.connections import transaction, translate_errors

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

_SCHEMA = "select name, type, sql from sqlite_schema"


def steps_in(folder: Traversable | None = None) -> list[str]:
    """SQL of each migration in order; of our own migrations by default.

    >>> "CREATE TABLE visits" in steps_in()[0]
    True
    """
    if folder is None:
        folder = resources.files("recrawl.store.sqlite") / "migrations"
    return steps_of(folder)


def upgrade(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Migrate a store to the last format."""
    with translate_errors(path):
        done = format_of(connection)
        refuse_newer(str(path), done, len(steps))
        require_own_schema(path, connection, steps[:done])
        for number, step in enumerate(steps[done:], done + 1):
            with transaction(connection):
                connection.execute(step)
                connection.execute(f"pragma user_version = {number}")


def require_current(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Raise unless a store has the last format; nothing is changed."""
    with translate_errors(path):
        done = format_of(connection)
    require_newest(str(path), done, len(steps))
    require_own_schema(path, connection, steps)


def require_own_schema(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Raise unless a store has the tables, indexes and views that these steps make, and no more."""
    with translate_errors(path):
        found = _schema(connection)
    made = _made_by(tuple(steps))
    for name in [*found, *made]:
        if found.get(name) == made.get(name):
            continue
        if name not in found:
            raise StoreCorrupt(f"{path} is damaged (it has lost the {made[name][0]} {name})")
        kind, shown = found[name][0], printable(name)
        raise StoreCorrupt(
            f"{path} has a {kind} that recrawl did not make ({shown}); drop it to go on, and keep "
            "your own in another database that attaches this one"
        )


@cache
def _made_by(steps: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """What a store has that took these steps."""
    connection = apsw.Connection(":memory:")
    try:
        for step in steps:
            connection.execute(step)
        return _schema(connection)
    finally:
        connection.close()


def _schema(connection: apsw.Connection) -> dict[str, tuple[Any, Any]]:
    """Kind and definition of everything that a database has, by its name."""
    return {str(name): (kind, sql) for name, kind, sql in connection.execute(_SCHEMA)}


def format_of(connection: apsw.Connection) -> int:
    """Format of a store: the number of its last migration."""
    number: int = connection.execute("pragma user_version").get
    return number
