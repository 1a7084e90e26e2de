"""Events of the change feed as CloudEvents 1.0: plain values that JSON can hold.

Pure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING, Any

from recrawl.parse.addresses import host_of
from recrawl.publish.cursors import cursor_text
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.records import FeedEvent

# Keys of `data`; what `--with` adds comes after them.
DATA_KEYS = (
    *("cursor", "page", "visit", "reason", "moved_to"),
    *("earliest", "latest", "likely", "version", "before", "share", "gist"),
)
TYPES = {kind: f"recrawl.page.{kind.label}" for kind in FeedKind}
SNAPSHOT_END = "recrawl.snapshot.end"
HEAD = "recrawl.feed.head"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events somebody wants.

    Args:
        kinds: Their kinds; none for all.
        hosts: Hosts of their pages; none for all.
    """

    kinds: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    def holds(self, event: FeedEvent) -> bool:
        """Whether an event is one of them; where an erased page was nobody knows."""
        if self.kinds and event.kind.label not in self.kinds:
            return False
        return not self.hosts or not event.address or host_of(event.address) in self.hosts


def cloud_event(
    feed: str, event: FeedEvent, content: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """An event as a CloudEvent. A copy of a snapshot has no cursor: its end has one.

    Args:
        feed: Name of the feed.
        event: The event.
        content: What else to tell of it.

    Examples:
        >>> from recrawl.entries.records import FeedEvent
        >>> from recrawl.visits.status import FeedKind
        >>> event = FeedEvent(7, FeedKind.NEW, 3, "https://a.org/", 0.25, *(None, 0.25, None, 9),
        ...     bytes(16), *(None, None, None, None, None))
        >>> found = cloud_event("k3fqabcd", event)
        >>> found["id"], found["type"], found["subject"], found["time"]
        ('k3fqabcd-7', 'recrawl.page.new', 'https://a.org/', '1970-01-01T00:00:00.250Z')
    """
    at = utc(event.at_seconds)
    known = event.latest_seconds == event.at_seconds
    cursor = cursor_text(feed, event.number) if event.number else None
    data = {
        "cursor": cursor,
        "page": event.page,
        "visit": event.visit,
        "reason": None if event.reason is None else event.reason.label,
        "moved_to": event.target,
        "earliest": maybe_utc(event.earliest_seconds),
        "latest": at if known else utc(event.latest_seconds),
        "likely": maybe_utc(event.likely_seconds),
        "version": _hex(event.version),
        "before": _hex(event.before),
        "share": event.share,
        "gist": event.gist,
        **(content or {}),
    }
    name = cursor or f"{feed}-page-{event.page}-{_hex(event.version) or 'unknown'}"
    # Of an erased page nobody is told where it was.
    return envelope(feed, name, TYPES[event.kind], at, data, subject=event.address)


def envelope(
    feed: str, name: str, kind: str, at: str, data: Mapping[str, Any], *, subject: str = ""
) -> dict[str, Any]:
    """The envelope of a CloudEvent.

    Args:
        feed: Name of the feed.
        name: Id of the event.
        kind: Its type.
        at: When it was seen.
        data: What it tells.
        subject: What it tells of; left out where it is empty.
    """
    return {
        "specversion": "1.0",
        "id": name,
        "source": f"urn:recrawl:{feed}",
        "type": kind,
        "time": at,
        **({"subject": subject} if subject else {}),
        "datacontenttype": "application/json",
        "data": data,
    }


def event_line(feed: str, event: FeedEvent) -> str:
    """An event without content as a line of JSON: that of `cloud_event`, in a third of the time."""
    if not event.number:
        return json.dumps(cloud_event(feed, event)) + "\n"
    cursor = cursor_text(feed, event.number)
    at = utc(event.at_seconds)
    subject = f'"subject": {_quoted(event.address)}, ' if event.address else ""
    reason = "null" if event.reason is None else f'"{event.reason.label}"'
    target = "null" if event.target is None else _quoted(event.target)
    return (
        f'{{"specversion": "1.0", "id": "{cursor}", "source": "urn:recrawl:{feed}", '
        f'"type": "{TYPES[event.kind]}", "time": "{at}", {subject}'
        f'"datacontenttype": "application/json", "data": {{"cursor": "{cursor}", '
        f'"page": {event.page}, "visit": {_number(event.visit)}, "reason": {reason}, '
        f'"moved_to": {target}, "earliest": {_instant(event.earliest_seconds)}, '
        f'"latest": "{utc(event.latest_seconds)}", "likely": {_instant(event.likely_seconds)}, '
        f'"version": {_digest(event.version)}, "before": {_digest(event.before)}, '
        f'"share": {_number(event.share)}, '
        f'"gist": {"null" if event.gist is None else _quoted(event.gist)}}}}}\n'
    )


def _number(value: float | None) -> str:
    return "null" if value is None else repr(value)


def _instant(seconds: float | None) -> str:
    return "null" if seconds is None else f'"{utc(seconds)}"'


def _digest(digest: bytes | None) -> str:
    return "null" if digest is None else f'"{digest.hex()}"'


def snapshot_end(feed: str, number: int, found: Mapping[str, int], at: float) -> dict[str, Any]:
    """The end of a snapshot: where to go on from, and how much there was.

    Args:
        feed: Name of the feed.
        number: Number of the newest event when the snapshot began.
        found: How many pages or objects there were.
        at: The instant, in seconds after 1970.
    """
    cursor = cursor_text(feed, number)
    return envelope(feed, f"{cursor}-snapshot", SNAPSHOT_END, utc(at), {"cursor": cursor, **found})


def head(feed: str, number: int, complete: Mapping[str, Any] | None, at: float) -> dict[str, Any]:
    """The head of a feed: where it ends, and how complete it is.

    Args:
        feed: Name of the feed.
        number: Number of its newest event.
        complete: How complete it is; None where nothing is known of that.
        at: The instant, in seconds after 1970.
    """
    cursor = cursor_text(feed, number)
    data = {"newest": cursor, "completeness": complete}
    return envelope(feed, f"{cursor}-head-{round(at * 1000)}", HEAD, utc(at), data)


def utc(seconds: float) -> str:
    """Epoch seconds as ISO 8601 in UTC, to the millisecond.

    >>> utc(0.25), utc(1e9)
    ('1970-01-01T00:00:00.250Z', '2001-09-09T01:46:40.000Z')
    """
    minute, part = divmod(round(seconds * 1000), 60_000)
    return f"{_minute(minute)}{part // 1000:02d}.{part % 1000:03d}Z"


@lru_cache(maxsize=1 << 14)  # events of one minute come together
def _minute(minute: int) -> str:
    return datetime.fromtimestamp(60 * minute, UTC).strftime("%Y-%m-%dT%H:%M:")


def maybe_utc(seconds: float | None) -> str | None:
    """The same; None where there is no instant."""
    return None if seconds is None else utc(seconds)


def moment(seconds: float) -> datetime:
    """Epoch seconds as a moment in UTC, to the millisecond."""
    return datetime.fromtimestamp(round(seconds * 1000) / 1000, UTC)


def maybe_moment(seconds: float | None) -> datetime | None:
    """The same; None where there is no instant."""
    return None if seconds is None else moment(seconds)


def _hex(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()
