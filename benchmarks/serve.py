"""How fast the server answers over a large store, and what it costs the crawl beside it.

    python benchmarks/serve.py                                   # 20,000 pages, a few minutes
    python benchmarks/serve.py --pages 1000000 --keep filled     # a store that is made once

A store is written as in `benchmarks/memory.py`. A crawl with a stand-in for the network then makes
as many visits as it can, with a budget of half as many again: alone, beside `recrawl serve`, and
alone again.

The server is asked for each page and call in turn, a few per second at most, in two parts, with a
crawl beside it in both:

    first      from the start of the server until each has been answered once; a page that says that
               it is being worked out is asked for again. Shown for each: the seconds from the first
               question to the answer, and for all of them together. Nothing is in memory, and the
               crawl is being opened at the same time.
    then       for the time of the measured crawl, and for at least 20 rounds: the 95th percentile
               and the longest of the answers. What a server keeps for some seconds or minutes is
               asked for again and again, as browsers that are left open do; that one question in
               many that finds nothing in memory is among the answers like any other. An answer that
               says it is being worked out counts as none, and lets the line fall short.

A line holds where the 95th percentile is at most a second and no question was left unanswered; the
first answers are shown and not judged. At the end, the visits per second beside the server as a
share of those alone: on the clock, and per second of CPU, which tells more on a busy machine.

Touches: a temporary folder, processes, loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from math import ceil
from pathlib import Path
from urllib.parse import quote

from memory import Network, address_of, fill, replay

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.store import open_store
from recrawl.store.settings_file import load_settings
from recrawl.units import SECONDS_A_DAY

MOST_SECONDS, LEAST_SHARE = 1.0, 0.9
FIRST_GUESS, MORE = 500.0, 1.5  # visits per second of the budget; that many times what is made
PAUSE_SECONDS = 0.1  # between two questions
OK, AGAIN = 200, (202, 503)  # it is being worked out, or takes longer than a server waits
LEAST_ROUNDS, MOST_FIRST_SECONDS = 20, 300.0


def paths(pages: int, hosts: int) -> list[str]:
    """What is asked for: every page and call that reads."""
    page, url = pages // 2, quote(address_of(pages // 2, hosts), safe="")
    calls = [
        *("status", "plan", "pages?limit=50", "pages?sort=fresh&limit=500", "pages?q=page-77"),
        *("pages?sort=-next&offset=1000", f"pages?url={url}", f"pages/{page}"),
        *(f"pages/{page}/visits", f"pages/{page}/versions", f"pages/{page}/why", f"why?url={url}"),
        *("visits?limit=1000", "hosts?limit=100", "changes?limit=100", "listings"),
    ]
    shown = ["/", "/pages", "/pages?q=page-77&sort=fresh", f"/pages/{page}", "/changes"]
    later = ["/sites", "/listings", "/what-if"]
    return [*shown, *later, *(f"/api/v1/{call}" for call in calls)]


def crawl(folder: Path, seconds: float, budget: float) -> None:
    """Make as many visits as can be made in some seconds, and print how many per second.

    Args:
        folder: Folder of the crawl.
        seconds: How long.
        budget: Visits per second that are allowed.
    """
    settings = load_settings(folder / "recrawl.toml")
    with open_store(folder / "pages.db") as reader:
        # The budget is one visit per page and day: days pass as fast as it takes.
        seconds_per_day = reader.page_count() / budget
        now = max(time.time(), reader.newest_instant()) / SECONDS_A_DAY
    clock = ScaledClock(seconds_per_day, now)

    async def run() -> float:
        record = {"record": lambda _: Network()}
        async with running(settings, folder / "pages.db", clock, **record) as crawler:
            loop = asyncio.get_running_loop()
            began, before = loop.time(), time.process_time()
            loop.call_later(seconds, crawler.stop)
            await crawler.run()
            took, cpu = loop.time() - began, time.process_time() - before
            print(f"{crawler.tally.visits / took:.3f} {crawler.tally.visits / cpu:.3f}")

    asyncio.run(run())


def crawled(folder: Path, seconds: float, budget: float) -> subprocess.Popen[str]:
    words = [sys.executable, __file__, "--crawl", str(folder), str(seconds), str(budget)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def visits_per_second(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Visits per second, and per second of CPU."""
    out, _ = process.communicate()
    assert process.returncode == 0, "the crawl has failed"
    wall, cpu = out.split()[-2:]
    return float(wall), float(cpu)


def ask(port: int, path: str) -> tuple[int, float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    began = time.perf_counter()
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status, time.perf_counter() - began
    finally:
        connection.close()


def first_answers(port: int, asked: list[str]) -> dict[str, float]:
    """Seconds until each is answered for the first time; nothing for what the server has not."""
    found = dict[str, float]()
    for path in asked:
        began = time.perf_counter()
        while (code := ask(port, path)[0]) in AGAIN:
            assert time.perf_counter() - began < MOST_FIRST_SECONDS, f"{path}: no answer"
            time.sleep(PAUSE_SECONDS)
        if code == OK:
            found[path] = time.perf_counter() - began
        time.sleep(PAUSE_SECONDS)
    return found


def later_answers(
    port: int, asked: list[str], seconds: float
) -> tuple[dict[str, list[float]], Counter[str]]:
    """Seconds of each answer in some time, and how many questions were left without one."""
    took, refused = defaultdict[str, list[float]](list), Counter[str]()
    until, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < until or rounds < LEAST_ROUNDS:
        rounds += 1
        for path in asked:
            code, each = ask(port, path)
            took[path].append(each)
            refused[path] += code != OK
            time.sleep(PAUSE_SECONDS)
    return took, refused


def measure(folder: Path, asked: list[str], seconds: float, budget: float) -> tuple[float, float]:
    """Answer times while a crawl runs, and its visits per second."""
    words = [Path(sys.executable).with_name("recrawl"), "serve", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r":(\d+)/", server.stdout.readline())
            assert found, "the server did not start"
            port, began = int(found[1]), time.monotonic()
            warming = crawled(folder, seconds, budget)
            first = first_answers(port, asked)
            print(f"{time.monotonic() - began:.1f} s until each was answered once")
            visits_per_second(warming)
            beside = crawled(folder, seconds, budget)
            took, refused = later_answers(port, list(first), seconds)
            result = visits_per_second(beside)
        finally:
            server.terminate()
    for path, times in took.items():
        ordered = sorted(times)
        p95 = ordered[ceil(0.95 * len(ordered)) - 1]
        verdict = "holds" if p95 <= MOST_SECONDS and not refused[path] else "FALLS SHORT"
        line = f"first {first[path]:6.3f} s, 95 % {p95:6.3f} s, longest {ordered[-1]:6.3f} s "
        line += f"of {len(times):4d}  {path[:60]}"
        line += f" ({refused[path]} without an answer)" if refused[path] else ""
        print(f"{verdict:<13}{line}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each crawl")
    parser.add_argument("--keep", type=Path, help="folder for the filled store; made once")
    parser.add_argument("--crawl", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.crawl:
        crawl(Path(asked.crawl[0]), *map(float, asked.crawl[1:]))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        filled = asked.keep or folder / "filled"
        if not filled.exists():
            filled.mkdir(parents=True)
            fill(filled, asked.pages, asked.hosts)
            replay(filled)
        for name in ("recrawl.toml", "pages.db"):
            shutil.copy(filled / name, folder / name)
        size = (folder / "pages.db").stat().st_size
        print(f"{asked.pages:,} pages on {asked.hosts:,} hosts, {size / 1e6:,.0f} MB on disk")
        guess, _ = visits_per_second(crawled(folder, asked.seconds, FIRST_GUESS))
        budget = MORE * guess
        before = visits_per_second(crawled(folder, asked.seconds, budget))
        beside = measure(folder, paths(asked.pages, asked.hosts), asked.seconds, budget)
        # The machine may be shared: once more.
        after = visits_per_second(crawled(folder, asked.seconds, budget))
        alone = (before[0] + after[0]) / 2, (before[1] + after[1]) / 2
        shares = beside[0] / alone[0], beside[1] / alone[1]
        verdict = "holds" if shares[0] >= LEAST_SHARE else "FALLS SHORT"
        print(
            f"{verdict:<13}{beside[0]:,.0f} visits per second beside the server, {alone[0]:,.0f} "
            f"alone: {shares[0]:.0%} (per second of CPU {shares[1]:.0%})"
        )


if __name__ == "__main__":
    main()
