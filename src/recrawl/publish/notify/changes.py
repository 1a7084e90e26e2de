"""What changed on a page, as people who asked for some changes see it.

Touches: a store, through what it is given.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from recrawl.detect.change import not_converted
from recrawl.detect.diff.line_diff import BlockKind, line_diff
from recrawl.detect.diff.share import share_changed
from recrawl.detect.diff.word_diff import EditKind
from recrawl.detect.text.words import space_words
from recrawl.errors import NothingToCompare, StoreCorrupt
from recrawl.inspect.versions import PageVersions, masks_of, rule_of
from recrawl.publish.content import ContentReader
from recrawl.publish.events import EventFilter
from recrawl.publish.notify.messages import Notice, message_of
from recrawl.report.diff.lines import near, readable, targetless
from recrawl.settings.rules import NO_RULE, Rule, RuleFinder
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.detect.change import Convert
    from recrawl.detect.diff.line_diff import Block, PageDiff
    from recrawl.detect.diff.word_diff import Edit
    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.publish.notify.digest import Digest
    from recrawl.publish.notify.messages import Message, MessageRoom
    from recrawl.settings.notify_keys import Recipient
    from recrawl.settings.settings import Settings

_MOST_LINES = 12  # of a page in a message
_NEW_LINES = 3  # of a page that is new, whose every line is
_NOT_KEPT = "what changed is not kept"
_MOVED = "lines have moved"
_AS_BEFORE = "it is as it was before"
_NOISE = "nothing that counts differs any more"  # what differs by itself has been learned since


class ChangeReader:
    """Reads what changed, and whether it is what somebody asked for.

    Args:
        recipient: Who asked.
        settings: Settings of the crawl, which say what counts in a page.
        convert: Makes HTML of PDF and Office documents.
    """

    def __init__(
        self, recipient: Recipient, settings: Settings, convert: Convert = not_converted
    ) -> None:
        self._recipient = recipient
        self._settings = settings
        self._convert = convert
        self._filter = EventFilter(frozenset(recipient.kinds), frozenset(recipient.hosts))
        self._sections = RuleFinder([Rule(each) for each in recipient.sections])
        self._words = words_pattern(recipient.words)

    def wants(self, store: ReadStore, event: FeedEvent) -> bool:
        """Whether they asked for an event; what cannot be told for want of versions, they did."""
        asked = self._recipient
        # Whoever had a page erased need not be told of it.
        if not event.address or not self._filter.holds(event):
            return False
        if asked.sections and self._sections.rule_of(event.address) == NO_RULE:
            return False
        if asked.watch or self._words:
            try:
                return self._wants_diff(self._diff(store, event, event), event)
            except (NothingToCompare, StoreCorrupt, RecursionError):
                return True
        return event.kind is not FeedKind.CHANGED or _share(event) >= asked.least_change

    def _wants_diff(self, diff: PageDiff, event: FeedEvent) -> bool:
        """Whether they asked for an event that changed so much of what they watch."""
        if all(block.kind is BlockKind.SAME for block in diff.blocks):
            return False
        if event.kind is FeedKind.CHANGED:
            share = share_changed(diff.old, diff.new)
            if share < self._recipient.least_change:
                return False
        return self._words is None or _mention(diff, self._words)

    def message(self, store: ReadStore, digest: Digest, room: MessageRoom) -> Message:
        """Changes as a message."""
        notices = [
            self.notice(store, each.first, each.last, each.times) for each in digest.pages.values()
        ]
        feed, pages = store.feed_range().feed, list(digest.pages)
        return message_of(
            digest.title(notices[0].title),
            notices,
            lambda shown: digest.tail(feed, pages[:shown]),
            room,
        )

    def notice(self, store: ReadStore, first: FeedEvent, last: FeedEvent, times: int) -> Notice:
        """What became of a page from before one event to after another."""
        title = self._title(store, last) or self._title(store, first)
        if last.kind.ends:
            return Notice(last, times, title)
        try:
            diff = self._diff(store, first, last)
        except (NothingToCompare, StoreCorrupt, RecursionError):
            return Notice(last, times, title, remark=_NOT_KEPT)
        lines = list(_lines(diff))
        if not lines:
            moved = diff.lines(BlockKind.MOVED)
            remark = _MOVED if moved else _AS_BEFORE if first.before == last.version else _NOISE
            return Notice(last, times, title, remark=remark)
        most = _MOST_LINES if diff.old else _NEW_LINES
        return Notice(last, times, title, lines[:most], max(len(lines) - most, 0))

    def _diff(self, store: ReadStore, first: FeedEvent, last: FeedEvent) -> PageDiff:
        """The diff of the versions before one event and after another."""
        address, watch = last.address, self._recipient.watch
        rule = rule_of(self._settings, store, last.page, address)
        rule = replace(rule, watch=watch) if watch else rule
        kept = store.versions(last.page)
        masks = masks_of(store, last.page, address)
        versions = PageVersions(store, address, kept, rule, masks, self._convert)
        begins = first.before is None and first.kind in (FeedKind.NEW, FeedKind.BACK)
        old = () if begins else _lines_of(versions, first.before)
        return line_diff(old, () if last.kind.ends else _lines_of(versions, last.version))

    def _title(self, store: ReadStore, event: FeedEvent) -> str:
        reader = ContentReader(store, self._settings, convert=self._convert)
        for digest in (event.version, event.before):
            try:
                found = reader.content(event.page, event.address, digest)
            except (StoreCorrupt, RecursionError):
                continue
            if found is not None and found.title:
                return found.title
        return ""


def _share(event: FeedEvent) -> float:
    """Share of the words that differ; all of them where nothing was compared."""
    return 1.0 if event.share is None else event.share


def _lines_of(versions: PageVersions, digest: bytes | None) -> tuple[str, ...]:
    """What a reader sees of a version; raise where it is not kept."""
    for version in versions.kept:
        if version.digest == digest:
            return versions.lines(version)
    raise NothingToCompare(f"{versions.address}: the version is no longer kept")


def words_pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """What finds whole words and phrases, in any case; None for no words.

    Examples:
        >>> found = words_pattern(["price", "closing  date"])
        >>> [bool(found.search(each)) for each in ("the price:", "prices", "closing date")]
        [True, False, True]
    """
    phrases = [space_words([word]).casefold().split() for word in words]
    # Scripts without spaces have one between all of their characters in `_mention`.
    texts = [r"\s+".join(map(re.escape, each)) for each in phrases]
    return re.compile(rf"(?<!\w)(?:{'|'.join(texts)})(?!\w)") if texts else None


def _mention(diff: PageDiff, words: re.Pattern[str]) -> bool:
    """Whether a line that came, went or changed has one of some words."""
    return any(
        words.search(space_words([targetless(line)]).casefold()) for line in _changed_lines(diff)
    )


def _changed_lines(diff: PageDiff) -> Iterator[str]:
    """Lines that went, and lines that came; of those that changed both."""
    for block in diff.blocks:
        if block.kind is BlockKind.SAME or block.kind is BlockKind.MOVED_AWAY:
            continue
        if block.kind is BlockKind.MOVED and all(len(each) <= 1 for each in block.edits):
            continue
        yield from chain(diff.old[slice(*block.old)], diff.new[slice(*block.new)])


def _lines(diff: PageDiff) -> Iterator[str]:
    """What changed, line by line: what went after a minus sign, what came after a plus sign."""
    for block in diff.blocks:
        if block.kind is BlockKind.REMOVED:
            yield from (f"- {readable(line)}" for line in diff.old[slice(*block.old)])
        elif block.kind is BlockKind.ADDED:
            yield from (f"+ {readable(line)}" for line in diff.new[slice(*block.new)])
        elif block.kind in (BlockKind.CHANGED, BlockKind.MOVED):
            yield from _edited(block)


def _edited(block: Block) -> Iterator[str]:
    for edits in block.edits:
        if len(edits) > 1 or (edits and edits[0].kind is not EditKind.KEPT):
            shown = list(near(edits))
            yield f"- {_side(shown, EditKind.REMOVED)}"
            yield f"+ {_side(shown, EditKind.ADDED)}"


def _side(edits: Iterable[Edit], kind: EditKind) -> str:
    return "".join(edit.text for edit in edits if edit.kind in (EditKind.KEPT, kind))
