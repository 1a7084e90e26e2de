"""`recrawl crawl`: visit pages until stopped.

Touches: the network, a store, the clock, the standard streams.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.cli.prior_from import PRIOR_FROM, write_prior
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from recrawl.cli.crawling import CrawlOptions
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.settings.settings import Settings

ONCE = typer.Option("--once", help="Stop when nothing is due.")
FOR = typer.Option(
    "--for", metavar="TIME", help="Stop after a time such as 10m or 6h.", show_default=False
)
VISIT_LOG = typer.Option(
    "--visit-log",
    metavar="FILE",
    help="Append one JSON line per visit, once it is on disk.",
    show_default=False,
)
LOG = typer.Option(
    "--log",
    metavar="FILE",
    help="Append remarks to FILE, with times; with -v, every visit too.",
    show_default=False,
)
WARC = typer.Option(
    "--warc",
    metavar="DIR",
    help="Record everything fetched in WARC files in this folder.",
    show_default=False,
)
WARC_SIZE = typer.Option(
    "--warc-size",
    metavar="SIZE",
    help="Delete the oldest WARC files beyond a size such as 50GB.",
    show_default=False,
)
METRICS = typer.Option(
    "--metrics",
    metavar="PORT",
    help="Serve Prometheus metrics on this loopback port, at /metrics.",
    show_default=False,
    min=0,
    max=65535,
)
_SERVE = typer.Option(
    "--serve",
    metavar="PORT",
    help="Serve the dashboard and the HTTP API on this loopback port; 0 for any.",
    show_default=False,
    min=0,
    max=65535,
)
ON_CHANGE = typer.Option(
    "--on-change",
    metavar="CMD",
    help="Run a program for each event, with the event as JSON on standard input.",
    show_default=False,
)


_ENGINE = typer.Option(
    "--engine",
    metavar="ENGINE",
    help="Crawl with --workers on a cluster: ray.",
    show_default=False,
)
_WORKERS = typer.Option(
    "--workers", metavar="N", min=1, help="Workers of --engine.", show_default=False
)


def crawl(
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    once: Annotated[bool, ONCE] = False,
    stop_after: Annotated[str, FOR] = "",
    visit_log: Annotated[Path | None, VISIT_LOG] = None,
    log: Annotated[Path | None, LOG] = None,
    warc: Annotated[Path | None, WARC] = None,
    warc_size: Annotated[str, WARC_SIZE] = "",
    metrics: Annotated[int, METRICS] = 0,
    serve: Annotated[int | None, _SERVE] = None,
    on_change: Annotated[str, ON_CHANGE] = "",
    prior_from: Annotated[str, PRIOR_FROM] = "",
    engine: Annotated[str, _ENGINE] = "",
    workers: Annotated[int | None, _WORKERS] = None,
) -> None:
    """Visit the pages that are due, politely, until stopped.

    Reads recrawl.toml and resumes where the last crawl stopped. Visits go where
    they are worth most within the budget; what they find is written to the store
    beside the settings. New pages are discovered through robots.txt, sitemaps and
    feeds, each read as often as it brings some. Ctrl-C stops the crawl; nothing is
    lost, however it ends. SIGHUP reloads recrawl.toml: most settings apply at once,
    some after a restart, and the crawl says which.

    With --engine ray --workers N the crawl is done by workers (see `recrawl worker`)
    that Ray places on its cluster and starts again when they are lost. Each has its
    own visit log, folder of WARC files and port for metrics: visits-0.jsonl,
    archive/worker-0, PORT; visits-1.jsonl, ... Ctrl-C stops them all.

    With --prior-from pages that were never visited are assumed to change as those of
    another crawl do, which makes the first forecasts right where its sites are alike.
    `public` stands for terms of service, API descriptions and documentation, whose
    pages change every 16 weeks on average. The rates are written to recrawl.toml, as
    parameters of the policy, and stay what they are. They count for fifty pages,
    which those that are visited soon outnumber.

    \b
    Examples:
        recrawl crawl
        recrawl crawl --for 10m --visit-log visits.jsonl
        recrawl crawl --warc archive
        recrawl crawl --on-change ./index-page
        recrawl crawl --serve 8117
        recrawl crawl --prior-from ../news/recrawl.db
        recrawl crawl --prior-from public
        recrawl crawl --engine ray --workers 8
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio
    from math import inf

    from recrawl.cli.crawling import CrawlOptions, SettingsSource, crawl_on
    from recrawl.fetch.access import AccessTable
    from recrawl.publish.tasks import Hooks
    from recrawl.store.settings_file import load_settings, store_of
    from recrawl.store.slots.leases import has_workers
    from recrawl.units import days

    if prior_from:
        write_prior(settings, prior_from)
    asked = load_settings(settings)
    on_ray = _workers_on_ray(engine, workers)
    if on_ray or has_workers(asked.store):
        from recrawl.cli.worker import WorkerOptions, work

        _refuse_of_workers(serve)
        if not on_ray:
            screen.remark("Workers crawl this store; this crawl is one of them.")
        as_worker = WorkerOptions.of(
            once=once,
            stop_after=stop_after,
            visit_log=visit_log,
            warc=(warc, warc_size),
            port=metrics,
            on_change=on_change,
        )
        work(settings, as_worker, log, on_ray)
        return
    time = days(stop_after) if stop_after else inf
    room = room_for_warc(warc, warc_size)
    command = command_of(on_change)

    def equip(found: Settings) -> tuple[Hooks, AccessTable]:
        return Hooks.of(found, settings.parent, command), AccessTable(found, settings.parent)

    hooks, access = equip(asked)
    options = CrawlOptions(
        once=once,
        days=time,
        port=metrics,
        warc=warc,
        warc_bytes=room,
        hooks=hooks,
        access=access,
        reload=SettingsSource(lambda: load_settings(settings), equip),
    )
    with ExitStack() as stack:
        if log is not None:
            stack.enter_context(screen.also_logged(log))
        on_visit = told(log_to(visit_log, stack))
        store = store_of(settings, asked)
        if not asked.rules:
            said = "names no site yet; `recrawl add https://...` adds one, also while this runs"
            screen.warn(f"{settings} {said}")

        def begin(how: CrawlOptions) -> Coroutine[object, object, None]:
            return crawl_on(asked, store, how, on_visit)

        asyncio.run(begin(options) if serve is None else _served(settings, serve, options, begin))


def _workers_on_ray(engine: str, workers: int | None) -> int:
    """How many workers to start on Ray; 0 for none."""
    if not engine and workers is None:
        return 0
    if engine not in ("ray", ""):
        raise InvalidParameter(f"--engine must be ray (got {engine!r})")
    if workers is None or not engine:
        raise typer.BadParameter("--engine ray and --workers need each other")
    return workers


def _refuse_of_workers(serve: int | None) -> None:
    """Raise where workers are asked for what they do not have."""
    if serve is not None:
        raise InvalidParameter(
            "workers crawl this store and have no --serve; `recrawl serve` shows it beside them"
        )


def room_for_warc(warc: Path | None, text: str) -> int | None:
    """Bytes for all WARC files together; None to keep them all."""
    from recrawl.settings.keys import size_of

    if text and warc is None:
        raise typer.BadParameter("--warc-size needs --warc")
    return size_of(text, "warc-size") if text else None


async def _served(
    settings: Path,
    port: int,
    options: CrawlOptions,
    begin: Callable[[CrawlOptions], Coroutine[object, object, None]],
) -> None:
    """Crawl with the server beside it."""
    from dataclasses import replace

    from recrawl.cli.serve import check_extra, say_token, token_of

    check_extra()

    from recrawl.serve.app import create_app, set_owner
    from recrawl.serve.beside import served_beside
    from recrawl.serve.lending import CrawlOwner
    from recrawl.serve.running import address_of, listen
    from recrawl.serve.safety import ServerAccess
    from recrawl.serve.source import ServedCrawl

    access = ServerAccess.at("127.0.0.1", token_of())
    app = create_app(ServedCrawl(settings), access)
    listener = listen("127.0.0.1", port)

    def own(crawler: Crawler | None) -> None:
        set_owner(app, None if crawler is None else CrawlOwner(crawler))

    async with served_beside(app, listener):
        screen.remark(f"Serving {address_of(listener, '127.0.0.1')}/")
        say_token(access)
        await begin(replace(options, on_owner=own))


def command_of(text: str) -> tuple[str, ...]:
    """Words of a command, checked to name a program; no shell reads them."""
    import shlex
    import shutil

    if not text:
        return ()
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        said = f"--on-change must be a program and its arguments ({str(error).lower()})"
        raise InvalidParameter(said) from None
    if not words or shutil.which(words[0]) is None:
        raise InvalidParameter(f"--on-change: program not found, or not executable (got {text!r})")
    return words


def told(on_visit: Callable[[PageVisit], object]) -> Callable[[PageVisit], object]:
    """Callback that also prints a line per visit where details are wanted."""
    if screen.loudness < screen.DETAILS:
        return on_visit

    def visited(visit: PageVisit) -> None:
        on_visit(visit)
        code = f" {visit.response.status}" if visit.response.status else ""
        screen.detail(f"{visit.verdict.outcome.label}{code} {visit.address}")

    return visited


def log_to(log: Path | None, stack: ExitStack) -> Callable[[PageVisit], object]:
    """Callback that appends visits to a log, if one is asked for."""
    if log is None:
        return bool
    from recrawl.crawl.visit_log import VisitLog, open_log
    from recrawl.errors import CannotWrite, reason

    try:
        file = open_log(log)
    except OSError as error:
        raise CannotWrite(f"{log} cannot be written ({reason(error)})") from None
    stack.callback(_close, file)
    said = f"{log}: the log is no longer read; the crawl goes on without it."
    return VisitLog(file, lambda: screen.remark(said))


def _close(file: IO[str]) -> None:
    """Close a log; each line was flushed when it was written."""
    with suppress(OSError):
        file.close()
