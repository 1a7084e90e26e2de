"""Detail pages of objects: their rules come and go with the objects that are listed.

Only the slot that a page lies in adds it, or changes its rule. Where that is another one than the
listing's, the sync hands the address over, in its own transaction, and the slot of the page takes
it later: it adds the page, gives it to the objects that wait for it and to what happened to them
meanwhile, and looks by what is listed then whether the page has a rule.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.store.rows.pages import NO_RULE, address_of, find_pages
from recrawl.store.rows.values import exactly, number
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from recrawl.entries.entries import DetailPages, Found
    from recrawl.entries.listings import ListingSynced
    from recrawl.store.rows.database import Database

_LINKED = """
    select distinct page - 1 as number
    from objects join listings on listings.id = objects.listing
    where name = ? and page is not null and objects.key {} order by number
"""
_LISTED = "exists (select 1 from objects where objects.page = pages.id and deleted_at is null)"
_UNLISTED = f"select rule from pages where id = ? + 1 and not {_LISTED}"  # noqa: S608 - ours
_WITHOUT_RULE = f"select 1 from pages where id = ? + 1 and rule = {NO_RULE} and {_LISTED}"  # noqa: S608 - ours
_STANDS = "select rule, status, listed from pages where id = ? + 1"
_OBJECTS = """
    select objects.key, objects.id from objects join listings on listings.id = objects.listing
    where name = ? and objects.key {} order by objects.id
"""
_END = """
    update handed_details set until = ? where until is null and object in (
        select objects.id from objects join listings on listings.id = objects.listing
        where name = ? and objects.key {}
    )
"""
_HANDED = """
    select handed_details.id, name, address from handed_details
    join listings on listings.id = handed_details.listing
    where handed_details.id > ? order by handed_details.id limit ?
"""
_WAITING = (
    "select object, after, until from handed_details where address = ? and object is not null"
)
_GIVE = "update objects set page = ? + 1 where id = ?"
_GIVE_EVENTS = """
    update events set page = ? + 1
    where object = ? and id > ? and id <= coalesce(?, (select max(id) from events))
"""
_RULE = "update pages set rule = ? where id = ? + 1"


def linked_pages(connection: Database, synced: ListingSynced) -> list[int]:
    """Detail pages of objects that a sync gives another one or has missed, before it is written."""
    keys = [*(synced.details.addresses if synced.details else ()), *synced.deleted]
    rows = connection.execute(
        _LINKED.format(connection.among), (synced.listing, connection.listed(keys))
    )
    return [number(page) for (page,) in rows]


def unlist(connection: Database, pages: Iterable[int], rules: Collection[int]) -> list[int]:
    """Take the rules of listings from those pages that no listed object has; returns them."""
    found = _unlisted(connection, pages, rules)
    connection.executemany(_RULE, ((NO_RULE, page) for page in found))
    return found


def _unlisted(connection: Database, pages: Iterable[int], rules: Collection[int]) -> list[int]:
    return [page for page in pages if connection.execute(_UNLISTED, (page,)).get in rules]


def relist(
    connection: Database, found: Found, rules: Sequence[int], taken_out: frozenset[int]
) -> tuple[dict[int, PageStatus], list[int]]:
    """Give pages of listed objects that were known without a rule the one they were found with.

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
        if page >= found.known or page in taken_out or page in back or rule == NO_RULE:
            continue
        known, status, listed = connection.execute(_STANDS, (page,)).get
        if known == NO_RULE and connection.execute(_WITHOUT_RULE, (page,)).get:
            connection.execute(_RULE, (rule, page))
            back[page] = PageStatus(status)
            if status == PageStatus.COPIED and not listed:
                told.append(page)
    return back, told


def listed_of(connection: Database, pages: Iterable[int]) -> list[bool]:
    """Whether readers of the change feed have a copy of each page."""
    return [bool(connection.execute(_STANDS, (page,)).get[2]) for page in pages]


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What a sync leaves to other slots.

    Args:
        details: Its detail pages.
        linked: Page of each of its objects that has another one, by key; None where it has none, or
            one that is not known yet.
        left: Pages of other slots that some of its objects had.
        taken_out: Pages that a person has taken out: they stay as they are.
    """

    details: DetailPages
    linked: Mapping[str, int | None]
    left: Sequence[int]
    taken_out: frozenset[int]

    def unknown(self) -> dict[str, str]:
        """Address of each page that is not known yet, by the key of its object."""
        named = self.details.addresses.items()
        return {key: address for key, address in named if address and self.linked[key] is None}

    def known(self) -> list[int]:
        """Pages of other slots that objects have from now on."""
        own, named = set(self.details.found.addresses), self.details.addresses.items()
        pages = {self.linked[key] for key, address in named if address not in own}
        return [page for page in pages if page is not None and page not in self.taken_out]


def known_elsewhere(connection: Database, details: DetailPages, seed: int) -> dict[str, int]:
    """Numbers of those detail pages that lie in other slots and are known there, by address."""
    others = set(details.addresses.values()) - {"", *details.found.addresses}
    return find_pages(connection, list(others), seed) if others else {}


def hand_over(connection: Database, listing: str, handed: HandedOver, last: int) -> None:
    """Leave to other slots what is theirs of a sync that was just written.

    Args:
        connection: To the store.
        listing: Name of the listing.
        handed: What is theirs.
        last: Number of the last event before the sync.
    """
    details, unknown = handed.details, handed.unknown()
    keys = connection.listed(list(details.addresses))
    connection.execute(_END.format(connection.among), (last, listing, keys))
    rows = connection.execute(
        _OBJECTS.format(connection.among), (listing, connection.listed(list(unknown)))
    )
    waiting = [(number(each), unknown[key], last) for key, each in rows]
    back = [page for page in handed.known() if connection.execute(_WITHOUT_RULE, (page,)).get]
    pages = [*back, *_unlisted(connection, handed.left, (details.rule,))]
    looked_at = [(None, address_of(connection, page), last) for page in pages]
    _put(connection, listing, [*waiting, *looked_at])


def _put(connection: Database, listing: str, rows: Sequence[tuple[int | None, str, int]]) -> None:
    """Hand over addresses: object, address and last event before, of each."""
    if rows:
        of = connection.execute("select id from listings where name = ?", (listing,)).get
        first = connection.take_numbers("handed_details", len(rows))
        numbered = ((each, of, *row) for each, row in enumerate(rows, first))
        connection.append("handed_details", "id, listing, object, address, after", numbered)


def handed_details(connection: Database, after: int, most: int) -> list[tuple[int, str, str]]:
    """Addresses handed over above a number, with their numbers and listings, in order."""
    rows = connection.execute(_HANDED, (after, most))
    return [(number(each), exactly(str, name), exactly(str, at)) for each, name, at in rows]


def give(connection: Database, pages: Mapping[str, int]) -> None:
    """Give objects the pages that they wait for, by address; nobody waits for these any more."""
    for address, page in pages.items():
        for each, after, until in connection.execute(_WAITING, (address,)).fetchall():
            if until is None:
                connection.execute(_GIVE, (page, each))
            connection.execute(_GIVE_EVENTS, (page, each, after, until))
    gone = ((address,) for address in pages)
    connection.executemany("delete from handed_details where address = ?", gone)
