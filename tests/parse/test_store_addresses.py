"""Addresses of stores in PostgreSQL, and what is told of them."""

from __future__ import annotations

import logging

import pytest

from recrawl.errors import NotAStore, RecrawlError, StoreUnwritable
from recrawl.parse.store_addresses import read_address
from recrawl.store import create_store, file_of, is_store, open_store

_SECRET = "hunter2hunter2"  # noqa: S105 - made up


@pytest.mark.parametrize(
    ("address", "name", "schema", "uri"),
    [
        (
            "postgresql://db.org/pages",
            "postgresql://db.org/pages",
            "recrawl",
            "postgresql://db.org/pages",
        ),
        (
            "postgres://me:x%40y@db.org:5433/pages?schema=a_1",
            "postgresql://me@db.org:5433/pages?schema=a_1",
            "a_1",
            "postgresql://me:x%40y@db.org:5433/pages",
        ),
        (
            "postgresql:///pages?host=/run/pg&password=x&schema=s",
            "postgresql:///pages?host=/run/pg&schema=s",
            "s",
            "postgresql:///pages?host=/run/pg&password=x",
        ),
        (
            "postgresql://me:x@[::1]:5432,db.org/pages",
            "postgresql://me@[::1]:5432,db.org/pages",
            "recrawl",
            "postgresql://me:x@[::1]:5432,db.org/pages",
        ),
    ],
)
def test_an_address_names_a_schema_and_hides_its_password(address, name, schema, uri):
    found = read_address(address)
    assert (found.name, found.schema, found.uri) == (name, schema, uri)


@pytest.mark.parametrize("schema", ["Pages", "a-b", "pg_a", 'a"; drop schema b; --', "", "a" * 64])
def test_a_schema_has_a_plain_name(schema):
    with pytest.raises(NotAStore, match="lower-case"):
        read_address(f"postgresql://me:{_SECRET}@db.org/pages?schema={schema}")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:{}@/nowhere?host=/nowhere",
        "postgresql:///nowhere?host=/nowhere&user=me&password={}",
        "postgresql://me:{}@/nowhere?host=/nowhere&nonsense=1",
        "postgresql://me:{}@[::1/nowhere",
        "postgresql://me:{}@/nowhere?host=/nowhere#there",
        "postgresql://me:{}@/nowhere?host=/nowhere&port=one",
        "postgresql://me:{}@/nowhere?host",
    ],
)
def test_no_error_has_a_password_in_it(address, caplog):
    pytest.importorskip("psycopg")
    caplog.set_level(logging.DEBUG)
    for attempt in (open_store, create_store):
        with pytest.raises(RecrawlError) as raised:
            attempt(address.format(_SECRET))
        chain: BaseException | None = raised.value
        seen = []
        while chain is not None:
            seen.append(f"{chain!r} {chain}")
            chain = chain.__cause__
        assert "\n" not in str(raised.value)
        assert _SECRET not in " ".join(seen) + caplog.text


def test_a_server_that_is_not_there_is_one_sentence():
    pytest.importorskip("psycopg")
    with pytest.raises(StoreUnwritable) as raised:
        open_store("postgresql:///pages?host=/nowhere")
    assert str(raised.value).startswith("postgresql:///pages?host=/nowhere cannot be reached (")


def test_an_address_is_a_store_without_being_asked():
    assert is_store("postgresql:///pages?host=/nowhere")
    with pytest.raises(NotAStore, match=r"^mysql://\.\.\.: unknown kind of store"):
        file_of(f"mysql://me:{_SECRET}@db.org/pages")
