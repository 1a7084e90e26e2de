"""Diff of two versions of a page: blocks of lines that can be shown and applied.

A block is a range of lines of one kind:

    same        old 0-2  new 0-2
    changed     old 2-3  new 2-3   line by line, each with its word diff
    removed     old 3-5  new 3-3
    moved_away  old 5-7  new 6-8   stands where the lines were
    added       old 7-7  new 3-4
    same        old 7-9  new 4-6
    moved       old 5-7  new 6-8   stands where the lines are now; they may have changed as well

Blocks are in the order of both versions at once; where lines were replaced, the removed ones come
first. Ranges are half open and count from 0.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recrawl.detect.diff.gist import gist_of_words
from recrawl.detect.diff.line_matching import match_lines
from recrawl.detect.diff.word_diff import Edit, EditKind, reverse, word_diff, words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span: TypeAlias = tuple[int, int]

# Characters of changed lines that get a word diff; about a second or two.
_MOST_LETTERS = 1_000_000


class BlockKind(StrEnum):
    """What became of a block of lines."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"
    MOVED_AWAY = "moved_away"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Block:
    """A range of lines of one kind.

    Args:
        kind: What became of them.
        old: Half-open range of old lines.
        new: Half-open range of new lines.
        edits: One word diff per line, where lines changed or moved; else empty.
    """

    kind: BlockKind
    old: Span
    new: Span
    edits: tuple[tuple[Edit, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PageDiff:
    """Diff of two versions of a page.

    Args:
        old: Lines of the old version.
        new: Lines of the new version.
        blocks: What became of them.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    blocks: tuple[Block, ...]

    def lines(self, kind: BlockKind) -> int:
        """Number of lines of one kind."""
        ours = [block for block in self.blocks if block.kind is kind]
        return sum(max(block.old[1] - block.old[0], block.new[1] - block.new[0]) for block in ours)

    def removed(self) -> Iterator[str]:
        """Words that are no longer there; moved lines still are."""
        return self._words(BlockKind.REMOVED, EditKind.REMOVED)

    def added(self) -> Iterator[str]:
        """Words that were not there before."""
        return self._words(BlockKind.ADDED, EditKind.ADDED)

    def _words(self, kind: BlockKind, edit_kind: EditKind) -> Iterator[str]:
        for block in self.blocks:
            if block.kind is kind:
                gone = kind is BlockKind.REMOVED
                lines = self.old[slice(*block.old)] if gone else self.new[slice(*block.new)]
                yield from chain.from_iterable(map(words_in, lines))
            elif block.kind is not BlockKind.MOVED_AWAY:  # whose edits `MOVED` has, too
                for edit in chain.from_iterable(block.edits):
                    if edit.kind is edit_kind:
                        yield from words_in(edit.text)


def line_diff(old: Sequence[str], new: Sequence[str]) -> PageDiff:
    """Diff of two versions of a page, given as their lines.

    The diff the other way round has the same blocks, with removed for added and old for new.

    Args:
        old: Lines of the old version.
        new: Lines of the new version.

    Examples:
        >>> old = ["Tea of the first picking", "From Japan", "Costs 5 euros", "Sold by weight"]
        >>> new = ["Sold by weight", *old[:2], "Costs 6 euros", "Ask us"]
        >>> for block in line_diff(old, new).blocks:
        ...     print(block.kind, block.old, block.new)
        moved (3, 4) (0, 1)
        same (0, 2) (1, 3)
        changed (2, 3) (3, 4)
        moved_away (3, 4) (0, 1)
        added (4, 4) (4, 5)
    """
    old, new = tuple(old), tuple(new)
    if (len(old), old) > (len(new), new):
        matches = _matches(new, old).reversed()
    else:
        matches = _matches(old, new)
    return PageDiff(old, new, tuple(_blocks(old, matches)))


def gist(diff: PageDiff, share: float) -> str:
    """Kind of change, in one word.

    Args:
        diff: The diff.
        share: Share of the words that differ.

    Returns:
        One of `GISTS`: `same`; `moved` where all words are still there; `figures` where only words
        with digits came and went; `rewritten` where half of the words differ; `added` or `removed`
        where words did nothing else; and `edited` otherwise.

    Examples:
        >>> gist(line_diff(["Costs 5 euros"], ["Costs 6 euros"]), share=0.3)
        'figures'
    """
    if all(block.kind is BlockKind.SAME for block in diff.blocks):
        return "same"
    removed, added = set(diff.removed()), set(diff.added())
    moved = "moved" if diff.lines(BlockKind.MOVED) else "edited"
    return gist_of_words(removed, added, share) or moved


class _Matches(NamedTuple):
    """Lines of two versions that match, with word diffs.

    Args:
        partner: For each old line the new line that it matches; -1 for none.
        partner_new: For each new line the old one.
        moved: Old lines that match a new line elsewhere.
        edits: Word diff of each old line that changed.
    """

    partner: list[int]
    partner_new: list[int]
    moved: set[int]
    edits: dict[int, tuple[Edit, ...]]

    def reversed(self) -> _Matches:
        """The matches from the new lines to the old ones."""
        moved = {self.partner[row] for row in self.moved}
        other = {self.partner[row]: reverse(edits) for row, edits in self.edits.items()}
        return _Matches(self.partner_new, self.partner, moved, other)

    def stays(self, row: int, row_new: int) -> bool:
        """Whether two lines match and neither has moved."""
        return row < len(self.partner) and self.partner[row] == row_new and row not in self.moved

    def edits_of(self, row: int, line: str) -> tuple[Edit, ...]:
        """Word diff of an old line that has a match."""
        return self.edits.get(row) or ((Edit(EditKind.KEPT, line),) if line else ())


def _matches(old: Sequence[str], new: Sequence[str]) -> _Matches:
    partner, moved = match_lines(old, new)
    partner_new, found, room = [-1] * len(new), {}, _MOST_LETTERS
    for row, other in enumerate(partner):
        if other < 0:
            continue
        partner_new[other] = row
        if old[row] != new[other]:
            room -= len(old[row]) + len(new[other])
            diff = word_diff if room > 0 else _replacement
            found[row] = diff(old[row], new[other])
    return _Matches(partner, partner_new, moved, found)


def _replacement(old: str, new: str) -> tuple[Edit, ...]:
    """Word diff that replaces a line as a whole."""
    edits = (Edit(EditKind.REMOVED, old), Edit(EditKind.ADDED, new))
    return tuple(edit for edit in edits if edit.text)


def _blocks(old: Sequence[str], matches: _Matches) -> Iterator[Block]:
    """Blocks in the order of both versions: lines of one kind that follow each other are one."""
    lines = _lines(matches)
    kind, span, span_new = next(lines, (BlockKind.SAME, (0, 0), (0, 0)))
    for each, at, at_new in lines:
        if (each, at[0], at_new[0]) == (kind, span[1], span_new[1]):
            span, span_new = (span[0], at[1]), (span_new[0], at_new[1])
        else:
            yield _block(kind, span, span_new, old, matches)
            kind, span, span_new = each, at, at_new
    if span != span_new or span[1]:
        yield _block(kind, span, span_new, old, matches)


def _block(
    kind: BlockKind, span: Span, span_new: Span, old: Sequence[str], matches: _Matches
) -> Block:
    if kind not in (BlockKind.CHANGED, BlockKind.MOVED, BlockKind.MOVED_AWAY):
        return Block(kind, span, span_new)
    return Block(
        kind, span, span_new, tuple(matches.edits_of(row, old[row]) for row in range(*span))
    )


def _lines(matches: _Matches) -> Iterator[tuple[BlockKind, Span, Span]]:
    """Kind and ranges of each line alone, in the order of both versions."""
    row = row_new = 0
    while row < len(matches.partner) or row_new < len(matches.partner_new):
        if matches.stays(row, row_new):
            kind = BlockKind.CHANGED if row in matches.edits else BlockKind.SAME
            yield kind, (row, row + 1), (row_new, row_new + 1)
            row, row_new = row + 1, row_new + 1
        elif row < len(matches.partner) and (matches.partner[row] < 0 or row in matches.moved):
            other = matches.partner[row]
            if other < 0:
                yield BlockKind.REMOVED, (row, row + 1), (row_new, row_new)
            else:
                yield BlockKind.MOVED_AWAY, (row, row + 1), (other, other + 1)
            row += 1
        else:
            other = matches.partner_new[row_new]
            if other < 0:
                yield BlockKind.ADDED, (row, row), (row_new, row_new + 1)
            else:
                yield BlockKind.MOVED, (other, other + 1), (row_new, row_new + 1)
            row_new += 1
