"""A budget of visits: so many a day for all pages, or so many a day for each.

Pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsFloat

from recrawl.errors import InvalidDuration, InvalidParameter
from recrawl.units import period

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMS = {"crawl": "5000/1d", "page": "0.1/page/1d", "change": "4/change"}
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
        >>> Budget.read("5000/day") == Budget.read("5000/d") == Budget.read("5000/1d")
        True
        >>> Budget.read("4/change").for_changes(changes=30, page_days=600.0)
        Budget(visits=0.2, each='page')
        >>> Budget.read(50)
        Budget(visits=50.0, each='crawl')
    """

    visits: float
    each: str = "crawl"

    @classmethod
    def read(
        cls,
        text: str | SupportsFloat,
        *,
        name: str = "budget",
        kinds: Sequence[str] = tuple(_FORMS),
    ) -> Budget:
        """The budget that a person wrote as `5000/1d`, `0.1/page/1d` or `4/change`.

        Args:
            text: What was written; `5000/d` and `5000/day` are `5000/1d`. A number, which only
                Python can give, is visits a day.
            name: What errors call it.
            kinds: What `each` may be.
        """
        found = cls._read(text)
        if found is None and _is_zero(text):
            raise InvalidParameter(f"{name} must be above 0 (got {text!r})")
        if found is None or found.each not in kinds:
            *others, last = (_FORMS[kind] for kind in kinds)
            forms = f"{', '.join(others)} or {last}" if others else last
            raise InvalidParameter(f"{name} must look like {forms} (got {text!r})")
        return found

    @classmethod
    def _read(cls, text: str | SupportsFloat) -> Budget | None:
        if not isinstance(text, str):
            try:
                visits = float(text)
            except TypeError:  # whatever else Python can give
                return None
            return cls(visits) if 0 < visits < math.inf else None
        match = _BUDGET.fullmatch(text)
        if match is None or not 0 < float(match[1]) < math.inf:
            return None
        if match[2]:
            return cls(float(match[1]), "change")
        try:
            return cls(float(match[1]) / period(match[4]), "page" if match[3] else "crawl")
        except InvalidDuration:
            return None

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


def _is_zero(text: str | SupportsFloat) -> bool:
    """Whether a budget has its form, or is a number, and no visits."""
    if isinstance(text, str):
        match = _BUDGET.fullmatch(text)
        return match is not None and float(match[1]) == 0
    return isinstance(text, int | float) and text == 0


def window_of(visits_a_day: float) -> float:
    """Days for which a budget holds: one, or as many as it takes to pay for a visit."""
    return max(1.0, 1 / visits_a_day) if visits_a_day > 0 else 1.0
