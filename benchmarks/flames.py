"""Where the CPU time of a crawl goes: a table by purpose, and a flame graph.

    python benchmarks/flames.py                                        2 kB and 40 kB a page
    python benchmarks/flames.py --draw docs/pictures/crawl-cost        and a picture of each

The crawl is that of `benchmarks/crawl.py`: all pages are revisited, half of them have changed. A
signal interrupts the process every millisecond of CPU time, and the CPU time of the main thread
since the last one is charged to what it does. What the store's writer took in its thread is one
figure. In a picture a bar is as wide as the time of a function and of all that it calls.

Needs nginx. Touches: a temporary folder, loopback, processes, and the pictures.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from crawl import SIZES, crawl_ours, page_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

sys.path.insert(0, str(Path(__file__).parent.parent))

Stack = tuple[str, ...]

SECONDS_A_SAMPLE = 0.001
THREADS = "other threads: the store's writer"
LOOP = "event loop"
STEP, OPENING = "asyncio.base_events._run_once", "recrawl.crawl.running.running"
# By the innermost function of a stack that begins so.
PURPOSES = {
    "detect.reading.read_response": "read the page",
    "detect.verdict.verdict_by": "compare the versions",
    "crawl.page_visitor._old_body": "get the old version",
    "crawl.page_visitor._kept": "get the old version",
    "crawl.ledger.lines": "get the old version",
    "crawl.ledger.body": "get the old version",
    "detect.verdict.with_robots_tags": "robots tags",
    "parse.robots_tags": "robots tags",
    "crawl.duplicates": "duplicates",
    "fetch.": "request and response",
    "aiohttp.": "request and response",
    "asyncio.selector_events": "request and response",
    "scheduler.": "schedule and policy",
    "crawl.crawler.run": "schedule and policy",
    "crawl.ledger": "hand over to the store",
    "crawl.visits._entry": "hand over to the store",
    "store.writer": "hand over to the store",
    "crawl.": "other steps of a visit",
}
WIDTH, ROW, LEAST_WIDTH = 1200, 17, 1.2  # of a picture
COLORS = {"aiohttp": "#9ecae9", "asyncio": "#c6dbef", "recrawl": "#f58518"}


# --- the crawl, in a process of its own ---


def crawl_sampled(folder: Path, address: str, days: float) -> dict[str, object]:
    """Crawl, and say how many seconds each stack of functions took."""
    taken: Counter[Stack] = Counter()
    last = [0.0, 0.0]

    def note(_: int, frame: FrameType | None) -> None:
        process, thread = time.process_time(), time.thread_time()
        mine = thread - last[1]
        taken[tuple(functions(frame))[::-1]] += mine
        taken[THREADS,] += process - last[0] - mine
        last[:] = time.process_time(), time.thread_time()  # without what this takes

    signal.signal(signal.SIGPROF, note)
    last[:] = time.process_time(), time.thread_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS_A_SAMPLE, SECONDS_A_SAMPLE)
    figures = crawl_ours(folder, address, days)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"pages": figures["pages"], "stacks": [[*each] for each in taken.items()]}


def functions(frame: FrameType | None) -> Iterator[str]:
    """Functions that are under way, the innermost first, as `module.function`."""
    while frame is not None:
        yield f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"
        frame = frame.f_back


# --- what became of it ---


def of_the_crawl(stacks: list[tuple[list[str], float]]) -> Iterator[tuple[Stack, float]]:
    """Stacks from the crawl's own functions on; what begins and ends it is left out."""
    for stack, seconds in stacks:
        if stack == [THREADS]:
            yield (THREADS,), seconds
        elif STEP in stack and OPENING not in stack:
            yield tuple(stack[stack.index(STEP) + 1 :]), seconds


def purpose(stack: Stack) -> str:
    """What a stack is for."""
    if stack == (THREADS,):
        return THREADS
    for name in reversed(stack):
        for begins, meant in PURPOSES.items():
            if name.removeprefix("recrawl.").startswith(begins):
                return meant
    return LOOP


def table(stacks: list[tuple[Stack, float]], pages: int) -> None:
    """Print the microseconds of a page by purpose."""
    by_purpose: Counter[str] = Counter()
    for stack, seconds in stacks:
        by_purpose[purpose(stack)] += seconds
    for name, seconds in by_purpose.most_common():
        print(f"  {name:36}{1e6 * seconds / pages:8.0f} µs{seconds / by_purpose.total():8.1%}")
    print(f"  {'together':36}{1e6 * by_purpose.total() / pages:8.0f} µs")


def draw(stacks: list[tuple[Stack, float]], pages: int, title: str) -> str:
    """A flame graph as SVG, the outermost function at the top."""
    total = sum(seconds for _, seconds in stacks)
    bars: list[str] = []
    deepest = 0

    def add(group: list[tuple[Stack, float]], left: float, depth: int) -> None:
        nonlocal deepest
        inside: dict[str, list[tuple[Stack, float]]] = {}
        for stack, seconds in group:
            if len(stack) > depth:
                inside.setdefault(stack[depth], []).append((stack, seconds))
        for name, callers in sorted(inside.items()):
            seconds = sum(each for _, each in callers)
            width = WIDTH * seconds / total
            if width >= LEAST_WIDTH:
                bars.append(_bar(name, left, depth, width, 1e6 * seconds / pages))
                deepest = max(deepest, depth)
                add(callers, left, depth + 1)
            left += width

    add(stacks, 0.0, 0)
    height = (deepest + 3) * ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11"><rect width="{WIDTH}" height="{height}" '
        f'fill="#fff"/><text x="4" y="13">{escape(title)}</text>\n{"".join(bars)}</svg>\n'
    )


def _bar(name: str, left: float, depth: int, width: float, micros: float) -> str:
    package = name.partition(".")[0]
    shown = name.removeprefix("recrawl.")
    room = int(width / 6.2)
    text = next((each for each in (shown, shown.rpartition(".")[2]) if len(each) <= room), "")
    y = (depth + 1.5) * ROW
    label = f'<text x="{left + 2:.1f}" y="{y + 12:.1f}">{escape(text)}</text>' if text else ""
    return (
        f'<g><title>{escape(shown)}: {micros:.0f} µs a page</title><rect x="{left:.1f}" '
        f'y="{y:.1f}" width="{max(width - 0.4, 0.2):.1f}" height="{ROW - 1}" '
        f'fill="{COLORS.get(package, "#bab0ac")}"/>{label}</g>\n'
    )


# --- the site ---


def sampled(size: int, pages: int) -> tuple[list[tuple[Stack, float]], int]:
    """Stacks of a crawl that revisits a site, and how many pages it visited."""
    from tests.servers.nginx import Nginx

    with tempfile.TemporaryDirectory() as scratch, Nginx(Path(scratch) / "nginx") as site:
        folder, old = Path(scratch), time.time() - 10 * 86_400
        names = [f"/p{number % 10}/{number}.html" for number in range(pages)]
        (folder / "addresses").write_text("\n".join(map(site.address, names)))
        for number, name in enumerate(names):
            site.write(name, page_of(number, 0, size), modified=old)
        child(folder, site.address(), 0.0)
        for number, name in enumerate(names):
            if number % 2:
                site.write(name, page_of(number, 1, size), modified=old + 86_400)
        figures = json.loads(child(folder, site.address(), 1.5))
    return list(of_the_crawl(figures["stacks"])), figures["pages"]


def child(folder: Path, address: str, days: float) -> str:
    command = [sys.executable, __file__, "--child", str(folder), address, str(days)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return done.stdout.splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--draw", metavar="NAME", help="write NAME-2kB.svg and NAME-40kB.svg")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        folder, address, days = asked.child
        print(json.dumps(crawl_sampled(Path(folder), address, float(days))))
        return
    for size in SIZES:
        stacks, pages = sampled(size, asked.pages)
        title = f"{size / 1000:.0f} kB a page, {pages} pages, half of them changed"
        print(f"\n{title}")
        table(stacks, pages)
        if asked.draw:
            picture = draw(stacks, pages, f"CPU time of a crawl, {title}")
            Path(f"{asked.draw}-{size // 1000}kB.svg").write_text(picture)


if __name__ == "__main__":
    main()
