"""A crawl in a process of its own, to be killed: python killed.py FOLDER ORIGIN DAY."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.crawl.visit_log import VisitLog
from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings

SECONDS_A_DAY = 2.0
DELAY_SECONDS = 0.02


async def crawl(folder: Path, origin: str, day: float) -> None:
    settings = Settings(
        "test-bot (me@example.org)",
        budget=Budget(100.0),
        delay=DELAY_SECONDS / SECONDS_A_DAY,
        rules=(Rule(f"{origin}/", local=True),),
    )
    clock = ScaledClock(SECONDS_A_DAY, day)
    with (folder / "visits.jsonl").open("a", encoding="utf-8") as file:
        async with running(
            settings, folder / "recrawl.db", clock, on_visit=VisitLog(file), seed=1
        ) as crawler:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await crawler.run(found=lambda *_: None)


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
