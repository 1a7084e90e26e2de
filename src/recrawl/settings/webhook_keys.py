"""Every key of a `[[webhook]]`: its parser, and the rule that errors quote.

A secret is never in the settings, which people show to each other: they say where it is.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.entries.records import PARTS
from recrawl.errors import InvalidParameter
from recrawl.settings.keys import BLOCK, Key
from recrawl.settings.listing_keys import LISTING
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,99}|file:\S(?:.{0,998}\S)?")
_HOST = re.compile(r"[a-z0-9._-]{1,253}(?::[0-9]{1,5})?|\[[0-9a-f:.]{2,45}\](?::[0-9]{1,5})?")
_MOST_HOSTS = 10_000
KINDS = tuple(kind.label for kind in FeedKind if kind is not FeedKind.SNAPSHOT)


@dataclass(frozen=True, slots=True)
class Webhook:
    """One `[[webhook]]` of the settings: a program elsewhere that is told of events.

    Args:
        address: Canonical address that events are posted to.
        secret: Where the secret is that signs them: `env:NAME` or `file:PATH`.
        name: What it is called, now and later; empty for its address.
        kinds: Kinds of events that it is told of; none for all.
        hosts: Hosts of pages that it is told of; none for all.
        parts: What each event brings with it, of `PARTS`.
        local: Whether it may be on this machine or on a private network.

    Examples:
        >>> Webhook("https://example.org/in?key=abc", "env:KEY").label
        'https://example.org/in'
    """

    address: str
    secret: str
    name: str = ""
    kinds: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    local: bool = False

    @property
    def key(self) -> str:
        """What the store knows it by."""
        return self.name or self.address

    @property
    def label(self) -> str:
        """What people are shown: no query, in which some put a password."""
        return self.name or self.address.partition("?")[0]


def is_reference(value: object) -> bool:
    """Whether a value says where a secret is.

    >>> is_reference("env:KEY"), is_reference("whsec_AAAA")
    (True, False)
    """
    return (
        isinstance(value, str)
        and value.isprintable()
        and _REFERENCE.fullmatch(value) is not None
        and "://" not in value  # file://... may be an address itself
    )


def _secret(value: object) -> str:
    """A reference to a secret; what else stands there is not repeated, for it may be one."""
    if not is_reference(value):
        raise InvalidParameter(f"secret must be {REFERENCE_RULE}, never the secret itself")
    return str(value)


def _some_of(value: object, known: Collection[str]) -> tuple[str, ...] | None:
    whole = isinstance(value, list) and all(
        isinstance(each, str) and each in known for each in value
    )
    return tuple(dict.fromkeys(value)) if whole else None  # type: ignore[call-overload] # texts


def _hosts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > _MOST_HOSTS:
        return None
    named = [each.lower() for each in value if isinstance(each, str)]
    whole = len(named) == len(value) and all(map(_HOST.fullmatch, named))
    return tuple(dict.fromkeys(named)) if whole else None


REFERENCE_RULE = "env:NAME or file:PATH, which say where it is"

WEBHOOK: Mapping[str, Key] = {
    "address": BLOCK["address"],
    "secret": Key(_secret, REFERENCE_RULE),
    "name": LISTING["name"],
    "kinds": Key(lambda value: _some_of(value, KINDS), f"a list of {', '.join(KINDS)}"),
    "hosts": Key(_hosts, 'a list of hosts such as ["example.org"]'),
    "with": Key(lambda value: _some_of(value, PARTS), f"a list of {', '.join(PARTS)}"),
    "local": BLOCK["local"],
}
WEBHOOK_NEEDED = ("address", "secret")
