"""Entries of a slot as the whole store has them, and their receipts as the slot has them.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.entries import (
    Checkpoint,
    DetailsTaken,
    DetailsWritten,
    Found,
    PagesChanged,
    PagesErased,
    PagesFound,
    PagesRemoved,
    VisitMade,
    VisitsImported,
)
from recrawl.entries.listings import ListingSynced
from recrawl.entries.reports import VisitsReported
from recrawl.entries.sources import SourceLooked
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.entries.entries import DetailPages, Entry, Receipt
    from recrawl.store.slots.numbers import SlotNumbers


def in_store(entry: Entry, numbers: SlotNumbers) -> Entry:  # noqa: C901, PLR0911 - one per kind
    """An entry with the numbers of the whole store.

    Raises:
        InvalidParameter: It names a page of another slot, or is none that a crawl writes.
    """
    match entry:
        case VisitMade():
            return _visit(entry, numbers)
        case VisitsReported():
            return replace(entry, visits=[_visit(each, numbers) for each in entry.visits])
        case PagesFound():
            return _found(entry, numbers)
        case SourceLooked():
            return replace(entry, found=_found(entry.found, numbers))
        case PagesChanged():
            rules = None if entry.rules is None else numbers.rules_of(entry.rules)
            return replace(entry, pages=numbers.pages_of(entry.pages).tolist(), rules=rules)
        case PagesRemoved() | PagesErased():
            return replace(entry, pages=numbers.pages_of(entry.pages).tolist())
        case Checkpoint():
            return replace(entry, owner=str(numbers.scope.slot))
        case ListingSynced() if entry.details is not None:
            return replace(entry, details=_details(entry.details, numbers))
        case DetailsTaken():
            rules = numbers.rules_of(entry.rules)
            return replace(entry, found=_found(entry.found, numbers), rules=rules)
        case VisitsImported():
            raise InvalidParameter("visits of others are imported into a whole store")
        case _:
            return entry


def in_slot(receipt: Receipt, numbers: SlotNumbers) -> Receipt:
    """A receipt with the numbers of the slot, which has its new pages by now."""
    match receipt:
        case Found():
            return _own_found(receipt, numbers)
        case DetailsWritten():
            return replace(
                receipt,
                found=_own_found(receipt.found, numbers),
                back=dict(zip(_own(receipt.back, numbers), receipt.back.values(), strict=True)),
                listed=_own(receipt.listed, numbers),
                unlisted=_own(receipt.unlisted, numbers),
            )
        case _:
            return receipt


def _visit(visit: VisitMade, numbers: SlotNumbers) -> VisitMade:
    original = visit.original
    if original is not None:
        original = replace(original, page=numbers.page(original.page))
    return replace(visit, page=numbers.page(visit.page), original=original)


def _found(found: PagesFound, numbers: SlotNumbers) -> PagesFound:
    for name in set(found.hosts):
        if not numbers.scope.has_host(name):
            raise InvalidParameter(f"{name} does not lie in slot {numbers.scope.slot}")
    return replace(found, rules=numbers.rules_of(found.rules))


def _details(details: DetailPages, numbers: SlotNumbers) -> DetailPages:
    (rule,) = numbers.rules_of([details.rule])
    return replace(details, found=_found(details.found, numbers), rule=rule)


def _own_found(found: Found, numbers: SlotNumbers) -> Found:
    known = int(np.searchsorted(numbers.pages, found.known))
    return Found(_own(found.pages, numbers), known)


def _own(pages: Iterable[int], numbers: SlotNumbers) -> list[int]:
    own: list[int] = numbers.own_pages(np.array([*pages], np.int64)).tolist()
    return own
