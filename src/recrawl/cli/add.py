"""`recrawl add`: add a site or a page to a crawl.

Touches: files, the network, a store, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from recrawl.settings.settings import Settings

_ADDRESS = typer.Argument(metavar="ADDRESS", help="Address of a site or of a page.")
_PAGE = typer.Option("--page-only", help="Only this page, not everything under it.")
_BUDGET = typer.Option(
    "--budget",
    metavar="BUDGET",
    help="Budget of its own, such as 500/1d  [default: a share of the common budget]",
    show_default=False,
)
_WEIGHT = typer.Option(
    "--weight", metavar="NUMBER", help="Importance of fresh copies.", show_default=False
)
_LINKS = typer.Option("--links", metavar="DEPTH", help="How many links deep to follow.")
_LOCAL = typer.Option("--local", help="Allow loopback and private addresses.")


def add(
    address: Annotated[str, _ADDRESS],
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    page: Annotated[bool, _PAGE] = False,
    budget: Annotated[str, _BUDGET] = "",
    weight: Annotated[float | None, _WEIGHT] = None,
    links: Annotated[int, _LINKS] = 0,
    local: Annotated[bool, _LOCAL] = False,
) -> None:
    """Add a site or a page, and discover its pages.

    Appends a block to recrawl.toml, where all other settings of the site can be
    changed, and discovers its pages through robots.txt, sitemaps and feeds. They
    are written to the store; `recrawl crawl` visits them.

    \b
    Examples:
        recrawl add https://example.org --budget 500/1d
        recrawl add https://example.org/prices --page-only
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio
    from dataclasses import replace

    from recrawl.cli.crawling import find_pages
    from recrawl.errors import StoreLocked
    from recrawl.fetch.access import AccessTable
    from recrawl.settings.settings import read_settings
    from recrawl.settings.text import with_site
    from recrawl.state.weights import check_weights
    from recrawl.store import open_store
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_settings, load_text, store_of

    given = {"budget": budget, "weight": weight, "links": links, "local": local}
    values = {key: value for key, value in given.items() if value not in ("", None, 0, False)}
    before = load_settings(settings)
    store = store_of(settings, before)
    open_store(store).close()  # raises before anything is changed
    check_weights(before)
    text = with_site(load_text(settings), address, page=page, name=str(settings), **values)
    asked = replace(read_settings(text, name=str(settings)), weights_file=before.weights_file)
    access = AccessTable(asked, settings.parent)  # raises where a secret is not where it should be
    with whole_file(settings) as file:
        file.write(text.encode())
    screen.remark(f"Added {address} to {settings}.")
    try:
        asyncio.run(find_pages(asked, store, _added(asked, page=page), access))
    except StoreLocked:
        screen.remark("A crawl is running: restart it to discover the pages.")


def _added(settings: Settings, *, page: bool) -> int:
    """Number of the rule that was added: the last of its kind."""
    return max(
        row for row, rule in enumerate(settings.rules) if rule.exact == page and not rule.listing
    )
