"""What a sync of a listing found, judged: what is written, and when the next sync is due.

A list that was read in part is not compared at all. What is doubted changes nothing until a later
sync has confirmed it. Both are retried after an hour, then two, then four, up to a day.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from recrawl.entries.listings import (
    Event,
    EventKind,
    ListingHistory,
    ListingSynced,
    Quality,
    Sync,
    SyncOutcome,
)
from recrawl.listings.live.comparing import ListingDifference, doubt_of, is_confirmed, sketch_of
from recrawl.listings.live.forecast import LiveForecast, NextSync
from recrawl.listings.live.history import listing_of_history
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.listings.live.pages import ListingSnapshot
    from recrawl.listings.live.rules import ListingRule

RETRY = 1 / 24
_LONGEST_RETRY = 1.0
_MILLISECONDS = 3  # digits of seconds: stores keep no more


@dataclass(frozen=True, slots=True)
class ListingFacts:
    """What a store knows of a listing before a sync.

    Args:
        history: All that happened.
        listed: Attributes of the objects of the copy, by key.
        forecast: What the copy is worth; None before the first sync that was accepted.
        details: Address of the detail page of each object of the copy that has one, by its key;
            None for one that was erased.
    """

    history: ListingHistory
    listed: Mapping[str, Mapping[str, str]]
    forecast: LiveForecast | None
    details: Mapping[str, str | None] = field(default_factory=dict)

    def other_details(self, read: ListingSnapshot) -> dict[str, str]:
        """Address of each detail page that is another one now, by key; empty where it is none.

        An erased page is known no more, so it is never another one.
        """
        return {
            key: address
            for key, address in read.details.items()
            if self.details.get(key, "") not in (None, address)
        }


def live_forecast(history: ListingHistory) -> LiveForecast | None:
    """What the copy of a listing is worth; None before the first sync that was accepted."""
    return LiveForecast.of(listing_of_history(history))


def judge_sync(
    rule: ListingRule, known: ListingFacts, read: ListingSnapshot, now: float
) -> tuple[ListingSynced, LiveForecast | None]:
    """Return what is to be written of a sync, and the forecast after it.

    Args:
        rule: What is wanted.
        known: What the store knows.
        read: What was read.
        now: When, in days after 1970.
    """
    syncs = known.history.syncs
    seen = ListingSynced(
        rule.name,
        now * SECONDS_A_DAY,
        SyncOutcome.FAILED,
        0.0,
        "retry",
        read.problem,
        pages=read.pages,
        items=len(read.objects),
    )
    begun = any(sync.outcome.accepted for sync in syncs)
    if not (read.problem or read.objects or begun):
        items = rule.layout.items
        seen = replace(seen, detail=f"no items found by {items!r}")
    forecast = known.forecast
    if seen.detail:
        return _planned(seen, next_retry(rule, syncs, now)), forecast
    differs = ListingDifference.of(known.listed, read.objects)
    precision, recall = (
        forecast.quality(metric, now) if forecast else None for metric in ("precision", "recall")
    )
    before = next((sync.pages for sync in reversed(syncs) if sync.outcome.accepted), 1)
    doubt = doubt_of(differs, precision, (before, read.pages))
    sketch = sketch_of(read.objects)
    if doubt is not None and not is_confirmed(doubt, sketch, now, _doubted(syncs)):
        doubted = replace(seen, outcome=SyncOutcome.DOUBTED, detail=doubt.why, sketch=sketch)
        return _planned(doubted, next_retry(rule, syncs, now)), forecast
    quality = Quality(differs.precision, differs.recall, precision, recall) if begun else None
    moved = {key: read.objects[key] for key in known.other_details(read) if key in known.listed}
    done = replace(
        seen,
        outcome=SyncOutcome.DONE if begun else SyncOutcome.FIRST,
        inserted=differs.inserted,
        updated={**differs.updated, **moved},
        deleted=differs.deleted,
        quality=quality,
    )
    after = live_forecast(history_after(known.history, done))
    assert after is not None  # noqa: S101 - this sync was accepted
    return _planned(done, after.next(rule)), after


def next_due(rule: ListingRule, known: ListingFacts, now: float) -> float:
    """Return when a listing is due, in days after 1970; now before its first sync."""
    syncs = known.history.syncs
    if not syncs:
        return rule.opens(now)
    # The stored time may come from another clock: never wait for longer than is allowed.
    if syncs[-1].outcome.accepted and known.forecast is not None:
        return min(known.forecast.next(rule).at, rule.opens(now + rule.maximum))
    return rule.opens(min(syncs[-1].next_at_seconds / SECONDS_A_DAY, now + _LONGEST_RETRY))


def next_retry(rule: ListingRule, syncs: Sequence[Sync], now: float) -> NextSync:
    """Exponential backoff after syncs that failed or were doubted: an hour, two, up to a day."""
    failures = 0
    for sync in reversed(syncs):
        if sync.outcome.accepted:
            break
        failures += 1
    wait = min(RETRY * 2.0 ** min(failures, 30), _LONGEST_RETRY, rule.maximum)
    return NextSync(rule.opens(now + wait), "retry")


def history_after(history: ListingHistory, synced: ListingSynced) -> ListingHistory:
    """Return a history with one more sync, as a store reads it back once that is written.

    The next sync must be planned before this one is written, for both are written together. Only
    the numbers of objects and syncs may be other ones: those of a store go on over all its
    listings.
    """
    number = max((sync.number for sync in history.syncs), default=0) + 1
    numbers = {key: each for each, key in history.keys.items()}
    new = [key for key in synced.inserted if key not in numbers]
    numbers |= {key: each for each, key in enumerate(new, max(history.keys, default=0) + 1)}
    events = [
        *(
            Event(numbers[key], number, EventKind.INSERT, dict(each))
            for key, each in synced.inserted.items()
        ),
        *(
            Event(numbers[key], number, EventKind.UPDATE, dict(each))
            for key, each in synced.updated.items()
        ),
        *(Event(numbers[key], number, EventKind.DELETE, None) for key in synced.deleted),
    ]
    before = history.syncs[-1].listed if history.syncs else 0
    sync = Sync(
        number=number,
        at_seconds=round(synced.at_seconds, _MILLISECONDS),
        outcome=synced.outcome,
        detail=synced.detail,
        took_seconds=round(synced.took_seconds, _MILLISECONDS),
        pages=synced.pages,
        items=synced.items,
        listed=before + len(synced.inserted) - len(synced.deleted),
        next_at_seconds=round(synced.next_at_seconds, _MILLISECONDS),
        reason=synced.reason,
        quality=synced.quality,
        sketch=synced.sketch,
    )
    return ListingHistory(
        synced.listing,
        [*history.syncs, sync],
        {each: key for key, each in numbers.items()},
        [*history.events, *events],
    )


def _planned(seen: ListingSynced, following: NextSync) -> ListingSynced:
    return replace(seen, next_at_seconds=following.at * SECONDS_A_DAY, reason=following.reason)


def _doubted(syncs: Sequence[Sync]) -> list[tuple[float, bytes]]:
    """Instant and sketch of each doubted sync since the last that was accepted."""
    found: list[tuple[float, bytes]] = []
    for sync in reversed(syncs):
        if sync.outcome.accepted:
            break
        if sync.outcome is SyncOutcome.DOUBTED:
            found.append((sync.at_seconds / SECONDS_A_DAY, sync.sketch or b""))
    return found
