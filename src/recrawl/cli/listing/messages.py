"""What a crawl says of each sync of a listing.

Touches: the standard streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.entries.listings import ListingSynced


def say_synced(synced: ListingSynced) -> None:
    """Say on stderr what came of a sync."""
    from recrawl.cli import screen

    screen.remark(synced_sentence(synced))


def synced_sentence(synced: ListingSynced) -> str:
    """What came of a sync.

    >>> from recrawl.entries.listings import ListingSynced, SyncOutcome
    >>> new, gone = {"a": {}, "b": {}}, ["c"]
    >>> synced = ListingSynced("jobs", 0.0, SyncOutcome.DONE, 86_400.0, inserted=new, deleted=gone)
    >>> synced_sentence(synced)
    'jobs: 0 listed, 2 new, 0 changed, 1 gone; next sync in 1.0d.'
    """
    from recrawl.report.words import every
    from recrawl.units import SECONDS_A_DAY

    soon = f"next sync in {every((synced.next_at_seconds - synced.at_seconds) / SECONDS_A_DAY)}"
    if not synced.outcome.accepted:
        return f"{synced.listing}: {synced.outcome.label}, {synced.detail}; {soon}."
    counts = [
        f"{synced.items:,} listed",
        f"{len(synced.inserted):,} new",
        f"{len(synced.updated):,} changed",
        f"{len(synced.deleted):,} gone",
    ]
    return f"{synced.listing}: {', '.join(counts)}; {soon}."
