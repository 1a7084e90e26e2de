"""Detail pages of objects: their rules come and go with the objects that are listed.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.rows.pages import NO_RULE
from recrawl.store.rows.values import number
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.entries.entries import Found
    from recrawl.entries.listings import ListingSynced
    from recrawl.store.rows.database import Database

_LINKED = """
    select distinct page - 1 as number
    from objects join listings on listings.id = objects.listing
    where name = ? and page is not null and objects.key {} order by number
"""
_UNLISTED = """
    select 1 from pages where id = ? + 1 and rule = ?
    and not exists (select 1 from objects where objects.page = pages.id and deleted_at is null)
"""
_STANDS = "select rule, status, listed from pages where id = ? + 1"
_RULE = "update pages set rule = ? where id = ? + 1"


def linked_pages(connection: Database, synced: ListingSynced) -> list[int]:
    """Detail pages of objects that a sync gives another one or has missed, before it is written."""
    keys = [*(synced.details.addresses if synced.details else ()), *synced.deleted]
    rows = connection.execute(
        _LINKED.format(connection.among), (synced.listing, connection.listed(keys))
    )
    return [number(page) for (page,) in rows]


def unlist(connection: Database, pages: Iterable[int], rule: int) -> list[int]:
    """Take the rule of a listing from those pages that no listed object has; returns them."""
    found = [page for page in pages if connection.execute(_UNLISTED, (page, rule)).get]
    connection.executemany(_RULE, ((NO_RULE, page) for page in found))
    return found


def relist(
    connection: Database, found: Found, rules: Sequence[int], taken_out: frozenset[int]
) -> tuple[dict[int, PageStatus], list[int]]:
    """Give pages that were known without a rule the one that they were found with.

    Args:
        connection: To the store.
        found: Receipt of the pages.
        rules: Number of the rule of each.
        taken_out: Pages that a person has taken out: they stay as they are.

    Returns:
        Status of each of these pages, and those that have a copy which readers were told is gone.
    """
    back: dict[int, PageStatus] = {}
    told: list[int] = []
    for page, rule in zip(found.pages, rules, strict=True):
        if page >= found.known or page in taken_out or page in back:
            continue
        known, status, listed = connection.execute(_STANDS, (page,)).get
        if known == NO_RULE:
            connection.execute(_RULE, (rule, page))
            back[page] = PageStatus(status)
            if status == PageStatus.COPIED and not listed:
                told.append(page)
    return back, told


def listed_of(connection: Database, pages: Iterable[int]) -> list[bool]:
    """Whether readers of the change feed have a copy of each page."""
    return [bool(connection.execute(_STANDS, (page,)).get[2]) for page in pages]
