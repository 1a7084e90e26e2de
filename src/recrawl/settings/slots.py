"""Slots: parts of a crawl that workers share out among themselves.

A registered domain lies in one of a fixed number of *slots*, by a hash of its name. So all hosts of
a site are crawled by one worker at a time, and what is polite for that worker is polite for all.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from recrawl.parse.addresses import site_of
from recrawl.parse.sites import sites_of
from recrawl.settings.rules import ANYWHERE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.listings.live.rules import ListingRule
    from recrawl.settings.settings import Settings


def slot_of(address: str, slots: int) -> int:
    """Slot of a canonical address.

    Args:
        address: The address; its registered domain decides.
        slots: How many slots there are.

    Examples:
        >>> slot_of("https://www.bbc.co.uk/news", 16) == slot_of("http://bbc.co.uk/", 16)
        True
    """
    return _hash(site_of(address)) % slots


def slots_of_hosts(names: Sequence[str], slots: int) -> Ints:
    """The same of many hosts, by their names.

    >>> slots_of_hosts(["www.bbc.co.uk"], 16).tolist() == [slot_of("https://bbc.co.uk/news", 16)]
    True
    """
    sites, domains = sites_of([f"https://{name}/" for name in names])
    return np.array([_hash(each) % slots for each in domains], np.int64)[sites]


def _hash(domain: str) -> int:
    return xxhash.xxh3_64_intdigest(domain.encode())


def slot_of_host(name: str, slots: int) -> int:
    """Slot of a host by its name, with or without a port.

    >>> slot_of_host("www.bbc.co.uk", 16) == slot_of("https://bbc.co.uk/news", 16)
    True
    """
    return slot_of(f"https://{name}/", slots)


@dataclass(frozen=True, slots=True)
class SlotScope:
    """What a slot is part of, and which part.

    Args:
        slot: Its number, from 0.
        slots: How many there are.
        settings: Settings of the slot: those of the crawl with the rules of its own sites alone.
        rules: Number of each of its rules in the settings of the crawl.
    """

    slot: int
    slots: int
    settings: Settings
    rules: tuple[int, ...]

    @classmethod
    def all_of(cls, settings: Settings, slots: int) -> list[SlotScope]:
        """All parts of a crawl, by their numbers; some may be empty.

        Examples:
            >>> from recrawl.settings.rules import Rule
            >>> from recrawl.settings.settings import Settings
            >>> rules = tuple(Rule(f"https://{name}.org/") for name in "abc")
            >>> crawl = Settings("bot (me@example.org)", rules=rules)
            >>> parts = [each.rules for each in SlotScope.all_of(crawl, 2)]
            >>> sorted(number for part in parts for number in part)
            [0, 1, 2]
        """
        listings: list[list[ListingRule]] = [[] for _ in range(slots)]
        slots_of: dict[str, list[int]] = {}
        for listing in settings.listings:
            slots_of[listing.name] = slots_of_listing(listing, slots)
            for slot in slots_of[listing.name]:
                listings[slot].append(listing)
        rules: list[list[int]] = [[] for _ in range(slots)]
        for number, rule in enumerate(settings.rules):
            for slot in slots_of[rule.listing] if rule.listing else _slots_of(rule.address, slots):
                rules[slot].append(number)
        whole = settings if settings.slots == slots else replace(settings, slots=slots)
        return [
            cls(slot, slots, _part(whole, slot, rules[slot], listings[slot]), tuple(rules[slot]))
            for slot in range(slots)
        ]

    def has_host(self, name: str) -> bool:
        """Whether a host lies in the slot."""
        return slot_of_host(name, self.slots) == self.slot

    def has(self, address: str) -> bool:
        """Whether an address lies in the slot."""
        return slot_of(address, self.slots) == self.slot


def _slots_of(address: str, slots: int) -> Iterable[int]:
    """Slots in which a rule holds: its own, or all where it holds anywhere."""
    return range(slots) if address == ANYWHERE else (slot_of(address, slots),)


def slots_of_listing(listing: ListingRule, slots: int) -> list[int]:
    """Slots that know a listing: that of its first address, and those where its pages may lie."""
    first, *others = (slot_of(each, slots) for each in listing.addresses)
    return sorted({first, *others}) if listing.layout.detail else [first]


def _part(
    whole: Settings, slot: int, rules: Sequence[int], listings: Sequence[ListingRule]
) -> Settings:
    blocks = (whole.rules[each] for each in rules)
    own = tuple(each for each in blocks if not each.listing)  # those of listings come with them
    return replace(whole, rules=own, listings=tuple(listings), push=None, whole=whole, slot=slot)
