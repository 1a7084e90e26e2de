"""Status codes of pages, visits, audits, events and refusals, and robots tags, as small numbers.

Stores and arrays hold the numbers, one byte per page or visit, so a number keeps its meaning for
ever: a new name takes the next number.

Pure.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class PageStatus(IntEnum):
    """Status of a page.

    >>> PageStatus.COPIED.label
    'copied'
    """

    NEW = 0  # known by its address only
    COPIED = 1  # there is a copy
    SUSPECTED = 2  # the last visit found it gone, which is to be confirmed
    GONE = 3  # the host says that there is no such page
    REFUSED = 4  # robots.txt forbids it
    MOVED = 5  # it answers from another address
    REMOVED = 6  # taken out of the crawl; what is known of it stays
    ERASED = 7  # taken out, with all that was known of it but its visits
    DUPLICATE = 8  # a copy of another page under another address

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
    FAILED = 5  # no answer, or one without information about the page
    REFUSED = 6  # robots.txt forbids it: nothing was fetched
    MOVED = 7  # it answers from another address
    COSMETIC = 8  # other bytes, but nothing that a reader would call a change
    WALLED = 9  # an answer in place of the page: a bot or consent wall, an error with status 200
    DUPLICATE = 10  # the same as another page of the crawl

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def compared(self) -> bool:
        """Whether the visit compared the page with the copy from the visit before."""
        return self in _COMPARED

    @property
    def brings_content(self) -> bool:
        """Whether the visit brought content that was not known before."""
        return self in (VisitOutcome.FIRST, VisitOutcome.CHANGED)


class Audit(IntEnum):
    """Why a visit made a second request right after the first.

    >>> Audit.NOISE.label
    'noise'
    """

    NONE = 0
    WORD = 1  # to check a "not modified"
    NOISE = 2  # to find what differs by itself

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


class FeedKind(IntEnum):
    """What an event of the change feed tells of a page.

    >>> [kind.label for kind in FeedKind if kind.ends]
    ['removed', 'moved']
    """

    SNAPSHOT = 0  # there is a copy, as a snapshot has it; never stored
    NEW = 1  # there is a first copy
    CHANGED = 2  # there is another copy
    REMOVED = 3  # the copy is of no page any more: the tombstone
    MOVED = 4  # the same, and the page is at another address
    BACK = 5  # there is a copy again

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def ends(self) -> bool:
        """Whether a reader has no copy of the page afterwards."""
        return self in _ENDS

    @property
    def begins(self) -> bool:
        """Whether a reader had no copy of the page before."""
        return self in (FeedKind.NEW, FeedKind.BACK)

    @property
    def outdates(self) -> bool:
        """Whether the copy that a reader had was of something else."""
        return self is FeedKind.CHANGED or self.ends


class RemovalReason(IntEnum):
    """Why a page is in no copy of a reader any more.

    >>> RemovalReason.UNLISTED.label
    'unlisted'
    """

    GONE = 1  # the host says that there is no such page, twice
    MOVED = 2  # it answers from another address
    REFUSED = 3  # robots.txt forbids it
    UNLISTED = 4  # the settings have no rule for it any more
    REMOVED = 5  # taken out of the crawl
    ERASED = 6  # taken out, with all that was known of it
    DUPLICATE = 7  # it is a copy of another page

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


class RobotsTag(IntFlag):
    """What a page asks of crawlers, by `X-Robots-Tag` or `<meta name="robots">`.

    >>> (RobotsTag.NOINDEX | RobotsTag.NOARCHIVE).label
    'noindex, noarchive'
    """

    NOINDEX = 1  # not to be shown to others
    NOFOLLOW = 2  # its links are not to be followed
    NOARCHIVE = 4  # no copy of its content is to be kept

    @property
    def label(self) -> str:
        """Its names in tables and files; empty for none."""
        return ", ".join(str(each.name).lower() for each in RobotsTag if each in self)


class DuplicateSign(IntEnum):
    """How a page was found to be a copy of another.

    >>> DuplicateSign.CANONICAL.label
    'canonical'
    """

    CONTENT = 1  # its text is the same
    CANONICAL = 2  # it names the other by rel=canonical, and is much like it

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


class Refusal(IntEnum):
    """Why an address that was found is not taken in.

    >>> Refusal.NOT_INCLUDED.label
    'not included'
    """

    EXCLUDED = 1  # it matches a pattern of `exclude`
    NOT_INCLUDED = 2  # it matches no pattern of `include`
    PARAMETER = 3  # it is that of another page, but for parameters that say nothing
    REPEATED = 4  # its folders repeat themselves
    TRAP = 5  # its shape is one of addresses without end
    ROBOTS = 6  # robots.txt forbids it

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower().replace("_", " ")


NO_TAG = RobotsTag(0)
WITH_A_COPY = (PageStatus.COPIED, PageStatus.SUSPECTED)  # pages that readers have a copy of
_ENDS = frozenset({FeedKind.REMOVED, FeedKind.MOVED})
_COMPARED = frozenset(
    {VisitOutcome.SAME, VisitOutcome.NOT_MODIFIED, VisitOutcome.CHANGED, VisitOutcome.COSMETIC}
)
