"""Schema migrations of a store in PostgreSQL: numbered SQL files, as for SQLite.

Each file is one transaction together with the new number. Whoever migrates holds a lock, so that
several processes may start at once: one of them migrates, the others find it done.

Touches: the network.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from psycopg import sql

from recrawl.errors import NotAStore, StoreCorrupt, StoreError, StoreMissing
from recrawl.store import APPLICATION
from recrawl.store.migrations import refuse_newer, require_newest, steps_of
from recrawl.store.postgres.connections import transaction, translate_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from recrawl.parse.store_addresses import PostgresAddress

_LOCK = "select pg_advisory_xact_lock($1::integer, hashtext($2))"
_TABLES = """
    select relname, relkind from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = $1) and relkind in ('r', 'v')
"""
_MADE = re.compile(r"^CREATE (TABLE|VIEW) (\w+)", re.MULTILINE)
_DROPPED = re.compile(r"^DROP (?:TABLE|VIEW) (\w+)", re.MULTILINE)
_KINDS = {"TABLE": "r", "VIEW": "v"}
_FORMAT = "select value from meta where name = 'format'"
_PUT_FORMAT = """
    insert into meta (name, value) values ('format', $1)
    on conflict (name) do update set value = excluded.value
"""


@cache
def steps_in() -> tuple[str, ...]:
    """SQL of each migration in order."""
    return tuple(steps_of(resources.files("recrawl.store.postgres") / "migrations"))


@cache
def _made() -> dict[str, str]:
    """Tables and views that the migrations make and leave, with their kinds."""
    made: dict[str, str] = {}
    for step in steps_in():
        for name in _DROPPED.findall(step):
            del made[name]
        made |= {name: kind for kind, name in _MADE.findall(step)}
    return made


def exists(connection: psycopg.Connection[Any], address: PostgresAddress) -> bool:
    """Whether there is a store, or anything else in its schema."""
    with translate_errors(address):
        return connection.execute(_TABLES + " limit 1", (address.schema,)).fetchone() is not None


def create(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """Make an empty store, whole or not at all.

    Raises:
        StoreError: There is one.
    """
    with translate_errors(address), _migrating(connection, address):
        if exists(connection, address):
            raise StoreError(f"{address.name} already exists")
        known = "select 1 from pg_namespace where nspname = $1"
        if connection.execute(known, (address.schema,)).fetchone() is None:
            name = sql.Identifier(address.schema)
            connection.execute(sql.SQL("create schema {}").format(name))
        _migrate(connection, 0, steps_in())


def upgrade(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """Migrate a store to the last format."""
    steps = steps_in()
    with translate_errors(address), _migrating(connection, address):
        done, _ = _format_of(connection, address)
        refuse_newer(address.name, done, len(steps))
        _migrate(connection, done, steps)
        _, lost = tables_of(connection, address.schema)
        _refuse_lost(address, lost)


def require_current(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """Raise unless a store has the last format; nothing is changed."""
    with translate_errors(address):
        done, lost = _format_of(connection, address)
        require_newest(address.name, done, len(steps_in()))
        _refuse_lost(address, lost)


def drop(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """Delete a store, and whatever else is in its schema."""
    with translate_errors(address), _migrating(connection, address):
        name = sql.Identifier(address.schema)
        connection.execute(sql.SQL("drop schema if exists {} cascade").format(name))


def tables_of(
    connection: psycopg.Connection[Any], schema: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Tables and views of a store, and those that it should have and has not, with their kinds."""
    found = {str(name): str(kind) for name, kind in connection.execute(_TABLES, (schema,))}
    lost = {name: kind.lower() for name, kind in _made().items() if found.get(name) != _KINDS[kind]}
    return found, lost


@contextmanager
def _migrating(connection: psycopg.Connection[Any], address: PostgresAddress) -> Iterator[None]:
    with transaction(connection):
        connection.execute(_LOCK, (APPLICATION + 1, address.schema))
        yield


def _migrate(connection: psycopg.Connection[Any], done: int, steps: tuple[str, ...]) -> None:
    for number, step in enumerate(steps[done:], done + 1):
        connection.execute(step.encode())
        connection.execute(_PUT_FORMAT, (str(number),))


def _format_of(
    connection: psycopg.Connection[Any], address: PostgresAddress
) -> tuple[int, dict[str, str]]:
    """Format of a store, and what it has lost for the last one."""
    found, lost = tables_of(connection, address.schema)
    if not found:
        raise StoreMissing(
            f"{address.name} not found (the schema {address.schema} is not there, or is empty); "
            "`recrawl init` creates a store"
        )
    row = connection.execute(_FORMAT).fetchone() if found.get("meta") == "r" else None
    if row is None or not str(row[0]).isdecimal():
        raise NotAStore(f"{address.name} is not a recrawl store (somebody else's tables)")
    return int(row[0]), lost


def _refuse_lost(address: PostgresAddress, lost: dict[str, str]) -> None:
    for name, kind in lost.items():
        raise StoreCorrupt(f"{address.name} is damaged (it has lost the {kind} {name})")
