"""A crawl that stops when nothing is due visits the pages that hints name first."""

import asyncio

from recrawl.plan.budget import Budget
from recrawl.store import add_hints
from tests.crawl.crawls import crawl_once, crawling, real_time, settings, site, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS


def test_a_crawl_is_not_done_before_it_knows_what_it_has_written(tmp_path):
    """A new page is on disk a moment before the schedule has it; the crawl may look in between."""
    done = []

    async def crawl() -> int:
        pages = {"/": answers.page(b"home"), "/new": answers.page(b"new")}
        async with FaultServer(pages) as server:
            asked = settings(site(server), budget=Budget(10.0))  # "/" is not due again
            await crawl_once(tmp_path, asked)
            add_hints(store_in(tmp_path), [server.address("/new")], at_seconds=0.0)
            async with crawling(tmp_path, asked, real_time()) as crawler:

                def look() -> None:
                    now, agenda = crawler._clock.now(), crawler.crawl.agenda
                    done.append(crawler._is_done(now, agenda.ready(now)))

                crawler._writer.on_commit = look
                async with asyncio.timeout(HANGS_SECONDS):
                    await crawler.run(once=True)
            return len(server.asked("/new"))

    assert asyncio.run(crawl()) == 1
    assert done[0] is False
