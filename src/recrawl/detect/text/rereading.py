"""Lines of a page of which an older version was read: only what differs is read.

Most pages differ in few places: a clock, a price, the address of a style sheet. Their other pieces
have the lines that they had (`recrawl.detect.text.cuts`). What is found is the same as by reading
the whole page; where that is not sure, None is returned, and the whole page must be read.

Pure.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from recrawl.detect.text.cuts import PIECE, Cuts, Part, parts_of, thinned
from recrawl.detect.text.lines import (
    CUT,
    LINK,
    OPEN,
    lines_between_cuts,
    may_have_many_marks,
    spaced_text,
    text_of,
    tokens_of,
    without_controls,
)
from recrawl.detect.text.markup import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.detect.text.lines import Tokens

# A line that no page has: it stands where a cut is, until lines have been counted.
_HERE = f"{CUT}{LINK}{CUT}"
_UNREADABLE = "\ufffd"
_LONGEST_TAG = 512  # bytes of tags that are looked at alone


class CutLines(NamedTuple):
    """Lines of a page and where it can be cut.

    Attributes:
        lines: What a reader sees.
        cuts: Its cuts; None where it must be read as a whole.
    """

    lines: tuple[str, ...]
    cuts: Cuts | None


def read_cut(page: str) -> CutLines:
    r"""Lines of an HTML page, with its cuts in UTF-8.

    >>> page = "<title>Tea</title>" + "<p>5 euros" * 200
    >>> found = read_cut(page)
    >>> found.lines == ("Tea", *["5 euros"] * 200), found.cuts.offsets, found.cuts.rows
    (True, (1018,), (101,))
    """
    clean = without_controls(page)
    tokens = tokens_of(clean)
    chosen = []
    if len(clean) == len(page) and _UNREADABLE not in clean:
        chosen = _chosen(tokens, tokens.titled + 1)
    text = text_of(tokens.written, _marked(tokens.left, chosen), tokens.title)
    spaced = spaced_text(text)
    many_marks = may_have_many_marks(spaced)
    lines = lines_between_cuts(spaced, many_marks=many_marks)
    found = _FreshPart([], [])
    _divide(lines, [[0, *_offsets(tokens, chosen)]], [found])
    if OPEN in text or many_marks:
        return CutLines(tuple(found.lines), None)
    cuts = thinned(found.cuts[1:])
    return CutLines(tuple(found.lines), _cuts(cuts, titled=tokens.titled >= 0))


def read_again(new: bytes, old: bytes, cuts: Cuts, lines: Sequence[str]) -> CutLines | None:
    """Lines of an HTML page in UTF-8, read where it differs from an old one.

    Args:
        new: The page.
        old: The old page.
        cuts: Cuts of the old page.
        lines: Lines of the old page.

    Returns:
        Its lines and its cuts; None where it must be read as a whole.
    """
    parts = parts_of(new, old, cuts)
    if cuts.titled and parts and parts[0].first > 0:
        return None  # the title is no longer before the first cut
    read = _read_parts(new, old, cuts, parts)
    if read is None:
        return None
    rows = (0, *cuts.rows, len(lines))
    offsets = (0, *cuts.offsets, len(old))
    found: list[str] = []
    places: list[tuple[int, int]] = []
    for part in read:
        if isinstance(part, _FreshPart):
            places += [(offset, len(found) + row) for offset, row in part.cuts]
            found += part.lines
        else:
            shift, moved = part.start - offsets[part.first], len(found) - rows[part.first]
            places += [
                (offsets[piece] + shift, rows[piece] + moved)
                for piece in range(part.first, part.last)
            ]
            found += lines[rows[part.first] : rows[part.last]]
    known = [(offset, row) for offset, row in places if offset]
    return CutLines(tuple(found), _cuts(thinned(known), titled=cuts.titled))


class _FreshPart(NamedTuple):
    """What was read of a part of a page: its lines, and cuts with the lines before them."""

    lines: list[str]
    cuts: list[tuple[int, int]]


def _read_parts(
    new: bytes, old: bytes, cuts: Cuts, parts: list[Part]
) -> list[_FreshPart | Part] | None:
    """Parts in their order, read where they are not known; None where that cannot be done apart."""
    offsets = (0, *cuts.offsets, len(old))
    texts: list[str] = []
    places: list[list[int]] = []  # of the cuts in each part that is read
    found: list[_FreshPart | Part] = []
    for part in parts:
        if part.is_known:
            found.append(part)
            continue
        start = part.start
        if start and not _begins_line(new[start : min(start + _LONGEST_TAG, part.end)]):
            # Something was put before the cut: so the piece before it does not end there.
            before = found.pop()
            assert isinstance(before, Part)  # noqa: S101 - no two parts that are read are neighbours
            start -= offsets[before.last] - offsets[before.last - 1]
            if before.first < before.last - 1:
                found.append(before._replace(end=start, last=before.last - 1))
        tokens = _tokens(new[start : part.end])
        if tokens is None or not _is_title_clear(tokens, cuts, start):
            return None
        chosen = _chosen(tokens, tokens.titled + 1 if not start else 1)
        title = tokens.title if not start else ""
        texts.append(text_of(tokens.written, _marked(tokens.left, chosen), title))
        inner = [start + offset for offset in _offsets(tokens, chosen)]
        places.append([start, *inner])
        found.append(_FreshPart([], []))
    if not texts:
        return found
    text = _HERE.join(texts)
    if OPEN in text:
        return None
    spaced = spaced_text(text)
    if may_have_many_marks(spaced):
        return None
    lines = lines_between_cuts(spaced, many_marks=False)
    _divide(lines, places, [part for part in found if isinstance(part, _FreshPart)])
    return found


def _tokens(written: bytes) -> Tokens | None:
    """Tokens of a part of a page; None where that is not UTF-8 alone."""
    try:
        text = written.decode()
    except UnicodeDecodeError:
        return None
    clean = without_controls(text)
    if len(clean) < len(text) or _UNREADABLE in text:
        return None
    return tokens_of(clean)


def _begins_line(written: bytes) -> bool:
    """Whether a tag that ends a line comes first, as far as that is sure by the beginning."""
    tag = TOKEN.match(written.decode(errors="ignore"))
    return tag is not None and tokens_of(tag[0]).left[0] == CUT


def _is_title_clear(tokens: Tokens, cuts: Cuts, start: int) -> bool:
    """Whether the first title of the page is where it was, before the first cut, or nowhere."""
    if not cuts.titled:
        return tokens.titled < 0
    return start > 0 or tokens.titled >= 0


def _divide(lines: list[str], places: list[list[int]], parts: list[_FreshPart]) -> None:
    """Give each part its lines and cuts; a mark stands before each cut but the first of all."""
    ends = iter([*_places_of(LINK, lines), len(lines)])
    at = 0
    for offsets, part in zip(places, parts, strict=True):
        for offset in offsets:
            part.cuts.append((offset, len(part.lines)))
            end = next(ends)
            part.lines.extend(lines[at:end])
            at = end + 1


def _chosen(tokens: Tokens, first: int) -> list[int]:
    """Tokens before which a page is cut: about one for each piece, of those that end lines."""
    left = tokens.left
    step = max(len(left) * PIECE // max(tokens.letters, 1), 1)
    return list(_places_of(CUT, left, first + step - 1, step))


def _marked(left: list[str], chosen: list[int]) -> list[str]:
    for token in chosen:
        left[token] = _HERE
    return left


def _offsets(tokens: Tokens, chosen: list[int]) -> list[int]:
    """Bytes before each of some tokens."""
    found: list[int] = []
    before = 0
    for token, last in pairwise((*chosen[:1], *chosen)) if chosen else ():
        start = 2 * token + 1 if found else 0
        before += len("".join(tokens.written[start : 2 * last + 1]).encode())
        found.append(before)
    return found


def _places_of(wanted: str, among: list[str], first: int = 0, step: int = 1) -> Iterator[int]:
    """Places of a text among others, from the first that counts on, at least `step` apart."""
    try:
        while True:
            place = among.index(wanted, first)
            yield place
            first = place + step
    except ValueError:
        return


def _cuts(found: list[tuple[int, int]], *, titled: bool) -> Cuts | None:
    if not found:
        return None
    offsets, rows = zip(*found, strict=True)
    return Cuts(titled, offsets, rows)
