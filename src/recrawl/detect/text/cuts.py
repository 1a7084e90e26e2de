"""Cuts: places of a page at which it can be divided, so that each piece is read by itself.

A cut is before a tag that ends a line. All tokens before it are *closed*: they end where they end
whatever follows. So what stands between two cuts gives the same lines in every page that has the
same bytes between two cuts of its own, and a page that was read before is read again only where it
differs. What differs is found as rsync finds it: by pieces of the old page that the new one has.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from operator import sub
from typing import NamedTuple

# Bytes of most pieces, and of the smallest: many small ones would take longer than reading.
PIECE, _LEAST_PIECE = 1024, 512
_MOST_CUTS = 4096
# Pieces that are looked for, over all places where a page differs and at one of them, and the bytes
# in which each is: of a page that was rewritten all is read, and this comes on top.
_MOST_AT_ONCE = 6
_MOST_SOUGHT, _FARTHEST = 24, 1 << 14


@dataclass(frozen=True, slots=True)
class Cuts:
    """Cuts of a page in UTF-8.

    Args:
        titled: Whether the page has a title, which comes before the first cut.
        offsets: Bytes before each cut, in rising order.
        rows: Lines before each cut.
    """

    titled: bool
    offsets: tuple[int, ...]
    rows: tuple[int, ...]

    @classmethod
    def read(cls, written: str, *, size: int, rows: int) -> Cuts | None:
        """Cuts as `written` gives them; None where they cannot be of a page of this size.

        Args:
            written: The text.
            size: Bytes of the page.
            rows: Lines of the page.

        Examples:
            >>> cuts = Cuts(True, (1024, 2100), (7, 20))
            >>> Cuts.read(cuts.written, size=3000, rows=20) == cuts
            True
            >>> Cuts.read("1 1024 7", size=1024, rows=7), Cuts.read("no", size=9, rows=9)
            (None, None)
        """
        try:
            titled, *steps = map(int, written.split())
        except ValueError:
            return None
        if not steps or len(steps) % 2 or len(steps) > 2 * _MOST_CUTS or titled not in (0, 1):
            return None
        if min(steps[::2]) < 1 or min(steps[1::2]) < 0:
            return None
        offsets, rows_before = tuple(accumulate(steps[::2])), tuple(accumulate(steps[1::2]))
        if offsets[-1] >= size or rows_before[-1] > rows:
            return None
        return cls(bool(titled), offsets, rows_before)

    @property
    def written(self) -> str:
        """As text: whether there is a title, and then the steps from cut to cut."""
        offsets = map(sub, self.offsets, (0, *self.offsets))
        rows = map(sub, self.rows, (0, *self.rows))
        steps = chain.from_iterable(zip(offsets, rows, strict=True))
        return " ".join(map(str, (int(self.titled), *steps)))


class Part(NamedTuple):
    """Part of a new page: pieces of the old one, or bytes that must be read.

    Attributes:
        start: Where it begins in the new page.
        end: Where it ends there.
        first: The first of its pieces; -1 where it must be read.
        last: The piece after the last.
    """

    start: int
    end: int
    first: int = -1
    last: int = -1

    @property
    def is_known(self) -> bool:
        """Whether it is made of pieces of the old page."""
        return self.first >= 0


def parts_of(new: bytes, old: bytes, cuts: Cuts) -> list[Part]:
    """A new page as pieces of an old one, and what is left between them.

    The first piece is found at the beginning alone, and the last at the end: only there all that is
    before or after a cut is known.

    Examples:
        >>> old = b"<p>1<p>2<p>3<p>4"
        >>> cuts = Cuts(False, (4, 8, 12), (1, 2, 3))
        >>> [tuple(part) for part in parts_of(b"<p>1<p>new<p>3<p>4", old, cuts)]
        [(0, 4, 0, 1), (4, 10, -1, -1), (10, 18, 2, 4)]
    """
    ends = (0, *cuts.offsets, len(old))
    pieces = [old[start:end] for start, end in pairwise(ends)]
    last, stop = _from_the_end(new, pieces)
    parts: list[Part] = []
    piece = at = 0
    left = _MOST_SOUGHT
    while at < stop:
        begun, start = piece, at
        while piece < last and new.startswith(pieces[piece], at, stop):
            at += len(pieces[piece])
            piece += 1
        if piece == len(pieces) and at < stop:
            # The last piece ends lines that nothing after it would end.
            piece -= 1
            at -= len(pieces[piece])
        if piece > begun:
            parts.append(Part(start, at, begun, piece))
        sought = range(piece + 1, min(last, len(pieces) - 1, piece + 1 + min(left, _MOST_AT_ONCE)))
        piece, found = _next_of(pieces, sought, new, at, stop)
        left -= (piece if found < stop else sought.stop) - sought.start + 1
        if found > at:
            parts.append(Part(at, found))
        at = found
    if last < len(pieces):
        parts.append(Part(stop, len(new), last, len(pieces)))
    return parts


def _from_the_end(new: bytes, pieces: list[bytes]) -> tuple[int, int]:
    """The first of the pieces that a page ends with, and where it begins there."""
    last, stop = len(pieces), len(new)
    while last > 1 and new.endswith(pieces[last - 1], 0, stop):
        last -= 1
        stop -= len(pieces[last])
    return last, stop


def _next_of(
    pieces: list[bytes], sought: range, new: bytes, start: int, stop: int
) -> tuple[int, int]:
    """The first of some pieces that the rest of a page has, and where; where none, its end."""
    for piece in sought:
        place = new.find(pieces[piece], start, min(start + _FARTHEST, stop))
        if place >= 0:
            return piece, place
    return len(pieces), stop


def thinned(cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cuts, without those that follow another within a few bytes.

    >>> thinned([(900, 1), (910, 2), (2000, 3)])
    [(900, 1), (2000, 3)]
    """
    found: list[tuple[int, int]] = []
    before = 0
    for offset, row in cuts:
        if offset - before >= _LEAST_PIECE:
            found.append((offset, row))
            before = offset
    return found[:_MOST_CUTS]
