"""Connections of readers that were closed, kept for the next reader of the same store.

A dashboard opens and closes a store for each request, and a new connection costs the server a
process. A connection is used by one reader at a time, and by the process that opened it.

Touches: the network, threads.
"""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from recrawl.parse.store_addresses import PostgresAddress

_MOST = 4  # of one store
_lock = threading.Lock()
_kept: dict[tuple[int, str, str], list[psycopg.Connection[Any]]] = {}


def take(address: PostgresAddress) -> psycopg.Connection[Any] | None:
    """A connection to a store that is still alive; None where there is none."""
    while True:
        with _lock:
            kept = _kept.get(_key(address))
            connection = kept.pop() if kept else None
        if connection is None:
            return None
        with suppress(psycopg.Error):
            connection.execute("select 1")
            return connection
        connection.close()


def give(address: PostgresAddress, connection: psycopg.Connection[Any]) -> None:
    """Keep a connection, or close it."""
    if connection.closed:
        return
    if connection.info.transaction_status == TransactionStatus.IDLE:
        with _lock:
            kept = _kept.setdefault(_key(address), [])
            if len(kept) < _MOST:
                kept.append(connection)
                return
    connection.close()


def close(address: PostgresAddress) -> None:
    """Close those to a store."""
    with _lock:
        kept = _kept.pop(_key(address), [])
    for connection in kept:
        connection.close()


@atexit.register
def _close_all() -> None:
    for (process, _, _), kept in _kept.items():
        for connection in kept if process == os.getpid() else ():
            connection.close()


def _key(address: PostgresAddress) -> tuple[int, str, str]:
    return os.getpid(), address.uri, address.schema
