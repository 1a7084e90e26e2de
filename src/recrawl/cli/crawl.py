"""`recrawl crawl`: visits what is due, until stopped.

Touches: the network, a store, the clock, the standard streams.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.crawl.page_visit import PageVisit

_SETTINGS = typer.Option("--settings", metavar="FILE", help="Settings of the crawl.")
_ONCE = typer.Option("--once", help="Stop when nothing more may be visited for now.")
_FOR = typer.Option(
    "--for", metavar="TIME", help="Stop after a time such as 10m or 6h.", show_default=False
)
_LOG = typer.Option(
    "--log",
    metavar="FILE",
    help="Append a line of JSON for every visit, once it is on disk.",
    show_default=False,
)
_WARC = typer.Option(
    "--warc",
    metavar="DIR",
    help="Write everything that is fetched to WARC files in this folder.",
    show_default=False,
)
_METRICS = typer.Option(
    "--metrics",
    metavar="PORT",
    help="Answer Prometheus on this port of this machine, at /metrics.",
    show_default=False,
)


def crawl(
    *,
    settings: Annotated[Path, _SETTINGS] = Path("recrawl.toml"),
    once: Annotated[bool, _ONCE] = False,
    stop_after: Annotated[str, _FOR] = "",
    log: Annotated[Path | None, _LOG] = None,
    warc: Annotated[Path | None, _WARC] = None,
    metrics: Annotated[int, _METRICS] = 0,
) -> None:
    """Visit what is due, politely, until stopped.

    Reads recrawl.toml and goes on where the crawl was stopped: visits go where
    they are worth most within the budget, and what they find is written to the
    store beside the settings. New pages of a site are looked for once a day in
    its robots.txt, sitemaps and feeds. Ctrl-C stops it; nothing is lost, however
    it ends.

    \b
    Examples:
        recrawl crawl
        recrawl crawl --for 10m --log visits.jsonl
        recrawl crawl --warc archive
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio
    from math import inf

    from recrawl.cli.crawling import Wanted, crawl_on, load_settings, store_of
    from recrawl.units import days

    asked = load_settings(settings)
    time = days(stop_after) if stop_after else inf
    wanted = Wanted(once=once, days=time, port=metrics, warc=warc)
    with ExitStack() as stack:
        told = _log_to(log, stack)
        asyncio.run(crawl_on(asked, store_of(settings, asked), wanted, told))


def _log_to(log: Path | None, stack: ExitStack) -> Callable[[PageVisit], object]:
    """What is told of visits: the lines of a log, if one is wanted."""
    if log is None:
        return bool
    from recrawl.crawl.visit_log import VisitLog
    from recrawl.errors import CannotWrite, reason

    try:
        file = log.open("a", encoding="utf-8")
    except OSError as error:
        message = f"{log}: log must be a file that can be written to ({reason(error)})"
        raise CannotWrite(message) from None
    stack.callback(_close, file)
    return VisitLog(file)


def _close(file: IO[str]) -> None:
    """Close a log; each line was written out at once, or it was said why not."""
    with suppress(OSError):
        file.close()
