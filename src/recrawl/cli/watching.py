"""What people see of a crawl while it runs: a progress line, metrics, steps of the clock.

Touches: the network, the clock, signals, the standard streams.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from recrawl.cli import screen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from recrawl.clock import RealClock
    from recrawl.crawl.progress import Figures
    from recrawl.crawl.tally import Tally

_REFRESH_SECONDS = 0.5
_STEPS_SECONDS = 5.0  # between two looks at the system's clock
# The progress figures of a large crawl take time: spend at most a twentieth of it on them.
_REFRESH_TIMES = 20.0


class Watched(Protocol):
    """A crawl, or a worker's part of one."""

    @property
    def tally(self) -> Tally:
        """What was done since it began, in numbers."""

    def figures(self) -> Figures:
        """How it is doing; from the loop's own thread only."""


@asynccontextmanager
async def watched(crawl: Watched, stop: Callable[[], object], port: int = 0) -> AsyncIterator[None]:
    """Stop at a signal; show progress on a terminal; serve metrics if asked for.

    Args:
        crawl: What runs.
        stop: Called at SIGINT and SIGTERM.
        port: Port of the Prometheus endpoint; 0 for none.
    """
    with _stopped_by_signals(stop):
        async with measured(crawl, port, show=screen.shows_progress()):
            yield


@asynccontextmanager
async def measured(crawl: Watched, port: int, *, show: bool = False) -> AsyncIterator[None]:
    """Serve metrics if asked for, and show progress if that is wanted."""
    if not port and not show:
        yield
        return
    newest = [(crawl.tally, crawl.figures())]
    with ExitStack() as stack:
        if port:
            from recrawl.crawl.metrics import Collected, serve_metrics

            stack.callback(serve_metrics(port, Collected(lambda: newest[0])))
        async with _background(_refresh(crawl, newest, show=show)):
            yield


@contextmanager
def _stopped_by_signals(stop: Callable[[], object]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)  # another crawl may follow, with other settings


async def _refresh(crawl: Watched, newest: list[tuple[Tally, Figures]], *, show: bool) -> None:
    """Refresh the figures and the progress line."""
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        draw = live_line(stack) if show else str
        while True:
            began = loop.time()
            newest[0] = crawl.tally, crawl.figures()
            draw(newest[0][1].line())
            took = loop.time() - began
            await asyncio.sleep(max(_REFRESH_SECONDS, _REFRESH_TIMES * took))


@asynccontextmanager
async def _background(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run a coroutine until the block ends."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def saying_steps(clock: RealClock) -> AsyncIterator[None]:
    """Say when the system's clock was set, while the block runs."""
    async with _background(say_steps(clock)):
        yield


async def say_steps(clock: RealClock, every_seconds: float = _STEPS_SECONDS) -> None:
    """Say when the system's clock was set."""
    from recrawl.units import SECONDS_A_DAY, duration

    while True:
        await asyncio.sleep(every_seconds)
        step = clock.stepped()
        if step:
            way = "ahead" if step > 0 else "back"
            screen.remark(
                f"The system's clock was set {way} by {duration(abs(step) / SECONDS_A_DAY)}. This "
                "crawl keeps its own time; restart it to use the new time."
            )


def live_line(stack: ExitStack) -> Callable[[str], object]:
    """Function that redraws one line on stderr, until the stack closes."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    live = stack.enter_context(
        Live(console=Console(stderr=True), transient=True, auto_refresh=False)
    )
    return lambda line: live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
