"""How cost grows with pages and with hosts: per visit, per page and per host.

    python benchmarks/growth.py
    python benchmarks/growth.py --pages 1000,10000 --plot docs/pictures/growth.svg

Stores are written as in `benchmarks/memory.py`, from a thousand to a million pages, with a hundred
on each host; then up to a hundred thousand hosts with a page each. Each step runs in a process of
its own, and its processor time counts, without that of starting Python:

    write     pages and two visits to each are written, per visit
    learn     all visits are learned again, per visit
    open      the crawl is opened from its checkpoint, per page
    status    `recrawl status`, per page
    plan      `recrawl plan` of the store, per page
    visit     the crawl goes on, with a network that answers at once and finds each page changed,
              per visit
    disk      bytes of the store, per page
    memory    bytes that the crawl holds beyond those of the smallest one, per page

The clock of `visit` runs faster the fewer pages there are, so that the budget is never spent: what
is done every hour weighs most on a thousand.

Whoever works on n things may take n log n. So the cost per thing may grow with the logarithm of n:
each step holds if it takes no more per thing than a half above that, from ten thousand on. Below,
what is done once counts for much.

Touches: a temporary folder, processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from memory import Network, fill, host_of, most_mb, parts, verb

from recrawl.adapters.pictures import write_picture
from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.entries.entries import Checkpoint, RobotsRead
from recrawl.report.charts.vega import LIGHT, chart_title, themed
from recrawl.state.opening import open_crawl
from recrawl.store import open_for_writing, open_store
from recrawl.store.settings_file import load_settings
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.parse.messages import Request, Response
    from recrawl.report.charts.vega import Chart

PAGES = (1_000, 10_000, 100_000, 1_000_000)
PAGES_A_HOST = 100
MOST_HOSTS = 100_000
VISITS = 800  # fewer than pages: each is the first that finds its page changed
MOST_A_SECOND = 2_000.0  # visits that the budget pays for: more than can be made
JUDGED_FROM = 10_000  # pages
SPARE = 1.5  # times n log n
BYTES = ("disk", "memory")
WORDS = ("harbour", "council", "bridge", "ferry", "market", "school", "river", "team", "garden")


def write(folder: Path, pages: int, hosts: int) -> dict[str, float]:
    fill(folder, pages, hosts)
    with open_for_writing(folder / "pages.db") as store:  # so that a visit is one request
        for some in parts(hosts):
            now = time.time()
            store.write([RobotsRead(f"https://{host_of(each)}", now, 404) for each in some])
    return {"write": 1 / (2 * pages)}


def learn(folder: Path, pages: int, hosts: int) -> dict[str, float]:  # noqa: ARG001 - as all steps
    _opened(folder, save=True)
    return {"learn": 1 / (2 * pages)}


def open_again(folder: Path, pages: int, hosts: int) -> dict[str, float]:  # noqa: ARG001
    _opened(folder, save=False)
    return {"open": 1 / pages}


def _opened(folder: Path, *, save: bool) -> None:
    settings = load_settings(folder / "recrawl.toml")
    path, now = folder / "pages.db", time.time() / SECONDS_A_DAY
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        if save:
            store.write([Checkpoint(crawl.dump())])


class Changing(Network):
    """Answers with another sentence each time."""

    def __init__(self) -> None:
        self._random = random.Random(0)  # noqa: S311 - any words

    async def fetch(self, request: Request, on_send: Callable[[], object]) -> Response:
        """A page of two kilobytes."""
        found: Response = await super().fetch(request, on_send)
        words = " ".join(self._random.choices(WORDS, k=12))
        return replace(found, body=found.body.replace(b"<body>", f"<body><p>{words}</p>".encode()))


def visit(folder: Path, pages: int, hosts: int) -> dict[str, float]:  # noqa: ARG001
    settings = load_settings(folder / "recrawl.toml")
    clock = ScaledClock(pages / MOST_A_SECOND, time.time() / SECONDS_A_DAY)

    async def run() -> float:
        began = [0.0, 0.0]

        def count(_: object) -> None:
            made = crawler.tally.visits
            if made == VISITS // 4:  # it has found its pace
                began[:] = made, time.process_time()
            if made >= VISITS:
                crawler.stop()

        where = folder / "pages.db"
        network = Changing()
        async with running(
            settings, where, clock, on_visit=count, record=lambda _: network
        ) as crawler:
            await crawler.run()
            first, then = began
            return (time.process_time() - then) / (crawler.tally.visits - first)

    return {"visit": asyncio.run(run()), "memory": most_mb() * 2**20}


def status(folder: Path, pages: int, hosts: int) -> dict[str, float]:  # noqa: ARG001
    verb(folder, ("status",))
    return {"status": 1 / pages}


def plan(folder: Path, pages: int, hosts: int) -> dict[str, float]:  # noqa: ARG001
    verb(folder, ("plan", "pages.db", "--budget", f"{pages // 10}/1d", "-o", "plan.csv"))
    return {"plan": 1 / pages}


STEPS = {each.__name__: each for each in (write, learn, open_again, status, plan, visit)}


def step(name: str, folder: Path, pages: int, hosts: int) -> dict[str, float]:
    """Costs of a step in this process: seconds of processor time, or bytes."""
    began = time.process_time()
    found = STEPS[name](folder, pages, hosts)
    spent = time.process_time() - began
    whole = {"visit", "memory"}  # measured by the step itself
    return {each: part if each in whole else spent * part for each, part in found.items()}


def costs(pages: int, hosts: int) -> dict[str, float]:
    """Costs of all steps with so many pages on so many hosts."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in STEPS:
            words = [sys.executable, __file__, "--step", name, folder, str(pages), str(hosts)]
            ran = subprocess.run(words, check=False, capture_output=True, text=True)
            if ran.returncode:
                sys.exit(ran.stderr)
            found |= json.loads(ran.stdout.splitlines()[-1])
            if name == "plan":
                found["disk"] = (Path(folder) / "pages.db").stat().st_size / pages
    return found


@dataclass(frozen=True)
class Row:
    """What one size costs."""

    by: str
    count: int
    cost: dict[str, float]


def measured(sizes: tuple[int, ...]) -> list[Row]:
    rows = [Row("pages", each, costs(each, max(each // PAGES_A_HOST, 1))) for each in sizes]
    rows += [Row("hosts", each, costs(each, each)) for each in sizes if each <= MOST_HOSTS]
    least = min(row.cost["memory"] for row in rows)
    for row in rows:
        row.cost["memory"] = (row.cost["memory"] - least) / row.count
    return rows


def show(rows: list[Row]) -> bool:
    """Print a table; whether nothing grows faster than n log n."""
    steps = [name for name in rows[0].cost if name not in BYTES]
    head = "".join(f"{each + ', µs':>13}" for each in steps)
    print(f"{'':<16}{head}" + "".join(f"{each + ', B':>12}" for each in BYTES))
    for row in rows:
        scaled = "".join(f"{row.cost[each] * 1e6:13,.1f}" for each in steps)
        figures = scaled + "".join(f"{row.cost[each]:12,.0f}" for each in BYTES)
        print(f"{row.count:>9,} {row.by:<6}{figures}")
    holds = True
    for by in ("pages", "hosts"):
        own = [row for row in rows if row.by == by]
        judged = [row for row in own if row.count >= JUDGED_FROM] or own[-1:]
        first, last = judged[0], judged[-1]
        allowed = SPARE * math.log(last.count) / math.log(first.count)
        for name in (*steps, *BYTES):
            grown = last.cost[name] / first.cost[name] if first.cost[name] else 1.0
            if grown > allowed:
                holds = False
                print(f"FALLS SHORT  {name} grows {grown:.2f} times over {by}, {allowed:.2f} asked")
    if holds:
        print("holds        nothing grows faster than n log n")
    return holds


def chart_of(rows: list[Row], by: str) -> Chart:
    """Costs relative to those of the smallest size that is judged."""
    colours = LIGHT
    own = [row for row in rows if row.by == by]
    base = next((row for row in own if row.count >= JUDGED_FROM), own[0])
    values = [
        {"count": row.count, "cost": row.cost[name] / base.cost[name], "what": name}
        for row in own
        for name in row.cost
        if base.cost[name] and row.cost[name] and name != "memory"
    ]
    guide = [
        {"count": row.count, "cost": math.log(row.count) / math.log(base.count)} for row in own
    ]
    x = {
        "field": "count",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {"title": by, "format": "~s", "values": [row.count for row in own]},
    }
    y = {
        "field": "cost",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {
            "title": f"cost of each, over that at {base.count:,}",
            "format": "~g",
            "tickCount": 4,
        },
    }
    layers: list[Chart] = [
        {
            "data": {"values": guide},
            "mark": {"type": "line", "strokeDash": [4, 3], "color": colours.pale},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": values},
            "mark": {"type": "line", "point": True},
            "encoding": {"x": x, "y": y, "color": {"field": "what", "title": None}},
        },
    ]
    title = chart_title(f"Cost over {by}", "dashed: as the logarithm, what n log n allows")
    return themed({"title": title, "width": 420, "height": 260, "layer": layers}, colours)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--pages", default=",".join(map(str, PAGES)), help="sizes, rising")
    asked.add_argument("--plot", type=Path, help="draw to this file, and over hosts beside it")
    asked.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    found = asked.parse_args()
    if found.step:
        name, folder, pages, hosts = found.step
        print(json.dumps(step(name, Path(folder), int(pages), int(hosts))))
        return
    rows = measured(tuple(map(int, found.pages.split(","))))
    show(rows)
    if found.plot is not None:
        write_picture(found.plot, chart_of(rows, "pages"))
        beside = found.plot.with_name(f"{found.plot.stem}-hosts{found.plot.suffix}")
        write_picture(beside, chart_of(rows, "hosts"))


if __name__ == "__main__":
    main()
