"""Connections to a PostgreSQL database, and translation of its errors.

A commit survives whatever the server's own settings let it survive. What the server says is shown
in one line and never with a password, which only libpq is told.

Touches: the network.
"""

from __future__ import annotations

import select
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from recrawl.errors import (
    InvalidParameter,
    MissingExtra,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreUnwritable,
)
from recrawl.store.damage import damaged, printable, report_damage

try:
    import psycopg
    from psycopg import errors, sql
    from psycopg.pq import TransactionStatus
    from psycopg.types.numeric import Int8BinaryDumper, IntDumper
except ImportError:
    raise MissingExtra("a store in PostgreSQL", "postgres") from None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.errors import (
        RecrawlError,
    )
    from recrawl.parse.store_addresses import PostgresAddress

_CONNECT_SECONDS = 10
_LOCK_MILLISECONDS = 5000
_PREPARE = """
    select set_config('search_path', $1, false), set_config('lock_timeout', $2, false),
        set_config('jit', 'off', false)
"""

# What each class of SQLSTATE, or a single one, is to us; the first that fits. `{}` is what is said.
_KINDS: tuple[tuple[tuple[type[Exception], ...], type[RecrawlError], str], ...] = (
    ((errors.DiskFull,), StoreFull, "the disk of the server is full"),
    (
        (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure),
        StoreLocked,
        "locked by another process",
    ),
    (
        (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction),
        StoreUnwritable,
        "the server does not allow it ({})",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction),
        StoreCorrupt,
        "damaged ({})",
    ),
    (
        (errors.DataCorrupted, errors.IndexCorrupted, errors.DatatypeMismatch),
        StoreCorrupt,
        "damaged ({})",
    ),
    (
        (psycopg.DataError, psycopg.IntegrityError, errors.ProgramLimitExceeded),
        InvalidParameter,
        "the database rejected a row ({})",
    ),
    ((psycopg.OperationalError,), StoreUnwritable, "the server has failed ({})"),
)


class Cursor(psycopg.RawCursor[Any]):
    """Rows of a statement; `recrawl.store.rows.database.Rows` says what they have."""

    @property
    def get(self) -> Any:  # noqa: ANN401 - whatever a row holds
        """The value of a single row of one column, or the row; None where there is none."""
        rows = self.fetchall()
        if len(rows) != 1:
            return rows or None
        (row,) = rows
        return row[0] if len(row) == 1 else row


def connect(address: PostgresAddress) -> psycopg.Connection[Any]:
    """A connection whose statements find the tables of a store."""
    more: dict[str, Any] = (
        {} if "connect_timeout=" in address.uri else {"connect_timeout": _CONNECT_SECONDS}
    )
    try:
        connection: psycopg.Connection[Any] = psycopg.connect(
            address.uri,
            autocommit=True,
            cursor_factory=Cursor,
            fallback_application_name="recrawl",
            client_encoding="utf8",
            **more,
        )
    except psycopg.ProgrammingError:  # what it says quotes the address, with its password
        raise StoreUnwritable(f"{address.name}: libpq does not take this address") from None
    except psycopg.OperationalError as error:
        message = f"{address.name} cannot be reached ({_said(error)})"
        raise StoreUnwritable(message) from None
    try:
        with translate_errors(address):
            # All whole numbers as bigint, and truth as a number: as the columns have them.
            for kind in (int, bool):
                connection.adapters.register_dumper(kind, _Digits)
                connection.adapters.register_dumper(kind, _Number)
            # A table of ours is never one that somebody has made for this session alone.
            path = sql.Identifier(address.schema).as_string(connection) + ", pg_temp"
            connection.execute(_PREPARE, (path, str(_LOCK_MILLISECONDS)))
    except BaseException:
        connection.close()
        raise
    return connection


def has_left(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server has ended an idle connection, which asks it nothing."""
    if connection.closed:
        return True
    if connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    try:
        readable, _, _ = select.select([connection.fileno()], [], [], 0.0)
        if readable:  # nothing was asked: it can only say farewell
            connection.pgconn.consume_input()
            connection.execute("select 1")
    except psycopg.Error:
        connection.close()
    return connection.closed


class _Digits(IntDumper):  # for COPY
    def dump(self, obj: int) -> Any:  # noqa: ANN401 - bytes of some kind
        return str(int(obj)).encode()


class _Number(Int8BinaryDumper):
    def dump(self, obj: int) -> Any:  # noqa: ANN401 - bytes of some kind
        return super().dump(int(obj))


@contextmanager
def transaction(connection: psycopg.Connection[Any], how: str = "") -> Iterator[None]:
    """Write everything inside or nothing.

    Args:
        connection: To the database.
        how: Characteristics of the transaction.
    """
    connection.execute(f"begin {how}")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        with suppress(psycopg.Error):  # a connection that is lost has rolled back by itself
            connection.execute("rollback")
        raise


@contextmanager
def read_transaction(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Read everything inside from one snapshot of the database."""
    with transaction(connection, "isolation level repeatable read read only"):
        yield


@contextmanager
def translate_errors(address: PostgresAddress) -> Iterator[None]:
    """Raise errors of the server and of the connection as `StoreError` and its kin."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(address.name, error) from None
    except UnicodeDecodeError as error:
        raise damaged(address.name, error) from None


@contextmanager
def translate_read_errors(address: PostgresAddress) -> Iterator[None]:
    """The same, and report values that cannot be decoded as damage."""
    with report_damage(address.name), translate_errors(address):
        yield


def _translated(name: str, error: psycopg.Error) -> RecrawlError:
    for found, kind, sentence in _KINDS:
        if isinstance(error, found):
            said = sentence.format(_said(error))
            is_state = said.startswith(("damaged", "locked"))
            return kind(f"{name} is {said}" if is_state else f"{name}: {said}")
    return StoreError(f"{name}: PostgreSQL failed ({_said(error)})")


def _said(error: psycopg.Error) -> str:
    """The first line of what a server says."""
    text = error.diag.message_primary or str(error)
    return printable(text.strip().partition("\n")[0])
