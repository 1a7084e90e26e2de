"""What the change feed costs, and how fast it and the copies go out.

    python benchmarks/feed.py                    all of it, with the limits that must hold
    python benchmarks/feed.py --events 100000 --copies 10000 --rounds 3

1. CPU time of a crawl with the feed over that without it. Pages of 20 kB are copied once and
   visited again when half of them have changed. Answers come from memory, not from a network, so
   that the feed is a larger share than it ever is. Each crawl is a process of its own; rounds
   alternate; the ratio is that of the medians.
2. Events read a second, with their JSON, as `recrawl changes --json` writes them.
3. CPU time of a crawl that writes down which chunks each new copy has, over one that does not, and
   what that costs per new copy beside what one reading of such a page costs.
4. Copies exported a second as they are stored: to a new folder, with its manifest, and to Parquet.

Speeds are by CPU time, which other work on the machine leaves alone.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from math import nan
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.entries.store import WriteStore
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Request, Response

MOST_COST = 1.05
LEAST_EVENTS, LEAST_COPIES = 50_000, 2_000
PAGES = 2_000
SITE = "https://a.org/"
NOON = 1_767_268_800.0
WORDS = " ".join(f"word{number}" for number in range(2_000))


class Memory:
    """Answers from memory: pages that have changed since the crawl before, or have not."""

    def __init__(self, visit: int) -> None:
        self._visit = visit

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """Answer at once."""
        from recrawl.parse.messages import Response

        on_send()
        name = request.address.rpartition("/")[2]
        if name == "robots.txt":
            return Response(request.address, 404, {}, b"")
        changed = self._visit if int(name) % 2 else 0
        return Response(
            request.address, 200, {"content-type": "text/html"}, _page(name, changed).encode()
        )

    async def close(self) -> None:
        """Nothing to close."""


def _page(name: str, changed: int) -> str:
    return f"<title>{name}</title><p>{WORDS}<p>It costs {changed} euros, said {name}."


def crawl(folder: Path, side: str) -> float:
    """Seconds of CPU of two crawls."""
    from recrawl.clock import ScaledClock
    from recrawl.crawl.running import running
    from recrawl.entries.entries import PagesFound
    from recrawl.frontier.agenda import Agenda
    from recrawl.plan.budget import Budget
    from recrawl.scheduler import scheduler
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings
    from recrawl.store import create_store, open_store
    from recrawl.units import SECONDS_A_DAY

    fed = side != "off"
    if not fed:
        scheduler.visit_event = lambda *_, **__: None  # type: ignore[assignment]
        Agenda.rate = lambda *_: nan  # type: ignore[method-assign]
    rule = Rule(SITE, interval=1.0)
    settings = Settings(
        *("bench (me@a.org)", Budget(1e9)),
        delay=0.0,
        together=100,
        rules=(rule,),
        feed_chunks=side == "chunks",
    )
    path = folder / "pages.db"
    with create_store(path) as store:
        addresses = [f"{SITE}{number}" for number in range(PAGES)]
        store.write([PagesFound(addresses, ["a.org"] * PAGES, [0] * PAGES, NOON)])

    async def run(visit: int) -> float:
        def memory(_: Fetcher) -> Fetcher:
            return Memory(visit)

        clock = ScaledClock(SECONDS_A_DAY, NOON / SECONDS_A_DAY + 2 * visit)
        async with running(settings, path, clock, record=memory, seed=1) as crawler:
            crawler.crawl.trust.audited = False
            began = time.process_time()
            await crawler.run(once=True)
            return time.process_time() - began

    spent = sum(asyncio.run(run(visit)) for visit in range(2))
    with open_store(path) as reader:
        assert reader.last_visit() == 2 * PAGES
        assert reader.feed_range().newest == (PAGES * 3 // 2 if fed else 0)
    return spent


def measure_crawls(rounds: int) -> float:
    spent: dict[str, list[float]] = {"on": [], "off": [], "chunks": []}
    for number in range(rounds):
        for side in spent if number % 2 else reversed(spent):
            command = [sys.executable, __file__, "--crawl", side]
            told = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            spent[side].append(float(told))
    ratio = median(spent["on"]) / median(spent["off"])
    each = ", ".join(f"{side} {1e6 * median(took) / 2 / PAGES:.0f}" for side, took in spent.items())
    print(f"CPU of a crawl with the feed / without: {ratio:.3f} (µs a visit: {each})")
    more = (median(spent["chunks"]) - median(spent["on"])) / (PAGES * 3 / 2)
    print(
        f"CPU of a crawl with chunks / without: {median(spent['chunks']) / median(spent['on']):.3f}"
        f" ({1e3 * more:.2f} ms per new copy; reading one: {1e3 * measure_reading():.2f} ms)"
    )
    return ratio


def measure_reading() -> float:
    """Seconds of CPU that the chunks of one page take."""
    from recrawl.extract import manifest_of, read_content

    times = []
    for number in range(100):
        body, began = _page(str(number), 1).encode(), time.process_time()
        content = read_content(body, "", f"{SITE}{number}")
        assert content is not None
        assert manifest_of(content) is not None
        times.append(time.process_time() - began)
    return median(times)


def written(folder: Path, pages: int) -> WriteStore:
    from recrawl.entries.entries import PagesFound
    from recrawl.store import create_store

    store = create_store(folder / "pages.db")
    addresses = [f"{SITE}section-{number % 100}/page-{number}" for number in range(pages)]
    store.write([PagesFound(addresses, ["a.org"] * pages, [0] * pages, NOON)])
    return store


def measure_events(count: int) -> float:
    """Events a second, with their JSON."""
    from recrawl.entries.entries import PageEvent, VisitMade
    from recrawl.publish.events import event_line
    from recrawl.publish.feeds import events_after, page_feed
    from recrawl.store import open_store
    from recrawl.visits.status import FeedKind, VisitOutcome

    with tempfile.TemporaryDirectory() as name:
        with written(Path(name), 1000) as store:
            for first in range(0, count, 1000):
                store.write(
                    [
                        VisitMade(
                            *(number % 1000, NOON + number, VisitOutcome.CHANGED, 200),
                            share=0.25,
                            event=PageEvent(
                                *(FeedKind.CHANGED, NOON + number, NOON + number - 9e4),
                                likely_seconds=NOON + number - 4e4,
                                gist="edited",
                                version=number.to_bytes(16, "big"),
                            ),
                        )
                        for number in range(first, min(first + 1000, count))
                    ]
                )
        with open_store(Path(name) / "pages.db") as reader:
            began, size = time.process_time(), 0
            for batch in events_after(page_feed(reader), 0, 1000):
                size += len("".join([event_line("k3fqabcd", event) for event in batch]).encode())
            speed = count / (time.process_time() - began)
    print(
        f"{count:,} events read with their JSON: {speed:,.0f} a second ({size / count:.0f} bytes)"
    )
    return speed


def measure_copies(count: int) -> float:
    """Copies a second, to a new folder; the same again, with nothing new; and to a file."""
    from recrawl.cli.exporting import export_copies
    from recrawl.entries.entries import PageEvent, VisitMade
    from recrawl.publish.copies.folder import CopyFolder
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings
    from recrawl.store import open_store
    from recrawl.visits.status import FeedKind, VisitOutcome

    new, settings = PageEvent(FeedKind.NEW, NOON), Settings("bench (me@a.org)", rules=(Rule(SITE),))
    speeds: list[float] = []
    walls: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        with written(Path(name), count) as store:
            for first in range(0, count, 1000):
                some = range(first, min(first + 1000, count))
                store.write(
                    [
                        VisitMade(
                            *(page, NOON, VisitOutcome.FIRST),
                            body=f"<h1>{page}</h1><p>{WORDS}".encode(),
                            event=new,
                        )
                        for page in some
                    ]
                )
        with open_store(Path(name) / "pages.db") as reader:
            for _ in range(2):
                began, cpu = time.perf_counter(), time.process_time()
                folder = CopyFolder(Path(name) / "copies", "html")
                done = folder.export(reader, lambda copy: reader.body(copy.digest))
                assert done.files == count
                speeds.append(count / (time.process_time() - cpu))
                walls.append(count / (time.perf_counter() - began))
            began, cpu = time.perf_counter(), time.process_time()
            export_copies(settings, reader, f"{name}/copies.parquet", "html")
            speeds.append(count / (time.process_time() - cpu))
            walls.append(count / (time.perf_counter() - began))
    print(
        f"{count:,} copies exported: {speeds[0]:,.0f} a second of CPU ({walls[0]:,.0f} by the "
        f"wall); again, with nothing new: {speeds[1]:,.0f} ({walls[1]:,.0f}); to Parquet: "
        f"{speeds[2]:,.0f} ({walls[2]:,.0f})"
    )
    return min(speeds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--copies", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--crawl", choices=["on", "off", "chunks"])
    asked = parser.parse_args()
    if asked.crawl:
        with tempfile.TemporaryDirectory() as name:
            print(crawl(Path(name), asked.crawl))
        return
    ratio = measure_crawls(asked.rounds)
    events, copies = measure_events(asked.events), measure_copies(asked.copies)
    assert ratio <= MOST_COST, ratio
    assert events >= LEAST_EVENTS, events
    assert copies >= LEAST_COPIES, copies


if __name__ == "__main__":
    main()
