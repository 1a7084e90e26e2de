"""Memory of a crawl of a million pages on a hundred thousand hosts.

    python benchmarks/memory.py
    python benchmarks/memory.py --pages 100000 --hosts 10000
    python benchmarks/memory.py --keep filled --steps replay pages
    python benchmarks/memory.py --weights --steps weights replay crawl status
    python benchmarks/memory.py --hosts 1 --steps replay crawl status pages plan

A store is written with ten pages on each host, two visits to each page, and a host's robots.txt on
every tenth; settings name every host as a site. Then, each in a process of its own:

    replay     a crawl is opened that was killed: all visits are learned again
    crawl      a crawl is opened from its checkpoint, and makes some thousand visits; a stand-in for
               the network answers at once, all else is what `recrawl crawl` runs
    status     `recrawl status`
    pages      `recrawl pages`, all rows to a file
    ...        and other verbs that read a whole store, or much of it
    weights    the file of weights is hashed and read, with --weights, which names every page in one

With one host, pages lie in folders of two, of four, of eight, ..., so that there are as many
sections as pages.

The most memory of each is what the system says of it (VmHWM). With --keep the filled store stays in
a folder, and the next run with it begins from a copy of that.

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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    PageChange,
    PagesFound,
    RobotsRead,
    VisitMade,
)
from recrawl.parse.messages import Response
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.settings_file import load_settings
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.parse.messages import Request

MOST_MB, MOST_MB_OF_SECTIONS = 2_000, 1_500
VISITS = 5_000
SECONDS_PER_DAY = 600.0  # of the crawl that makes them
AT_ONCE = 10_000  # entries of a transaction
ROBOTS = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 0.001\n"


def host_of(number: int) -> str:
    return f"www.host{number}.example-{number % 50_000}.org"


def address_of(number: int, hosts: int) -> str:
    if hosts == 1:
        bits = f"{number:020b}"
        return f"https://{host_of(0)}/{'/'.join([bits[:6], *bits[6:]])}/page.html"
    return f"https://{host_of(number % hosts)}/section-{number % 7}/page-{number}.html"


def name_weights(folder: Path, pages: int, hosts: int) -> None:
    """Write a file of weights with a row per page, and let the settings name it."""
    views = 1 + np.random.default_rng(0).pareto(1.0, pages).astype(np.int64)
    rows = (f"{address_of(page, hosts)},{count}\n" for page, count in enumerate(views.tolist()))
    (folder / "views.csv").write_text("page,weight\n" + "".join(rows))
    settings = folder / "recrawl.toml"
    settings.write_text('weights = "views.csv"\n' + settings.read_text())


def fill(folder: Path, pages: int, hosts: int) -> None:
    """Write settings and a store as a crawl of a month would have left them."""
    sites = "".join(f'[[site]]\naddress = "https://{host_of(host)}/"\n' for host in range(hosts))
    head = f'agent = "recrawl-benchmark (bench@example.org)"\nbudget = "{pages}/1d"\n'
    head += '[politeness]\ndelay = "0.001s"\n[storage]\nstore = "pages.db"\n'
    (folder / "recrawl.toml").write_text(head + sites)
    start = time.time() - 30 * SECONDS_A_DAY
    with create_store(folder / "pages.db") as store:
        for some in parts(pages):
            names = [host_of(number % hosts) for number in some]
            addresses = [address_of(number, hosts) for number in some]
            rules = [number % hosts for number in some]
            store.write([PagesFound(addresses, names, rules, start)])
        for some in parts(hosts):
            robots = [
                RobotsRead(f"https://{host_of(host)}", time.time(), 200, ROBOTS, None)
                for host in some
                if host % 10 == 0
            ]
            store.write(robots)
        random = np.random.default_rng(0)
        for turn in (0, 1):
            for some in parts(pages):
                store.write([visit(number, turn, start, pages, random) for number in some])


def parts(count: int) -> Iterator[range]:
    return (range(first, min(first + AT_ONCE, count)) for first in range(0, count, AT_ONCE))


def visit(
    number: int, turn: int, start: float, pages: int, random: np.random.Generator
) -> VisitMade:
    at = start + (10 * turn + number / pages) * SECONDS_A_DAY
    if turn:
        return VisitMade(number, at, VisitOutcome.SAME, 200, size=12_345, took_seconds=0.123)
    copy = Copy(random.bytes(8), random.bytes(8), '"5f3e-1a2b3c"', 1_700_000_000)
    change = PageChange(PageStatus.COPIED)
    return VisitMade(number, at, VisitOutcome.FIRST, 200, size=12_345, copy=copy, change=change)


def weights(folder: Path) -> str:
    """Hash and read the file of weights of the settings, and look up its pages."""
    file = load_settings(folder / "recrawl.toml").weights_file
    if file is None:
        return "no weights"
    began = time.process_time()
    file.digest  # noqa: B018 - hashed when it is asked for
    hashed, found = time.process_time(), file.read()
    read = time.process_time()
    with open_store(folder / "pages.db") as reader:
        named = sum(found.count_named(Texts.of(some)) for some in reader.all_addresses())
    seconds = hashed - began, read - hashed, time.process_time() - read
    held = (found.keys.nbytes + found.weight.nbytes) / 1e6
    hashing, reading, finding = (f"{each:.2f} s" for each in seconds)
    return (
        f"{len(found):,} pages: {hashing} to hash, {reading} to read, {finding} to look up "
        f"{named:,}; holds {held:.0f} MB"
    )


def replay(folder: Path) -> str:
    """Learn all visits again, and leave a checkpoint."""
    settings = load_settings(folder / "recrawl.toml")
    path, now = folder / "pages.db", time.time() / SECONDS_A_DAY
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        store.write([Checkpoint(crawl.dump())])
        return f"{len(crawl.agenda):,} pages, {len(crawl.hosts):,} hosts"


class Network:
    """Answers at once: no robots.txt, and a page of two kilobytes."""

    async def fetch(self, request: Request, on_send: Callable[[], object]) -> Response:
        """A page that says its own address."""
        on_send()
        if request.address.endswith("/robots.txt"):
            return Response(request.address, 404)
        body = f"<html><body><p>{request.address}</p>{'<p>some text</p>' * 120}</body></html>"
        return Response(request.address, 200, {"content-type": "text/html"}, body.encode())

    async def close(self) -> None:
        """Nothing to close."""


def crawl(folder: Path) -> str:
    """Open the crawl and make visits."""
    settings = load_settings(folder / "recrawl.toml")
    clock = ScaledClock(SECONDS_PER_DAY, time.time() / SECONDS_A_DAY)

    async def run() -> str:
        def count(_: object) -> None:
            if crawler.tally.visits >= VISITS:
                crawler.stop()

        async with running(
            settings, folder / "pages.db", clock, on_visit=count, record=lambda _: Network()
        ) as crawler:
            opened = most_mb()
            await crawler.run(until=clock.now() + 1.0)
            outcomes = {each.label: made for each, made in crawler.tally.outcomes.items() if made}
            return f"{opened:,.0f} MB once open; {crawler.tally.visits:,} visits {outcomes}"

    return asyncio.run(run())


def verb(folder: Path, words: tuple[str, ...]) -> str:
    """Run a verb of the command line in this process."""
    import os

    from recrawl.cli.main import main as recrawl

    os.chdir(folder)
    with open_store(folder / "pages.db") as reader:
        (page,) = reader.addresses([0])
    sys.argv = ["recrawl", *(page if word is PAGE else word for word in words)]
    try:
        recrawl()
    except SystemExit as ended:
        if ended.code:
            raise
    return ""


PAGE = "the first page"
VERBS = {
    "status": ("status",),
    "status-json": ("status", "--json"),
    "pages": ("pages", "-o", "pages.csv"),
    "pages-next": ("pages", "--sort", "next", "-o", "pages.csv"),
    "pages-json": ("pages", "--json"),
    "why": ("why", PAGE),
    "history": ("history", PAGE, "--csv"),
    "plan": ("plan", "pages.db", "--budget", "100000/1d", "-o", "plan.csv"),
    "estimate": ("estimate", "pages.db", "-o", "rates.csv"),
    "export": ("export", "pages", "-o", "export.csv"),
    "check": ("check",),
}
STEPS = {
    "weights": weights,
    "replay": replay,
    "crawl": crawl,
    **{name: partial(verb, words=words) for name, words in VERBS.items()},
}


def most_mb() -> float:
    """Most memory so far; not getrusage, which counts what the parent had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="folder for the filled store; made once")
    parser.add_argument("--weights", action="store_true", help="with a file of weights")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.step:
        name, folder = asked.step
        said = STEPS[name](Path(folder))
        mb, most = most_mb(), MOST_MB_OF_SECTIONS if asked.hosts == 1 else MOST_MB
        verdict = "holds" if mb <= most else "FALLS SHORT"
        print(f"{verdict:<13}{name:<12}{mb:8,.0f} MB (at most {most:,}),", end=" ", file=sys.stderr)
        print(f"{time.process_time():.1f} s of CPU; {said}", file=sys.stderr, flush=True)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        filled = asked.keep or folder / "filled"
        if not filled.exists():
            filled.mkdir(parents=True)
            fill(filled, asked.pages, asked.hosts)
        for name in ("recrawl.toml", "pages.db"):
            shutil.copy(filled / name, folder / name)
        if asked.weights:
            name_weights(folder, asked.pages, asked.hosts)
        size = (folder / "pages.db").stat().st_size
        print(f"{asked.pages:,} pages on {asked.hosts:,} hosts, {size / 1e6:,.0f} MB on disk")
        for step in asked.steps:
            with (folder / "said").open("w") as said:
                words = [sys.executable, __file__, "--step", step, scratch]
                words += ["--hosts", str(asked.hosts)]
                subprocess.run(words, check=True, stdout=said)


if __name__ == "__main__":
    main()
