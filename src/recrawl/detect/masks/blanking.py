"""Blanking: lines with `GAP` in place of what masks hide.

Work is bounded: templates are looked up by the first or last letters of a line, and a mask searches
only as far as its place can reach.

Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from recrawl.detect.masks.places import (
    EVERYWHERE,
    KEPT_LENGTH,
    MANY_DIRECTORIES,
    LineBlock,
    LinePart,
    line_endings,
    line_key,
    lines_signature,
    short_link_directory,
)
from recrawl.detect.text.lines import GAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.detect.masks.places import Place

_KEY = 3  # first or last letters of a line, by which templates are looked up
# A line of a block may be this many times as long as ever seen, and this many letters more.
_TIMES_LONGER, _LONGER = 1.5, 8
# And not that much longer once its lines were seen so many times.
_OFTEN, _TIMES_LONGER_THEN = 8, 1.2
_OFTEN_SEEN = 4  # times, after which its lines end as they did
# Places of one mask in a page; beyond, the lines beside it locate nothing.
_MOST_PLACES = 100
# Times that templates are tried on lines: a hostile page may fit them all.
_MOST_TRIED = 200_000


class BlankedRange(NamedTuple):
    """A range of lines that was taken out, or sorted where only their order is hidden."""

    start: int
    end: int
    is_sorted: bool


class _Keys(NamedTuple):
    """Numbers of parts, by the letters that a line which they fit begins or ends with."""

    starts: dict[str, list[int]]
    ends: dict[str, list[int]]
    others: list[int]

    def of(self, line: str) -> list[int]:
        """Numbers of the parts that may fit a line."""
        return [
            *self.starts.get(line[:_KEY], ()),
            *self.ends.get(line[-_KEY:], ()),
            *self.others,
        ]


@dataclass(slots=True)
class BlankedLines:
    """Lines after blanking, and what each mask has hidden.

    Args:
        lines: The lines.
        hidden: By the index of a place, the texts that were in it.
        loose: Indexes of places that were located by the line on one side only.
        parts: Lines of which parts are blanked, before any was cut: one per line of the page.
        cuts: Where lines were cut, from top to bottom.
    """

    lines: list[str]
    hidden: dict[int, list[str]]
    loose: set[int]
    parts: list[str]
    cuts: list[BlankedRange]


class Blanks(NamedTuple):
    """Places that are blanked, made ready: they serve many pages and versions.

    Attributes:
        parts: Those that are parts of lines, by their index.
        keys: By which lines they are found.
        blocks: Those that are blocks of lines, with their index.
    """

    parts: dict[int, LinePart]
    keys: _Keys
    blocks: list[tuple[int, LineBlock]]


def blanks_of(places: Sequence[Place]) -> Blanks:
    """Places made ready."""
    parts = {index: place for index, place in enumerate(places) if isinstance(place, LinePart)}
    blocks = [(index, place) for index, place in enumerate(places) if isinstance(place, LineBlock)]
    return Blanks(parts, _keys_of(parts), blocks)


def blank(lines: Sequence[str], places: Sequence[Place] | Blanks) -> BlankedLines:
    """Blank places in lines."""
    parts, keys, blocks = places if isinstance(places, Blanks) else blanks_of(places)
    blanked = list(lines)
    found = BlankedLines(blanked, {}, set(), blanked, [])
    if parts:
        blanked_by = _blank_parts(found, parts, keys, range(len(found.lines)))
        # What one mask left may be what another was learned from; a mask itself leaves it as it is.
        if any(not done.issuperset(keys.of(blanked[at])) for at, done in blanked_by.items()):
            _blank_parts(found, parts, keys, blanked_by)
    if blocks:
        _blank_blocks(found, blocks)
    return found


def _blank_parts(
    found: BlankedLines, parts: dict[int, LinePart], keys: _Keys, indexes: Iterable[int]
) -> dict[int, set[int]]:
    """Blank parts of the lines with these indexes; returns by which parts lines were changed."""
    lines = found.lines
    done: dict[int, set[int]] = {}
    changed: dict[int, set[int]] = {}  # as their last part left them
    for number, fitting in sorted(_fitting(lines, parts, keys, indexes).items()):
        part = parts[number]
        template = part.template
        everywhere = part.lines >= EVERYWHERE or len(fitting) <= part.lines
        for index, gaps in fitting:
            if not (everywhere or _is_beside(lines, index, part)):
                continue
            line = lines[index]
            if index in done:  # by a part before this one
                gaps = template.gaps(line)  # noqa: PLW2901 - those of the line as it is now
            hidden = [text for start, end in gaps if (text := line[start:end]) != GAP]
            if hidden:
                found.hidden.setdefault(number, []).extend(hidden)
                lines[index] = template.blank(line, gaps)
                changed[index] = by = done.setdefault(index, set())
                by.add(number)
            elif gaps:
                changed.pop(index, None)
    return changed


def _keys_of(parts: dict[int, LinePart]) -> _Keys:
    """What the lines begin or end with that each part may fit."""
    starts: dict[str, list[int]] = {}
    ends: dict[str, list[int]] = {}
    others = []
    for number, part in parts.items():
        first, last = part.template.pieces[0], part.template.pieces[-1]
        if len(first) >= _KEY and first[0] != GAP:
            starts.setdefault(first[:_KEY], []).append(number)
        elif len(last) >= _KEY and last[-1] != GAP:
            ends.setdefault(last[-_KEY:], []).append(number)
        else:
            others.append(number)
    return _Keys(starts, ends, others)


def _fitting(
    lines: list[str], parts: dict[int, LinePart], keys: _Keys, indexes: Iterable[int]
) -> dict[int, list[tuple[int, list[tuple[int, int]]]]]:
    """By the number of a part, the indexes of the lines that its template fits, and where."""
    starts, ends, others = keys
    if not others and not ends:  # as most pages are: few lines may fit
        indexes = [index for index in indexes if lines[index][:_KEY] in starts]
    elif not others:
        indexes = [
            index
            for index in indexes
            if lines[index][:_KEY] in starts or lines[index][-_KEY:] in ends
        ]
    fitting: dict[int, list[tuple[int, list[tuple[int, int]]]]] = {}
    room = _MOST_TRIED
    for index in indexes:
        if room < 0:
            break
        line = lines[index]
        numbers = starts.get(line[:_KEY], ())
        more = ends.get(line[-_KEY:], ())
        room -= len(numbers) + len(more) + len(others)
        for number in (*numbers, *more, *others):
            gaps = parts[number].template.gaps(line)
            if gaps:
                fitting.setdefault(number, []).append((index, gaps))
    return fitting


def _is_beside(lines: list[str], index: int, part: LinePart) -> bool:
    before = line_key(lines[index - 1]) if index else ""
    after = line_key(lines[index + 1]) if index + 1 < len(lines) else ""
    return before == part.before or after == part.after


def _blank_blocks(found: BlankedLines, blocks: list[tuple[int, LineBlock]]) -> None:
    lines = found.lines
    places = _places_of(lines, blocks)
    cuts: list[tuple[int, int, int]] = []
    by_number = dict(blocks)
    for number, block in blocks:
        starts, ends = _edges(lines, block, places)
        reaches = _between(block, starts, ends)
        if not reaches:
            reaches = _beside(lines, block, starts, ends)
            found.loose.update([number] if reaches else [])
        cuts += [
            (start, end, number) for start, end in reaches if _may_hide(lines, block, start, end)
        ]
    result: list[str] = []
    done = 0
    for start, end, number in _without_overlaps(sorted(cuts)):
        result += lines[done:start]
        inside = lines[start:end]
        is_sorted = by_number[number].kind == "order"
        result += sorted(inside) if is_sorted else [GAP]
        found.cuts.append(BlankedRange(start, end, is_sorted))
        found.hidden.setdefault(number, []).append("\n".join(inside))
        done = end
    found.lines = result + lines[done:]


def _places_of(lines: list[str], blocks: list[tuple[int, LineBlock]]) -> dict[str, list[int]]:
    """Indexes of the lines that blocks are located by."""
    beside = {line for _, block in blocks for line in (*block.before[-1:], *block.after[:1])}
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        key = line if len(line) <= KEPT_LENGTH else line_key(line)
        if key in beside:
            places.setdefault(key, []).append(index)
    return places


def _edges(
    lines: list[str], block: LineBlock, places: dict[str, list[int]]
) -> tuple[list[int], list[int]]:
    """Where a block may begin, and where it may end."""
    starts, ends = [0], [len(lines)]
    if any(
        len(places.get(line, ())) > _MOST_PLACES for line in (*block.before[-1:], *block.after[:1])
    ):
        return [], []
    if block.before:
        near = places.get(block.before[-1], ())
        starts = [
            at + 1 for at in near if _has_lines_at(lines, block.before, at - len(block.before) + 1)
        ]
    if block.after:
        near = places.get(block.after[0], ())
        ends = [at for at in near if _has_lines_at(lines, block.after, at)]
    return starts, ends


def _between(block: LineBlock, starts: list[int], ends: list[int]) -> list[tuple[int, int]]:
    """Ranges between a line before a block and the next line after it."""
    farthest = block.most + (block.most - block.least) // 2  # half as much more as it varied
    found = []
    for start in starts:
        at = bisect_left(ends, start)
        if at < len(ends) and min(block.least, 1) <= ends[at] - start <= farthest:
            found.append((start, ends[at]))
    return found


def _beside(
    lines: list[str], block: LineBlock, starts: list[int], ends: list[int]
) -> list[tuple[int, int]]:
    """Range of a block of which the line on one side was edited: what was always there, no more."""

    def reach(length: int) -> tuple[int, int]:
        return (starts[0], starts[0] + length) if starts else (ends[0] - length, ends[0])

    if block.kind == "order" or len(starts) + len(ends) != 1:
        return []
    if not block.only:
        return [reach(block.least)] if block.least else []
    start, end = reach(block.most)
    there = start >= 0 and lines_signature(lines[start:end]) == block.only
    return [(start, end) if there else reach(0)]


def _may_hide(lines: list[str], block: LineBlock, start: int, end: int) -> bool:
    """Whether lines are of the kind that a block was seen to hold."""
    if start < 0 or end > len(lines):
        return False
    inside = lines[start:end]
    if block.only and inside:
        return lines_signature(inside) == block.only
    if block.has_few_texts and lines_signature(inside) not in block.texts:
        return False
    kinds = set(map(short_link_directory, inside)) - {""}
    if len(block.links) < MANY_DIRECTORIES and not kinds <= set(block.links):
        return False
    often = block.times >= _OFTEN_SEEN
    if often and block.endings and not set(line_endings(inside)) <= set(block.endings):
        return False
    times = _TIMES_LONGER if block.times < _OFTEN else _TIMES_LONGER_THEN
    return max(map(len, inside), default=0) <= times * block.longest + _LONGER


def _has_lines_at(lines: list[str], wanted: tuple[str, ...], start: int) -> bool:
    if start < 0 or start + len(wanted) > len(lines):
        return False
    return all(line_key(lines[start + at]) == line for at, line in enumerate(wanted))


def _without_overlaps(cuts: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Ranges without overlaps: of two that overlap, the larger."""
    kept: list[tuple[int, int, int]] = []
    for cut in cuts:
        if kept and cut[0] < kept[-1][1]:
            if cut[1] - cut[0] > kept[-1][1] - kept[-1][0]:
                kept[-1] = cut
        elif not kept or cut[:2] != kept[-1][:2]:
            kept.append(cut)
    return kept
