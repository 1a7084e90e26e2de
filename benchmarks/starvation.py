"""Honest hosts beside hostile ones: visits that the honest get, memory and CPU.

    python benchmarks/starvation.py                        both tables, about three minutes
    python benchmarks/starvation.py --seconds 20 --rounds 2
    python benchmarks/starvation.py --table beside

Hosts are addresses of 127.0.0.0/8 at one port, served by a process of its own. An honest page has
20 kB; a hostile one is 2.5 MB of gzip that unpack to 19.5 MB of HTML, different each time. `recrawl
crawl` runs for some seconds on each of

    many     120 hostile hosts and nobody else
    beside   ten honest hosts alone, then the same beside ten hostile ones

and its visits are counted from its own log. Runs with and without hostile hosts take turns, so that
the ratio of honest visits holds on a busy machine too. Peak memory and CPU are what the system says
of the ended process.

Touches: a temporary folder, loopback, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.synchronize import Event

MOST_MB = 600
LEAST_RATIO = 0.9
HONEST = [f"127.0.1.{number}" for number in range(1, 11)]
HOSTILE = [f"127.0.2.{number}" for number in range(1, 121)]
HOSTILE_BYTES = 19_500_000
SETTINGS = """\
agent = "recrawl-benchmark (bench@example.org)"
budget = "100000000/1d"
[politeness]
delay = "1s"
"""
WORDS = ("rate", "visit", "change", "page", "fresh", "copy", "host", "budget", "price", "lease")


@dataclass(frozen=True, slots=True)
class Run:
    """What one crawl did: visits by host, peak memory and CPU."""

    visits: Counter[str]
    failed: int
    mb: float
    cpu: float
    said: list[str]

    def of(self, hosts: Sequence[str]) -> int:
        """Visits to some hosts."""
        return sum(self.visits[host] for host in hosts)


# --- the hosts, in a process of their own ---


def markup(size: int, seed: int) -> bytes:
    """HTML of some size; a quarter of it can hardly be compressed."""
    draws = random.Random(seed)  # noqa: S311 - nothing to guess
    parts, length = [], 0
    while length < size:
        line = " ".join(draws.choices(WORDS, k=14))
        part = f'<div class="c{length % 17}"><p>{line} {draws.getrandbits(48):x}</p></div>\n'
        parts.append(part)
        length += len(part)
    return f"<html><body>{''.join(parts)}</body></html>".encode()


def serve(port: multiprocessing.Queue[int], ending: Event) -> None:
    """Serve all hosts until told to end."""
    hostile = [gzip.compress(markup(HOSTILE_BYTES, seed), 6) for seed in range(2)]
    honest = [markup(20_000, seed) for seed in range(50)]
    asked: Counter[str] = Counter()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head.startswith(b"GET /robots.txt "):
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                asked[host] += 1
                turn, kind = asked[host], b"Content-Type: text/html\r\n"
                if host.startswith("127.0.2."):
                    body = hostile[turn % len(hostile)]
                    kind += b"Content-Encoding: gzip\r\n"
                else:
                    body = honest[turn % len(honest)]
                size = b"Content-Length: %d\r\n\r\n" % len(body)
                writer.write(b"HTTP/1.1 200 OK\r\n" + kind + size + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def serving() -> None:
        first = await asyncio.start_server(answer, HONEST[0], 0)
        at = first.sockets[0].getsockname()[1]
        others = [*HONEST[1:], *HOSTILE]
        rest = await asyncio.start_server(answer, others, at, backlog=200)
        port.put(at)
        async with first, rest:
            await asyncio.get_running_loop().run_in_executor(None, ending.wait)

    asyncio.run(serving())


# --- one crawl ---


def crawl(port: int, hosts: Sequence[str], seconds: int) -> Run:
    """Crawl a page on each of some hosts again and again."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pages = "".join(
            f'[[page]]\naddress = "http://{host}:{port}/"\nlocal = true\ninterval = "1s"\n'
            for host in hosts
        )
        (folder / "recrawl.toml").write_text(SETTINGS + pages)
        program = [str(Path(sys.executable).with_name("recrawl"))]
        subprocess.run([*program, "init"], cwd=folder, check=True, capture_output=True)
        words = [*program, "crawl", "--for", f"{seconds}s", "--visit-log", "log.jsonl"]
        with (folder / "said").open("w") as said:
            process = subprocess.Popen(words, cwd=folder, stderr=said)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        told = (folder / "said").read_text()
        if process.returncode:
            raise SystemExit(f"the crawl failed:\n{told[-3000:]}")
        lines = (folder / "log.jsonl").read_text().splitlines()
    made = [json.loads(line) for line in lines]
    good = [each for each in made if each["outcome"] != "failed"]
    visits = Counter(each["address"].split("/")[2].partition(":")[0] for each in good)
    cpu = used.ru_utime + used.ru_stime
    remarks = [line for line in told.splitlines() if " pages in " not in line]
    return Run(visits, len(made) - len(good), used.ru_maxrss / 1024, cpu, remarks)


def show(name: str, run: Run, honest: Sequence[str]) -> None:
    others = sum(run.visits.values()) - run.of(honest)
    print(
        f"  {name:<28}{run.of(honest):6} honest, {others:4} other visits, {run.failed:4} failed,"
        f" {run.mb:6.0f} MB, {run.cpu:5.1f} s of CPU",
        flush=True,
    )
    for line in run.said[:4]:
        print(f"      {line[:150]}")


def judge(what: str, *, holds: bool) -> None:
    print(f"  {'holds' if holds else 'FALLS SHORT'}: {what}", flush=True)


def many(port: int, seconds: int) -> None:
    print(f"\n120 hosts with pages of {HOSTILE_BYTES / 1e6} MB, {seconds} s")
    run = crawl(port, HOSTILE, seconds)
    show("120 hostile", run, HONEST)
    judge(f"{run.mb:.0f} MB at most (asked {MOST_MB})", holds=run.mb < MOST_MB)
    judge(f"{sum(run.visits.values())} visits (asked 1)", holds=bool(run.visits))


def beside(port: int, seconds: int, rounds: int) -> None:
    hostile = HOSTILE[:10]
    print(f"\nten honest hosts beside ten with large pages, {seconds} s, {rounds} rounds")
    alone, crowded, peak = 0, 0, 0.0
    for _ in range(rounds):
        run = crawl(port, HONEST, seconds)
        alone += run.of(HONEST)
        show("10 honest", run, HONEST)
        run = crawl(port, [*HONEST, *hostile], seconds)
        crowded += run.of(HONEST)
        peak = max(peak, run.mb)
        show(f"10 honest, {len(hostile)} hostile", run, HONEST)
    ratio = crowded / alone
    judge(f"{ratio:.0%} of the honest visits (asked {LEAST_RATIO:.0%})", holds=ratio >= LEAST_RATIO)
    judge(f"{peak:.0f} MB at most (asked {MOST_MB})", holds=peak < MOST_MB)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=("all", "many", "beside"), default="all")
    parser.add_argument("--seconds", type=int, default=35)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    ending = multiprocessing.Event()
    server = multiprocessing.Process(target=serve, args=(port, ending))
    server.start()
    try:
        at = port.get(timeout=300)
        if asked.table in ("all", "many"):
            many(at, 2 * asked.seconds)
        if asked.table in ("all", "beside"):
            beside(at, asked.seconds, asked.rounds)
    finally:
        ending.set()
        server.join()


if __name__ == "__main__":
    main()
