"""Copies of a crawl and what has changed, for readers outside of it.

    cursor, copies = store.snapshot()      all copies; then keep the cursor
    for event in store.changes(cursor):    all that came after it, in order

The objects of listings have the same: `listing_snapshot` and `listing_changes`.

Events come at least once and in order. A reader that keeps the cursor of an event with its own
commit misses nothing, whenever it is killed; `page` and `version` tell what it knows already.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Self

from recrawl.detect.change import not_converted
from recrawl.entries.store import ERASED, EVENTS_AT_A_TIME
from recrawl.errors import NoVersion, UnknownPage
from recrawl.extract import chunks_of
from recrawl.inspect.versions import why_no_version
from recrawl.parse.addresses import canonical
from recrawl.publish.content import ContentReader
from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import maybe_moment, moment
from recrawl.publish.feeds import LatestEvents, events_after, object_feed, page_feed
from recrawl.publish.object_events import object_change
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.entries.records import FeedEvent, Version
    from recrawl.entries.store import ReadStore
    from recrawl.extract import Chunk, Content
    from recrawl.publish.object_events import ObjectChange
    from recrawl.settings.settings import Settings

_FEWEST_WITH_CONTENT = 20  # events read at once where each brings its content


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A version of a page.

    Args:
        page: Number of the page.
        version: First 16 bytes of the body's SHA-256, in hexadecimal.
        seen_at: When it was first seen.
        size: Bytes of its body.
    """

    page: int
    version: str
    seen_at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class PageCopy:
    """A version of a page with its body.

    Args:
        page: Number of the page.
        address: Its address.
        version: First 16 bytes of the body's SHA-256, in hexadecimal.
        seen_at: When this version was first seen.
        body: The body as it came.
        content: What it says; None where it is no text.
    """

    page: int
    address: str
    version: str
    seen_at: datetime
    body: bytes
    content: Content | None = field(repr=False)

    @property
    def text(self) -> str | None:
        """Plain text of its content; None where it is no text."""
        return None if self.content is None else self.content.text

    @property
    def markdown(self) -> str | None:
        """Markdown of its content; None where it is no text."""
        return None if self.content is None else self.content.markdown

    @property
    def chunks(self) -> list[Chunk]:
        """Its content in chunks with ids that last."""
        return [] if self.content is None else chunks_of(self.content)


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """An event of the change feed; docs/reference/feed.md tells what each kind means.

    Args:
        cursor: Where to go on after this event; None for a copy of a snapshot.
        kind: `new`, `changed`, `removed`, `moved`, `back`; `snapshot` in a snapshot.
        page: Number of the page, by which readers should name it.
        address: Its address; None where it was erased.
        seen_at: When the crawl saw it.
        earliest: When it had not happened yet; None where that is unknown.
        latest: When it had happened at the latest.
        likely: When it probably happened; None where nothing is known of that.
        version: First 16 bytes of the SHA-256 of the body from then on, in hexadecimal.
        before: The same of the body before.
        share: Share of the words that differ; None where nothing was compared.
        gist: Kind of the change in one word; None where nothing was compared.
        reason: Why the page is gone; None where it is not.
        moved_to: Address that it has moved to.
        visit: Number of the visit that saw it; None where none did.
        content: What was asked for with it: `title`, `text`, `markdown`, `diff`, `chunks`, ...
    """

    cursor: str | None
    kind: str
    page: int
    address: str | None
    seen_at: datetime
    earliest: datetime | None
    latest: datetime
    likely: datetime | None
    version: str | None
    before: str | None
    share: float | None
    gist: str | None
    reason: str | None
    moved_to: str | None
    visit: int | None
    content: dict[str, Any]


class CopyReader:
    r"""A store of a crawl, for readers outside of it; `recrawl.open_store` opens one.

    Args:
        store: The store; the reader closes it.
        settings: Settings of its crawl, which say what counts in a page; None for all of it.
        documents: Reads PDF and Office documents, and is closed with the store; None to leave them
            unread.

    Examples:
        >>> import tempfile
        >>> from recrawl.entries.entries import PageEvent, PagesFound, VisitMade
        >>> from recrawl.store import create_store, open_store
        >>> from recrawl.visits.status import FeedKind, VisitOutcome
        >>> folder = tempfile.TemporaryDirectory()
        >>> with create_store(f"{folder.name}/pages.db") as store:
        ...     found = PagesFound(["https://a.org/"], ["a.org"], rules=[0], at_seconds=0.0)
        ...     new = PageEvent(FeedKind.NEW, latest_seconds=60.0)
        ...     body = b"<h1>Tea</h1><p>Only 5 euros"
        ...     visit = VisitMade(0, 60.0, VisitOutcome.FIRST, body=body, event=new)
        ...     _ = store.write([found, visit])
        >>> with CopyReader(open_store(f"{folder.name}/pages.db")) as store:
        ...     [event.kind for event in store.changes()], store.copy("https://a.org/").markdown
        (['new'], '# Tea\n\nOnly 5 euros')
        >>> folder.cleanup()
    """

    def __init__(
        self,
        store: ReadStore,
        settings: Settings | None = None,
        documents: DocumentConverter | None = None,
    ) -> None:
        self.store = store
        self._settings = settings
        self._documents = documents

    def close(self) -> None:
        """Close the store. Idempotent."""
        self.store.close()
        if self._documents is not None:
            self._documents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cursor(self) -> str:
        """Where the feed ends now: all later events come after it."""
        kept = self.store.feed_range()
        return cursor_text(kept.feed, kept.newest)

    # Copies.

    def page_of(self, page: int | str) -> tuple[int, str]:
        """Number and address of a page, by either.

        Raises:
            UnknownPage: There is no such page, or it was erased.
        """
        if isinstance(page, str):
            address = canonical(page) or page
            (number,) = self.store.find_pages([address])
        else:
            number = page if 0 <= page < self.store.page_count() else None
        if number is None:
            raise UnknownPage(f"{self.store.name}: no page {page}")
        (address,) = self.store.addresses([number])
        if address.startswith(ERASED):
            raise UnknownPage(f"{self.store.name}: page {page} was erased")
        return number, address

    def versions(self, page: int | str) -> list[PageVersion]:
        """Versions of a page that are kept, oldest first.

        Args:
            page: Its number or address.
        """
        number, _ = self.page_of(page)
        return [
            PageVersion(number, each.digest.hex(), moment(each.at_seconds), each.size)
            for each in self.store.versions(number)
        ]

    def copy(self, page: int | str, at: datetime | None = None) -> PageCopy:
        """A page as it is, or as it was.

        Args:
            page: Its number or address.
            at: When; None for the newest version.

        Raises:
            UnknownPage: There is no such page.
            NoVersion: No version is kept that was current then.
        """
        number, address = self.page_of(page)
        version = self._version(number, address, inf if at is None else at.timestamp())
        body = self.store.body(version.digest)
        if body is None:
            raise NoVersion(f"{self.store.name}: a version of {address} was dropped a moment ago")
        content = self._content().content(number, address, version.digest)
        seen_at = moment(version.at_seconds)
        return PageCopy(number, address, version.digest.hex(), seen_at, body, content)

    def _version(self, page: int, address: str, seconds: float) -> Version:
        kept = self.store.versions(page)
        if not kept:
            why = why_no_version(self._settings, self.store, page)
            raise NoVersion(f"{self.store.name}: no version of {address} is kept{why}")
        # People write whole seconds.
        held = [each for each in kept if int(each.at_seconds) <= seconds]
        if not held:
            raise NoVersion(
                f"{self.store.name}: no version of {address} is kept from {utc_text(seconds)} UTC; "
                f"the oldest is from {utc_text(kept[0].at_seconds)}"
            )
        return held[-1]

    def _content(self, include: Collection[str] = ()) -> ContentReader:
        return ContentReader(self.store, self._settings, include, self._documents or not_converted)

    # What has changed.

    def changes(
        self, after: str | None = None, include: Collection[str] = (), *, latest: bool = False
    ) -> Iterator[ChangeEvent]:
        """Events after a position up to now, in order.

        Args:
            after: Cursor of the last event that was read; None for all that are kept.
            include: What to bring with each: `text`, `markdown`, `diff`, `chunks`.
            latest: Whether of several events of a page only the newest is wanted.

        Raises:
            CursorExpired: Something after the position is not kept: take a snapshot.
        """
        reader, feed = self._content(include), page_feed(self.store)
        name, start = feed.range().feed, feed.after(after)
        rows = _FEWEST_WITH_CONTENT if include else EVENTS_AT_A_TIME
        only = LatestEvents(self.store, start) if latest else None
        return (
            public_event(name, event, reader.of(event, skipped=bool(only and only.skips(event))))
            for batch in events_after(feed, start, rows)
            for event in (batch if only is None else only.of(batch))
        )

    def snapshot(self, include: Collection[str] = ()) -> tuple[str, Iterator[ChangeEvent]]:
        """A cursor, and all copies that there are; what comes later comes after the cursor.

        What changes while the copies are read may be among them, and comes again. Keep the cursor
        once all of them are read, and drop what you have of pages that are not among them.

        Args:
            include: What to bring with each: `text`, `markdown`, `chunks`.
        """
        reader, kept = self._content(include), self.store.feed_range()
        rows = _FEWEST_WITH_CONTENT if include else EVENTS_AT_A_TIME
        copies = (
            public_event(kept.feed, event, reader.of(event))
            for batch in self.store.snapshot(rows)
            for event in batch
        )
        return cursor_text(kept.feed, kept.newest), copies

    # Objects of listings.

    @property
    def listing_cursor(self) -> str:
        """Where the feed of listings ends now: all later events come after it."""
        kept = self.store.object_feed_range()
        return cursor_text(kept.feed, kept.newest)

    def listing_changes(self, after: str | None = None) -> Iterator[ObjectChange]:
        """Events of the objects of all listings after a position up to now, in order.

        Args:
            after: Cursor of the last event that was read; None for all that ever were.

        Raises:
            CursorExpired: The cursor is of another store, or of one that was restored since.
        """
        feed = object_feed(self.store)
        name, start = feed.range().feed, feed.after(after)
        return (
            object_change(name, event)
            for batch in events_after(feed, start, EVENTS_AT_A_TIME)
            for event in batch
        )

    def listing_snapshot(self) -> tuple[str, Iterator[ObjectChange]]:
        """A cursor, and all objects that are listed; what comes later comes after the cursor.

        As with `snapshot`: keep the cursor once all of them are read, and drop what you have of
        objects that are not among them.
        """
        feed = object_feed(self.store)
        kept = feed.range()
        objects = (
            object_change(kept.feed, event)
            for batch in feed.snapshot(EVENTS_AT_A_TIME)
            for event in batch
        )
        return cursor_text(kept.feed, kept.newest), objects


def public_event(feed: str, event: FeedEvent, content: dict[str, Any]) -> ChangeEvent:
    """An event as readers of the Python interface get it."""
    return ChangeEvent(
        cursor=cursor_text(feed, event.number) if event.number else None,
        kind=event.kind.label,
        page=event.page,
        address=event.address or None,
        seen_at=moment(event.at_seconds),
        earliest=maybe_moment(event.earliest_seconds),
        latest=moment(event.latest_seconds),
        likely=maybe_moment(event.likely_seconds),
        version=None if event.version is None else event.version.hex(),
        before=None if event.before is None else event.before.hex(),
        share=event.share,
        gist=event.gist,
        reason=None if event.reason is None else event.reason.label,
        moved_to=event.target,
        visit=event.visit,
        content=content,
    )


def open_store(path: str, settings: Settings | None = None) -> CopyReader:
    """Open the store of a crawl for reading, also while the crawl is running.

    Args:
        path: Path or URL of the store.
        settings: Settings of its crawl, which say what counts in a page; None for all of it.
    """
    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.store import open_store as opened

    return CopyReader(opened(path), settings, DocumentConverter())
