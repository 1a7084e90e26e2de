"""Pages that are taken out of a store, and the tombstones that stay.

A page that was removed keeps all that is known of it. Of an erased one its number, its host and its
visits stay (times, outcomes and sizes, nothing of its content), and a keyed hash of its address, so
that it is known when it is found again. Neither has a rule, so neither is visited. A page that was
forgotten is erased, and nothing leads to it: found again, it is a new page.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.entries import Erased
from recrawl.entries.records import Tombstone
from recrawl.store.rows import details, filtering, manifests, meta, sources, subscriptions, versions
from recrawl.store.rows.database import upsert
from recrawl.store.rows.pages import NO_RULE, address_of, erased_name, key_of
from recrawl.store.rows.values import instant
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_GONE = "update pages set status = ?, rule = ?, failures = 0, next_at = null where id = ? + 1"
_TOMBSTONE = upsert("tombstones", "page, at, visit", "page")
_TO_WIPE = "deleted_to_wipe"


def remove(connection: Database, page: int, at: int, visit: int) -> bool:
    """Mark a page as removed; False where it is, or is erased.

    Args:
        connection: To the store.
        page: The page.
        at: When, in epoch milliseconds.
        visit: Number of the last visit.
    """
    if _status(connection, page) in (PageStatus.REMOVED, PageStatus.ERASED):
        return False
    connection.execute(_GONE, (PageStatus.REMOVED, NO_RULE, page))
    connection.execute(_TOMBSTONE, (page + 1, at, visit))
    return True


def erase(
    connection: Database, page: int, at: int, visit: int, seed: int, *, forgotten: bool
) -> Erased:
    """Delete what is known of a page; nothing is left to delete where it is erased already.

    Args:
        connection: To the store.
        page: The page.
        at: When, in epoch milliseconds.
        visit: Number of the last visit.
        seed: Of the keys of addresses.
        forgotten: Whether it is a new page when it is found again.
    """
    if _status(connection, page) == PageStatus.ERASED:
        return Erased()
    found = versions.drop(connection, page)
    manifests.drop(connection, page)
    for table in ("copies", "masks"):
        connection.execute(f"delete from {table} where page = ? + 1", (page,))  # noqa: S608 - ours
    # What the pages of a host have in common may be a line of this one.
    connection.execute(
        "delete from host_masks where host = (select host from pages where id = ? + 1)", (page,)
    )
    connection.execute(_GONE, (PageStatus.ERASED, NO_RULE, page))
    address = address_of(connection, page)
    connection.execute("delete from moves where page = ? + 1 or target = ?", (page, address))
    connection.execute("delete from hints where address = ?", (address,))
    details.give(connection, {address: page})
    sources.drop(connection, [address])
    subscriptions.drop(connection, [address])
    filtering.forget(connection, page, address)
    # No address has a blank in it, so none leads to the name of a page that is forgotten.
    name = erased_name(f"{page} {address}" if forgotten else address, seed)
    named = (
        "update pages set address = ?, key = ?, version = null, manifest = null where id = ? + 1"
    )
    connection.execute(named, (name, key_of(name, seed), page))
    connection.execute(_TOMBSTONE, (page + 1, at, visit))
    meta.put(connection, _TO_WIPE, 1)
    return found


def bring_back(connection: Database, page: int, address: str, rule: int, seed: int) -> None:
    """Let a page that was removed or erased be one of the crawl's again; any other stays as it is.

    Args:
        connection: To the store.
        page: The page.
        address: Its address.
        rule: Number of its rule.
        seed: Of the keys of addresses.
    """
    if not connection.execute("select 1 from tombstones where page = ? + 1", (page,)).get:
        return
    copied = connection.execute("select 1 from copies where page = ? + 1", (page,)).get
    values = (address, key_of(address, seed), rule)
    status = PageStatus.COPIED if copied else PageStatus.NEW
    connection.execute(
        "update pages set address = ?, key = ?, rule = ?, status = ? where id = ? + 1",
        (*values, status, page),
    )
    connection.execute("delete from tombstones where page = ? + 1", (page,))


def tombstones(connection: Database, after: int = 0) -> list[Tombstone]:
    """Pages that were removed or erased after a visit, in the order in which that was done."""
    query = """
        select tombstones.page - 1, pages.status, tombstones.at, visit
        from tombstones join pages on pages.id = tombstones.page
        where visit >= ? order by visit, at, tombstones.page
    """
    rows = connection.execute(query, (after,))
    return [
        Tombstone(page, PageStatus(status), instant(at), visit) for page, status, at, visit in rows
    ]


def is_to_wipe(connection: Database) -> bool:
    """Whether something was erased whose bytes may still be on disk."""
    return meta.get(connection, _TO_WIPE) > 0


def wiped(connection: Database) -> None:
    """Note that nothing of it is."""
    meta.put(connection, _TO_WIPE, 0)


def _status(connection: Database, page: int) -> int:
    return int(connection.execute("select status from pages where id = ? + 1", (page,)).get)
