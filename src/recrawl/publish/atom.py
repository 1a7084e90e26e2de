"""Events of a feed as an Atom feed (RFC 4287), for feed readers.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import utc
from recrawl.report.changes import page_name, what_happened
from recrawl.report.listings.changes import object_name, what_happened_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.listings import ObjectEvent
    from recrawl.entries.records import FeedEvent

# What XML 1.0 has no place for, however it is escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINKED = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class AtomEntry:
    """An entry of an Atom feed.

    Args:
        number: Number of its event.
        kind: Kind of its event.
        name: What it tells of.
        summary: What happened, in a few words.
        at_seconds: When it was seen.
        address: What it links to; empty for nothing.
    """

    number: int
    kind: str
    name: str
    summary: str
    at_seconds: float
    address: str

    @classmethod
    def of_page(cls, event: FeedEvent) -> AtomEntry:
        """The entry of an event of a page."""
        words = page_name(event), what_happened(event), event.at_seconds
        return cls(event.number, event.kind.label, *words, event.address)

    @classmethod
    def of_object(cls, event: ObjectEvent) -> AtomEntry:
        """The entry of an event of an object, which links to its detail page if it has one."""
        words = object_name(event), what_happened_to(event), event.at_seconds
        return cls(event.number, event.kind.label, *words, event.address)


def atom_feed(feed: str, entries: Sequence[AtomEntry], about: str = "", subtitle: str = "") -> str:
    """A feed of events, the newest first.

    Ids of entries are those of the events, so that a feed reader shows each of them once.

    Args:
        feed: Name of the feed.
        entries: The events, oldest first.
        about: Host or listing that they are of; empty for all.
        subtitle: What else to say of the feed.
    """
    name = f"urn:recrawl:{feed}" + (f":{about}" if about else "")
    updated = utc(max((entry.at_seconds for entry in entries), default=0.0))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<feed xmlns="http://www.w3.org/2005/Atom">',
            f"<id>{_text(name)}</id>",
            f"<title>{_text(f'Changes of {about}' if about else 'Changes')}</title>",
            *([f"<subtitle>{_text(subtitle)}</subtitle>"] if subtitle else []),
            f"<updated>{updated}</updated>",
            "<author><name>recrawl</name></author>",
            *(_entry(feed, entry) for entry in reversed(entries)),
            "</feed>",
            "",
        ]
    )


def _entry(feed: str, entry: AtomEntry) -> str:
    lines = [
        "<entry>",
        f"<id>urn:recrawl:{_text(cursor_text(feed, entry.number))}</id>",
        f"<title>{_text(f'{entry.kind}: {entry.name}')}</title>",
        f"<updated>{utc(entry.at_seconds)}</updated>",
        f'<category term="{entry.kind}"/>',
        f"<summary>{_text(entry.summary)}</summary>",
    ]
    if entry.address.startswith(_LINKED):
        lines.append(f"<link href={quoteattr(_clean(entry.address))}/>")
    return "\n".join([*lines, "</entry>"])


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
