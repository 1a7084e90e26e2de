"""What an event can bring with it: text, Markdown, a diff, chunks.

All of it is made of the versions that the store keeps when it is read; where one was dropped, it is
None.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.entries.records import PARTS
from recrawl.errors import InvalidParameter, NothingToCompare
from recrawl.extract import SPLITTER, chunks_of, read_content
from recrawl.inspect.versions import PageVersions, is_text, masks_of, rule_of
from recrawl.report.diff.data import diff_object

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.extract import Chunk, Content
    from recrawl.inspect.versions import Comparison
    from recrawl.settings.settings import Settings


class ContentReader:
    """Adds content to events.

    Args:
        store: The store.
        settings: Settings of its crawl, which say what counts in a page; None for all of it.
        parts: Which of `PARTS` to add.

    Raises:
        InvalidParameter: A part is unknown.
    """

    def __init__(
        self, store: ReadStore, settings: Settings | None, parts: Collection[str] = ()
    ) -> None:
        unknown = sorted(set(parts) - set(PARTS))
        if unknown:
            said = f"what comes with an event must be of {', '.join(PARTS)} (got {unknown[0]!r})"
            raise InvalidParameter(said)
        self._store = store
        self._settings = settings
        self.parts = frozenset(parts)

    def content(self, page: int, address: str, digest: bytes | None) -> Content | None:
        """What a version says; None where it is not kept, or is no text."""
        body = None if digest is None else self._store.body(digest)
        if body is None or not is_text(body):
            return None
        rule, masks = rule_of(self._settings, address), masks_of(self._store, page, address)
        return read_content(body, "", address, masks=masks, criteria=rule.criteria)

    def of(self, event: FeedEvent) -> dict[str, Any]:
        """What is added to an event; nothing to one that ends a page but its chunks' ids."""
        if not self.parts:
            return {}
        new = self.content(event.page, event.address, event.version)
        found: dict[str, Any] = {"title": None if new is None else new.title}
        if "text" in self.parts:
            found["text"] = None if new is None else new.text
        if "markdown" in self.parts:
            found["markdown"] = None if new is None else new.markdown
        if "diff" in self.parts:
            found["diff"] = self._diff(event)
        if "chunks" in self.parts:
            old = self.content(event.page, event.address, event.before)
            found |= chunk_changes(old, new, ends=event.kind.ends)
        return found

    def compared(self, event: FeedEvent) -> Comparison | None:
        """What changed between the versions before and after; None where one is not kept."""
        kept = {each.digest: each for each in self._store.versions(event.page)}
        old, new = kept.get(event.before or b""), kept.get(event.version or b"")
        if old is None or new is None or old is new:
            return None
        address = event.address
        rule, masks = rule_of(self._settings, address), masks_of(self._store, event.page, address)
        versions = PageVersions(self._store, address, (old, new), rule, masks)
        try:
            return versions.compared(old, new)
        except NothingToCompare:
            return None

    def _diff(self, event: FeedEvent) -> dict[str, Any] | None:
        """The diff of the versions before and after, as `recrawl diff --json` writes it."""
        comparison = self.compared(event)
        return None if comparison is None else diff_object(comparison)


def chunk_changes(old: Content | None, new: Content | None, *, ends: bool) -> dict[str, Any]:
    """All chunks of a page, and what became of each since the version before.

    The whole list comes every time, so that "delete what is not in it" is right after any gap.

    Args:
        old: The version before; None where it is not kept.
        new: The version now; None where it is not kept, or there is none.
        ends: Whether the page is gone.
    """
    before = None if old is None else chunks_of(old)
    now: Sequence[Chunk] | None = [] if ends else None if new is None else chunks_of(new)
    if now is None:
        return {"splitter": SPLITTER, "content": None, "chunks": None, "removed": None}
    old_ids = None if before is None else {each.id: each.hash for each in before}
    old_hashes = {each.hash: each.id for each in before or ()}
    rows = [_row(chunk, old_ids, old_hashes) for chunk in now]
    ids = {chunk.id for chunk in now}
    removed = None if old_ids is None else [each for each in old_ids if each not in ids]
    same = old_ids is not None and not removed and all(row["op"] == "same" for row in rows)
    return {"splitter": SPLITTER, "content": not same, "chunks": rows, "removed": removed}


def _row(
    chunk: Chunk, old_ids: Mapping[str, str] | None, old_hashes: Mapping[str, str]
) -> dict[str, Any]:
    """A chunk, and what became of it; None where that cannot be told."""
    op: str | None = None
    was: str | None = None
    if old_ids is not None:
        if chunk.id in old_ids:
            op = "same" if old_ids[chunk.id] == chunk.hash else "changed"
        else:
            was = old_hashes.get(chunk.hash)
            op = "new" if was is None else "moved"
    return {
        "id": chunk.id,
        "hash": chunk.hash,
        "path": list(chunk.path),
        "part": chunk.part,
        "op": op,
        "was": was,
        "text": chunk.text,
        "markdown": chunk.markdown,
    }
