"""Masks: places of a page that differ between fetches though nothing changed.

Two fetches made right after one another differ only in what the host makes up for each. Masks are
learned from such double fetches, for three kinds of places:

- part of a line (a counter, a clock, a token): its *template*, the text before and after it;
- lines between two others (an advertisement, a quotation): the lines before and after them, and how
  many there were;
- lines in another order (links to read next): the lines before and after them.

A mask blanks its place in both versions before they are compared, and nothing beside it. A mask is
dropped once its place was the same in many double fetches: it may have been learned from a change
that fell between two fetches.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from recrawl.detect.masks.blanking import blank, blanks_of
from recrawl.detect.masks.hunks import hunks
from recrawl.detect.masks.places import LineBlock, LinePart, line_block_at, line_key, line_part_at
from recrawl.detect.masks.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from recrawl.detect.diff.patience import Hunk
    from recrawl.detect.masks.blanking import BlankedLines, Blanks
    from recrawl.detect.masks.places import Place
    from recrawl.detect.masks.templates import Template

MOST_MASKS = 100
# A mask is dropped once its place was the same this many times as often as it differed. One of two
# texts at random is the same in half of all double fetches: in five running only once in 32.
_SAME_TO_GO = 5
# Counts are halved beyond, so that old evidence fades.
_MOST_SEEN = 16
_MOST_ROUNDS = 3
_MOST_HUNKS = 200
_MOST_LINES = 20_000  # of a page that masks are learned from: nobody reads longer ones
# Fetches that share fewer lines are not two fetches of one page.
_LEAST_SAME = 0.2
_FEW_LINES = 10
_MOST_READ = 100  # lines that templates are made of at once
_MOST_FITTED = 3_000  # lines that a template is tried on, to see whether others have it too


@dataclass(frozen=True, slots=True)
class Mask:
    """A place that is blanked before versions are compared.

    Args:
        place: Where it is.
        seen: Double fetches that had the place.
        differed: How many of them differed there.
    """

    place: Place
    seen: int = 1
    differed: int = 1


@dataclass(frozen=True)
class Masks:
    """The masks of a page, the most useful first.

    Args:
        masks: One per place.
    """

    masks: tuple[Mask, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.masks)

    @cached_property
    def blanks(self) -> Blanks:
        """Their places, ready to be blanked."""
        return blanks_of([mask.place for mask in self.masks])

    def joined(self, others: Masks) -> Masks:
        """Union with other masks, such as those of the host.

        >>> NO_MASKS.joined(NO_MASKS)
        Masks(masks=())
        """
        found = {mask.place.name: mask for mask in (*others.masks, *self.masks)}
        return Masks(tuple(found.values())) if found else NO_MASKS


NO_MASKS = Masks()


def apply_masks(lines: Sequence[str], masks: Masks) -> tuple[str, ...]:
    r"""Lines with `GAP` in place of what masks hide.

    >>> masks = learn_masks(("News", "Now 12:00:01"), ("News", "Now 12:00:02"))
    >>> apply_masks(("News", "Now 18:23:45", "Price 6"), masks)
    ('News', 'Now \x11', 'Price 6')
    """
    return tuple(blank_masked(lines, masks).lines if masks.masks else lines)


def blank_masked(lines: Sequence[str], masks: Masks) -> BlankedLines:
    """Lines with `GAP` in place of what masks hide, and what that is."""
    return blank(lines, masks.blanks)


def learn_masks(first: Sequence[str], second: Sequence[str], known: Masks = NO_MASKS) -> Masks:
    """Masks learned from a double fetch.

    Args:
        first: Lines of the first fetch.
        second: Lines of the second.
        known: Masks learned before.

    Examples:
        >>> [mask.place.kind for mask in
        ...     learn_masks(("Top", "a", "b", "End"), ("Top", "b", "a", "End")).masks]
        ['order']
        >>> learn_masks(("same",), ("same",))
        Masks(masks=())
    """
    if max(len(first), len(second)) > _MOST_LINES:
        return known
    one, two = _blank_both(known.masks, first, second)
    masks, left = list(known.masks), list[Mask]()
    if one.lines != two.lines or one.loose or two.loose:
        uneven = one.hidden.keys() ^ two.hidden.keys()
        masks, left = _split_stable(masks, first, second, uneven)
        one, two = _blank_both(masks, first, second)
    # Where a mask goes, lines beside others may no longer be what they were blanked to.
    masks = _worth_keeping(_counted(masks, one, two))
    one, two = _blank_both(masks, first, second)
    if one.lines != two.lines and _are_one_page(one.lines, two.lines):
        for _ in range(_MOST_ROUNDS):
            masks = _with_new(masks, left, one, two)
            one, two = _blank_both(masks, first, second)
            if one.lines == two.lines:
                break
    masks.sort(key=lambda mask: -mask.differed)  # stable: of equals, the older first
    return Masks(tuple(masks[:MOST_MASKS]))


def is_mask_displaced(old: Sequence[str], new: Sequence[str], masks: Masks) -> bool:
    """Whether a masked place of the old version, or a line beside it, is gone from the new one.

    >>> masks = learn_masks(("Top", "Buy soap!", "End"), ("Top", "Eat fish.", "End"))
    >>> old = ("Top", "Go home?", "End")
    >>> [is_mask_displaced(old, ("Top", "Sing songs", end), masks) for end in ("End", "Edited")]
    [False, True]
    """
    return is_displaced(*_blank_both(masks.masks, old, new))


def is_displaced(was: BlankedLines, now: BlankedLines) -> bool:
    """The same, of versions that were blanked by the same masks."""
    return not was.hidden.keys() - was.loose <= now.hidden.keys() - now.loose


def _blank_both(
    masks: Sequence[Mask], first: Sequence[str], second: Sequence[str]
) -> tuple[BlankedLines, BlankedLines]:
    places = [mask.place for mask in masks]
    return blank(first, places), blank(second, places)


def _split_stable(
    masks: list[Mask], first: Sequence[str], second: Sequence[str], uneven: AbstractSet[int]
) -> tuple[list[Mask], list[Mask]]:
    """Masks to keep, and masks of blocks that must be learned anew.

    The latter were found in one fetch only, so another line may have taken their place in the
    other, or they reach to a line that itself varies: of five links drawn from a hundred, one may
    be at the same place in two fetches, and not again.
    """
    if not any(isinstance(mask.place, LineBlock) for mask in masks):
        return masks, []
    parts = [mask.place for mask in masks if isinstance(mask.place, LinePart)]
    one, two = blank(first, parts).lines, blank(second, parts).lines
    moving: set[str] = set()
    edges: set[str] = set()
    for hunk in hunks(one, two)[:_MOST_HUNKS]:
        moving.update(one[hunk.start : hunk.end], two[hunk.new_start : hunk.new_end])
        edges.update(one[max(hunk.start - 1, 0) : hunk.start], one[hunk.end : hunk.end + 1])
    moving, edges = set(map(line_key, moving)), set(map(line_key, edges))
    there = set(map(line_key, one)) | set(map(line_key, two))

    def is_stable(block: LineBlock) -> bool:
        beside = {*block.before, *block.after}
        # One neighbour has been edited, and what differs begins at the other.
        lost = not beside <= there and bool(beside & edges)
        return beside.isdisjoint(moving) and not lost

    stay = [
        isinstance(mask.place, LinePart) or (index not in uneven and is_stable(mask.place))
        for index, mask in enumerate(masks)
    ]
    return (
        [mask for mask, stays in zip(masks, stay, strict=True) if stays],
        [mask for mask, stays in zip(masks, stay, strict=True) if not stays],
    )


def _counted(masks: list[Mask], one: BlankedLines, two: BlankedLines) -> list[Mask]:
    found = []
    for index, mask in enumerate(masks):
        before, after = one.hidden.get(index), two.hidden.get(index)
        if before is None and after is None:
            found.append(mask)
            continue
        seen, differed = mask.seen + 1, mask.differed + (before != after)
        if seen > _MOST_SEEN:
            seen, differed = (seen + 1) // 2, (differed + 1) // 2
        place = mask.place.grown([*(before or ()), *(after or ())])
        found.append(Mask(place, seen, differed))
    return found


def _are_one_page(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two fetches share enough lines; not so if one of them is a wall."""
    if max(len(first), len(second)) <= _FEW_LINES:
        return True
    same = len(set(first) & set(second))
    return same >= _LEAST_SAME * max(len(set(first)), len(set(second)))


def _worth_keeping(masks: list[Mask]) -> list[Mask]:
    return [mask for mask in masks if mask.seen - mask.differed < _SAME_TO_GO * mask.differed]


def _with_new(
    masks: list[Mask], left: list[Mask], one: BlankedLines, two: BlankedLines
) -> list[Mask]:
    """Masks, and new ones for what still differs; unstable ones may have moved there."""
    first, second = one.lines, two.lines
    missing = set(range(len(masks))) - one.hidden.keys() - two.hidden.keys()
    counts = Counter(first)
    read = 0
    for hunk in hunks(first, second)[:_MOST_HUNKS]:
        read += hunk.end - hunk.start
        places = _parts(first, second, hunk) if read <= _MOST_READ else None
        if places is None:
            block = line_block_at(first, second, hunk, counts)
            places = [block] if block else []
        for place in places:
            masks = _joined(masks, _moved(left, place), missing)
    return masks


def _moved(left: list[Mask], place: Place) -> Mask:
    """A mask for a place, with the counts of the one it had before a line beside it was edited."""
    for mask in sorted(left, key=lambda mask: mask.place.name != place.name):
        if isinstance(mask.place, LineBlock) and (moved := mask.place.moved(place)):
            return replace(mask, place=moved)
    return Mask(place)


def _joined(masks: list[Mask], new: Mask, missing: set[int]) -> list[Mask]:
    """Masks with a new one added, or with one that is widened by it.

    A place beside that of a mask is another place, however similar they are.
    """
    for index, mask in enumerate(masks):
        wider = mask.place.joined(new.place)
        if wider is not None and (index in missing or mask.place.name == new.place.name):
            # It differed now, which its count does not say if it was not found.
            changed = replace(mask, place=wider)
            return [*masks[:index], changed, *masks[index + 1 :]]
    return [*masks, new]


def _parts(first: Sequence[str], second: Sequence[str], hunk: Hunk) -> Sequence[Place] | None:
    """Places within the lines of a hunk; None if the hunk must be masked as a whole."""
    one = first[hunk.start : hunk.end]
    other = second[hunk.new_start : hunk.new_end]
    if " ".join(one) == " ".join(other):
        return []  # the same words with other line breaks
    if len(one) != len(other) or (len(one) > 1 and sorted(one) == sorted(other)):
        return None
    parts = []
    for index, (line, line_now) in enumerate(zip(one, other, strict=True), start=hunk.start):
        if line == line_now:
            continue
        template = template_of(line, line_now)
        if template is None:
            return None
        fitting = _fitting(template, first, second)
        if not fitting and len(one) > 1:
            return None  # the lines beside it do not tell where it is
        parts.append(line_part_at(template, first, index, fitting))
    return parts


def _fitting(template: Template, first: Sequence[str], second: Sequence[str]) -> int:
    """Number of lines that a template fits; 0 if it fits one that is the same in both fetches."""
    if max(len(first), len(second)) > _MOST_FITTED:
        return 0
    one = Counter(line for line in first if template.gaps(line))
    other = Counter(line for line in second if template.gaps(line))
    return 0 if one & other else max(one.total(), other.total())
