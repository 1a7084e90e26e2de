"""Schema migrations of a store: numbered SQL files.

`0001_first.sql` creates format 1, `0002_...` upgrades 1 to 2, and so on. Each file is one
transaction together with the new number, so a store is never between two formats.

Touches: files.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from recrawl.errors import StoreTooNew, StoreTooOld
from recrawl.store.sqlite.connections import transaction, translate_errors

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    import apsw


def steps_in(folder: Traversable | None = None) -> list[str]:
    """SQL of each migration in order; of our own migrations by default.

    >>> "CREATE TABLE visits" in steps_in()[0]
    True
    """
    if folder is None:
        folder = resources.files("recrawl.store.sqlite") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    numbers = [int(file.name[:4]) for file in files]
    assert numbers == list(range(1, len(files) + 1)), numbers  # noqa: S101 - a slip of ours
    return [file.read_text("utf-8") for file in files]


def upgrade(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Migrate a store to the last format."""
    with translate_errors(path):
        done = format_of(connection)
        _refuse_newer(path, done, len(steps))
        for number, step in enumerate(steps[done:], done + 1):
            with transaction(connection):
                connection.execute(step)
                connection.execute(f"pragma user_version = {number}")


def require_current(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Raise unless a store has the last format; nothing is changed."""
    with translate_errors(path):
        done = format_of(connection)
    _refuse_newer(path, done, len(steps))
    if done < len(steps):
        raise StoreTooOld(
            f"{path}: format {done} is too old to be read (expected {len(steps)}); the next crawl "
            "upgrades it"
        )


def format_of(connection: apsw.Connection) -> int:
    """Format of a store: the number of its last migration."""
    number: int = connection.execute("pragma user_version").get
    return number


def _refuse_newer(path: Path, done: int, known: int) -> None:
    if done > known:
        raise StoreTooNew(
            f"{path}: format {done} is from a newer recrawl (this one reads up to {known})"
        )
