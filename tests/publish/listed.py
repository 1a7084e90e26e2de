"""A small store with listings: objects that came, changed, vanished and came back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.listings.live.comparing import ListingDifference
from recrawl.store import create_store, open_for_writing
from tests.store.made import NOON

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recrawl.entries.store import WriteStore

Objects = dict[str, dict[str, str]]
HOUR = 3600.0


def sync(
    store: WriteStore,
    listing: str,
    before: Mapping[str, Mapping[str, str]],
    now: Mapping[str, Mapping[str, str]],
    at: float,
) -> None:
    """Write a sync that found `now` where `before` was listed."""
    differs = ListingDifference.of(before, now)
    outcome = SyncOutcome.DONE if before else SyncOutcome.FIRST
    store.write(
        [
            ListingSynced(
                *(listing, at, outcome, at + HOUR),
                inserted=differs.inserted,
                updated=differs.updated,
                deleted=differs.deleted,
            )
        ]
    )


def usual(folder: Path) -> Path:
    """Jobs 1 and 2; 2 is paid better; 1 vanishes, a sync fails, 1 comes back. A car beside them."""
    path = folder / "recrawl.db"
    create_store(path).close()
    first = {"1": {"pay": "20"}, "2": {"pay": "28"}}
    better = first | {"2": {"pay": "30"}}
    with open_for_writing(path) as store:
        sync(store, "jobs", {}, first, NOON)
        sync(store, "cars", {}, {"1": {"make": "Fiat"}}, NOON + HOUR)
        sync(store, "jobs", first, better, NOON + 2 * HOUR)
        sync(store, "jobs", better, {"2": {"pay": "30"}}, NOON + 3 * HOUR)
        failed = ListingSynced("jobs", NOON + 4 * HOUR, SyncOutcome.FAILED, 0.0, detail="no")
        store.write([failed])
        sync(store, "jobs", {"2": {"pay": "30"}}, better, NOON + 5 * HOUR)
    return path
