"""`recrawl add`: a site or a page to keep fresh.

Touches: files, the network, a store, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_ADDRESS = typer.Argument(metavar="ADDRESS", help="Where the site begins, or one page.")
_SETTINGS = typer.Option("--settings", metavar="FILE", help="Settings of the crawl.")
_PAGE = typer.Option("--page", help="Only this page, not everything under it.")
_BUDGET = typer.Option(
    "--budget",
    metavar="VISITS",
    help="Visits of its own, such as 500/1d; else it shares the common budget.",
    show_default=False,
)
_WEIGHT = typer.Option(
    "--weight", metavar="NUMBER", help="How much a fresh copy matters.", show_default=False
)
_LINKS = typer.Option(
    "--links", metavar="DEPTH", help="How many links deep to follow from its pages."
)
_LOCAL = typer.Option("--local", help="It may be on this machine or a private network.")


def add(
    address: Annotated[str, _ADDRESS],
    *,
    settings: Annotated[Path, _SETTINGS] = Path("recrawl.toml"),
    page: Annotated[bool, _PAGE] = False,
    budget: Annotated[str, _BUDGET] = "",
    weight: Annotated[float | None, _WEIGHT] = None,
    links: Annotated[int, _LINKS] = 0,
    local: Annotated[bool, _LOCAL] = False,
) -> None:
    """Add a site or a page, and look for its pages.

    Writes a block at the end of recrawl.toml, where everything else about the
    site can be set, and asks the site's robots.txt, sitemaps and feeds for its
    pages. They are written to the store; `recrawl crawl` visits them.

    \b
    Examples:
        recrawl add https://example.org --budget 500/1d
        recrawl add https://example.org/prices --page
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio

    from recrawl.adapters.tables.outputs import whole_file
    from recrawl.cli import screen
    from recrawl.cli.crawling import check_store, find_pages, load_settings, load_text, store_of
    from recrawl.errors import StoreLocked
    from recrawl.settings.settings import read_settings
    from recrawl.settings.text import with_site

    values: dict[str, object] = {}
    if budget:
        values["budget"] = budget
    if weight is not None:
        values["weight"] = weight
    if links:
        values["links"] = links
    if local:
        values["local"] = True
    store = store_of(settings, load_settings(settings))
    check_store(store)
    text = with_site(load_text(settings), address, page=page, name=str(settings), **values)
    asked = read_settings(text, name=str(settings))
    with whole_file(settings) as file:
        file.write(text.encode())
    screen.remark(f"Added {address} to {settings}.")
    try:
        asyncio.run(find_pages(asked, store, _added(asked, page=page)))
    except StoreLocked:
        screen.remark("A crawl is running: stop it and start it again, and it looks for the pages.")


def _added(settings: object, *, page: bool) -> int:
    """Number of the rule that was added: the last of its kind."""
    rules = settings.rules  # type: ignore[attr-defined] # `Settings`, not imported at the top
    return max(row for row, rule in enumerate(rules) if rule.exact == page)
