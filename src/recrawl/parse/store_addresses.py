"""Addresses of stores in PostgreSQL: a connection URI as libpq has it, and the name of a schema.

    postgresql://crawler@db.example.org/pages              schema `recrawl` of the database `pages`
    postgresql://crawler@db.example.org/pages?schema=news  another one
    postgresql:///pages?host=/run/postgresql               by a local socket

A store is a schema of its own. Everything else in the address, but the password, is as libpq
takes it; what is left out comes from its environment (`PGHOST`, `PGPASSWORD`, `~/.pgpass`).

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from recrawl.errors import NotAStore

SCHEMES = ("postgresql", "postgres")
EXPECTED = "expected postgresql://user@host:port/database?schema=name"
_SCHEMA = "recrawl"  # where an address names none
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a store is.

    Args:
        name: The address without its password, for messages.
        schema: Schema of the store.
        uri: What libpq is given.
        has_password: Whether a password is in it.
    """

    name: str
    schema: str
    uri: str = field(repr=False)
    has_password: bool = field(repr=False)


def is_postgres(address: str) -> bool:
    """Whether an address is that of a store in PostgreSQL.

    >>> is_postgres("postgresql://a/b"), is_postgres("postgresql.db"), is_postgres("sqlite:///a")
    (True, False, False)
    """
    scheme, colon, _ = address.partition("://")
    return bool(colon) and scheme.lower() in SCHEMES


def read_address(address: str) -> PostgresAddress:
    """Read an address.

    Raises:
        NotAStore: It is none.

    Examples:
        >>> found = read_address("postgresql://me:secret@db.org/pages?schema=news&sslmode=require")
        >>> found
        PostgresAddress(name='postgresql://me@db.org/pages?schema=news&sslmode=require',
            schema='news')
        >>> found.uri
        'postgresql://me:secret@db.org/pages?sslmode=require'
        >>> read_address("postgresql://me@db.org/pages?password=x").name
        'postgresql://me@db.org/pages'
    """
    try:
        parts = urlsplit(address)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:  # its text may hold a password
        raise NotAStore(f"not an address of a PostgreSQL store; {EXPECTED}") from None
    schemas = [value for name, value in options if name == "schema"]
    schema = schemas[-1] if schemas else _SCHEMA
    login, at, hosts = parts.netloc.rpartition("@")
    user = unquote(login.partition(":")[0])
    shown_login = quote(user, safe="") + at if user else ""
    kept = [(name, value) for name, value in options if name != "schema"]
    shown = [(name, value) for name, value in options if name not in _SECRETS]
    name = _joined(shown_login + hosts, parts.path, shown)
    if parts.fragment or not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise NotAStore(
            f"{name}: the schema must be lower-case letters, digits and _ (got {schema!r})"
            if not parts.fragment
            else f"{name}: an address of a PostgreSQL store has no #; {EXPECTED}"
        )
    uri = _joined(login + at + hosts, parts.path, kept)
    return PostgresAddress(name, schema, uri, ":" in login or len(shown) < len(options))


def _joined(netloc: str, path: str, options: list[tuple[str, str]]) -> str:
    query = f"?{urlencode(options, safe='/', quote_via=quote)}" if options else ""
    return f"postgresql://{netloc}{path}{query}"
