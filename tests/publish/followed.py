"""A site that changes all the time, and a crawl of it until told to stop.

    followed.py FOLDER                 keeps ten versions of a page
    followed.py FOLDER --listed        keeps one, and writes down which chunks each copy has

Pages change every third of a second: sections are edited, come, go and change places. Some pages
are gone, or have moved, for a while. A day of the crawl passes in a second.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.store import open_store
from recrawl.visits.status import PageStatus
from tests.crawl.crawls import LIMITS, START, page_rule, settings
from tests.servers import answers
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    from tests.servers.faults import Behaviour, Wire

PAGES = 12
_SPELL_SECONDS = 0.3


def words(spell: int, part: int) -> str:
    """A text that differs in every word from that of another spell."""
    return " ".join(f"w{spell}x{part}y{each}" for each in range(30))


def changing(number: int) -> Behaviour:
    """A page by the time: another text in each spell, gone in some, elsewhere in others."""

    async def behave(wire: Wire) -> None:
        spell = int(time.monotonic() / _SPELL_SECONDS) + number
        sections = [
            f"<h2>Part {part}</h2><p>{words(spell // (1 + part), part)}"
            for part in range(4)
            if (spell + part) % 5
        ]
        if spell % 2:
            sections.reverse()
        text = f"<p>{words(spell, 9)}{''.join(sections)}"
        found = answers.page(f"<main><h1>Page {number}</h1>{text}</main>".encode())
        if PAGES // 2 <= number < PAGES - 1 and spell % 6 in (3, 4):
            found = answers.status(404, b"<p>no such page</p>")
        elif number == PAGES - 1 and spell % 6 == 5:
            found = answers.redirect("/0")
        await found(wire)

    return behave


async def crawl(folder: Path, **more: Any) -> None:
    """Crawl until a signal comes; what else the settings ask for."""
    async with FaultServer({f"/{number}": changing(number) for number in range(PAGES)}) as server:
        rules = [page_rule(server, f"/{number}", interval=0.15) for number in range(PAGES)]
        asked, path = settings(*rules, together=4, **more), folder / "recrawl.db"
        async with running(
            asked, path, ScaledClock(1.0, START), on_visit=bool, limits=LIMITS, seed=1
        ) as crawler:
            crawler.crawl.trust.audited = False  # what differs has changed
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, crawler.stop)
            print("ready", flush=True)  # noqa: T201 - whoever started us waits for it
            await crawler.run(found=lambda *_: None)


def truth_of(store: Path) -> tuple[dict[int, str], dict[str, str]]:
    """Newest version of each page that has a copy, by what the crawl keeps: not by its feed.

    Beside it the kind of each event of the feed, by its cursor.
    """
    with open_store(store) as reader:
        feed = reader.feed_range().feed
        status = reader.pages().status.tolist()
        kept = {page: reader.versions(page) for page in range(len(status))}
        events = {
            f"{feed}-{event.number}": event.kind.label
            for batch in reader.events()
            for event in batch
        }
    there = (PageStatus.COPIED, PageStatus.SUSPECTED)
    found = {
        page: versions[-1].digest.hex()
        for page, versions in kept.items()
        if versions and status[page] in there
    }
    return found, events


if __name__ == "__main__":
    listed = {"versions": 1, "feed_chunks": True} if "--listed" in sys.argv else {}
    asyncio.run(crawl(Path(sys.argv[1]), **listed))
