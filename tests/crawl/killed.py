"""A crawl in a process of its own, to be killed: python killed.py FOLDER ORIGIN DAY POLICY.

Without arguments it starts one in a child for every such line that it is given, and tells of its
beginning and its end.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from pathlib import Path

import numpy.ma
import numpy.random  # noqa: F401 - once, not in every child

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.crawl.visit_log import VisitLog
from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings

SECONDS_A_DAY = 2.0
DELAY_SECONDS = 0.02


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # in one piece, whoever else writes


def settings_of(origin: str, policy: str) -> Settings:
    return Settings(
        "test-bot (me@example.org)",
        budget=Budget(100.0),
        policy=policy,
        delay=DELAY_SECONDS / SECONDS_A_DAY,
        rules=(Rule(f"{origin}/", local=True),),
    )


async def crawl(folder: Path, origin: str, day: float, policy: str) -> None:
    settings, clock = settings_of(origin, policy), ScaledClock(SECONDS_A_DAY, day)
    with (folder / "visits.jsonl").open("a", encoding="utf-8") as file:
        async with running(
            settings, folder / "recrawl.db", clock, on_visit=VisitLog(file), seed=1
        ) as crawler:
            tell("ready")
            await crawler.run(found=lambda *_: None)


def run(folder: str, origin: str, day: str, policy: str) -> None:
    asyncio.run(crawl(Path(folder), origin, float(day), policy))


def main() -> None:
    if len(sys.argv) > 1:
        run(*sys.argv[1:])
        return
    gc.freeze()  # no child looks there for garbage, and so none copies it
    for line in sys.stdin:  # this process has loaded everything and has no threads
        child = os.fork()
        if not child:
            run(*line.split())
            os._exit(0)
        tell(f"child {child}")
        os.waitpid(child, 0)
        tell("dead")


if __name__ == "__main__":
    main()
