"""Status of a listing: how good its copy is now, when it is synced next, what is wrong.

Pure.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.report.plain_values import plain_instant
from recrawl.report.words import counted, every, percent

if TYPE_CHECKING:
    from recrawl.inspect.status.listings import ListingStanding


def listing_sentence(standing: ListingStanding, now: float) -> str:
    """What to say of a listing.

    >>> from recrawl.inspect.status.listings import ListingStanding
    >>> jobs = ListingStanding("jobs", 412, 9.0, 10.5, "recall", recall=(0.93, 0.9, 0.96))
    >>> listing_sentence(jobs, 10.0)
    'jobs: 412 listed; recall 93 % (90 to 96 %); next sync in 12h'
    """
    if isnan(standing.synced):
        said = [f"{standing.name}: not read yet"]
    else:
        said = [f"{standing.name}: {standing.listed:,} listed"]
    if standing.details is not None:
        said.append(counted(standing.details, "detail page"))
    for name in QUALITIES:
        expected, low, high = getattr(standing, name)
        if not isnan(expected):
            said.append(f"{name} {percent(expected)} ({100 * low:.0f} to {percent(high)})")
    if not isnan(standing.due):
        wait = standing.due - now
        said.append(f"next sync in {every(wait)}" if wait > 0 else "next sync due")
    if standing.alarm:
        said.append(f"the last sync was not accepted: {standing.alarm}")
    return "; ".join(said)


LISTING_KEYS = (
    *("name", "listed", "detail_pages", "synced_at", "next_at", "reason"),
    *(f"{name}{end}" for name in QUALITIES for end in ("", "_low", "_high", "_target")),
    "alarm",
)


def listing_object(standing: ListingStanding) -> dict[str, Any]:
    """What `ListingStanding` holds by the names of `LISTING_KEYS`; None for what is not known.

    >>> from recrawl.inspect.status.listings import ListingStanding
    >>> listing_object(ListingStanding("jobs", due=1.0))["next_at"]
    '1970-01-02T00:00:00Z'
    """
    figures: dict[str, Any] = {
        "name": standing.name,
        "listed": standing.listed,
        "detail_pages": standing.details,
        "synced_at": plain_instant(standing.synced),
        "next_at": plain_instant(standing.due),
        "reason": standing.reason or None,
        "alarm": standing.alarm or None,
    }
    for place, name in enumerate(QUALITIES):
        values = (*getattr(standing, name), standing.targets[place])
        for end, value in zip(("", "_low", "_high", "_target"), values, strict=True):
            figures[name + end] = None if isnan(value) else value
    return {key: figures[key] for key in LISTING_KEYS}
