"""How a crawl is doing, in one line.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING

from recrawl.report.words import counted
from recrawl.units import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.crawl.tally import Tally


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

    @classmethod
    def of_parts(cls, parts: Sequence[Figures], tally: Tally) -> Figures:
        """Those of a crawl of which some parts are here, such as the slots of a worker.

        Args:
            parts: Figures of each part.
            tally: What was done here, also in parts that are elsewhere by now.

        Examples:
            >>> from recrawl.crawl.tally import Tally
            >>> parts = [Figures(0.5, 30, 2, 9, 1, 0, 2.0), Figures(0.9, 10, 0, 9, 1, 0, 1.0)]
            >>> Figures.of_parts(parts, Tally()).line()
            '60.0 % of 40 copies expected fresh · 2 new · 0 visits, 0 changed · next in 1.0d'
        """
        copies = sum(part.copies for part in parts)
        fresh = sum(part.fresh * part.copies for part in parts if part.copies)
        return cls(
            fresh=fresh / copies if copies else nan,
            copies=copies,
            new=sum(part.new for part in parts),
            visits=tally.visits,
            changes=tally.changes,
            failed=tally.failed,
            wait=min((part.wait for part in parts), default=inf),
            unknown=sum(part.unknown for part in parts),
        )

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
