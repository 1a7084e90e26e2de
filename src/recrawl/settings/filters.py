"""Which addresses of a site are taken in, and under which name: one place for both.

An address that was found goes through the filters of the block that covers it, in this order:

    dropped parameters    it is renamed: the page is the one without them
    exclude               whatever matches one of these patterns is left out,
    include               and so is, where there are such patterns, what matches none of them

The address of a block itself is always in: it is where the pages of the block are looked for.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from recrawl.parse.address_cleaning import TRACKING_PARAMETERS, cleaned
from recrawl.parse.address_patterns import address_patterns
from recrawl.visits.status import Refusal


class Refused(NamedTuple):
    """Why an address is not taken in.

    Attributes:
        reason: The reason.
        detail: The pattern, parameter or shape that it is about; empty where there is none.
    """

    reason: Refusal
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a block.

    Args:
        include: Patterns of the only addresses that are taken in; none for all.
        exclude: Patterns of addresses that are left out.
        drop_parameters: Names of parameters that are dropped from queries, and session ids with
            them; none to leave addresses as they are.
        duplicates: Whether pages that are copies of others are recognized, and visited rarely.
        traps: Whether endless series of addresses, such as those of calendars, are recognized.

    Examples:
        >>> filters = Filters(include=("/news/",), exclude=("*/print",))
        >>> filters.refused("https://a.org/news/1/print").detail
        '*/print'
        >>> filters.refused("https://a.org/shop").reason.label, filters.refused("https://a.org/news/")
        ('not included', None)
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    drop_parameters: tuple[str, ...] = ()
    duplicates: bool = False
    traps: bool = False

    def refused(self, address: str) -> Refused | None:
        """Why a canonical address without dropped parameters is left out; None if it is in."""
        if self.exclude and (found := address_patterns(self.exclude).first(address)):
            return Refused(Refusal.EXCLUDED, found)
        if self.include and address_patterns(self.include).first(address) is None:
            return Refused(Refusal.NOT_INCLUDED)
        return None

    def cleaned(self, address: str) -> tuple[str, tuple[str, ...]]:
        """A canonical address without what is dropped, and what that is."""
        found = cleaned(address, self.drop_parameters)
        return found.address, found.dropped


NO_FILTERS = Filters()
# What a crawl has that says nothing else.
DEFAULT_FILTERS = Filters(drop_parameters=TRACKING_PARAMETERS, duplicates=True, traps=True)


@dataclass(frozen=True, slots=True)
class Admission:
    """What becomes of an address that was found.

    Args:
        address: The address under which its page is known.
        rule: Number of its rule; that of no rule where it is not taken in.
        dropped: What was dropped from the address as it was found.
        refused: Why a block that covers it leaves it out; None where none does.
    """

    address: str
    rule: int
    dropped: tuple[str, ...] = ()
    refused: Refused | None = None
