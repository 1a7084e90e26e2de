"""How a crawl is doing, in one line.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

from recrawl.report.words import counted
from recrawl.units import duration


@dataclass(frozen=True, slots=True)
class Figures:
    """How a crawl is doing.

    Args:
        fresh: Share of copies that are expected to be fresh; nan where nobody knows.
        copies: How many copies there are.
        new: How many pages have no copy yet.
        visits: Visits made since it began.
        changes: How many of them found a change.
        failed: How many of them failed.
        wait: Days until something may be done next.
        unknown: Pages expected to exist that are not known.
    """

    fresh: float
    copies: int
    new: int
    visits: int
    changes: int
    failed: int
    wait: float
    unknown: float = 0.0

    def line(self) -> str:
        """For people who watch.

        >>> Figures(0.934, 210, 3, 1204, 187, 0, 12 / 86_400).line()
        '93.4 % of 210 copies expected fresh · 3 new · 1,204 visits, 187 changed · next in 12s'
        """
        parts = ["no copies yet"]
        if self.copies and isnan(self.fresh):
            parts = [counted(self.copies, "copy")]
        elif self.copies:
            parts = [f"{100 * self.fresh:.1f} % of {counted(self.copies, 'copy')} expected fresh"]
        if self.new:
            parts.append(f"{self.new:,} new")
        visits = f"{counted(self.visits, 'visit')}, {self.changes:,} changed"
        parts.append(visits + (f", {self.failed:,} failed" if self.failed else ""))
        if 0 < self.wait < inf:
            parts.append(f"next in {duration(self.wait)}")
        return " · ".join(parts)
