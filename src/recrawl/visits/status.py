"""What a crawl knows of a page, and what one of its visits found, as small numbers with names.

Stores keep the numbers and arrays hold them, a byte a page or a visit, so a number once given
keeps its meaning: a new name takes the next number.

Pure.
"""

from __future__ import annotations

from enum import IntEnum


class PageStatus(IntEnum):
    """Where a page stands in its life.

    >>> PageStatus.COPIED.label
    'copied'
    """

    NEW = 0  # known by its address only
    COPIED = 1  # there is a copy
    SUSPECTED = 2  # the last visit found it gone, which is to be confirmed
    GONE = 3  # the host says that there is no such page
    REFUSED = 4  # robots.txt forbids it
    MOVED = 5  # it answers from another address

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


class VisitOutcome(IntEnum):
    """What one visit found.

    >>> [outcome.label for outcome in VisitOutcome if outcome.compared]
    ['same', 'not_modified', 'changed', 'cosmetic']
    """

    FIRST = 0  # the first copy: nothing to compare with
    SAME = 1  # equal content
    NOT_MODIFIED = 2  # 304: equal by the host's own word
    CHANGED = 3
    GONE = 4  # 404 or 410
    FAILED = 5  # no answer, or one that says nothing of the page
    REFUSED = 6  # robots.txt forbids it: nothing was fetched
    MOVED = 7  # it answers from another address
    COSMETIC = 8  # other bytes, but nothing that a reader would call a change
    WALLED = 9  # an answer in place of the page: a bot or consent wall, an error with status 200

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def compared(self) -> bool:
        """Whether the visit compared the page with the copy from the visit before."""
        return self in _COMPARED


class Audit(IntEnum):
    """What a visit made a second request for, right after the first.

    >>> Audit.NOISE.label
    'noise'
    """

    NONE = 0
    WORD = 1  # to see whether "not modified" was true
    NOISE = 2  # to see what differs by itself

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


_COMPARED = frozenset(
    {VisitOutcome.SAME, VisitOutcome.NOT_MODIFIED, VisitOutcome.CHANGED, VisitOutcome.COSMETIC}
)
