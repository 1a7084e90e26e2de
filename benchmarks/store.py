"""What a crawl asks of a store of a million pages.

    python benchmarks/store.py
    python benchmarks/store.py --pages 100000

A store is filled with pages on a thousand hosts and two visits to each. Measured are bytes a page
(address, copy and all that is learned of it) and a visit; then, in a process of its own, the start
of a crawl that was stopped properly, pages leased and reported a second (policy, agenda, reading
addresses and copies, writing visits in batches), and the most memory; last, `recrawl status`.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from before_after import record

from recrawl.clock import ScaledClock
from recrawl.entries.entries import Checkpoint, Copy, PageChange, PagesFound, VisitMade
from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.writer import Writer
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT = "recrawl-benchmark (bench@example.org)"
HOSTS, SECTIONS = 1_000, 19
REPORTS = 200_000
MOST_BYTES_A_PAGE, MOST_BYTES_A_VISIT = 300, 50
LEAST_A_SECOND, MOST_MEGABYTES = 10_000, 1_500
MOST_START_SECONDS, MOST_STATUS_SECONDS = 2.0, 1.0


def settings_for(visits_a_day: float) -> Settings:
    rules = tuple(Rule(f"https://host{number}.example.org/") for number in range(HOSTS))
    return Settings(AGENT, budget=Budget(visits_a_day), delay=0.0, rules=rules)


def judge(what: str, value: float, limit: float, *, least: bool = False) -> None:
    holds = value >= limit if least else value <= limit
    verdict = "holds" if holds else "FALLS SHORT"
    print(f"{verdict:<13}{what}: {value:,.2f} (at {'least' if least else 'most'} {limit:,})")
    record(what, value)


def parts(pages: int) -> Iterator[range]:
    return (range(first, min(first + 10_000, pages)) for first in range(0, pages, 10_000))


def fill(path: Path, pages: int) -> float:
    """Write pages and two visits to each; returns bytes a visit."""
    start = time.time() - 30 * SECONDS_A_DAY
    with create_store(path) as store:
        for numbers in parts(pages):
            hosts = [f"host{number % HOSTS}.example.org" for number in numbers]
            addresses = [
                f"https://{host}/section-{number % SECTIONS}/page-{number}.html"
                for number, host in zip(numbers, hosts, strict=True)
            ]
            rules = [number % HOSTS for number in numbers]
            store.write([PagesFound(addresses, hosts, rules, start)])
    random, sizes = np.random.default_rng(0), []
    for turn in (0, 1):
        with open_for_writing(path) as store:
            for numbers in parts(pages):
                store.write([visit(number, turn, start, pages, random) for number in numbers])
        sizes.append(path.stat().st_size)
    return (sizes[1] - sizes[0]) / pages


def visit(
    number: int, turn: int, start: float, pages: int, random: np.random.Generator
) -> VisitMade:
    at = start + (10 * turn + number / pages) * SECONDS_A_DAY
    if turn:
        return VisitMade(number, at, VisitOutcome.SAME, 200, size=12_345, took_seconds=0.123)
    copy = Copy(random.bytes(8), random.bytes(8), '"5f3e-1a2b3c"', 1_700_000_000)
    change = PageChange(PageStatus.COPIED)
    return VisitMade(number, at, VisitOutcome.FIRST, 200, size=12_345, copy=copy, change=change)


def write_settings(folder: Path, path: Path, pages: int) -> Path:
    place = folder / "recrawl.toml"
    sites = "".join(f'[[site]]\naddress = "{rule.address}"\n' for rule in settings_for(pages).rules)
    head = f'agent = "{AGENT}"\nbudget = "{pages}/1d"\n[storage]\nstore = "{path.name}"\n'
    place.write_text(head + sites)
    return place


def run(pages: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = folder / "million.db"
        a_visit = fill(path, pages)
        clock = ScaledClock(SECONDS_A_DAY, time.time() / SECONDS_A_DAY)
        with open_for_writing(path) as store, open_store(path) as reader:
            began = time.perf_counter()
            crawl = open_crawl(
                settings_for(pages), store, reader, clock.now(), random=np.random.default_rng(0)
            )
            print(f"{2 * pages:,} visits learned again in {time.perf_counter() - began:.0f} s")
            store.write([Checkpoint(crawl.dump())])
        judge("bytes a visit", a_visit, MOST_BYTES_A_VISIT)
        rest = path.stat().st_size - 2 * pages * a_visit
        judge("bytes a page", rest / pages, MOST_BYTES_A_PAGE)
        subprocess.run([sys.executable, __file__, "--resume", path], check=True)
        began = time.perf_counter()
        recrawl = Path(sys.executable).with_name("recrawl")
        command = [recrawl, "status", "--settings", write_settings(folder, path, pages)]
        subprocess.run(command, check=True)
        judge("status, seconds", time.perf_counter() - began, MOST_STATUS_SECONDS)


async def resume(path: Path) -> None:
    clock = ScaledClock(SECONDS_A_DAY, time.time() / SECONDS_A_DAY)
    began, cpu = time.perf_counter(), time.process_time()
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(
            settings_for(1e4 * SECONDS_A_DAY),
            store,
            reader,
            clock.now(),
            random=np.random.default_rng(0),
        )
        started = time.process_time() - cpu
        print(f"start took {started:.2f} s of CPU")
        record("start, seconds of CPU", started)
        judge("start, seconds", time.perf_counter() - began, MOST_START_SECONDS)
        writer, agenda, done = Writer(store), crawl.agenda, 0
        began, cpu = time.perf_counter(), time.process_time()
        while done < min(REPORTS, len(agenda) // 5):
            now = clock.now() + done / 1e4 / SECONDS_A_DAY + 0.1
            leases = agenda.take(now, 100)
            assert leases, "a budget of ten thousand visits a second must give leases"
            numbers = [lease.page for lease in leases]
            reader.addresses(numbers)
            reader.copies(numbers)
            for lease in leases:
                agenda.answered(lease, now)
                agenda.seen(lease.page, now, changed=False)
                writer.put(VisitMade(lease.page, now * SECONDS_A_DAY, VisitOutcome.SAME, 200))
            done += len(leases)
            await writer.room()
            await asyncio.sleep(0)
        await writer.close()
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        store.write([Checkpoint(crawl.dump())])  # as a crawl that is stopped does
    print(f"{1e6 * cpu / done:.0f} µs of CPU to lease and report a page")
    record("µs of CPU to lease and report a page", 1e6 * cpu / done)
    judge("leased and reported a second", done / wall, LEAST_A_SECOND, least=True)


def judge_memory() -> None:
    # Not getrusage: it counts what the process that started this one had.
    status = Path("/proc/self/status").read_text()
    judge("MB of memory", int(status.partition("VmHWM:")[2].split()[0]) / 1024, MOST_MEGABYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.resume:
        asyncio.run(resume(asked.resume))
        judge_memory()
    else:
        run(asked.pages)


if __name__ == "__main__":
    main()
