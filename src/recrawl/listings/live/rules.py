"""What a person asks for a listing: where its items are, and how good its copy is to be.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.visits.hours import next_open

if TYPE_CHECKING:
    from recrawl.parse.items.item import Layout
    from recrawl.parse.items.paging import PageParameter
    from recrawl.visits.hours import Hours

RECALL = 0.9
CONFIDENCE = 0.8
SHORTEST = 1 / 24
LONGEST = 30.0


@dataclass(frozen=True, slots=True)
class ListingRule:
    """One block `[[listing]]` of the settings.

    Args:
        name: What the store calls it, for ever.
        addresses: Canonical addresses at which the list, or parts of it, begin.
        layout: Where the items are on its pages.
        form: What is sent as a form, by name; None for an ordinary request.
        counted: Parameter that counts pages; None where a link leads on, or there is one page.
        precision: Least share of the copy that is still listed; None for any.
        recall: Least share of what is listed that is in the copy; None for any.
        confidence: Probability with which that is to be kept.
        minimum: Fewest days between two syncs.
        maximum: Most days between two syncs.
        hours: First hour of the day in UTC in which it may be synced, and the first in
            which it may no longer; None for all day.
        local: Whether it may be on this machine or on a private network.
        weight: How much fresh copies of the detail pages of its objects matter.
        watch: CSS selectors of the only parts of these pages that count; none for the whole page.
        ignore: CSS selectors of parts that do not count.

    Examples:
        >>> from recrawl.parse.items.item import Layout
        >>> rule = ListingRule("jobs", ("https://a.org/",), Layout("li", "a@href"), hours=(8, 9))
        >>> rule.opens(10.5)
        11.333333333333334
    """

    name: str
    addresses: tuple[str, ...]
    layout: Layout
    form: tuple[tuple[str, str], ...] | None = None
    counted: PageParameter | None = None
    precision: float | None = None
    recall: float | None = RECALL
    confidence: float = CONFIDENCE
    minimum: float = SHORTEST
    maximum: float = LONGEST
    hours: Hours | None = None
    local: bool = False
    weight: float = 1.0
    watch: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def opens(self, at: float) -> float:
        """Return the first instant from `at` on within its hours, in days after 1970."""
        return next_open(self.hours, at)
