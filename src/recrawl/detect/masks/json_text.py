"""Masks as compact JSON for a store, and back.

The text is a version and one list per mask. Any other text gives no masks: the page is then
compared as it is, and masks are learned anew.

Pure.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

from recrawl.detect.masks.masks import MOST_MASKS, NO_MASKS, Mask, Masks
from recrawl.detect.masks.places import MANY_TEXTS, LineBlock, LinePart
from recrawl.detect.masks.templates import Template

_VERSION = 1
_LONGEST_TEXT = 1 << 20
_PART, _RUN, _ORDER = "p", "r", "o"
_MOST_NUMBER = 1 << 31


def as_json(masks: Masks) -> str:
    """Masks as JSON; empty for none.

    >>> from recrawl.detect.masks.masks import learn_masks
    >>> as_json(learn_masks(("Top", "Now 12:00:01"), ("Top", "Now 12:00:02")))
    '[1,["p",1,1,["Now ",""],8,0,"Top","",1]]'
    """
    if not masks.masks:
        return ""
    rows = [_VERSION, *map(_row, masks.masks)]
    return json.dumps(rows, separators=(",", ":"))


def read_masks(text: str) -> Masks:
    """Masks from JSON; none where the text is malformed.

    >>> read_masks('[1,["p",1,1,["Now ",""],8,0,"Top","",1]]').masks[0].place.template.pieces
    ('Now ', '')
    >>> read_masks("[[")
    Masks(masks=())
    """
    if not text or len(text) > _LONGEST_TEXT:
        return NO_MASKS
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return NO_MASKS
    if not isinstance(rows, list) or rows[:1] != [_VERSION]:
        return NO_MASKS
    found = [_mask(row) for row in rows[1 : MOST_MASKS + 1]]
    return Masks(tuple(mask for mask in found if mask is not None))


def _row(mask: Mask) -> list[Any]:
    place = mask.place
    if isinstance(place, LinePart):
        template = place.template
        return [
            *(
                _PART,
                mask.seen,
                mask.differed,
                list(template.pieces),
                template.longest,
                template.spaces,
            ),
            *(place.before, place.after, place.lines),
        ]
    return [
        *(_ORDER if place.kind == "order" else _RUN, mask.seen, mask.differed),
        *(list(place.before), list(place.after), place.least, place.most, place.longest),
        *(
            place.only
            if not place.times
            else [place.only, place.times, place.endings, *place.texts],
            *place.links,
        ),
    ]


def _mask(row: Any) -> Mask | None:  # noqa: ANN401 # whatever JSON holds
    match row:
        case [str(kind), int(seen), int(differed), *rest] if _are_counts(seen, differed):
            place = _part(rest) if kind == _PART else _run(kind, rest)
            return Mask(place, seen, differed) if place else None
    return None


def _part(row: list[Any]) -> LinePart | None:
    match row:
        case [[_, _, *_] as pieces, int(longest), int(spaces), str(before), str(after), int(lines)]:
            if (
                _are_texts(pieces)
                and (any(pieces) or before or after)
                and _are_counts(longest, spaces, lines)
            ):
                return LinePart(Template(tuple(pieces), longest, spaces), before, after, lines)
    return None


def _run(kind: str, row: list[Any]) -> LineBlock | None:
    match row:
        case [list(before), list(after), int(least), int(most), int(longest), said, *links]:
            held = _held([said, 0, ""] if isinstance(said, str) else said)
            if (
                kind in (_RUN, _ORDER)
                and held is not None
                and (before or after)
                and _are_texts(before)
                and _are_texts(after)
                and _are_texts(links)
                and _are_counts(least, most, longest, held.times)
                and least <= most
            ):
                beside = tuple(before), tuple(after)
                name: Literal["run", "order"] = "order" if kind == _ORDER else "run"
                seen = least, most, longest
                only, times, texts, endings = held
                return LineBlock(name, *beside, *seen, only, tuple(links), times, texts, endings)
    return None


class _Held(NamedTuple):
    """What a block was seen to hold; fields as of `LineBlock`."""

    only: str
    times: int
    texts: tuple[str, ...]
    endings: str


def _held(values: Any) -> _Held | None:  # noqa: ANN401 # whatever JSON holds
    match values:
        case [str(only), int(times), "" | "o" | "s" | "os" as endings, *texts]:
            if _are_texts(texts) and len(texts) <= MANY_TEXTS:
                return _Held(only, times, tuple(texts), endings)
    return None


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_counts(*values: int) -> bool:
    return all(0 <= value < _MOST_NUMBER and not isinstance(value, bool) for value in values)
