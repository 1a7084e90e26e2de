"""A small store with a feed: pages that came, changed, went and came back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.entries.entries import PageChange, PageEvent, PagesFound, VisitMade
from recrawl.extract import manifest_of, read_content
from recrawl.store import create_store, open_for_writing
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason, VisitOutcome
from tests.store.made import NOON

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recrawl.store.retention import Retention

SITE = "https://a.org"
PATHS = ("/", "/tea", "/tea?sort=price", "/Black/tea")
SETTINGS = f'agent = "bot (me@example.org)"\n[[site]]\naddress = "{SITE}/"\n'
_OUTCOMES = {FeedKind.NEW: VisitOutcome.FIRST, FeedKind.REMOVED: VisitOutcome.GONE}


def page(title: str, price: int = 5) -> bytes:
    """A page with navigation and two sections."""
    return (
        f"<title>{title}</title><nav><a href=/>Home</a> <a href=/all>All</a></nav><main>"
        f"<h1>{title}</h1><p>Tea from a small garden near Uji."
        f"<h2>Price</h2><p>It costs {price} euros a bag.</main>"
    ).encode()


def make(folder: Path) -> Path:
    """An empty crawl in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "recrawl.toml").write_text(SETTINGS)
    path = folder / "recrawl.db"
    with create_store(path) as store:
        addresses = [SITE + each for each in PATHS]
        store.write([PagesFound(addresses, ["a.org"] * 4, [0] * 4, NOON)])
    return path


def tell(
    path: Path,
    *events: tuple[FeedKind, int, bytes | None],
    start: int = 0,
    retention: Retention | None = None,
    listed: bool = False,
) -> None:
    """Write visits with events: kind, page, body; an hour apart, with their chunks if `listed`."""
    made = [_made(*each, start + hour) for hour, each in enumerate(events)]
    with open_for_writing(path, retention) as store:
        store.write([with_manifest(each) for each in made] if listed else made)


def with_manifest(made: VisitMade) -> VisitMade:
    """A visit whose event lists the chunks of its body."""
    if made.body is None or made.event is None:
        return made
    content = read_content(made.body, "", SITE + PATHS[made.page])
    assert content is not None
    return replace(made, event=replace(made.event, manifest=manifest_of(content)))


def _made(kind: FeedKind, number: int, body: bytes | None, hour: int) -> VisitMade:
    at = NOON + 3600 * hour
    reason = RemovalReason.GONE if kind.ends else None
    earliest = None if kind is FeedKind.NEW else at - 3600
    event = PageEvent(kind, at, earliest, earliest and at - 1800, reason)
    return VisitMade(
        number,
        at,
        _OUTCOMES.get(kind, VisitOutcome.CHANGED),
        200,
        share=0.25 if kind is FeedKind.CHANGED else None,
        body=body,
        change=PageChange(PageStatus.GONE if kind.ends else PageStatus.COPIED),
        event=event,
    )


def usual(path: Path) -> None:
    """Two pages, one of which changes and then goes; a third with a query."""
    tell(path, *_USUAL)


_USUAL: Sequence[tuple[FeedKind, int, bytes | None]] = (
    (FeedKind.NEW, 0, page("Home")),
    (FeedKind.NEW, 1, page("Tea")),
    (FeedKind.CHANGED, 1, page("Tea", 6)),
    (FeedKind.NEW, 2, page("Sorted")),
    (FeedKind.REMOVED, 0, None),
)
