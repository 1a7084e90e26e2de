"""Lines with a sign in place of what masks blank.

Work is bounded: each line is looked up by its first and its last letters, and each mask looks only
as far as its place can reach.

Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.masks.places import (
    EVERYWHERE,
    KEPT_LENGTH,
    MANY_KINDS,
    Part,
    Run,
    link_kind,
    shortened,
    signed,
)
from recrawl.detect.text.lines import GAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.detect.masks.places import Place

_KEY = 3  # letters that lines are looked up by
# A line of a run may be this many times as long as ever seen, and this many letters more.
_TIMES_LONGER, _LONGER = 1.5, 8
# Places of one mask in a page; beyond, its lines tell nothing.
_MOST_PLACES = 100
# Lines that templates are tried on, all of them together: a page may be made to fit them all.
_MOST_TRIED = 200_000


@dataclass(slots=True)
class Blanked:
    """Lines after masks, and what each mask has hidden.

    Args:
        lines: The lines.
        hidden: By the index of a mask, what was in its places.
        loose: Masks whose places have only one of their lines beside them.
    """

    lines: list[str]
    hidden: dict[int, list[str]]
    loose: set[int]


def blanked(lines: Sequence[str], places: Sequence[Place]) -> Blanked:
    """Lines with a sign in place of what lies in places."""
    found = Blanked(list(lines), {}, set())
    parts = {index: place for index, place in enumerate(places) if isinstance(place, Part)}
    if parts:
        every = range(len(found.lines))
        changed = _blank_parts(found, parts, every)
        if changed:  # what one mask left may be what another was learnt from
            _blank_parts(found, parts, changed)
    runs = [(index, place) for index, place in enumerate(places) if isinstance(place, Run)]
    if runs:
        _blank_runs(found, runs)
    return found


def _blank_parts(found: Blanked, parts: dict[int, Part], indexes: Iterable[int]) -> list[int]:
    """Blanks parts of the lines with these indexes, and gives those of the lines it changed."""
    lines = found.lines
    changed = {}
    for number, fitting in sorted(_fitting(lines, parts, indexes).items()):
        part = parts[number]
        everywhere = part.lines >= EVERYWHERE or len(fitting) <= part.lines
        for index in fitting:
            if not (everywhere or _is_beside(lines, index, part)):
                continue
            line = lines[index]
            gaps = part.template.gaps(line)
            hidden = [line[start:end] for start, end in gaps if line[start:end] != GAP]
            if hidden:
                found.hidden.setdefault(number, []).extend(hidden)
            if gaps:
                lines[index] = part.template.blanked(line, gaps)
                changed[index] = lines[index] != line
    return [index for index, new in changed.items() if new]


def _fitting(
    lines: list[str], parts: dict[int, Part], indexes: Iterable[int]
) -> dict[int, list[int]]:
    """By the number of a mask, the indexes of the lines that it fits."""
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
    fitting: dict[int, list[int]] = {}
    room = _MOST_TRIED
    for index in indexes:
        if room < 0:
            break
        line = lines[index]
        numbers = starts.get(line[:_KEY], ())
        more = ends.get(line[-_KEY:], ())
        if numbers or more or others:
            room -= len(numbers) + len(more) + len(others)
            for number in (*numbers, *more, *others):
                if parts[number].template.gaps(line):
                    fitting.setdefault(number, []).append(index)
    return fitting


def _is_beside(lines: list[str], index: int, part: Part) -> bool:
    before = shortened(lines[index - 1]) if index else ""
    after = shortened(lines[index + 1]) if index + 1 < len(lines) else ""
    return before == part.before or after == part.after


def _blank_runs(found: Blanked, runs: list[tuple[int, Run]]) -> None:
    lines = found.lines
    places = _places_of(lines, runs)
    cuts: list[tuple[int, int, int]] = []
    by_number = dict(runs)
    for number, run in runs:
        starts, ends = _edges(lines, run, places)
        reaches = _between(run, starts, ends)
        if not reaches:
            reaches = _beside(lines, run, starts, ends)
            found.loose.update([number] if reaches else [])
        cuts += [
            (start, end, number) for start, end in reaches if _is_hidden(lines, run, start, end)
        ]
    result: list[str] = []
    done = 0
    for start, end, number in _apart(sorted(cuts)):
        result += lines[done:start]
        inside = lines[start:end]
        result += sorted(inside) if by_number[number].kind == "order" else [GAP]
        found.hidden.setdefault(number, []).append("\n".join(inside))
        done = end
    found.lines = result + lines[done:]


def _places_of(lines: list[str], runs: list[tuple[int, Run]]) -> dict[str, list[int]]:
    """Where the lines stand that are beside runs."""
    beside = {line for _, run in runs for line in (*run.before[-1:], *run.after[:1])}
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        key = line if len(line) <= KEPT_LENGTH else shortened(line)
        if key in beside:
            places.setdefault(key, []).append(index)
    return places


def _edges(lines: list[str], run: Run, places: dict[str, list[int]]) -> tuple[list[int], list[int]]:
    """Where the places of a run may begin, and where they may end."""
    starts, ends = [0], [len(lines)]
    if any(len(places.get(line, ())) > _MOST_PLACES for line in (*run.before[-1:], *run.after[:1])):
        return [], []
    if run.before:
        near = places.get(run.before[-1], ())
        starts = [at + 1 for at in near if _stand(lines, run.before, at - len(run.before) + 1)]
    if run.after:
        near = places.get(run.after[0], ())
        ends = [at for at in near if _stand(lines, run.after, at)]
    return starts, ends


def _between(run: Run, starts: list[int], ends: list[int]) -> list[tuple[int, int]]:
    """From where to where the places of a run reach."""
    farthest = run.most + (run.most - run.least) // 2  # half as much more as it varied
    found = []
    for start in starts:
        at = bisect_left(ends, start)
        if at < len(ends) and min(run.least, 1) <= ends[at] - start <= farthest:
            found.append((start, ends[at]))
    return found


def _beside(
    lines: list[str], run: Run, starts: list[int], ends: list[int]
) -> list[tuple[int, int]]:
    """The same where the line on one side is another now: what was there always, and no more."""

    def reach(length: int) -> tuple[int, int]:
        return (starts[0], starts[0] + length) if starts else (ends[0] - length, ends[0])

    if run.kind == "order" or len(starts) + len(ends) != 1:
        return []
    if not run.only:
        return [reach(run.least)] if run.least else []
    start, end = reach(run.most)
    there = start >= 0 and signed(lines[start:end]) == run.only
    return [(start, end) if there else reach(0)]


def _is_hidden(lines: list[str], run: Run, start: int, end: int) -> bool:
    """Whether a run may hide these lines: such as were seen there, or what comes and goes."""
    if start < 0 or end > len(lines):
        return False
    inside = lines[start:end]
    if run.only and inside:
        return signed(inside) == run.only
    kinds = set(map(link_kind, inside)) - {""}
    if len(run.links) < MANY_KINDS and not kinds <= set(run.links):
        return False
    return max(map(len, inside), default=0) <= _TIMES_LONGER * run.longest + _LONGER


def _stand(lines: list[str], wanted: tuple[str, ...], start: int) -> bool:
    if start < 0 or start + len(wanted) > len(lines):
        return False
    return all(shortened(lines[start + at]) == line for at, line in enumerate(wanted))


def _apart(cuts: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Of places that overlap, the larger."""
    kept: list[tuple[int, int, int]] = []
    for cut in cuts:
        if kept and cut[0] < kept[-1][1]:
            if cut[1] - cut[0] > kept[-1][1] - kept[-1][0]:
                kept[-1] = cut
        elif not kept or cut[:2] != kept[-1][:2]:
            kept.append(cut)
    return kept
