"""Events of listings in words, for a terminal and for feed readers.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY, duration, utc_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.listings import ObjectEvent

HEADER = ("object", "listing", "what", "seen", "happened", "within", "attributes")
_SHOWN = 40  # characters of a key or an attribute
_MOST = 3  # attributes of one object


def what_happened_to(event: ObjectEvent) -> str:
    """An event in a few words, with what changed.

    >>> from recrawl.entries.listings import ObjectChangeKind, ObjectEvent
    >>> told = ObjectEvent(7, ObjectChangeKind.CHANGED, "jobs", "17", 3, 0.0, None,
    ...     {"pay": "30", "city": "Bern"}, {"pay": "28", "city": "Bern"}, None, "")
    >>> what_happened_to(told)
    'changed: pay: 28 -> 30'
    """
    words = _attributes(event)
    return f"{event.kind.label}: {words}" if words else event.kind.label


def object_name(event: ObjectEvent) -> str:
    """An object by its listing and its key."""
    return f"{event.listing} {event.key}"


def object_event_words(events: Sequence[ObjectEvent]) -> list[list[str]]:
    """Events under `HEADER`, in their order."""
    return [
        [
            event.key[:_SHOWN],
            event.listing[:_SHOWN],
            event.kind.label,
            utc_text(event.at_seconds),
            "-" if event.likely_seconds is None else utc_text(event.likely_seconds),
            _within(event),
            _attributes(event),
        ]
        for event in events
    ]


def _attributes(event: ObjectEvent) -> str:
    """What changed in an object, else what it is or was like."""
    now, before = event.attributes, event.before
    if now is not None and before is not None and event.changed:
        some = {name: f"{_cut(before, name)} -> {_cut(now, name)}" for name in event.changed}
    else:
        like = now or before or {}
        some = {name: _cut(like, name) for name in like}
    words = [f"{name}: {text}" for name, text in list(some.items())[:_MOST]]
    return ", ".join(words) + (", ..." if len(some) > _MOST else "")


def _cut(attributes: Mapping[str, str], name: str) -> str:
    text = attributes.get(name, "")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _within(event: ObjectEvent) -> str:
    """How long the gap is in which it happened."""
    if event.earliest_seconds is None:
        return "-"
    return duration((event.at_seconds - event.earliest_seconds) / SECONDS_A_DAY)
