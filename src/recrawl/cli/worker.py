"""`recrawl worker`: one of several processes that share a crawl.

Touches: the network, a store, files, the clock, signals, the standard streams.
"""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.cli.crawl import (
    FOR,
    LOG,
    METRICS,
    ON_CHANGE,
    ONCE,
    VISIT_LOG,
    WARC,
    WARC_SIZE,
    command_of,
    log_to,
    room_for_warc,
    told,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from recrawl.crawl.finding import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.workers.worker import Worker
    from recrawl.settings.settings import Settings

_LEASE = typer.Option(
    "--lease",
    metavar="TIME",
    help="How long other workers wait for this one when it is silent.",
)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How long a worker works, and what it records. It can be pickled.

    Args:
        once: Whether to stop when nothing is due.
        seconds: Seconds after which to stop.
        lease_seconds: How long a lease lasts.
        visit_log: File for one line per visit; None for none.
        warc: Folder for WARC files; None for none.
        warc_bytes: Room for all of them together; None to keep them all.
        port: Port of the Prometheus endpoint; 0 for none.
        command: Program that is run for each event, and its arguments; empty for none.
    """

    once: bool = False
    seconds: float = inf
    lease_seconds: float = 30.0
    visit_log: Path | None = None
    warc: Path | None = None
    warc_bytes: int | None = None
    port: int = 0
    command: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        once: bool,
        stop_after: str,
        visit_log: Path | None,
        warc: tuple[Path | None, str],
        port: int,
        on_change: str,
    ) -> WorkerOptions:
        """Options as the command line has them; `warc` is a folder and a size for it."""
        from recrawl.units import SECONDS_A_DAY, days

        return cls(
            once=once,
            seconds=days(stop_after) * SECONDS_A_DAY if stop_after else inf,
            visit_log=visit_log,
            warc=warc[0],
            warc_bytes=room_for_warc(*warc),
            port=port,
            command=command_of(on_change),
        )


def worker(
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    once: Annotated[bool, ONCE] = False,
    stop_after: Annotated[str, FOR] = "",
    visit_log: Annotated[Path | None, VISIT_LOG] = None,
    log: Annotated[Path | None, LOG] = None,
    warc: Annotated[Path | None, WARC] = None,
    warc_size: Annotated[str, WARC_SIZE] = "",
    metrics: Annotated[int, METRICS] = 0,
    on_change: Annotated[str, ON_CHANGE] = "",
    lease: Annotated[str, _LEASE] = "30s",
) -> None:
    """Crawl together with other workers, on one machine or many.

    Needs a store in PostgreSQL. Start as many workers as you like, anywhere, with the
    same recrawl.toml; they divide the sites among themselves and share the budget.
    All pages of a site are crawled by one worker at a time, so that delays are kept.
    When a worker is stopped, killed or cut off, the others take over its sites.

    A visit log, a folder of WARC files and a port for metrics belong to one worker.
    Give --on-change to all of them: whoever has the first slot runs the program.

    \b
    Examples:
        recrawl worker
        recrawl worker --for 6h --log worker.log
        recrawl worker --metrics 9101 --warc archive/1
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.units import SECONDS_A_DAY, days

    options = WorkerOptions.of(
        once=once,
        stop_after=stop_after,
        visit_log=visit_log,
        warc=(warc, warc_size),
        port=metrics,
        on_change=on_change,
    )
    work(settings, replace(options, lease_seconds=days(lease) * SECONDS_A_DAY), log)


def work(path: Path, options: WorkerOptions, log: Path | None, on_ray: int = 0) -> None:
    """Work until a signal ends it.

    Args:
        path: The settings file.
        options: How long, and what is recorded.
        log: File for remarks; None for none.
        on_ray: Workers on Ray; 0 for this process alone.
    """
    import asyncio

    from recrawl.cli.ray_crawl import crawl_on_ray
    from recrawl.store.settings_file import load_settings

    with ExitStack() as stack:
        if log is not None:
            stack.enter_context(screen.also_logged(log))
        if on_ray:
            crawl_on_ray(path, options, on_ray)
        else:
            asyncio.run(_run(path, load_settings(path), options))


async def _run(path: Path, settings: Settings, options: WorkerOptions) -> None:
    """Work until a signal ends it."""
    from recrawl.cli.watching import watched

    async with opened_worker(path, settings, options) as made:
        async with watched(made, made.stop, options.port):
            await made.run(seconds=options.seconds, once=options.once)
        screen.remark(stopped_sentence(made))


def stopped_sentence(made: Worker) -> str:
    """What a worker has done when it ends."""
    from recrawl.report.words import counted

    return f"Stopped after {counted(made.visits, 'visit')}."


@asynccontextmanager
async def opened_worker(
    path: Path,
    settings: Settings,
    options: WorkerOptions,
    remark: Callable[[str], object] = screen.remark,
) -> AsyncIterator[Worker]:
    """A worker that is ready to work, with the files that it writes.

    Args:
        path: The settings file; relative paths in the settings begin beside it.
        settings: What is in it.
        options: What it records.
        remark: Called with what it says.
    """
    from recrawl.cli.crawling import warc_recorder

    with ExitStack() as stack:
        on_visit = told(log_to(options.visit_log, stack))
        made = _make_worker(path, settings, options, on_visit, remark)
        if options.warc is None:
            yield made
            return
        async with warc_recorder(options.warc, options.warc_bytes, settings) as recorder:
            made.record = recorder.wrap
            yield made


def _make_worker(
    path: Path,
    settings: Settings,
    options: WorkerOptions,
    on_visit: Callable[[PageVisit], object],
    remark: Callable[[str], object],
) -> Worker:
    """A worker for the store that settings name."""
    from functools import partial

    from recrawl.cli.crawling import found_sentence, synced_sentence
    from recrawl.crawl.workers.worker import Worker, WorkerEvents
    from recrawl.fetch.access import AccessTable
    from recrawl.publish.tasks import Hooks
    from recrawl.store import open_store
    from recrawl.store.slots.leases import lease_slots, open_slot

    def found(address: str, what: Discovered) -> None:
        remark(f"{address}: {found_sentence(settings, address, what)}")

    leases = lease_slots(settings.store, options.lease_seconds)
    leases.prepare(settings.slots)
    return Worker(
        settings,
        leases,
        partial(open_slot, settings.store),
        WorkerEvents(
            on_visit=on_visit,
            on_remark=remark,
            found=found,
            synced=lambda synced: remark(synced_sentence(synced)),
        ),
        AccessTable(settings, path.parent),
        (partial(open_store, settings.store), Hooks.of(settings, path.parent, options.command)),
    )
