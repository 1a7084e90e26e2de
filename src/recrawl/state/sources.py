"""Sources of new pages that a crawl still wants: sitemaps, feeds, and lists that settings name.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.sources import Source, SourceKind
from recrawl.parse.addresses import origin_of
from recrawl.settings.rules import ANYWHERE

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


def wanted_sources(settings: Settings, reader: ReadStore) -> list[Source]:
    """Sources of new pages of the sites that are still wanted, with the lists that they name."""
    sites = [rule for rule in settings.rules if not rule.exact and rule.address != ANYWHERE]
    origins = {origin_of(rule.address) for rule in sites}
    lists = {each: origin_of(rule.address) for rule in sites for each in rule.changed}
    known = [
        source
        for source in reader.sources()
        if source.origin in origins
        and (source.kind is SourceKind.LIST) == (lists.get(source.address) == source.origin)
    ]
    new = lists.keys() - {source.address for source in known}
    return [*known, *(Source(each, lists[each], SourceKind.LIST) for each in lists if each in new)]
