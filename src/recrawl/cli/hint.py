"""`recrawl hint`: tell a crawl that pages have changed.

Touches: files, a store, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen, shared

_URLS = typer.Argument(
    metavar="URL...",
    help="Addresses of pages, files that list them, or - for standard input.",
    show_default=False,
)


def hint(
    urls: Annotated[list[str], _URLS],
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
) -> None:
    """Tell a crawl that pages have changed.

    Writes to the store. A running crawl takes the hints within seconds, otherwise
    the next crawl does. A hint raises the probability that its page has changed,
    by how often hints for its host have been right. A page that is not known yet
    is added if it belongs to a site. Takes the same lists as `recrawl add`.

    \b
    Examples:
        recrawl hint https://example.org/prices
        recrawl hint changed.txt
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import time

    from recrawl.cli.removed_pages import removed_among, removed_sentence
    from recrawl.cli.site_lists import listed
    from recrawl.errors import InvalidInput
    from recrawl.parse.addresses import canonical
    from recrawl.settings.rules import NO_RULE
    from recrawl.store import add_hints
    from recrawl.store.lock import is_locked
    from recrawl.store.settings_file import load_settings, store_of

    asked = load_settings(settings)
    store = store_of(settings, asked)
    addresses: dict[str, None] = {}
    for name in urls:
        found = listed(name)
        named = [canonical(name)] if found is None else [each.address for each in found.entries]
        if None in named or not named:
            raise InvalidInput(f"{name} is not the address of a page")
        addresses.update(dict.fromkeys(filter(None, named)))
    admitted = [each for each in map(asked.admit, addresses) if each.rule != NO_RULE]
    if not admitted:
        raise InvalidInput(f"none of these pages belongs to a site of {settings}")
    wanted = list(dict.fromkeys(each.address for each in admitted))
    removed = removed_among(store, asked, wanted)
    wanted = [each for each in wanted if each not in removed]
    if removed and not wanted:
        raise InvalidInput(removed_sentence(removed))
    if removed:
        screen.warn(f"No hint taken: {removed_sentence(removed)}")
    add_hints(store, wanted, time.time())
    unit = "1 hint" if len(wanted) == 1 else f"{len(wanted):,} hints"
    other = len(addresses) - len(admitted)
    out = "1 address that belongs" if other == 1 else f"{other:,} addresses that belong"
    left = f"; left out {out} to no site" if other else ""
    them = "it" if len(wanted) == 1 else "them"
    takes = f"the crawl takes {them} now" if is_locked(store) else f"the next crawl takes {them}"
    screen.remark(f"Noted {unit}{left}; {takes}.")
