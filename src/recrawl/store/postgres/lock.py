"""Who writes to a store: one process, by a lock of the server that ends with its connection.

The table `writers` says which process that is, and has a number that rises with each. A process
whose connection was lost, and whose lock another one has taken since, finds a later number there
and writes nothing.

Touches: the network, the clock.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from recrawl.errors import StoreLocked
from recrawl.store import APPLICATION

if TYPE_CHECKING:
    from recrawl.parse.store_addresses import PostgresAddress
    from recrawl.store.postgres.database import PostgresDatabase

# The server takes a moment to notice that a process was killed.
_PATIENCE_SECONDS, _LOOK_SECONDS = 1.0, 0.05
_TRY = "select pg_try_advisory_lock($1::integer, $2::regnamespace::oid::integer)"
_SHARE = "select pg_try_advisory_lock_shared($1::integer, $2::regnamespace::oid::integer)"
_BRIEF = """
    select set_config('idle_in_transaction_session_timeout', $1, false),
        set_config('lock_timeout', $2, false)
"""
_HELD = """
    select 1 from pg_locks
    where locktype = 'advisory' and granted and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())
        and classid = $1::bigint::oid and objid = $2::regnamespace::oid
"""
_TAKE = """
    update writers set fence = fence + 1, process = ?, host = ?, reloads = false
    where slot = 0 returning fence
"""
_BEGIN = "update writers set commits = commits + 1 where slot = 0 and fence = ? returning commits"
_WORKERS = "select count(*) from workers where until > clock_timestamp()"
_HOLDER = "select process, host, reloads from writers where slot = 0"


def take(database: PostgresDatabase, address: PostgresAddress) -> int:
    """Take the lock of a store, and return the number of whoever has it from now on.

    Raises:
        StoreLocked: Another process has it.
    """
    connection = database.connection
    last = time.monotonic() + _PATIENCE_SECONDS
    while not _try(connection, address):
        if time.monotonic() > last:
            raise held_by_another(connection, address)
        time.sleep(_LOOK_SECONDS)
    return int(database.execute(_TAKE, (os.getpid(), socket.gethostname())).get)


def share(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """Take the lock of a store together with other workers, each of whom writes to its slots.

    Raises:
        StoreLocked: A process has it for itself.
    """
    last = time.monotonic() + _PATIENCE_SECONDS
    while True:
        (taken,) = connection.execute(_SHARE, (APPLICATION, address.schema)).fetchone() or (False,)
        if taken:
            return
        if time.monotonic() > last:
            raise held_by_another(connection, address)
        time.sleep(_LOOK_SECONDS)


def be_brief(connection: psycopg.Connection[Any], lease_seconds: float) -> None:
    """Let the server end a transaction in which nothing happens: a worker that was paused.

    Others wait for it meanwhile, so they have more patience than it has time.

    Args:
        connection: Of a worker.
        lease_seconds: How long its lease lasts.
    """
    patience = round(1000 * lease_seconds)
    connection.execute(_BRIEF, (str(patience // 3), str(patience)))


def _try(connection: psycopg.Connection[Any], address: PostgresAddress) -> bool:
    (taken,) = connection.execute(_TRY, (APPLICATION, address.schema)).fetchone() or (False,)
    return bool(taken)


def release(connection: psycopg.Connection[Any]) -> None:
    """Release the lock at once, where the connection is alive; else the server soon does."""
    if not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE:
        with suppress(psycopg.Error):
            connection.execute("select pg_advisory_unlock_all()")


def require(database: PostgresDatabase, address: PostgresAddress, fence: int) -> None:
    """Raise if another process has taken the lock since; others wait for this transaction."""
    if database.execute(_BEGIN, (fence,)).get is None:
        raise held_by_another(database.connection, address)


def held_by_another(connection: psycopg.Connection[Any], address: PostgresAddress) -> StoreLocked:
    """Error that names the process that has a store, or says that workers share it."""
    (workers,) = connection.execute(_WORKERS).fetchone() or (0,)
    if workers:
        named = f"{workers} worker{'' if workers == 1 else 's'}"
        return StoreLocked(f"{address.name} is in use by {named}; stop them first")
    process, host, _ = connection.execute(_HOLDER).fetchone() or (None, None, False)
    where = "" if host in (None, socket.gethostname()) else f" on {host}"
    who = "unknown" if process is None else process
    return StoreLocked(f"{address.name} is in use by another crawl (process {who}{where})")


def is_held(connection: psycopg.Connection[Any], address: PostgresAddress) -> bool:
    """Whether a process has a store."""
    found = connection.execute(_HELD, (APPLICATION, address.schema)).fetchone()
    return found is not None


def note_that_it_reloads(connection: psycopg.Connection[Any]) -> None:
    """Note that the process that has the lock reads settings again at SIGHUP."""
    connection.execute("update writers set reloads = true where slot = 0")


def reloading_process(connection: psycopg.Connection[Any], address: PostgresAddress) -> int | None:
    """The process of this machine that has a store and reads settings again; None for none."""
    if not is_held(connection, address):
        return None
    process, host, reloads = connection.execute(_HOLDER).fetchone() or (None, None, False)
    return int(process) if reloads and process and host == socket.gethostname() else None
