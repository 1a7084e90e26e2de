"""Single values that a store keeps by name.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import StoreError
from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import exactly, number

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_PUT = upsert("meta", "name, value", "name")
# Names of numbers; all others are of texts.
_NUMBERS = frozenset(
    (
        *("checkpoint", "checkpoint_visit", "deleted_to_wipe", "latest_visits_saved"),
        *("latest_visits_checksum", "seed"),
    )
)
_MOVING = "moving"
_MOST = (1 << 63) - 1


def is_number(name: str) -> bool:
    """Whether a name is that of a number; what belongs to a slot has its number after an @."""
    return name.partition("@")[0] in _NUMBERS


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
    assert isinstance(value, int) == is_number(name), name  # noqa: S101 - a slip of ours
    connection.execute(_PUT, (name, connection.named(value)))


def moved_from(connection: Database) -> str:
    """Name of the change feed of the store that is being moved here; empty where none is."""
    return get_text(connection, _MOVING)


def begin_move(connection: Database, feed: str) -> None:
    """Note that a store is being moved here, so that nobody uses it before all of it is."""
    put(connection, _MOVING, feed)


def end_move(connection: Database) -> None:
    """Note that all of it is here."""
    connection.execute("delete from meta where name = ?", (_MOVING,))


def refuse_half_moved(connection: Database, name: str) -> None:
    """Raise for a store of which only a part is here."""
    if moved_from(connection):
        raise StoreError(
            f"{name} holds only a part of a store; run the same `recrawl move` again to complete it"
        )
