"""`recrawl find`: look for new pages now.

Touches: files, the network, a store, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.settings.settings import Settings

_SITES = typer.Argument(
    metavar="SITE",
    help="Addresses of [[site]] blocks  [default: all of them]",
    show_default=False,
)


def find(
    sites: Annotated[list[str] | None, _SITES] = None,
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
) -> None:
    """Look for new pages now, in all sitemaps and feeds of some sites.

    A running crawl does this by itself, as often as each sitemap and feed brings
    new pages and the budget allows; `discover` in recrawl.toml fixes how often.
    New pages are written to the store; `recrawl crawl` visits them. No crawl of
    this store may be running.

    \b
    Examples:
        recrawl find
        recrawl find https://example.org/news/
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio

    from recrawl.cli.crawling import find_pages
    from recrawl.errors import NothingAnswered
    from recrawl.fetch.access import AccessTable
    from recrawl.store.settings_file import load_settings, store_of

    asked = load_settings(settings)
    numbers = _rules(asked, sites or (), settings)
    needed = [asked.rules[number].address for number in numbers]
    access = AccessTable(asked, settings.parent, needed)
    silent = asyncio.run(find_pages(asked, store_of(settings, asked), numbers, access))
    if silent:
        raise NothingAnswered(f"no site answered ({silent})")


def _rules(settings: Settings, sites: Sequence[str], file: Path) -> list[int]:
    """Numbers of the rules of some sites, or of all."""
    from recrawl.errors import InvalidParameter
    from recrawl.parse.addresses import canonical

    known = {
        rule.address: row
        for row, rule in enumerate(settings.rules)
        if not rule.exact and not rule.listing
    }
    if not known:
        raise InvalidParameter(f"{file} has no [[site]] to look at; `recrawl add` adds one")
    for site in sites:
        if canonical(site) not in known:
            raise InvalidParameter(f"{file} has no [[site]] with the address {site}")
    return [known[str(canonical(site))] for site in sites] or list(known.values())
