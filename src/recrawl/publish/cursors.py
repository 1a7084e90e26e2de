"""Cursors: positions in a feed of one store, as readers keep them.

A cursor is the name of the feed and the number of the last event that was read. A store has two
feeds: that of pages, and that of listings, whose name ends in `-listings`. Readers need not look
into it.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.errors import CursorExpired, InvalidParameter

if TYPE_CHECKING:
    from recrawl.entries.records import FeedRange

_CURSOR = re.compile(r"([a-z2-7]{8})(-listings)?-([0-9]{1,18})", re.ASCII)
_SHOWN = 40
_EXAMPLE = "k3fqabcd"


def cursor_text(feed: str, number: int) -> str:
    """The cursor of an event.

    >>> cursor_text("k3fqabcd", 1042)
    'k3fqabcd-1042'
    """
    return f"{feed}-{number}"


def position(cursor: str, kept: FeedRange, store: str) -> int:
    """Number of the last event that the owner of a cursor has read.

    Args:
        cursor: The cursor.
        kept: What the store keeps of its feed.
        store: Name of the store, for messages.

    Raises:
        InvalidParameter: It is no cursor, or one of the other feed.
        CursorExpired: It is of another store, or what comes after it is not kept.

    Examples:
        >>> from recrawl.entries.records import FeedRange
        >>> position("k3fqabcd-7", FeedRange("k3fqabcd", oldest=5, newest=9), "a.db")
        7
    """
    match = _CURSOR.fullmatch(cursor.strip())
    if match is None:
        shown = cursor if len(cursor) <= _SHOWN else f"{cursor[:_SHOWN]}..."
        example = cursor_text(_EXAMPLE + kept.feed[len(_EXAMPLE) :], 1042)
        raise InvalidParameter(f"cursor must look like {example} (got {shown!r})")
    store_feed, of_listings, number = match[1], match[2] or "", int(match[3])
    if store_feed != kept.feed[: len(store_feed)]:
        why = "belongs to another store"
    elif store_feed + of_listings != kept.feed:
        other = "`recrawl listing changes`" if of_listings else "`recrawl changes`"
        raise InvalidParameter(f"{store}: cursor {match[0]} belongs to {other}")
    elif number > kept.newest:
        why = f"is ahead of the last event ({kept.newest}), as after a backup was restored"
    elif number < kept.oldest - 1:
        why = f"has expired (the oldest event kept is {kept.oldest})"
    else:
        return number
    raise CursorExpired(f"{store}: cursor {match[0]} {why}; take a snapshot")
