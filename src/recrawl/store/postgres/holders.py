"""Who holds a store in PostgreSQL, asked for by others.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.postgres import lock
from recrawl.store.postgres.connections import connect, translate_errors

if TYPE_CHECKING:
    from recrawl.parse.store_addresses import PostgresAddress


def is_locked(address: PostgresAddress) -> bool:
    """Whether a process holds a store."""
    with connect(address) as connection, translate_errors(address):
        return lock.is_held(connection, address)


def reloading_process(address: PostgresAddress) -> int | None:
    """The process of this machine that holds a store and reads its settings again at SIGHUP."""
    with connect(address) as connection, translate_errors(address):
        return lock.reloading_process(connection, address)


def tell_that_it_reloads(address: PostgresAddress) -> None:
    """Note that the process that holds a store, which is this one, reads settings at SIGHUP."""
    with connect(address) as connection, translate_errors(address):
        lock.note_that_it_reloads(connection)
