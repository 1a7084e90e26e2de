"""Pages that `recrawl remove` took out, and what verbs say of them.

Touches: a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from recrawl.settings.settings import Settings


def removed_among(store: Path, settings: Settings, addresses: Sequence[str]) -> dict[str, str]:
    """Those of some addresses whose pages were removed or erased, with the address of the page.

    Args:
        store: The store.
        settings: How addresses are written.
        addresses: The addresses, as a person wrote them.
    """
    from recrawl.crawl.removal import taken_out
    from recrawl.parse.addresses import canonical
    from recrawl.store import open_store

    pages = {each: canonical(each) for each in addresses}
    named = {each: settings.admit(page).address for each, page in pages.items() if page}
    with open_store(store) as reader:
        out = taken_out(reader, list(named.values()))
    return {each: page for each, page in named.items() if page in out}


def removed_sentence(addresses: Collection[str]) -> str:
    """That pages were removed, and how to bring one back.

    >>> removed_sentence(["https://a.org/x"])
    'https://a.org/x was removed; `recrawl add --again https://a.org/x` brings it back'
    >>> removed_sentence(["https://a.org/x", "https://a.org/y"])
    '2 pages were removed; `recrawl add --again https://a.org/x` brings the first back'
    """
    first = next(iter(addresses))
    one = len(addresses) == 1
    what = f"{first} was" if one else f"{len(addresses):,} pages were"
    which = "it" if one else "the first"
    return f"{what} removed; `recrawl add --again {first}` brings {which} back"
