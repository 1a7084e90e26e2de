"""`recrawl mcp`: tools for language-model agents.

Touches: files, a store, the network where it may, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import shared
from recrawl.errors import MissingExtra

_FETCH = typer.Option(
    "--fetch", help="Visit a page first if a copy is wanted fresher than it is likely to be."
)


def mcp(
    *,
    fetch: Annotated[bool, _FETCH] = False,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
) -> None:
    """Serve copies and changes to language-model agents (MCP).

    Speaks the Model Context Protocol on standard input and output; an agent's
    program starts it. Its tools get a copy with the chance that it is fresh, what
    changed since a cursor, why a page is visited next, the status of the crawl, and
    pages by words of their addresses. They read the store and change nothing. With
    --fetch, a page is visited first where a copy must be fresher, within the budget
    and as politely as a crawl, while no crawl is running. Needs
    `pip install '.[mcp]'`.

    \b
    Examples:
        recrawl mcp
        recrawl mcp --fetch --settings news/recrawl.toml
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    try:
        from recrawl.serve.agents import agent_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise MissingExtra("`recrawl mcp`", "mcp") from None
    from recrawl.serve.source import ServedCrawl

    source = ServedCrawl(settings)
    with source.open() as reader:  # what is wrong with it is said now
        source.settings(reader)
    agent_server(source, fetches=fetch).run()
