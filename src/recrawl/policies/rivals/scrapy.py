"""The heuristic of HTTP caches, as in Scrapy: a page that is old stays as it is for long.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least, check_positive

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(slots=True)
class ScrapyMemory:
    """When each page last changed by its Last-Modified, in days after 1970; nan where unknown."""

    modified: Floats


@dataclass(frozen=True, slots=True)
class Scrapy:
    r"""Take a page for fresh for a tenth of its age.

    $$ I = \text{clip}(0.1 \, (\text{visit} - \text{Last-Modified}),
       \text{shortest}, \text{longest}) . $$

    A page that does not say when it last changed is stale at once: the shortest. Explicit
    lifetimes (max-age, Expires) are not part of a history and left out.

    Args:
        share: Of the age.
        shortest: Fewest days to wait.
        longest: Most days to wait.

    References:
        Scrapy 2.x, class RFC2616Policy; RFC 2616, section 13.2.4.

    Examples:
        Modified 20 days before the visit:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, yes = Scrapy(), np.array([0]), np.array([True])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> now, age = np.array([30.0]), np.array([20.0])
        >>> rule.after(memory, row, VisitRows(now, now, now, yes, age, gap=7.0))
        array([2.])
    """

    share: float = 0.1
    shortest: float = 0.0
    longest: float = 365.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(share=self.share, longest=self.longest)
        check_at_least(0, shortest=self.shortest)
        check_at_least(self.shortest, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, ScrapyMemory]:
        """The shortest interval; no dates yet."""
        return self.begin_dated(found, np.full(len(found), np.nan))

    def begin_dated(self, found: Floats, age: Floats) -> tuple[Floats, ScrapyMemory]:
        """The interval by the age of pages at their first visit."""
        return self._wait(age), ScrapyMemory(found - age)

    def after(self, memory: ScrapyMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        told = visits.now - visits.age
        kept = np.where(visits.changed, np.nan, memory.modified[rows])
        modified = np.where(np.isnan(told), kept, told)
        memory.modified[rows] = modified
        return self._wait(visits.now - modified)

    def _wait(self, age: Floats) -> Floats:
        known = np.where(np.isnan(age), 0.0, age)
        return np.clip(self.share * known, self.shortest, self.longest)
