"""What is posted: an event as JSON, small enough for any receiver.

Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recrawl.publish.events import cloud_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.records import FeedEvent

CONTENT_TYPE = "application/cloudevents+json"
MOST_BYTES = 20_000  # what the Standard Webhooks specification advises


def event_body(
    feed: str, event: FeedEvent, content: Mapping[str, Any], most: int = MOST_BYTES
) -> bytes:
    """An event with its content; the largest parts of it are left out where it would be too large.

    Args:
        feed: Name of the feed.
        event: The event.
        content: What comes with it. What is left out is null, and named by `left_out`.
        most: Largest size in bytes.

    Examples:
        >>> from recrawl.visits.status import FeedKind
        >>> from recrawl.entries.records import FeedEvent
        >>> event = FeedEvent(7, FeedKind.NEW, 3, "https://a.org/", 0.25, *(None, 0.25, None, 9),
        ...     bytes(16), *(None, None, None, None, None))
        >>> body = event_body("k3fqabcd", event, {"title": "Tea", "markdown": "x" * 20_000})
        >>> data = json.loads(body)["data"]
        >>> data["title"], data["markdown"], data["left_out"], len(body) < 1000
        ('Tea', None, ['markdown'], True)
    """
    sizes = {key: len(json.dumps(value)) for key, value in content.items() if value is not None}
    held = dict(content)
    left_out: list[str] = []
    while True:
        if content:
            held["left_out"] = left_out
        body = json.dumps(cloud_event(feed, event, held), separators=(",", ":")).encode()
        if len(body) <= most or not sizes:
            return body
        largest = max(sizes, key=sizes.__getitem__)
        del sizes[largest]
        held[largest] = None
        left_out.append(largest)
