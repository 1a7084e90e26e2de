"""What an event can bring with it: text, Markdown, a diff, chunks.

All of it is made of the versions that the store keeps when it is read; where one was dropped, it is
None. Only which chunks a copy has can be told all the same, by the manifest that was written with
its event, if one was.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from recrawl.detect.change import not_converted
from recrawl.entries.records import PARTS
from recrawl.errors import InvalidParameter, NothingToCompare
from recrawl.extract import SPLITTER, Chunk, chunks_of, read_content
from recrawl.inspect.versions import PageVersions, masks_of, rule_of
from recrawl.report.diff.data import diff_object
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recrawl.detect.change import Convert
    from recrawl.entries.manifests import ListedChunk
    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.extract import Content
    from recrawl.inspect.versions import Comparison
    from recrawl.settings.settings import Settings


class ContentReader:
    """Adds content to events.

    Args:
        store: The store.
        settings: Settings of its crawl, which say what counts in a page; None for all of it.
        parts: Which of `PARTS` to add.
        convert: Makes HTML of PDF and Office documents.

    Raises:
        InvalidParameter: A part is unknown.
    """

    def __init__(
        self,
        store: ReadStore,
        settings: Settings | None,
        parts: Collection[str] = (),
        convert: Convert = not_converted,
    ) -> None:
        unknown = sorted(set(parts) - set(PARTS))
        if unknown:
            said = f"parts of an event must be of {', '.join(PARTS)} (got {unknown[0]!r})"
            raise InvalidParameter(said)
        self._store = store
        self._settings = settings
        self._convert = convert
        self.parts = frozenset(parts)

    def content(self, page: int, address: str, digest: bytes | None) -> Content | None:
        """What a version says; None where it is not kept, or is no text."""
        body = None if digest is None else self._store.body(digest)
        if body is None:
            return None
        rule = rule_of(self._settings, self._store, page, address)
        masks = masks_of(self._store, page, address)
        return read_content(
            body, "", address, masks=masks, criteria=rule.criteria, convert=self._convert
        )

    def of(self, event: FeedEvent, *, skipped: bool = False) -> dict[str, Any]:
        """What is added to an event; nothing to one that ends a page but its chunks' ids.

        Args:
            event: The event.
            skipped: Whether its reader was not told of events of the page before it: what became
                of each chunk since they cannot know.
        """
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
            found |= self._chunks(event, new, skipped=skipped)
        return found

    def compared(self, event: FeedEvent) -> Comparison | None:
        """What changed between the versions before and after; None where one is not kept."""
        kept = {each.digest: each for each in self._store.versions(event.page)}
        old, new = kept.get(event.before or b""), kept.get(event.version or b"")
        if old is None or new is None or old is new:
            return None
        address = event.address
        rule = rule_of(self._settings, self._store, event.page, address)
        masks = masks_of(self._store, event.page, address)
        versions = PageVersions(self._store, address, (old, new), rule, masks, self._convert)
        try:
            return versions.compared(old, new)
        except NothingToCompare:
            return None

    def _chunks(self, event: FeedEvent, new: Content | None, *, skipped: bool) -> dict[str, Any]:
        """All chunks of the copy that an event tells of, and what became of each."""
        now = self._chunks_now(event, new)
        if now is None:
            return {"splitter": SPLITTER, "content": None, "chunks": None, "removed": None}
        before = None if skipped else self._hashes_before(event, now.splitter)
        found = _chunk_changes(before, now)
        same = before == {chunk.id: chunk.hash for chunk in now.chunks}
        content = None if skipped else not (same and event.kind is FeedKind.CHANGED)
        return found | {"content": content}

    def _chunks_now(self, event: FeedEvent, new: Content | None) -> _Chunks | None:
        """Chunks of the copy that an event tells of; None where they are not known.

        The manifest says what the crawl saw, the version what each chunk says. Where they do not
        fit, since the splitter or the masks are others now, the version counts.
        """
        if event.kind.ends:
            return _Chunks(SPLITTER, ())
        manifest = self._store.manifest(event.manifest)
        made = None if new is None else _Chunks(SPLITTER, chunks_of(new))
        if manifest is None:
            return made
        if made is None:
            return _Chunks(manifest.splitter, manifest.chunks)
        told = {chunk.id: chunk for chunk in made.chunks if isinstance(chunk, Chunk)}
        if manifest.splitter != SPLITTER or any(each.id not in told for each in manifest.chunks):
            return made
        listed = [
            replace(told[each.id], hash=each.hash, path=each.path) for each in manifest.chunks
        ]
        return _Chunks(SPLITTER, listed)

    def _hashes_before(self, event: FeedEvent, splitter: int) -> dict[str, str] | None:
        """Hash of each chunk that readers had before an event, by id; None where not known."""
        if event.kind.begins:
            return {}
        listed: Sequence[Chunk | ListedChunk] = ()
        manifest = self._store.manifest(event.manifest_before)
        if manifest is not None:
            made_by, listed = manifest.splitter, manifest.chunks
        else:
            old = self.content(event.page, event.address, event.before)
            if old is None:
                return None
            made_by, listed = SPLITTER, chunks_of(old)
        if made_by != splitter and not event.kind.ends:
            return None
        return {chunk.id: chunk.hash for chunk in listed}

    def _diff(self, event: FeedEvent) -> dict[str, Any] | None:
        """The diff of the versions before and after, as `recrawl diff --json` writes it."""
        comparison = self.compared(event)
        return None if comparison is None else diff_object(comparison)


class _Chunks(NamedTuple):
    """Chunks of a copy.

    Attributes:
        splitter: Version of the splitter that made them.
        chunks: The chunks; without text where the version is not kept.
    """

    splitter: int
    chunks: Sequence[Chunk | ListedChunk]


def _chunk_changes(before: Mapping[str, str] | None, now: _Chunks) -> dict[str, Any]:
    """All chunks of a page, and what became of each since the copy before.

    The whole list comes every time, so that "delete what is not in it" is right after any gap.

    Args:
        before: Hash of each chunk of the copy before, by id; None where they are not known.
        now: The chunks of the copy now.
    """
    old_hashes = {digest: name for name, digest in (before or {}).items()}
    rows = [_row(chunk, before, old_hashes) for chunk in now.chunks]
    ids = {chunk.id for chunk in now.chunks}
    removed = None if before is None else [each for each in before if each not in ids]
    return {"splitter": now.splitter, "chunks": rows, "removed": removed}


def _row(
    chunk: Chunk | ListedChunk, before: Mapping[str, str] | None, old_hashes: Mapping[str, str]
) -> dict[str, Any]:
    """A chunk, and what became of it; None where that cannot be told."""
    op: str | None = None
    was: str | None = None
    if before is not None:
        if chunk.id in before:
            op = "same" if before[chunk.id] == chunk.hash else "changed"
        else:
            was = old_hashes.get(chunk.hash)
            op = "new" if was is None else "moved"
    told = chunk if isinstance(chunk, Chunk) else None
    return {
        "id": chunk.id,
        "hash": chunk.hash,
        "path": list(chunk.path),
        "part": chunk.part,
        "op": op,
        "was": was,
        "text": told and told.text,
        "markdown": told and told.markdown,
    }
