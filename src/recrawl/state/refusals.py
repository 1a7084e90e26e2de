"""Addresses that were found and not taken in, counted by reason until they are written down.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.arrays.distinct import DistinctCount
from recrawl.entries.filtering import AddressesRefused, RefusedAddresses
from recrawl.visits.status import Refusal

if TYPE_CHECKING:
    from recrawl.settings.filters import Admission

_MOST = 200  # reasons with a detail of their own; the rest counts as one
_LONGEST = 200  # letters of a detail


class Refusals:
    """Addresses of one host that were not taken in.

    Examples:
        >>> refusals = Refusals()
        >>> refusals.note(Refusal.EXCLUDED, "/calendar/", "https://a.org/calendar/1")
        >>> [(each.detail, each.example) for each in refusals.entry("a.org").refused]
        [('/calendar/', 'https://a.org/calendar/1')]
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Refusal, str], tuple[DistinctCount, str]] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._found)

    def note(self, reason: Refusal, detail: str, address: str) -> None:
        """Count an address."""
        key = reason, detail[:_LONGEST]
        if key not in self._found and len(self._found) >= _MOST:
            key = reason, ""
        count, _ = self._found.setdefault(key, (DistinctCount(), address))
        count.add(address)

    def note_admission(self, address: str, admission: Admission) -> None:
        """Count an address that was not taken in as it was found, if that is so."""
        for name in admission.dropped:
            self.note(Refusal.PARAMETER, name, address)
        if admission.refused is not None:
            self.note(*admission.refused, admission.address)

    def entry(self, host: str) -> AddressesRefused:
        """What is to be written down."""
        found = self._found.items()
        refused = [
            RefusedAddresses(reason, detail, count.dump(), example, int(count))
            for (reason, detail), (count, example) in found
        ]
        return AddressesRefused(host, refused)
