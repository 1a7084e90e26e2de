"""Rows of the tables of a store that belong to one slot, by the slots of their hosts.

What is read grows with the slot, not with the store: an index leads from a slot to its hosts, and
from a host to its pages.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.rows.columns import (
    found_outcomes,
    found_pages,
    read_columns,
    visit_columns,
    whole_numbers,
)

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns
    from recrawl.store.rows.database import Database

_PAGES = """
    select {} from slot_hosts join pages on pages.host = slot_hosts.host
    where slot_hosts.slot = ? order by pages.id
"""
_VISITS = """
    select visits.* from visits
    join pages on pages.id = visits.page join slot_hosts on slot_hosts.host = pages.host
    where slot_hosts.slot = ? and visits.id > ? and visits.id <= ? order by visits.id
"""
# The first eight bytes of a signature as a number, its first byte the highest.
_COPIES = r"""
    select copies.page - 1 as page, cast(cast('x' || encode(substring(
        coalesce(text_signature, bytes_signature) || '\x0000000000000000'::bytea from 1 for 8
    ), 'hex') as bit(64)) as bigint) as signature
    from copies join pages on pages.id = copies.page join slot_hosts on slot_hosts.host = pages.host
    where slot_hosts.slot = ? order by copies.page
"""


def pages_of(connection: Database, slot: int) -> PageColumns:
    """Columns of the pages of a slot, with hosts and rules of the store."""
    return found_pages(connection, _PAGES.format("pages.*"), (slot,))


def rules_of(connection: Database, slot: int) -> Ints:
    """Number of the rule of each page of a slot."""
    return whole_numbers(connection, _PAGES.format("rule as number"), (slot,))


def outcomes_of(connection: Database, slot: int, after: int, until: int) -> OutcomeColumns:
    """Outcomes of the visits of a slot with numbers above `after`, up to `until`."""
    return found_outcomes(connection, _VISITS, (slot, after, until))


def visits_of(connection: Database, slot: int, after: int, until: int) -> VisitColumns:
    """The same visits with all that is known of them."""
    return visit_columns(connection, _VISITS, (slot, after, until))


def signatures_of(connection: Database, slot: int) -> tuple[Ints, Ints]:
    """Pages of a slot that have a copy, ascending, and the signature of its text, or its bytes."""
    pages, signatures = read_columns(connection, ("page", "signature"), _COPIES, (slot,))
    return pages, signatures.byteswap()
