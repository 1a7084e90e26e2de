"""A board whose jobs come and go, and a crawl of it and of their pages: board_crawl.py FOLDER PORT.

Which jobs are listed, and what their pages say, is another every half a second; a day of the crawl
passes in a second. It may be killed and begun again: its clock goes on.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

from aiohttp import web

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.listings.live.rules import ListingRule
from recrawl.parse.items.item import Layout
from recrawl.plan.budget import Budget
from recrawl.settings.rules import NO_RULE
from recrawl.store import open_store
from recrawl.visits.status import PageStatus
from tests.crawl.crawls import LIMITS, START, settings

JOBS = 8
_SPELL_SECONDS = 0.5
_THERE = (PageStatus.COPIED, PageStatus.SUSPECTED)


def spell() -> int:
    """Number of the half second."""
    return int(time.time() / _SPELL_SECONDS)


async def answer(request: web.Request) -> web.Response:
    """The board, or the page of a job."""
    now = spell()
    if request.path == "/robots.txt":
        return web.Response(text="")
    if request.path == "/jobs":
        listed = [job for job in range(JOBS) if (job + now // 2) % 4 < 2]
        rows = "".join(
            f'<li id=j{job}><a href="/job/{job // 2}">Job {job}</a> <b>{now // 3 % 4}</b></li>'
            for job in listed
        )
        return web.Response(text=f"<ul>{rows}</ul>", content_type="text/html")
    words = " ".join(f"w{now}x{each}" for each in range(20))
    return web.Response(text=f"<main><p>{words}</main>", content_type="text/html")


async def crawl(folder: Path, port: int) -> None:
    """Crawl until a signal comes."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    layout = Layout("li", "@id", {"pay": "b"}, detail="a@href")
    rule = ListingRule(
        "jobs", (f"http://127.0.0.1:{port}/jobs",), layout, minimum=0.2, maximum=0.3, local=True
    )
    began = float((folder / "began").read_text())
    clock = ScaledClock(1.0, START + time.time() - began)
    asked = settings(listings=(rule,), together=4, budget=Budget(30.0))
    async with running(
        asked, folder / "recrawl.db", clock, on_visit=bool, limits=LIMITS, seed=1
    ) as crawler:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, crawler.stop)
        print("ready", flush=True)  # noqa: T201 - whoever started us waits for it
        await crawler.run(found=lambda *_: None)
    await runner.cleanup()


def truth_of(store: Path) -> tuple[dict[str, str], dict[int, str]]:
    """What is listed, and the newest version of each page that has a copy and a rule.

    By what the crawl keeps: not by its feeds.
    """
    with open_store(store) as reader:
        listed = {key: each["pay"] for key, each in reader.listed_objects("jobs").items()}
        columns = reader.pages()
        kept = {page: reader.versions(page) for page in range(len(columns.rule))}
    return listed, {
        page: versions[-1].digest.hex()
        for page, versions in kept.items()
        if versions and columns.status[page] in _THERE and columns.rule[page] != NO_RULE
    }


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1]), int(sys.argv[2])))
