"""Rules of sites and pages: how often, when, how deep, what counts as a change.

A rule of a site holds for everything under its address, as folders hold what is in them:

    https://a.org/x/    holds  https://a.org/x/ and https://a.org/x/y    but not  https://a.org/xy
    https://a.org/x     holds  https://a.org/x, https://a.org/x?y and https://a.org/x/y
    https://a.org/      holds  everything that https://a.org answers for

A rule of a page holds for that one address, and one whose address is `ANYWHERE` for every address
that no other holds for: a scheduler for somebody else's crawler has it, a file never. Where several
hold, the page's goes before the sites', and a longer address before a shorter one; the one that is
chosen decides alone.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from recrawl.settings.access_keys import NO_ACCESS_RULE
from recrawl.settings.filters import NO_FILTERS, Admission

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.detect.reading import Criteria
    from recrawl.listings.live.rules import ListingRule
    from recrawl.plan.budget import Budget
    from recrawl.settings.access_keys import AccessRule
    from recrawl.settings.filters import Filters

NO_RULE = -1
ANYWHERE = "*"

_HOST_BEGINS = len("https://")


@dataclass(frozen=True, slots=True)
class Rule:
    """One block of the settings.

    Args:
        address: Canonical address, or `ANYWHERE`.
        exact: Whether it is that of one page, not of everything under it.
        budget: Visits of its own; None where they come out of the common budget.
        weight: How much a fresh copy matters.
        minimum: Fewest days between two visits to a page.
        maximum: Most days between two visits to a page.
        interval: Days between visits, instead of both; None where we choose.
        hours: First hour of the day in UTC in which visits may be made, and the first in which
            they may no longer; None for all day.
        links: How many links deep to follow from its pages.
        discover: Days between looks at its sitemaps and feeds; 0 where their pace is learned,
            infinite for no looks, None for what the settings say of all sites.
        changed: Addresses of lists of its pages that have changed.
        watch: CSS selectors of the only parts that count; none for the whole page.
        ignore: CSS selectors of parts that do not count.
        least_change: Share of the words of a page that must differ for it to count as changed.
        target: Share of fresh copies that is wanted; None for as many as the budget buys.
        local: Whether it may be on this machine or on a private network.
        robots_tags: Whether its pages' `X-Robots-Tag` and `<meta name="robots">` are heeded.
        filters: Which addresses under its own are taken in.
        listing: Name of the listing that it is of. Then it holds for the detail pages of the
            objects that are listed, as far as no block does; its address is that of the list.
        access: How its pages are asked for.
    """

    address: str
    exact: bool = False
    budget: Budget | None = None
    weight: float = 1.0
    minimum: float = 0.0
    maximum: float = math.inf
    interval: float | None = None
    hours: tuple[int, int] | None = None
    links: int = 0
    discover: float | None = None
    changed: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least_change: float = 0.0
    target: float | None = None
    local: bool = False
    robots_tags: bool = True
    filters: Filters = NO_FILTERS
    listing: str = ""
    access: AccessRule = NO_ACCESS_RULE

    @property
    def label(self) -> str:
        """What it is called: its address, or its listing."""
        return f"listing {self.listing}" if self.listing else self.address

    @property
    def criteria(self) -> Criteria:
        """What counts as a change of its pages."""
        return _criteria(self.watch, self.ignore, self.least_change)


@lru_cache(maxsize=1 << 10)  # each visit asks for those of its rule
def _criteria(watch: tuple[str, ...], ignore: tuple[str, ...], least_change: float) -> Criteria:
    from recrawl.detect.reading import Criteria  # slow to load: not for those who only look

    return Criteria(watch, ignore, least_change)


def detail_rule(listing: ListingRule) -> Rule:
    """Rule of the detail pages of a listing's objects."""
    return Rule(
        listing.addresses[0],
        weight=listing.weight,
        hours=listing.hours,
        watch=listing.watch,
        ignore=listing.ignore,
        local=listing.local,
        listing=listing.name,
    )


class RuleFinder:
    """Index of rules by address.

    Rules of pages are looked up; those of sites too, by the few lengths that addresses of the
    same origin have. So the cost of a lookup does not grow with the number of rules. Those of
    listings hold for no address as such.

    Examples:
        >>> find = RuleFinder([Rule("https://a.org/"), Rule("https://a.org/x", exact=True)])
        >>> find.rules_of(["https://a.org/x", "https://a.org/y", "https://b.org/"])
        [1, 0, -1]
    """

    __slots__ = ("_anywhere", "_lengths", "_pages", "_rules", "_sites")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        blocks = [(row, rule) for row, rule in enumerate(rules) if not rule.listing]
        self._pages = {rule.address: row for row, rule in blocks if rule.exact}
        self._sites = {rule.address: row for row, rule in blocks if not rule.exact}
        self._anywhere = self._sites.pop(ANYWHERE, NO_RULE)
        lengths: dict[str, set[int]] = {}
        for address in self._sites:
            lengths.setdefault(_origin(address), set()).add(len(address))
        self._lengths = {origin: sorted(each, reverse=True) for origin, each in lengths.items()}

    def rule_of(self, address: str) -> int:
        """Number of a canonical address's rule; -1 where none holds."""
        row = self._pages.get(address)
        if row is not None:
            return row
        lengths = self._lengths.get(_origin(address))
        if lengths is None:
            return self._anywhere
        return self._site_of(address.partition("?")[0], lengths)

    def admit(self, address: str) -> Admission:
        """What becomes of a canonical address that was found.

        >>> from recrawl.settings.filters import Filters
        >>> filters = Filters(exclude=("/b/",), drop_parameters=("utm_*",))
        >>> finder = RuleFinder([Rule("https://a.org/", filters=filters)])
        >>> finder.admit("https://a.org/c?utm_source=mail").address
        'https://a.org/c'
        >>> finder.admit("https://a.org/b/").refused.detail
        '/b/'
        """
        found, dropped = address, tuple[str, ...]()
        while (number := self.rule_of(found)) != NO_RULE:
            rule = self._rules[number]
            if rule.exact or found == rule.address or rule.filters is NO_FILTERS:
                break
            clean, names = rule.filters.cleaned(found)
            if clean == found:
                refused = rule.filters.refused(found)
                return Admission(found, NO_RULE if refused else number, dropped, refused)
            found, dropped = clean, (*dropped, *names)  # shorter, and perhaps of another block
        return Admission(found, number, dropped)

    def rules_of(self, addresses: Iterable[str]) -> list[int]:
        """Number of each canonical address's rule; -1 where none holds."""
        return list(map(self.rule_of, addresses))

    def _site_of(self, folder: str, lengths: Sequence[int]) -> int:
        for length in lengths:
            row = self._sites.get(folder[:length])
            # A folder shorter than `length` is looked up whole, and is a site itself if found.
            if row is not None and (
                folder[length - 1 : length] == "/" or folder[length : length + 1] in ("", "/")
            ):
                return row
        return self._anywhere


def _origin(address: str) -> str:
    return address[: address.find("/", _HOST_BEGINS)]
