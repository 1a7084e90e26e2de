"""Every key of a `[[notify]]`: its parser, and the rule that errors quote.

Addresses of notification services hold passwords, so they are never in the settings, which people
show to each other: they say where the address is.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recrawl.errors import InvalidInput, InvalidParameter
from recrawl.settings.keys import BLOCK, Key, address
from recrawl.settings.listing_keys import LISTING
from recrawl.settings.webhook_keys import REFERENCE_RULE, WEBHOOK, is_reference
from recrawl.units import SECONDS_A_DAY, days

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOUR, _MINUTE, _MONTH = 1 / 24, 60 / SECONDS_A_DAY, 30.0  # days
_MOST_SECTIONS, _MOST_WORDS, _LONGEST_WORD = 1000, 100, 100


@dataclass(frozen=True, slots=True)
class Recipient:
    """One `[[notify]]` of the settings: people who are told of changes, many in one message.

    Args:
        address: Where the address of their service is: `env:NAME` or `file:PATH`.
        name: What they are called, now and later; empty for where the address is.
        every: Fewest days between two messages.
        kinds: Kinds of events that they are told of; none for all.
        hosts: Hosts of pages that they are told of; none for all.
        sections: Canonical addresses of what they are told of, with all below; none for all.
        least_change: Share of the words that must differ for a changed page to be told of.
        watch: CSS selectors of the only parts whose changes are told; none for what counts anyway.
        words: Words and phrases of which changed lines must have one; none for any line.

    Examples:
        >>> Recipient("env:MAIL").label, Recipient("env:MAIL", "office").label
        ('env:MAIL', 'office')
    """

    address: str
    name: str = ""
    every: float = _HOUR
    kinds: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    least_change: float = 0.0
    watch: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What the store knows them by, and people are shown: no part of the address."""
        return self.name or self.address

    label = key


def _reference(value: object) -> str:
    if not is_reference(value):
        raise InvalidParameter(f"address must be {REFERENCE_RULE}, never the address itself")
    return str(value)


def _name(value: object) -> str | None:
    found = LISTING["name"].read(value)
    return None if found is None or "://" in found else str(found)


def _every(value: object) -> float | None:
    try:
        found = days(value) if isinstance(value, str) else None
    except InvalidInput:
        return None
    return found if found is not None and _MINUTE * (1 - 1e-9) <= found <= _MONTH else None


def _sections(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > _MOST_SECTIONS:
        return None
    found = [address(each) for each in value]
    whole = all(each is not None and not urlsplit(each).query for each in found)
    return tuple(dict.fromkeys(filter(None, found))) if whole else None


def _words(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > _MOST_WORDS:
        return None
    whole = all(
        isinstance(each, str) and each.isprintable() and 0 < len(each.strip()) <= _LONGEST_WORD
        for each in value
    )
    return tuple(dict.fromkeys(each.strip() for each in value)) if whole else None


NOTIFY: Mapping[str, Key] = {
    "address": Key(_reference, REFERENCE_RULE),
    "name": Key(_name, "a text of up to 100 letters in one line, and no address"),
    "every": Key(_every, "a time from 1m to 30d such as 1h"),
    "kinds": WEBHOOK["kinds"],
    "hosts": WEBHOOK["hosts"],
    "sections": Key(
        _sections, 'a list of addresses without a query such as ["https://example.org/news/"]'
    ),
    "least_change": BLOCK["least_change"],
    "watch": BLOCK["watch"],
    "words": Key(_words, 'a list of words or phrases such as ["price", "closing date"]'),
}
