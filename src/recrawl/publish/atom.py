"""Events of the change feed as an Atom feed (RFC 4287), for feed readers.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import utc
from recrawl.report.changes import page_name, what_happened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import FeedEvent

# What XML 1.0 has no place for, however it is escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINKED = ("http://", "https://")


def atom_feed(feed: str, events: Sequence[FeedEvent], host: str = "", subtitle: str = "") -> str:
    """A feed of events, the newest first.

    Ids of entries are those of the events, so that a feed reader shows each of them once.

    Args:
        feed: Name of the change feed.
        events: The events, oldest first.
        host: Host that they are of; empty for all.
        subtitle: What else to say of the feed.
    """
    name = f"urn:recrawl:{feed}" + (f":{host}" if host else "")
    updated = utc(max((event.at_seconds for event in events), default=0.0))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<feed xmlns="http://www.w3.org/2005/Atom">',
            f"<id>{_text(name)}</id>",
            f"<title>{_text(f'Changes of {host}' if host else 'Changes')}</title>",
            *([f"<subtitle>{_text(subtitle)}</subtitle>"] if subtitle else []),
            f"<updated>{updated}</updated>",
            "<author><name>recrawl</name></author>",
            *(_entry(feed, event) for event in reversed(events)),
            "</feed>",
            "",
        ]
    )


def _entry(feed: str, event: FeedEvent) -> str:
    lines = [
        "<entry>",
        f"<id>urn:recrawl:{_text(cursor_text(feed, event.number))}</id>",
        f"<title>{_text(f'{event.kind.label}: {page_name(event)}')}</title>",
        f"<updated>{utc(event.at_seconds)}</updated>",
        f'<category term="{event.kind.label}"/>',
        f"<summary>{_text(what_happened(event))}</summary>",
    ]
    if event.address.startswith(_LINKED):
        lines.append(f"<link href={quoteattr(_clean(event.address))}/>")
    return "\n".join([*lines, "</entry>"])


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
