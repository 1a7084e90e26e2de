"""A crawl of strangers in a process of its own: python hostile.py FOLDER SECONDS DAY LIMIT.

Its folder holds `recrawl.toml`. It ends when nothing is left to do for now, or after so many
seconds; on its clock it is so many days later than now. Each request may take as many seconds as
the limit says. What it cost goes to the standard output in JSON.

Nothing of it can leave this machine, whatever it does wrong: Python tells a hook of every
connection and every look-up of a name before it is made, and the hook forbids all that are not of
loopback.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.crawl.visit_log import VisitLog
from recrawl.errors import RecrawlError
from recrawl.fetch.fetcher import RequestLimits
from recrawl.settings.settings import read_settings
from recrawl.units import SECONDS_A_DAY

MOST_MEMORY = 4 << 30  # of addresses, so that a mistake harms nobody else

strayed: list[str] = []


def keep_in(event: str, values: tuple[Any, ...]) -> None:
    """Forbid what leads away from this machine."""
    if event == "socket.connect" and isinstance(values[1], tuple):
        host = str(values[1][0])
    elif event == "socket.getaddrinfo":
        host = str(values[0])
    else:
        return
    if not _is_here(host):
        strayed.append(f"{event} {host}")
        raise PermissionError(f"{event} to {host} must stay on this machine")


def _is_here(host: str) -> bool:
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _most_megabytes() -> int:
    """Most memory that this program has held; `getrusage` counts what its parent held as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


async def longest_wait(waits: list[float]) -> None:
    """Keep the longest time for which nothing else could be done."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.01)
        waits[0] = max(waits[0], time.perf_counter() - began)


async def crawl(folder: Path, seconds: float, days: float, limit: float) -> dict[str, object]:
    settings = read_settings((folder / "recrawl.toml").read_text())
    now = time.time() / SECONDS_A_DAY + days
    limits = RequestLimits(connect_seconds=limit, idle_seconds=limit / 2, total_seconds=limit)
    clock, waits, remarks = ScaledClock(SECONDS_A_DAY, now), [0.0], []
    with (folder / "visits.jsonl").open("a", encoding="utf-8") as file:
        told = VisitLog(file)
        store = folder / settings.store
        async with running(settings, store, clock, on_visit=told, limits=limits, seed=1) as crawler:
            watching = asyncio.create_task(longest_wait(waits))
            until = now + seconds / SECONDS_A_DAY
            await crawler.run(
                once=True, until=until, found=lambda _, found: remarks.extend(found.remarks)
            )
            watching.cancel()
            return {
                "ended": clock.now() < until,
                "visits": crawler.tally.visits,
                "waited": waits[0],
                "remarks": remarks,
            }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.addaudithook(keep_in)
    try:
        told = asyncio.run(crawl(Path(sys.argv[1]), *map(float, sys.argv[2:])))
    except RecrawlError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told | {"strayed": strayed, "megabytes": _most_megabytes()}))
