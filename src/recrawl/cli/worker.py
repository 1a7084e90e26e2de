"""`recrawl worker`: one of several processes that share a crawl.

Touches: the network, a store, the clock, signals, the standard streams.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.cli.crawl import FOR, LOG, ONCE, VISIT_LOG, log_to, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.crawl.finding import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.workers.worker import Worker
    from recrawl.settings.settings import Settings

_LEASE = typer.Option(
    "--lease",
    metavar="TIME",
    help="How long other workers wait for this one when it is silent.",
)


def worker(
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    once: Annotated[bool, ONCE] = False,
    stop_after: Annotated[str, FOR] = "",
    visit_log: Annotated[Path | None, VISIT_LOG] = None,
    log: Annotated[Path | None, LOG] = None,
    lease: Annotated[str, _LEASE] = "30s",
) -> None:
    """Crawl together with other workers, on one machine or many.

    Needs a store in PostgreSQL. Start as many workers as you like, anywhere, with the
    same recrawl.toml; they divide the sites among themselves and share the budget.
    All pages of a site are crawled by one worker at a time, so that delays are kept.
    When a worker is stopped, killed or cut off, the others take over its sites.

    \b
    Examples:
        recrawl worker
        recrawl worker --for 6h --log worker.log
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import asyncio
    from math import inf

    from recrawl.store.settings_file import load_settings
    from recrawl.units import SECONDS_A_DAY, days

    asked = load_settings(settings)
    seconds = days(stop_after) * SECONDS_A_DAY if stop_after else inf
    with ExitStack() as stack:
        if log is not None:
            stack.enter_context(screen.also_logged(log))
        on_visit = told(log_to(visit_log, stack))
        made = make_worker(settings, asked, on_visit, days(lease) * SECONDS_A_DAY)
        asyncio.run(_run(made, seconds, once=once))


def make_worker(
    path: Path, settings: Settings, on_visit: Callable[[PageVisit], object], lease_seconds: float
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
        screen.remark(f"{address}: {found_sentence(settings, address, what)}")

    leases = lease_slots(settings.store, lease_seconds)
    leases.prepare(settings.slots)
    return Worker(
        settings,
        leases,
        partial(open_slot, settings.store),
        WorkerEvents(
            on_visit=on_visit,
            on_remark=screen.remark,
            found=found,
            synced=lambda synced: screen.remark(synced_sentence(synced)),
        ),
        AccessTable(settings, path.parent),
        (partial(open_store, settings.store), Hooks.of(settings, path.parent, ())),
    )


async def _run(made: Worker, seconds: float, *, once: bool) -> None:
    """Work until a signal ends it."""
    import asyncio

    from recrawl.report.words import counted

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, made.stop)
    try:
        await made.run(seconds=seconds, once=once)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    screen.remark(f"Stopped after {counted(made.visits, 'visit')}.")
