"""Which shapes of addresses lead nowhere: calendars, filters that combine, and other traps.

Pages that links led to are judged by shape (`recrawl.parse.address_shapes`). One is *barren* if it

    - shows nearly what another page of the same shape showed, or what another page is, and
    - links to nothing new, but for more addresses of its own shape and of other traps.

A shape of which nearly all pages are barren is a trap: links to it are no longer followed. One that
has brought anything of its own now and then never becomes one. What sitemaps, feeds and people name
is not judged, nor is it held back.

Pure.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recrawl.entries.filtering import ShapeJudged

if TYPE_CHECKING:
    from collections.abc import Iterable

# Decisions, not tuned on data: ten pages of a calendar are a small price, and articles share their
# frame but not four words of five.
_ENOUGH = 8  # pages that are judged before a shape may be a trap
_BARREN = 0.85  # share of them that must be barren
_ALIKE = 0.2  # share of the words that may differ
_REMEMBERED = 8  # simhashes of a shape
_MOST_SHAPES = 20_000


@dataclass(slots=True)
class _Shape:
    """What is known of a shape."""

    judged: int = 0
    barren: int = 0
    simhashes: deque[int] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class ShapeBook:
    """What a crawl knows of the shapes of its addresses, by host; memory is bounded.

    Args:
        known: What was known of them before.

    Examples:
        >>> book = ShapeBook()
        >>> for _ in range(9):
        ...     judged = book.judge("a.org", "/calendar/#-#", 0b1011, fruitful=False)
        >>> judged.judged, book.is_trap("a.org", "/calendar/#-#")
        (8, True)
    """

    def __init__(self, known: Iterable[ShapeJudged] = ()) -> None:
        self._shapes = {(each.host, each.shape): _Shape(each.judged, each.barren) for each in known}

    def is_trap(self, host: str, shape: str) -> bool:
        """Whether addresses of a shape lead nowhere."""
        found = self._shapes.get((host, shape))
        return found is not None and is_trap(found.judged, found.barren)

    def judge(
        self, host: str, shape: str, simhash: int | None, *, fruitful: bool, duplicate: bool = False
    ) -> ShapeJudged | None:
        """Learn what a page of a shape brought; None where nothing could be told of it.

        Args:
            host: Its host.
            shape: Shape of its address.
            simhash: Of its text; None where it has none.
            fruitful: Whether it led to new addresses other than those of traps and its own shape.
            duplicate: Whether it is a copy of another page.
        """
        key = host, shape
        if key not in self._shapes and len(self._shapes) >= _MOST_SHAPES:
            return None
        found = self._shapes.setdefault(key, _Shape())
        alike = duplicate
        if simhash is not None:
            from recrawl.detect.simhash import estimated_share  # slow to load, and rarely needed

            comparable = bool(found.simhashes)
            alike |= any(estimated_share(simhash, each) <= _ALIKE for each in found.simhashes)
            found.simhashes.append(simhash)
        else:
            comparable = False
        if not comparable and not duplicate:
            return None
        found.judged += 1
        found.barren += alike and not fruitful
        return ShapeJudged(host, shape, found.judged, found.barren)


def is_trap(judged: int, barren: int) -> bool:
    """Whether a shape is a trap, of whose pages so many were judged and found barren.

    >>> is_trap(8, 8), is_trap(8, 6), is_trap(7, 7)
    (True, False, False)
    """
    return judged >= _ENOUGH and barren >= _BARREN * judged
