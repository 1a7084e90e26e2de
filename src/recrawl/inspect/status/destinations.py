"""How far those are who are told of the change feed.

Touches: a store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class DestinationStanding:
    """How far one who is told of the change feed is.

    Args:
        label: What it is called; no address with a password in it.
        kind: Its block in the settings: `webhook` or `notify`.
        waiting: Events after the last that it is done with.
        since_seconds: When the first of them was seen; None where none wait.
        attempts: How often the next delivery has failed.
        next_at_seconds: When it may be tried next; None for at once.
        problem: Why the last attempt failed; empty where it did not.
        disabled: Whether it asked to be told no more.
        given_up: Events that were given up.
    """

    label: str
    kind: str
    waiting: int = 0
    since_seconds: float | None = None
    attempts: int = 0
    next_at_seconds: float | None = None
    problem: str = ""
    disabled: bool = False
    given_up: int = 0

    @property
    def is_well(self) -> bool:
        """Whether all that was tried was taken."""
        return not (self.problem or self.disabled or self.given_up)


def destination_standings(settings: Settings, reader: ReadStore) -> list[DestinationStanding]:
    """Where those of the settings are, webhooks first; one that no crawl has begun waits for none.

    Args:
        settings: The settings.
        reader: The store.
    """
    blocks = [(each.key, each.label, "webhook") for each in settings.webhooks]
    blocks += [(each.key, each.label, "notify") for each in settings.recipients]
    if not blocks:
        return []
    known = {each.name: each for each in reader.destinations()}
    given_up = Counter(each.destination for each in reader.undelivered())
    newest = reader.feed_range().newest
    found = []
    for key, label, kind in blocks:
        at = known.get(key)
        if at is None:
            found.append(DestinationStanding(label, kind))
            continue
        first = next(reader.events(at.cursor, 1), None)
        found.append(
            DestinationStanding(
                label,
                kind,
                waiting=max(newest - at.cursor, 0),
                since_seconds=first[0].at_seconds if first else None,
                attempts=at.attempts,
                next_at_seconds=at.next_at_seconds,
                problem=at.problem,
                disabled=at.disabled,
                given_up=given_up[key],
            )
        )
    return found
