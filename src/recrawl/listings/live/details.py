"""Detail pages of a listing's objects: which of the addresses that a list names are visited.

A list may name any address. One that a `[[site]]` or `[[page]]` covers is a page of that block. Of
all others only those of the list's own site (its registered domain) are visited; where the listing
may be on a private network, only those of the list's own origin, so that a list cannot send a crawl
to its neighbours.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recrawl.parse.addresses import origin_of, site_of
from recrawl.parse.ports import blocked_port

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.listings.live.rules import ListingRule


def allowed_details(
    rule: ListingRule, details: Mapping[str, str], has_block: Callable[[str], bool]
) -> dict[str, str]:
    """Addresses of detail pages by key, empty where a page is none of the crawl's.

    Args:
        rule: The listing.
        details: Canonical addresses that the list names, by key.
        has_block: Whether a block of the settings covers an address.

    Examples:
        >>> from recrawl.listings.live.rules import ListingRule
        >>> from recrawl.parse.items.item import Layout
        >>> rule = ListingRule("jobs", ("https://jobs.a.org/",), Layout("li", "a", detail="a@href"))
        >>> named = {"1": "https://www.a.org/1", "2": "https://b.org/2"}
        >>> allowed_details(rule, named, lambda address: False)
        {'1': 'https://www.a.org/1', '2': ''}
    """
    place = origin_of if rule.local else site_of
    own = {place(address) for address in rule.addresses}

    def is_ours(address: str) -> bool:
        if not address or blocked_port(urlsplit(address).port):
            return False
        return place(address) in own or has_block(address)

    return {key: address if is_ours(address) else "" for key, address in details.items()}
