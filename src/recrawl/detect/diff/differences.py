"""What changed between two versions of a page, as parts that can be shown and applied.

A part is a stretch of lines that met the same fate:

    same        old 0-2  new 0-2
    changed     old 2-3  new 2-3   line by line, with the words that were kept, removed, added
    removed     old 3-5  new 3-3
    moved_away  old 5-7  new 6-8   stands where the lines were
    added       old 7-7  new 3-4
    same        old 7-9  new 4-6
    moved       old 5-7  new 6-8   stands where the lines are now; they may have changed as well

Parts follow the old lines and the new ones at once: where a stretch was replaced, what is no longer
there comes before what is there now. Ranges are half open, counted from 0.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recrawl.detect.diff.edits import Fate, Run, edits, turned, words_in
from recrawl.detect.diff.pairing import paired

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span: TypeAlias = tuple[int, int]

GISTS = ("same", "moved", "figures", "added", "removed", "edited", "rewritten")

# Letters of lines that are looked at word by word; about a second or two.
_MOST_LETTERS = 1_000_000
_REWRITTEN = 0.5  # of the words


class Kind(StrEnum):
    """What became of a stretch of lines."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"
    MOVED_AWAY = "moved_away"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of lines that met the same fate.

    Args:
        kind: Which.
        old: First old line and the first that no longer belongs to it.
        new: The same of the new lines.
        edits: Of what changed or moved, for each line what became of its words; else nothing.
    """

    kind: Kind
    old: Span
    new: Span
    edits: tuple[tuple[Run, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two versions of a page.

    Args:
        old: Lines of one.
        new: Lines of the other.
        parts: What became of them.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    parts: tuple[Part, ...]

    def lines(self, kind: Kind) -> int:
        """How many lines met a fate."""
        ours = [part for part in self.parts if part.kind is kind]
        return sum(max(part.old[1] - part.old[0], part.new[1] - part.new[0]) for part in ours)

    def removed(self) -> Iterator[str]:
        """Words that are no longer there; those of lines that moved still are."""
        return self._words(Kind.REMOVED, Fate.REMOVED)

    def added(self) -> Iterator[str]:
        """Words that were not there before."""
        return self._words(Kind.ADDED, Fate.ADDED)

    def _words(self, kind: Kind, fate: Fate) -> Iterator[str]:
        for part in self.parts:
            if part.kind is kind:
                gone = kind is Kind.REMOVED
                lines = self.old[slice(*part.old)] if gone else self.new[slice(*part.new)]
                yield from chain.from_iterable(map(words_in, lines))
            elif part.kind is not Kind.MOVED_AWAY:  # whose edits `MOVED` has, too
                runs = (run for run in chain.from_iterable(part.edits) if run.fate is fate)
                yield from chain.from_iterable(words_in(run.text) for run in runs)


def differences(old: Sequence[str], new: Sequence[str]) -> Difference:
    """What changed between two versions of a page, given as their lines.

    The same the other way round has the same parts, with removed for added and from for to.

    Args:
        old: Lines of one version.
        new: Lines of the other.

    Examples:
        >>> old = ["Tea of the first picking", "From Japan", "Costs 5 euros", "Sold by weight"]
        >>> new = ["Sold by weight", *old[:2], "Costs 6 euros", "Ask us"]
        >>> for part in differences(old, new).parts:
        ...     print(part.kind, part.old, part.new)
        moved (3, 4) (0, 1)
        same (0, 2) (1, 3)
        changed (2, 3) (3, 4)
        moved_away (3, 4) (0, 1)
        added (4, 4) (4, 5)
    """
    old, new = tuple(old), tuple(new)
    if (len(old), old) > (len(new), new):
        matches = _matches(new, old).turned()
    else:
        matches = _matches(old, new)
    return Difference(old, new, tuple(_parts(old, matches)))


def gist(difference: Difference, share: float) -> str:
    """What changed, in one word.

    Args:
        difference: All that changed.
        share: Share of words that differ.

    Returns:
        One of `GISTS`: `same`; `moved` where all words are still there; `figures` where only words
        with digits came and went; `rewritten` where half of the words differ; `added` or `removed`
        where words did nothing else; and `edited` otherwise.

    Examples:
        >>> gist(differences(["Costs 5 euros"], ["Costs 6 euros"]), share=0.3)
        'figures'
    """
    if all(part.kind is Kind.SAME for part in difference.parts):
        return "same"
    removed, added = set(difference.removed()), set(difference.added())
    if not removed and not added:
        return "moved" if difference.lines(Kind.MOVED) else "edited"
    if all(map(_has_digit, removed | added)):
        return "figures"
    if share >= _REWRITTEN:
        return "rewritten"
    if not removed:
        return "added"
    return "edited" if added else "removed"


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


class _Matches(NamedTuple):
    """Lines of two versions that stand for each other.

    Args:
        partner: For each old line the new one that stands for it; -1 for none.
        partner_new: The same the other way.
        moved: Old lines whose partner is elsewhere.
        edits: Of old lines that changed, what became of their words.
    """

    partner: list[int]
    partner_new: list[int]
    moved: set[int]
    edits: dict[int, tuple[Run, ...]]

    def turned(self) -> _Matches:
        """The same from the new lines to the old ones."""
        moved = {self.partner[row] for row in self.moved}
        other = {self.partner[row]: turned(runs) for row, runs in self.edits.items()}
        return _Matches(self.partner_new, self.partner, moved, other)

    def stays(self, row: int, row_new: int) -> bool:
        """Whether two lines stand for each other and neither has moved."""
        return row < len(self.partner) and self.partner[row] == row_new and row not in self.moved

    def runs(self, row: int, line: str) -> tuple[Run, ...]:
        """What became of the words of an old line that is still there."""
        return self.edits.get(row) or ((Run(Fate.KEPT, line),) if line else ())


def _matches(old: Sequence[str], new: Sequence[str]) -> _Matches:
    partner, moved = paired(old, new)
    partner_new, found, room = [-1] * len(new), {}, _MOST_LETTERS
    for row, other in enumerate(partner):
        if other < 0:
            continue
        partner_new[other] = row
        if old[row] != new[other]:
            room -= len(old[row]) + len(new[other])
            found[row] = edits(old[row], new[other]) if room > 0 else _whole(old[row], new[other])
    return _Matches(partner, partner_new, moved, found)


def _whole(old: str, new: str) -> tuple[Run, ...]:
    """A line that is replaced."""
    runs = (Run(Fate.REMOVED, old), Run(Fate.ADDED, new))
    return tuple(run for run in runs if run.text)


def _parts(old: Sequence[str], matches: _Matches) -> Iterator[Part]:
    """Parts in the order of both versions: lines of one kind that follow each other are one."""
    lines = _lines(matches)
    kind, span, span_new = next(lines, (Kind.SAME, (0, 0), (0, 0)))
    for each, at, at_new in lines:
        if (each, at[0], at_new[0]) == (kind, span[1], span_new[1]):
            span, span_new = (span[0], at[1]), (span_new[0], at_new[1])
        else:
            yield _part(kind, span, span_new, old, matches)
            kind, span, span_new = each, at, at_new
    if span != span_new or span[1]:
        yield _part(kind, span, span_new, old, matches)


def _part(kind: Kind, span: Span, span_new: Span, old: Sequence[str], matches: _Matches) -> Part:
    if kind not in (Kind.CHANGED, Kind.MOVED, Kind.MOVED_AWAY):
        return Part(kind, span, span_new)
    return Part(kind, span, span_new, tuple(matches.runs(row, old[row]) for row in range(*span)))


def _lines(matches: _Matches) -> Iterator[tuple[Kind, Span, Span]]:
    """The kind of each line and where it is, in the order of both versions."""
    row = row_new = 0
    while row < len(matches.partner) or row_new < len(matches.partner_new):
        if matches.stays(row, row_new):
            kind = Kind.CHANGED if row in matches.edits else Kind.SAME
            yield kind, (row, row + 1), (row_new, row_new + 1)
            row, row_new = row + 1, row_new + 1
        elif row < len(matches.partner) and (matches.partner[row] < 0 or row in matches.moved):
            other = matches.partner[row]
            if other < 0:
                yield Kind.REMOVED, (row, row + 1), (row_new, row_new)
            else:
                yield Kind.MOVED_AWAY, (row, row + 1), (other, other + 1)
            row += 1
        else:
            other = matches.partner_new[row_new]
            if other < 0:
                yield Kind.ADDED, (row, row), (row_new, row_new + 1)
            else:
                yield Kind.MOVED, (other, other + 1), (row_new, row_new + 1)
            row_new += 1
