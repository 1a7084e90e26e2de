"""`recrawl demo`: crawl a live site on this machine whose changes are known.

Touches: the loopback network, files, the clock, signals, the standard streams.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen
from recrawl.cli.serve import check_extra, serve
from recrawl.errors import CannotWrite, InvalidParameter, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.crawl.crawler import Crawler
    from recrawl.demo.crawl import DemoPlan, ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import ExampleWorld

_FOR = typer.Option("--for", metavar="TIME", help="Duration; one second stands for one day.")
_PAGES = typer.Option(metavar="N", help="Number of pages of the site, 20 to 10000.")
_BUDGET = typer.Option(metavar="BUDGET", help="Visits, such as 120/1d or 0.5/page/1d.")
_SEED = typer.Option(metavar="N", help="Random seed.", min=0)
_KEEP = typer.Option(
    "--folder",
    metavar="FOLDER",
    help="Keep settings and store in this new folder.  [default: a temporary folder]",
    show_default=False,
)
_SERVE = typer.Option("--serve", help="Show the crawl in a browser afterwards, until Ctrl-C.")

_LEAST_SECONDS, _MOST_SECONDS = 2.0, 3600.0
_LATE = 0.5  # days that visits under way at the end may still take
_SPARE = 30.0  # days that the site goes on changing after the end, in case the crawl is late


def demo(
    *,
    crawl_for: Annotated[str, _FOR] = "60s",
    pages: Annotated[int, _PAGES] = 300,
    budget: Annotated[str, _BUDGET] = "120/1d",
    seed: Annotated[int, _SEED] = 2,
    keep: Annotated[Path | None, _KEEP] = None,
    dashboard: Annotated[bool, _SERVE] = False,
) -> None:
    """Crawl a live site on this machine whose changes are known.

    Starts a small web site on loopback whose pages change at known rates, some
    independently, some whole sections at once; a day passes there in a second.
    Crawls it within a budget like any other site, with robots.txt, sitemaps, a
    feed, conditional requests and a store, and compares the crawl's estimates with
    the truth. The site does what real ones do: pages show clocks and offers, one
    host denies its changes and serves a wall for two days, and a job board is
    copied to a target quality. Shows the newest changes of its change feed, and how
    complete that is. No other machine is contacted. Ctrl-C ends it early.

    \b
    Examples:
        recrawl demo
        recrawl demo --for 20s --budget 60/1d --folder demo
        recrawl demo --serve
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.clock import RealClock
    from recrawl.demo.crawl import DemoPlan
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import draw_world
    from recrawl.settings.settings import FILE_NAME

    if dashboard:
        check_extra()
    days = _seconds(crawl_for)  # a day passes in a second
    _check_budget(budget)
    start = RealClock().now() - days - _LATE  # so that it ends about now, not in the future
    world = draw_world(pages, start=start, days=days + _SPARE, seed=seed)
    with _folder(keep) as folder:
        plan = DemoPlan(folder, budget, days)
        jobs = ExampleJobs.made(start, days=days + _SPARE, seed=seed)
        _report(world, jobs, _run(world, jobs, plan))
        if dashboard:
            serve(port=0, settings=folder / FILE_NAME)
    if keep is None:
        screen.remark(f"{folder} was removed; --folder FOLDER keeps settings and store.")
    else:
        screen.remark(f"Settings and store are in {folder}.")


def _seconds(text: str) -> float:
    from recrawl.units import SECONDS_A_DAY, days

    seconds = days(text) * SECONDS_A_DAY
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise InvalidParameter(f"--for must be a time from 2s to 60m (got {text!r})")
    return seconds


def _check_budget(text: str) -> None:
    """Raise for a budget that the settings would not accept."""
    from recrawl.plan.budget import Budget

    Budget.read(text, kinds=("crawl", "page"))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """An empty folder, which is removed unless it is to be kept."""
    import tempfile

    from recrawl.store.scratch import scratch_folder

    if keep is None:
        with scratch_folder(Path(tempfile.gettempdir()), "recrawl-demo-") as folder:
            yield folder
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise CannotWrite(f"{keep} is not empty; --folder needs a new folder")
    except OSError as error:
        raise CannotWrite(f"{keep} cannot be created ({reason(error)})") from None
    yield keep


def _run(world: ExampleWorld, jobs: ExampleJobs, plan: DemoPlan) -> ExampleRun:
    """Crawl, and show progress on a terminal."""
    import asyncio
    import signal

    from recrawl.cli.watching import live_line
    from recrawl.clock import ScaledClock
    from recrawl.demo.crawl import crawl_example

    with ExitStack() as stack:
        draw = live_line(stack) if screen.shows_progress() else None

        def on_start(address: str, crawler: Crawler) -> None:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, crawler.stop)
            screen.remark(f"Crawling {address}/ with {len(world):,} pages into {plan.store}.")

        def watch(crawler: Crawler, day: float) -> None:
            if draw is not None:
                draw(f"day {day:.0f} of {plan.days:.0f} · {crawler.figures().line()}")

        async def crawl() -> ExampleRun:
            clock = ScaledClock(plan.seconds_a_day, world.start)
            return await crawl_example(world, jobs, clock, plan, on_start=on_start, watch=watch)

        return asyncio.run(crawl())


def _report(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> None:
    from recrawl.demo.caught import CAUGHT_HEADER, CAUGHT_LEFT
    from recrawl.demo.result import SECTION_HEADER, SECTION_LEFT, result_of

    if not run.beliefs:
        screen.remark("Stopped before there was anything to show.")
        return
    result = result_of(world, jobs, run)
    screen.say(result.conclusion())
    screen.say("")
    screen.say("Share of fresh copies (uniform: all pages visited in turn, simulated):")
    screen.show_table(*result.freshness_table())
    screen.say("")
    screen.say("How often copies were fresh that were expected to be fresh with this probability:")
    screen.show_table(*result.calibration_table())
    screen.say("")
    screen.say("Sections of the site (true, estimate: median time between changes of a page):")
    screen.show_table(SECTION_HEADER, result.sections, left=SECTION_LEFT)
    screen.say("")
    screen.show_table(CAUGHT_HEADER, result.caught.rows(), left=CAUGHT_LEFT)
    screen.say("")
    if run.feed.changes:
        screen.say("Newest changes in the change feed:")
    for lines in run.feed.changes:
        for line in lines:
            screen.say(line)
        screen.say("")
    for sentence in (*run.feed.sentences(result.outdated), *result.costs.sentences()):
        screen.say(sentence)
