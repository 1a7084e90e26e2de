"""Pages and visits of a store as columns: flat arrays, one row per page or visit.

Pages and hosts are numbered from 0, visits from 1.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.units import days_between

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Instants, Ints, Statuses


@dataclass(frozen=True, slots=True, eq=False)
class PageColumns:
    """All pages; the number of a page is its row.

    Args:
        host: Number of the host.
        rule: Number of the rule in the settings.
        found_at: When it was found.
        status: Numbers of `PageStatus`.
        failures: Visits that failed since one last succeeded.
        next_at: Scheduled retry or recheck, NaT where there is none.
        listed: Whether readers of the feed have a copy of it.
    """

    host: Ints
    rule: Ints
    found_at: Instants
    status: Statuses
    failures: Ints
    next_at: Instants
    listed: Bools


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeColumns:
    """Outcomes of visits, in the order in which they were written: all that a policy learns from.

    Args:
        visit: Number of the visit.
        page: Number of the page.
        at: When.
        outcome: Numbers of `VisitOutcome`.
        modified_at: When the page last changed, NaT if unknown.
        audit: Numbers of `Audit`.
    """

    visit: Ints
    page: Ints
    at: Instants
    outcome: Statuses
    modified_at: Instants
    audit: Statuses

    @property
    def age(self) -> Floats:
        """Days from the page's last change to the visit; nan if unknown."""
        return days_between(self.modified_at, self.at)

    def take(self, rows: Ints | Bools) -> OutcomeColumns:
        """Some of them."""
        return OutcomeColumns(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class VisitColumns:
    """Visits with all their columns, in the order in which they were written.

    Args:
        visit: Number of the visit.
        page: Number of the page.
        at: When.
        outcome: Numbers of `VisitOutcome`.
        http: Status code, 0 without a response.
        modified_at: When the page last changed, NaT if unknown.
        size: Bytes of the body, -1 if there was none.
        took_seconds: Duration of the request, nan if unknown.
        share: Share of words that differ, nan if nothing was compared.
        audit: Numbers of `Audit`.
    """

    visit: Ints
    page: Ints
    at: Instants
    outcome: Statuses
    http: Ints
    modified_at: Instants
    size: Ints
    took_seconds: Floats
    share: Floats
    audit: Statuses

    @property
    def age(self) -> Floats:
        """Days from the page's last change to the visit; nan if unknown."""
        return days_between(self.modified_at, self.at)

    def take(self, rows: Ints | Bools) -> VisitColumns:
        """Some of them."""
        return VisitColumns(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class SampledVisits:
    """Sampled visits, and the earlier visits to their pages.

    Args:
        outcome: Numbers of `VisitOutcome`.
        audited: Whether a second request checked the first.
        copied: Whether the page had a copy before.
        compared: Earlier visits that compared page and copy, counted up to the limit asked for.
    """

    outcome: Ints
    audited: Bools
    copied: Bools
    compared: Ints

    def __len__(self) -> int:
        """Count the visits."""
        return len(self.outcome)
