"""What a crawl has done since it began, in numbers.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recrawl.parse.addresses import host_of
from recrawl.visits.status import Audit, VisitOutcome

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

_FAILED = (VisitOutcome.FAILED, VisitOutcome.WALLED)


@dataclass(slots=True)
class Tally:
    """Counts of a crawl.

    Attributes:
        outcomes: Visits by what they found.
        audits: Second requests by what they were made for.
        failing: Hosts at which a visit failed.
        found: Pages found.
        lost: Entries that the store refused for their own sake.
        raw_bytes: Bytes of bodies that came over the wire.
        seconds: Seconds spent waiting for answers, added up.
    """

    outcomes: dict[VisitOutcome, int] = field(
        default_factory=lambda: dict.fromkeys(VisitOutcome, 0)
    )
    audits: dict[Audit, int] = field(default_factory=lambda: dict.fromkeys(Audit, 0))
    failing: set[str] = field(default_factory=set)
    found: int = 0
    lost: int = 0
    raw_bytes: int = 0
    seconds: float = 0.0

    def count(self, visit: PageVisit) -> None:
        """Count a visit."""
        outcome = visit.outcome
        self.outcomes[outcome] += 1
        self.audits[visit.audit] += 1
        if outcome in _FAILED:
            self.failing.add(host_of(visit.address))
        self.raw_bytes += visit.response.raw_bytes
        self.seconds += visit.response.seconds

    def add(self, other: Tally) -> None:
        """Count what another tally has counted, too."""
        for outcome, count in other.outcomes.items():
            self.outcomes[outcome] += count
        for audit, count in other.audits.items():
            self.audits[audit] += count
        self.failing |= other.failing
        self.found += other.found
        self.lost += other.lost
        self.raw_bytes += other.raw_bytes
        self.seconds += other.seconds

    @property
    def visits(self) -> int:
        """All visits."""
        return sum(self.outcomes.values())

    @property
    def changes(self) -> int:
        """Visits that found a change."""
        return self.outcomes[VisitOutcome.CHANGED]

    @property
    def failed(self) -> int:
        """Visits that said nothing of their page."""
        return sum(self.outcomes[outcome] for outcome in _FAILED)
