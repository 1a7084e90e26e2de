"""How far the validators of single pages are trusted: "not modified" (304) in a row, and lies.

A host is judged by all of its pages, so one page that always answers "not modified" is lost among
honest ones. So each page may be called unmodified only so many times in a row before it is fetched
in full. A page that was caught is asked for in full from then on.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.detect.reliability import most_unchecked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Statuses

VALIDATED = UNCHECKED, PROVED, CAUGHT = "unchecked", "proved", "caught"  # names in a checkpoint
_MOST = 255


class PageValidators:
    """Counts of what the validators of each page have said.

    Attributes:
        unchecked: 304s in a row that were believed.
        proved: Times that a full fetch after so many of them was made.
        caught: Whether the page had changed though it was called unmodified.
    """

    def __init__(self) -> None:
        self.unchecked: Statuses = np.zeros(0, np.uint8)
        self.proved: Statuses = np.zeros(0, np.uint8)
        self.caught: Statuses = np.zeros(0, np.uint8)

    def grow(self, pages: int) -> None:
        """Make room for pages that were never fetched."""
        for name in VALIDATED:
            setattr(self, name, append_rows(getattr(self, name), np.zeros(pages, np.uint8)))

    def resume(self, parts: Mapping[str, Statuses]) -> None:
        """Take up the counts from a checkpoint, as far as it has them."""
        for name in VALIDATED:
            counts = getattr(self, name)
            if name in parts and parts[name].dtype == counts.dtype:
                rows = min(len(counts), len(parts[name]))
                counts[:rows] = parts[name][:rows]

    def dump(self) -> dict[str, Statuses]:
        """Counts for a checkpoint."""
        return {name: getattr(self, name).copy() for name in VALIDATED}

    def must_be_whole(self, page: int) -> bool:
        """Whether the page was called unmodified so often that it is to be fetched in full."""
        return int(self.unchecked[page]) >= most_unchecked(int(self.proved[page]))

    def seen(self, page: int, *, whole: bool) -> None:
        """Count a visit that showed a page, whole or by a 304."""
        if not whole:
            self.unchecked[page] = min(int(self.unchecked[page]) + 1, _MOST)
            return
        if self.must_be_whole(page):
            self.proved[page] = min(int(self.proved[page]) + 1, _MOST)
        self.unchecked[page] = 0

    def catch(self, page: int) -> None:
        """Note that a page had changed though it was called unmodified."""
        self.caught[page] = 1

    def clear(self, page: int) -> None:
        """Note that a page that was caught has told of a change: it was repaired."""
        self.caught[page] = 0
