"""Small stores and what goes into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.entries.store import WriteStore

NOON = 1_767_268_800.0  # 2026-01-01T12:00Z


def found(*addresses: str, host: str = "a.org", rule: int = 0) -> PagesFound:
    """Addresses found on one host."""
    count = len(addresses)
    return PagesFound(addresses, [host] * count, [rule] * count, at_seconds=NOON)


def visit(page: int, after_seconds: float = 0.0, **more: Any) -> VisitMade:
    """A visit some seconds after noon that found nothing new."""
    made = {"outcome": VisitOutcome.SAME, "http": 200} | more
    return VisitMade(page, NOON + after_seconds, **made)


def numbered(count: int) -> list[str]:
    """Addresses of sixty letters."""
    return [f"https://www.example.org/{number:036d}" for number in range(count)]


def store_with(path: Path, *addresses: str) -> WriteStore:
    """A new store that knows these addresses."""
    store = create_store(path)
    store.write([found(*addresses)])
    return store
