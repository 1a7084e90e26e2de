"""Why an address is not one of the crawl's pages, though a block covers it.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.parse.address_shapes import repeats, shape_of
from recrawl.parse.addresses import host_of
from recrawl.state.shapes import is_trap
from recrawl.visits.status import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.filtering import ShapeJudged
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

_NAMED = (Refusal.EXCLUDED.label, Refusal.TRAP.label)  # reasons that are told with their detail


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What leaves addresses out of a crawl.

    Args:
        settings: What a person asks of the crawl.
        traps: Shapes of addresses that lead nowhere, by host and shape.
    """

    settings: Settings
    traps: Mapping[tuple[str, str], ShapeJudged]

    @classmethod
    def of(cls, settings: Settings, reader: ReadStore) -> LeftOut:
        """What leaves addresses out of the crawl of a store."""
        shapes = reader.address_shapes()
        traps = [each for each in shapes if is_trap(each.judged, each.barren)]
        return cls(settings, {(each.host, each.shape): each for each in traps})

    def why(self, address: str) -> dict[str, float | str] | None:
        """Why a canonical address is left out, as figures; None where no filter says so."""
        rule = self.settings.rule_for(address)
        if rule is None:
            return None
        admission = self.settings.admit(address)
        if admission.refused is not None:
            reason, detail = admission.refused
            return {"refusal": reason.label, "detail": detail}
        if admission.address != address:
            dropped = ", ".join(admission.dropped)
            named = {"refusal": Refusal.PARAMETER.label, "detail": dropped}
            return {**named, "known_as": admission.address}
        judged = rule.filters.traps and not rule.exact and address != rule.address
        return self._endless(address) if judged else None

    def words(self, address: str) -> str:
        """Why a canonical address is left out, in a few words; empty where no filter says so."""
        why = self.why(address)
        if why is None:
            return ""
        reason, detail = str(why["refusal"]), str(why["detail"])
        if reason == Refusal.PARAMETER.label:
            return f"{detail} is dropped"
        return f"{reason} {detail}" if reason in _NAMED else reason

    def _endless(self, address: str) -> dict[str, float | str] | None:
        """Why an address counts as one of addresses without end; None where it does not."""
        shape = shape_of(address)
        if each := self.traps.get((host_of(address), shape)):
            trap = {"refusal": Refusal.TRAP.label, "detail": shape}
            return {**trap, "pages": each.judged, "barren": each.barren}
        folders = repeats(address)
        return {"refusal": Refusal.REPEATED.label, "detail": folders} if folders else None


def left_out(settings: Settings, reader: ReadStore, address: str) -> dict[str, float | str] | None:
    """Why a canonical address is left out, as figures; None where no filter says so.

    Args:
        settings: What a person asks of the crawl.
        reader: Its store.
        address: The address.
    """
    found = LeftOut.of(settings, reader).why(address)
    if found is None or found["refusal"] != Refusal.TRAP.label:
        return found
    return {**found, "addresses": _refused(reader, host_of(address), str(found["detail"]))}


def _refused(reader: ReadStore, host: str, shape: str) -> int:
    """How many addresses of a trap were left out, about."""
    return sum(
        each.addresses
        for name, each in reader.refused_addresses()
        if (name, each.reason, each.detail) == (host, Refusal.TRAP, shape)
    )
