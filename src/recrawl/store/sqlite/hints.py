"""Hints that are written by anybody, also while a crawl holds the store.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.rows import hints
from recrawl.store.sqlite import schema
from recrawl.store.sqlite.connections import (
    connect,
    connect_to_read,
    prepare_to_write,
    transaction,
    translate_errors,
)
from recrawl.store.sqlite.database import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def add_hints(path: Path, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints to a store that somebody else may be writing to.

    Args:
        path: File of the store.
        addresses: Canonical addresses.
        at_seconds: When, in epoch seconds.
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
                hints.add_hints(SqliteDatabase(connection), str(path), addresses, at_seconds)
    finally:
        connection.close()
