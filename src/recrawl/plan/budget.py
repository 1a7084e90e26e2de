"""A budget of visits: so many a day for all pages, or so many a day for each.

Pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import SupportsFloat

from recrawl.errors import InvalidParameter
from recrawl.units import days

_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(?:(change)|(page\s*/\s*)?(\S+))\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """How many visits may be made.

    Args:
        visits: Visits a day, or visits a change where `each` is "change".
        each: Whether the visits are for all pages together ("crawl"), for each page that is
            there ("page"), or follow from how many changes there are ("change").

    Examples:
        >>> Budget.read("5000/1d").visits_a_day(pages=70)
        5000.0
        >>> Budget.read("0.1/page/12h").visits_a_day(pages=70)
        14.0
        >>> Budget.read("4/change").for_changes(changes=30, page_days=600.0)
        Budget(visits=0.2, each='page')
        >>> Budget.read(50)
        Budget(visits=50.0, each='crawl')
    """

    visits: float
    each: str = "crawl"

    @classmethod
    def read(cls, text: str | SupportsFloat) -> Budget:
        """The budget that a person wrote as `5000/1d`, `0.1/page/1d` or `4/change`.

        A number, which only Python can give, is visits a day.
        """
        if isinstance(text, SupportsFloat) and 0 < float(text) < math.inf:
            return cls(float(text))
        match = _BUDGET.fullmatch(text) if isinstance(text, str) else None
        if match is None or not 0 < float(match[1]) < math.inf:
            message = f"budget must look like 5000/1d, 0.1/page/1d or 4/change (got {text!r})"
            raise InvalidParameter(message)
        if match[2]:
            return cls(float(match[1]), "change")
        return cls(float(match[1]) / days(match[4]), "page" if match[3] else "crawl")

    def for_changes(self, *, changes: int, page_days: float) -> Budget:
        """The same budget where visits a change have become visits a page and day."""
        if self.each != "change":
            return self
        return Budget(self.visits * changes / page_days if page_days > 0 else 0.0, "page")

    def visits_a_day(self, pages: int) -> float:
        """Visits a day while so many pages are there."""
        if self.each == "change":
            message = "a budget in visits per change needs a history of changes (got none)"
            raise InvalidParameter(message)
        return self.visits * pages if self.each == "page" else self.visits
