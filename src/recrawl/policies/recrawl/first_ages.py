"""How old pages were when they were found, and moments at which too many of them were written.

A page that was last changed days before the crawl began tells of one change that long ago. But a
site that is built anew dates all its pages alike, whether they changed or not. So the *moments*, to
the minute, at which pages say to have changed are remembered: a moment that a third page names is
no evidence of any, and the first two start anew without it, unless they were visited since.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

# Pages that may have changed in the same minute.
MOST_AT_ONE_MOMENT = 2
MOST_MOMENTS = 4096  # the newest, in the order in which they were first named
NOBODY = -1
_MINUTES_A_DAY = SECONDS_A_DAY / 60
# Dates are whole seconds: no minute ends at one, so rounding cannot part equal dates.
_BETWEEN_SECONDS = 0.5 / 60


@dataclass(slots=True)
class Moments:
    """Minutes at which pages say to have changed last, and the pages that are believed.

    Attributes:
        pages: Rows of the pages by minute after 1970; none where there were too many.

    Examples:
        Four pages in turn, three of which were written in the same minute:

        >>> moments = Moments()
        >>> [moments.believe(np.array([row]), np.array([at]))[1].tolist()
        ...     for row, at in enumerate((9.5, 3.0, 9.5, 9.5))]
        [[], [], [], [0, 2]]
    """

    pages: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def believe(self, rows: Ints, changed: Floats) -> tuple[Ints, Ints]:
        """Take in when pages say to have changed, in the order of their rows.

        Args:
            rows: The pages.
            changed: When each did, in days after 1970.

        Returns:
            The places of those that are believed, and the rows of earlier pages that are no longer.
        """
        minutes = np.floor(changed * _MINUTES_A_DAY + _BETWEEN_SECONDS).astype(np.int64)
        believed: dict[int, list[int]] = {}
        dropped: list[int] = []
        for place, (row, minute) in enumerate(zip(rows.tolist(), minutes.tolist(), strict=True)):
            before = self.pages.get(minute)
            if before is None:
                if len(self.pages) >= MOST_MOMENTS:
                    self.pages.pop(next(iter(self.pages)))
                self.pages[minute], believed[minute] = (row,), [place]
            elif 0 < len(before) < MOST_AT_ONE_MOMENT:
                self.pages[minute] = (*before, row)
                believed.setdefault(minute, []).append(place)
            else:
                self.pages[minute] = ()
                dropped += before
                believed.pop(minute, None)
        places = sorted(place for some in believed.values() for place in some)
        gone = np.array(dropped, np.int64)
        return np.array(places, np.int64), gone[~np.isin(gone, rows)]

    @property
    def table(self) -> Ints:
        """One row per moment: its minute, and its pages or `NOBODY`."""
        found = np.full((len(self.pages), 1 + MOST_AT_ONE_MOMENT), NOBODY, np.int64)
        for row, (minute, pages) in zip(found, self.pages.items(), strict=True):
            row[0], row[1 : 1 + len(pages)] = minute, pages
        return found

    @classmethod
    def of(cls, table: Ints) -> Moments:
        """Moments as `table` has them."""
        return cls(
            {
                minute: tuple(page for page in pages if page != NOBODY)
                for minute, *pages in table.tolist()
            }
        )
