"""Tables of duplicates, shapes of addresses, and addresses that were not taken in.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.distinct import DistinctCount
from recrawl.entries.filtering import DuplicateOf, RefusedAddresses, ShapeJudged
from recrawl.store.rows.database import upsert
from recrawl.store.rows.hosts import host_ids, some_of
from recrawl.store.rows.values import exactly, number
from recrawl.visits.status import DuplicateSign, PageStatus, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.filtering import AddressesRefused
    from recrawl.store.rows.database import Database

DUPLICATE = upsert("duplicates", "page, original, sign", "page")
# A row stays when its page is a page of its own again: the status of the page decides.
_DUPLICATES = """
    select page - 1, original - 1, sign from duplicates join pages on pages.id = page
    where pages.status = ? and original in (select id from pages)
"""
_SHAPE = upsert("address_shapes", "host, shape, judged, barren", "host, shape")
_REFUSED = upsert(
    "refused_addresses",
    "host, reason, detail, addresses, sketch, example",
    "host, reason, detail",
)
# Bounds on what a host may fill the store with, beyond which the rest counts as one.
_MOST_ROWS, _REST = 500, ""


def put_refused(connection: Database, entry: AddressesRefused) -> None:
    """Count addresses that were not taken in; each once, however often it is found."""
    host = host_ids(connection, [entry.host])[entry.host]
    of_reason = "from refused_addresses where host = ? and reason = ?"
    look = f"select sketch, example {of_reason} and detail = ?"
    rows = f"select count(*) {of_reason}"
    for each in entry.refused:
        key = (host, int(each.reason), each.detail)
        found = connection.execute(look, key).fetchone()
        if found is None and number(connection.execute(rows, key[:2]).get) >= _MOST_ROWS:
            key = (*key[:2], _REST)
            found = connection.execute(look, key).fetchone()
        count, example = DistinctCount.read(each.sketch), each.example
        if found is not None:
            count.join(DistinctCount.read(exactly(bytes, found[0])))
            example = exactly(str, found[1])
        connection.execute(_REFUSED, (*key, int(count), count.dump(), example))


def put_shape(connection: Database, entry: ShapeJudged) -> None:
    """Store what is known of a shape."""
    host = host_ids(connection, [entry.host])[entry.host]
    connection.execute(_SHAPE, (host, entry.shape, entry.judged, entry.barren))


def refused_addresses(connection: Database) -> list[tuple[str, RefusedAddresses]]:
    """Addresses that were not taken in, with their hosts, most first."""
    query = """
        select name, reason, detail, sketch, example, addresses
        from refused_addresses join hosts on hosts.id = host
        order by addresses desc, name, reason, detail
    """
    return [
        (
            exactly(str, name),
            RefusedAddresses(
                Refusal(reason),
                exactly(str, detail),
                exactly(bytes, sketch),
                exactly(str, example),
                number(addresses),
            ),
        )
        for name, reason, detail, sketch, example, addresses in connection.execute(query)
    ]


def address_shapes(connection: Database, hosts: Ints | None = None) -> list[ShapeJudged]:
    """What is known of all shapes of addresses, or of those at some hosts."""
    where, values = some_of(connection, "host", hosts)
    query = f"""
        select name, shape, judged, barren from address_shapes join hosts on hosts.id = host
        {where} order by host, shape
    """  # noqa: S608 - our own names
    return [
        ShapeJudged(exactly(str, name), exactly(str, shape), number(judged), number(barren))
        for name, shape, judged, barren in connection.execute(query, values)
    ]


def duplicates(connection: Database) -> dict[int, DuplicateOf]:
    """Which page each duplicate is a copy of, by its number."""
    rows = connection.execute(_DUPLICATES + " order by page", (int(PageStatus.DUPLICATE),))
    return {
        number(page): DuplicateOf(number(original), DuplicateSign(sign))
        for page, original, sign in rows
    }


def duplicates_of(connection: Database, page: int, most: int) -> list[int]:
    """Pages that are copies of a page, at most so many, ascending."""
    query = _DUPLICATES + " and original = ? + 1 order by page limit ?"
    rows = connection.execute(query, (int(PageStatus.DUPLICATE), page, most))
    return [number(found) for found, _, _ in rows]


def signatures(connection: Database) -> tuple[Ints, Ints]:
    """Pages that have a copy, ascending, and the signature of its text, or else of its bytes."""
    query = "select page - 1, coalesce(text_signature, bytes_signature) from copies order by page"
    rows = connection.execute(query).fetchall()
    pages = np.array([number(page) for page, _ in rows], np.int64)
    data = b"".join(exactly(bytes, each)[:8].ljust(8, b"\0") for _, each in rows)
    return pages, np.frombuffer(data, "<i8").astype(np.int64)


def forget(connection: Database, page: int, address: str) -> None:
    """Forget what would name an erased page."""
    connection.execute("delete from duplicates where page = ?1 + 1 or original = ?1 + 1", (page,))
    connection.execute("delete from refused_addresses where example = ?", (address,))


def waiting_pages(connection: Database, host: int) -> Sequence[tuple[int, str]]:
    """Pages of a host that links led to and that were not visited yet, with their addresses."""
    query = """
        select id - 1, address from pages
        where status = ? and host = ? + 1 and depth > 0 order by id
    """
    return [
        (number(page), exactly(str, address))
        for page, address in connection.execute(query, (int(PageStatus.NEW), host))
    ]
