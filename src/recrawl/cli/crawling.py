"""What the verbs that crawl share: settings from a file, a crawl until it is stopped.

Touches: files, the network, the clock, signals, the standard streams.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from recrawl.cli import screen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.discovery import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.progress import Figures
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.settings.settings import Settings

_REFRESH_SECONDS = 0.5
# Figures of a large crawl take time, which is not to be taken from the crawl.
_REFRESH_TIMES = 20.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How long to crawl, and who watches.

    Args:
        once: Whether to stop when nothing more may be visited for now.
        days: Days after which to stop.
        port: Port on which to answer Prometheus; 0 for none.
        warc: Folder of WARC files to write to; None for none.
    """

    once: bool = False
    days: float = inf
    port: int = 0
    warc: Path | None = None


def load_settings(path: Path) -> Settings:
    """Settings from their file."""
    from recrawl.settings.settings import read_settings

    return read_settings(load_text(path), name=str(path))


def load_text(path: Path) -> str:
    """Text of a file of settings."""
    from recrawl.errors import InvalidSettings, reason

    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        message = f"{path}: must be there; `recrawl init` writes one (there is no such file)"
        raise InvalidSettings(message) from None
    except OSError as error:
        raise InvalidSettings(f"{path}: must be readable ({reason(error)})") from None
    except UnicodeDecodeError:
        raise InvalidSettings(f"{path}: must be text in UTF-8 (it is not)") from None


def store_of(settings: Path, asked: Settings) -> Path:
    """File of the store that settings name; a relative one lies beside them."""
    from recrawl.store import file_of

    return settings.parent / file_of(asked.store)


def check_store(path: Path) -> None:
    """Refuse what is no store before anything is changed for its sake."""
    from recrawl.store import open_store

    open_store(path).close()


async def crawl_on(
    settings: Settings, store: Path, wanted: Wanted, told: Callable[[PageVisit], object]
) -> None:
    """Crawl until it is enough, or until a person says so."""
    from recrawl.cli.listing.messages import say_synced
    from recrawl.clock import RealClock
    from recrawl.crawl.running import running
    from recrawl.errors import NothingAnswered

    clock = RealClock()
    until = clock.now() + wanted.days
    recorded = _recorder(wanted.warc, settings.agent)
    async with running(
        settings, store, clock, on_visit=told, on_replay=_say_relearnt, record=recorded
    ) as crawler:
        silent: list[str] = []

        def found(address: str, what: Discovered) -> None:
            _say_found(address, what)
            silent.extend(() if what.reached else what.remarks)

        async with _watched(crawler, wanted):
            await crawler.run(until=until, once=wanted.once, found=found, synced=say_synced)
        screen.remark(f"Stopped. {crawler.figures().line()}.")
        visits, failed = crawler.tally.visits, crawler.tally.failed
    if wanted.once and failed == visits and (failed or silent):
        why = silent[0] if silent else f"all of {failed:,} visits failed"
        raise NothingAnswered(f"some site must answer, and none does ({why})")


async def find_pages(settings: Settings, store: Path, number: int) -> None:
    """Look for the pages of one site, and write them down."""
    from recrawl.clock import RealClock
    from recrawl.crawl.running import running
    from recrawl.fetch.host_slots import PATIENCE

    async with running(settings, store, RealClock()) as crawler:
        _say_found(settings.rules[number].address, await crawler.discover(number, PATIENCE))
        await crawler.save()


def _recorder(folder: Path | None, agent: str) -> Callable[[Fetcher], Fetcher] | None:
    """What writes down all that is fetched, if that is wanted."""
    if folder is None:
        return None
    from recrawl.adapters.warc.folder import WarcFolder
    from recrawl.adapters.warc.recorder import RecordingFetcher

    return lambda fetcher: RecordingFetcher(fetcher, WarcFolder(folder, agent))


def _say_relearnt(visits: int) -> None:
    screen.remark(f"Learnt from {visits:,} visits again.")


def _say_found(address: str, found: Discovered) -> None:
    sitemaps, feeds = found.sitemaps, found.feeds
    count = len(found.addresses)
    screen.remark(f"{address}: {count:,} pages named in {sitemaps} sitemaps, {feeds} feeds.")
    for sentence in found.remarks:
        screen.remark(f"  {sentence}")


@asynccontextmanager
async def _beside(work: object) -> AsyncIterator[None]:
    """Work that goes on beside, and ends with what is inside."""
    task = asyncio.ensure_future(work)  # type: ignore[call-overload] # a coroutine
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def _watched(crawler: Crawler, wanted: Wanted) -> AsyncIterator[None]:
    """Stop at a signal; show a line on a terminal; answer Prometheus if that is wanted."""
    newest = [crawler.figures()]
    end = _serve(crawler, newest, wanted.port) if wanted.port else None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, crawler.stop)
    try:
        async with _beside(_keep_up(crawler, newest, show=screen.is_terminal(sys.stderr))):
            yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        if end is not None:
            end()


def _serve(crawler: Crawler, newest: list[Figures], port: int) -> Callable[[], None]:
    """Answer Prometheus in a thread, from figures that are worked out in the loop."""
    from recrawl.crawl.metrics import Collected, serve_metrics

    return serve_metrics(port, Collected(crawler.tally, lambda: newest[0]))


async def _keep_up(crawler: Crawler, newest: list[Figures], *, show: bool) -> None:
    """Keep the figures up to date, and a line that shows them."""
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        draw = _line(stack) if show else str
        while True:
            began = loop.time()
            newest[0] = crawler.figures()
            draw(newest[0].line())
            took = loop.time() - began
            await asyncio.sleep(max(_REFRESH_SECONDS, _REFRESH_TIMES * took))


def _line(stack: ExitStack) -> Callable[[str], object]:
    """What draws a line in place of the one before."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    live = stack.enter_context(
        Live(console=Console(stderr=True), transient=True, auto_refresh=False)
    )
    return lambda line: live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
