"""`recrawl demo`: a live site on this machine, crawled for real, and the truth beside it.

Touches: the network of this machine, files, the clock, signals, the standard streams.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.crawl.crawler import Crawler
    from recrawl.demo.crawl import DemoPlan, ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import ExampleWorld

_FOR = typer.Option("--for", metavar="TIME", help="How long to crawl; a day passes in a second.")
_PAGES = typer.Option(metavar="N", help="Pages of the site, from 20 to 10000.")
_BUDGET = typer.Option(metavar="B", help="Visits, such as 120/1d or 0.5/page/1d.")
_SEED = typer.Option(help="Another number makes another site.", min=0)
_KEEP = typer.Option(
    metavar="FOLDER",
    help="Keep settings and store in FOLDER, a new one.  [default: a temporary folder]",
    show_default=False,
)

_LEAST_SECONDS, _MOST_SECONDS = 2.0, 3600.0
_SPARE = 30.0  # days that the site goes on changing after the end, should the crawl be late


def demo(
    *,
    crawl_for: Annotated[str, _FOR] = "60s",
    pages: Annotated[int, _PAGES] = 300,
    budget: Annotated[str, _BUDGET] = "120/1d",
    seed: Annotated[int, _SEED] = 2,
    keep: Annotated[Path | None, _KEEP] = None,
) -> None:
    """Crawl a live site on this machine, and show the truth beside it.

    Starts a small web site on loopback whose pages change at known rates, some
    by themselves, some whole sections at once; a day passes there in a second.
    Crawls it within a budget as any other site, with robots.txt, sitemaps, a
    feed, conditional requests and a store, and compares what the crawl believes
    with what is true. The site does what real ones do: its pages show clocks and
    offers, one of its hosts denies its changes and puts up a wall for two days,
    and its job board is to be kept in a copy of a wanted quality. Nothing but
    this machine is asked. Ctrl-C ends it early.

    \b
    Examples:
        recrawl demo
        recrawl demo --for 20s --budget 60/1d --keep demo
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.clock import RealClock
    from recrawl.demo.crawl import DemoPlan
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import draw_world

    days = _seconds(crawl_for)  # for a day passes in a second
    _check_budget(budget)
    start = RealClock().now() - days  # so that it ends about now, and no store lies ahead of time
    world = draw_world(pages, start=start, days=days + _SPARE, seed=seed)
    with _folder(keep) as folder:
        plan = DemoPlan(folder, budget, days)
        jobs = ExampleJobs.made(start, days=days + _SPARE, seed=seed)
        run = _run(world, jobs, plan)
        _report(world, jobs, run)
    _say_where(keep, folder)


def _seconds(text: str) -> float:
    from recrawl.errors import InvalidParameter
    from recrawl.units import SECONDS_A_DAY, days

    seconds = days(text) * SECONDS_A_DAY
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise InvalidParameter(f"--for must be a time from 2s to 60m (got {text!r})")
    return seconds


def _check_budget(text: str) -> None:
    """Refuse what the settings would refuse, before anything is made."""
    from recrawl.errors import InvalidParameter
    from recrawl.plan.budget import Budget

    if Budget.read(text).each == "change":
        raise InvalidParameter(f"budget must look like 120/1d or 0.5/page/1d (got {text!r})")


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """A new folder to work in, which is there afterwards if it is to be kept."""
    import tempfile

    from recrawl.errors import CannotWrite, reason

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="recrawl-demo-") as name:
            yield Path(name)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise CannotWrite(f"{keep}: must be a new folder or an empty one (it is not empty)")
    except OSError as error:
        message = f"{keep}: must be a folder, or a place for one ({reason(error)})"
        raise CannotWrite(message) from None
    yield keep


def _run(world: ExampleWorld, jobs: ExampleJobs, plan: DemoPlan) -> ExampleRun:
    """Crawl, and show how it goes."""
    import asyncio
    import signal

    from recrawl.cli import screen
    from recrawl.clock import ScaledClock
    from recrawl.demo.crawl import crawl_example

    def begun(address: str, crawler: Crawler) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, crawler.stop)
        screen.remark(f"Crawling {address}/ with {len(world):,} pages into {plan.store}.")

    async def crawl(show: Callable[[Crawler, float], object]) -> ExampleRun:
        clock = ScaledClock(plan.seconds_a_day, world.start)
        return await crawl_example(world, jobs, clock, plan, begun=begun, watch=show)

    with _line(plan.days) as show:
        return asyncio.run(crawl(show))


@contextmanager
def _line(days: float) -> Iterator[Callable[[Crawler, float], object]]:
    """Show how the crawl goes in a line, on a terminal only."""
    import sys

    from recrawl.cli import screen

    if not screen.is_terminal(sys.stderr):
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(crawler: Crawler, day: float) -> None:
            line = f"day {day:.0f} of {days:.0f} · {crawler.figures().line()}"
            live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield show


def _report(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> None:
    from recrawl.cli import screen
    from recrawl.demo import report
    from recrawl.demo.caught_report import CAUGHT_HEADER, CAUGHT_LEFT
    from recrawl.demo.result import result_of

    if not run.beliefs:
        screen.remark("Stopped before there was anything to show.")
        return
    result = result_of(world, jobs, run)
    fresh = result.freshness
    screen.say(f"{fresh.title}:")
    screen.show_table(fresh.header, fresh.rows)
    screen.say("")
    believed = result.calibration
    screen.show_table(*report.calibration_rows(believed.expected, believed.true))
    screen.say("")
    rows = report.section_rows(result.sections)
    screen.show_table(report.SECTION_HEADER, rows, left=report.SECTION_LEFT)
    screen.say("")
    screen.show_table(CAUGHT_HEADER, result.caught.rows(), left=CAUGHT_LEFT)
    screen.say("")
    for sentence in (*result.costs.sentences(), *result.caught.sentences()):
        screen.say(sentence)


def _say_where(keep: Path | None, folder: Path) -> None:
    from recrawl.cli import screen

    if keep is None:
        screen.remark(f"{folder} is removed; --keep FOLDER keeps settings and store.")
    else:
        screen.remark(f"Settings and store are in {folder}.")
