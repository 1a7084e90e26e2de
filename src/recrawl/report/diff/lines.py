"""Diff of two versions of a page, as lines for a terminal.

Targets of links are shown only where they changed, masked text is "…", and control characters are
escaped.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.diff.line_diff import BlockKind, gist
from recrawl.detect.diff.word_diff import Edit, EditKind
from recrawl.detect.text.lines import GAP, LINK
from recrawl.report.table import printable, shortened
from recrawl.report.words import counted, percent
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recrawl.detect.diff.line_diff import Block, PageDiff, Span
    from recrawl.inspect.versions import Comparison

CONTEXT = 3  # unchanged lines shown beside a change

_AROUND = 60  # characters of kept text shown beside a change
_TARGET = re.compile(rf"{LINK}\S*+\s?")


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of the output.

    Args:
        kind: BlockKind of its block; None for a remark.
        edits: Its word diff.
    """

    kind: BlockKind | None
    edits: tuple[Edit, ...]

    @property
    def marker(self) -> str:
        """Character in its first column."""
        return " " if self.kind is None else MARKERS[self.kind]

    def marked(self) -> list[Edit]:
        """Its word diff, with brackets around added and removed words if others were kept."""
        if len({edit.kind for edit in self.edits}) <= 1:
            return list(self.edits)
        return [Edit(edit.kind, _BRACKETS[edit.kind].format(edit.text)) for edit in self.edits]

    def plain(self) -> str:
        """The line without colours."""
        return " ".join([self.marker, "".join(edit.text for edit in self.marked())]).rstrip()


MARKERS = {
    BlockKind.SAME: " ",
    BlockKind.CHANGED: "~",
    BlockKind.REMOVED: "-",
    BlockKind.ADDED: "+",
    BlockKind.MOVED_AWAY: "<",
    BlockKind.MOVED: ">",
}
_BRACKETS = {EditKind.KEPT: "{}", EditKind.REMOVED: "[-{}-]", EditKind.ADDED: "{{+{}+}}"}


def heading(comparison: Comparison) -> list[str]:
    """Which versions are compared, and how much changed."""
    sides = [
        f"{utc_text(side.at_seconds)} ({counted(side.size, 'byte')})"
        for side in (comparison.old, comparison.new)
    ]
    return [
        printable(comparison.page),
        f"from {sides[0]} to {sides[1]}, UTC",
        summary(comparison.diff, comparison.share),
    ]


def summary(diff: PageDiff, share: float) -> str:
    """One sentence on what changed.

    >>> from recrawl.detect.diff.line_diff import line_diff
    >>> summary(line_diff(["a", "b 1"], ["a", "b 2", "c"]), 0.4)
    '40 % of the words changed (edited): 1 line changed, 1 added'
    """
    counted = [
        (diff.lines(kind), kind)
        for kind in (BlockKind.CHANGED, BlockKind.ADDED, BlockKind.REMOVED, BlockKind.MOVED)
    ]
    found = [f"{count:,} {kind}" for count, kind in counted if count]
    if not found:
        return "nothing that counts has changed"
    count, _, first = found[0].partition(" ")
    found[0] = f"{count} line {first}" if count == "1" else f"{count} lines {first}"
    did = "changed or moved" if diff.lines(BlockKind.MOVED) else "changed"
    what = gist(diff, share)
    return f"{share_words(share)} of the words {did} ({what}): {', '.join(found)}"


def share_words(share: float) -> str:
    """A share in per cent; small ones are not shown as 0.

    >>> [share_words(0.001), share_words(0.25), share_words(0.0), share_words(float("nan"))]
    ['under 1 %', '25 %', '0 %', '-']
    """
    return "under 1 %" if 0 < share < 0.01 else percent(share)  # noqa: PLR2004 - the 1 % it says


def shown(diff: PageDiff) -> Iterator[Shown]:
    """Lines of a diff: what changed, with a few lines of context."""
    if all(block.kind is BlockKind.SAME for block in diff.blocks):
        return
    last = len(diff.blocks) - 1
    passed: set[Span] = set()
    for number, block in enumerate(diff.blocks):
        if block.kind is BlockKind.SAME:
            lines = diff.old[slice(*block.old)]
            yield from _same(lines, above=number > 0, below=number < last)
        elif block.kind is BlockKind.CHANGED:
            yield from (Shown(block.kind, tuple(near(edits))) for edits in block.edits)
        elif block.kind is BlockKind.REMOVED:
            yield from _whole(block.kind, EditKind.REMOVED, diff.old[slice(*block.old)])
        elif block.kind is BlockKind.ADDED:
            yield from _whole(block.kind, EditKind.ADDED, diff.new[slice(*block.new)])
        else:
            down = (block.old in passed) is (block.kind is BlockKind.MOVED)
            passed.add(block.old)
            yield from _moved(block, "down" if down else "up")


def readable(text: str, *, targets: bool = False) -> str:
    r"""A text without control characters, as shown on a terminal.

    Args:
        text: The text, of which the targets of links are part.
        targets: Whether to show targets of links; a link without text always shows its target.

    Examples:
        >>> readable("Two \x10/bags bags\x1b"), readable("\x10/bags bags", targets=True)
        ('Two bags\\x1b', '→/bags bags')
    """
    if LINK in text:
        bare = _TARGET.sub("", text)
        text = bare if bare.strip() and not targets else text.replace(LINK, "→")
    return printable(text.replace(GAP, "…"))


def targetless(text: str) -> str:
    """A text as shown on a terminal, without the targets of links."""
    return printable(_TARGET.sub("", text).replace(GAP, "…"))


def near(edits: Sequence[Edit]) -> Iterator[Edit]:
    """A word diff in which long kept text is cut to what is near a change."""
    last = len(edits) - 1
    for number, edit in enumerate(edits):
        changed = edit.kind is not EditKind.KEPT
        text = readable(edit.text, targets=changed) if changed else targetless(edit.text)
        if changed or len(text) <= 2 * _AROUND + 1 or not last:
            yield Edit(edit.kind, text)
            continue
        head = f"{_cut(text)} " if number else ""
        tail = f" {_cut(text[::-1])[::-1]}" if number < last else ""
        yield Edit(edit.kind, f"{head}…{tail}")


def _cut(text: str) -> str:
    """The beginning of a text, up to the end of a word where there is one."""
    space = text.rfind(" ", _AROUND // 2, _AROUND)
    return text[: space if space > 0 else _AROUND]


def _whole(kind: BlockKind, edit: EditKind, lines: Iterable[str]) -> Iterator[Shown]:
    return (Shown(kind, (Edit(edit, readable(line)),)) for line in lines)


def _same(lines: Sequence[str], *, above: bool, below: bool) -> Iterator[Shown]:
    """Context lines of the changes above and below, and the number of the others."""
    head = CONTEXT if above else 0
    tail = CONTEXT if below else 0
    left = len(lines) - head - tail
    if left <= 1:  # to say so would take a line, too
        head, left = len(lines), 0
    yield from map(_beside, lines[:head])
    if left:
        yield _remark(f"... {left:,} lines the same")
        yield from map(_beside, lines[head + left :])


def _beside(line: str) -> Shown:
    """A context line, cut if it is long."""
    text = readable(line)
    text = text if len(text) <= 2 * _AROUND else f"{_cut(text)} …"
    return Shown(BlockKind.SAME, (Edit(EditKind.KEPT, text),))


def _moved(block: Block, way: str) -> Iterator[Shown]:
    """A moved block: one line where it was, its changes where it is now."""
    if len(block.edits) == 1:
        yield Shown(block.kind, (*near(block.edits[0]), Edit(EditKind.KEPT, f"  (moved {way})")))
        return
    count = f"{len(block.edits):,} lines"
    if block.kind is BlockKind.MOVED_AWAY:
        beginning = shortened(readable(_old(block.edits[0])), _AROUND)
        yield Shown(block.kind, (Edit(EditKind.KEPT, f"{count} moved {way}: {beginning}"),))
        return
    yield Shown(block.kind, (Edit(EditKind.KEPT, f"{count} moved {way}:"),))
    as_they_were = [number for number, edits in enumerate(block.edits) if len(edits) == 1]
    left = [number for number in as_they_were if number >= CONTEXT]
    for number, edits in enumerate(block.edits):
        if len(left) <= 1 or number not in range(left[0], left[-1] + 1) or len(edits) > 1:
            yield Shown(block.kind, tuple(near(edits)))
        elif number == left[0]:
            yield _remark(f"... {len(left):,} more lines as they were")


def _old(edits: Iterable[Edit]) -> str:
    return "".join(edit.text for edit in edits if edit.kind is not EditKind.ADDED)


def _remark(sentence: str) -> Shown:
    return Shown(None, (Edit(EditKind.KEPT, sentence),))
