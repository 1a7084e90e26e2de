"""Why an address is not one of the crawl's pages, though a block covers it.

Touches: a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.parse.address_shapes import repeats, shape_of
from recrawl.parse.addresses import host_of
from recrawl.state.shapes import is_trap
from recrawl.visits.status import Refusal

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


def left_out(settings: Settings, reader: ReadStore, address: str) -> dict[str, float | str] | None:
    """Why a canonical address is left out, as figures; None where no filter says so.

    Args:
        settings: What a person asks of the crawl.
        reader: Its store.
        address: The address.
    """
    rule = settings.rule_for(address)
    if rule is None:
        return None
    admission = settings.admit(address)
    if admission.refused is not None:
        reason, detail = admission.refused
        return {"refusal": reason.label, "detail": detail}
    if admission.address != address:
        dropped = ", ".join(admission.dropped)
        named = {"refusal": Refusal.PARAMETER.label, "detail": dropped}
        return {**named, "known_as": admission.address}
    judged = rule.filters.traps and not rule.exact and address != rule.address
    return _endless(reader, address) if judged else None


def _endless(reader: ReadStore, address: str) -> dict[str, float | str] | None:
    """Why an address counts as one of addresses without end; None where it does not."""
    shape, host = shape_of(address), host_of(address)
    for each in reader.address_shapes():
        if (each.host, each.shape) == (host, shape) and is_trap(each.judged, each.barren):
            trap = {"refusal": Refusal.TRAP.label, "detail": shape}
            counts = {"pages": each.judged, "barren": each.barren}
            return {**trap, **counts, "addresses": _refused(reader, host, shape)}
    folders = repeats(address)
    return {"refusal": Refusal.REPEATED.label, "detail": folders} if folders else None


def _refused(reader: ReadStore, host: str, shape: str) -> int:
    """How many addresses of a trap were left out, about."""
    return sum(
        each.addresses
        for name, each in reader.refused_addresses()
        if (name, each.reason, each.detail) == (host, Refusal.TRAP, shape)
    )
