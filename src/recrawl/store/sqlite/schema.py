"""A store's tables, brought up to date by numbered files of SQL.

`0001_first.sql` leads from nothing to format 1, `0002_...` from 1 to 2, and so on. Each file is
one transaction together with the new number, so a store never stands between two formats.

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
    """SQL of each step in order; our own where no folder is named.

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
    """Bring the store up to the last of the steps."""
    with translate_errors(path):
        done = format_of(connection)
        _refuse_newer(path, done, len(steps))
        for number, step in enumerate(steps[done:], done + 1):
            with transaction(connection):
                connection.execute(step)
                connection.execute(f"pragma user_version = {number}")


def require_current(path: Path, connection: apsw.Connection, steps: list[str]) -> None:
    """Refuse a store that is not of the last step's format, without touching it."""
    with translate_errors(path):
        done = format_of(connection)
    _refuse_newer(path, done, len(steps))
    if done < len(steps):
        message = (
            f"{path}: must be in format {len(steps)} to be read (got {done}: the next crawl "
            "brings it up to date)"
        )
        raise StoreTooOld(message)


def format_of(connection: apsw.Connection) -> int:
    """Number of the last step that the store has seen."""
    number: int = connection.execute("pragma user_version").get
    return number


def _refuse_newer(path: Path, done: int, known: int) -> None:
    if done > known:
        message = (
            f"{path}: must be in format {known} or older (got {done}: a newer recrawl wrote it)"
        )
        raise StoreTooNew(message)
