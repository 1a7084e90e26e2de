"""A crawl ends when it is told to, whatever servers do."""

import asyncio
import os
import time
from typing import TYPE_CHECKING

import pytest

from recrawl.crawl import crawler as crawler_module
from recrawl.crawl.running import running
from recrawl.errors import CannotWrite, StoreFull
from recrawl.fetch.fetcher import Limits
from recrawl.store.sqlite.reader import Reader
from tests.crawl.crawls import crawling, page_rule, real_time, settings, site, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

PATIENT = Limits(connect_seconds=60, idle_seconds=60, total_seconds=60)


async def stopped(tmp_path, server, times=1):
    """Seconds that a crawl of a server takes to end, after its first request has come."""
    asked = settings(site(server, links=1))
    async with running(asked, store_in(tmp_path), real_time(), limits=PATIENT, seed=1) as crawler:
        crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
        await server.wait_for(len(server.requests) + 1)
        await asyncio.sleep(0.2)
        began = time.monotonic()
        for _ in range(times):
            crawler.stop()
            await asyncio.sleep(0.05)
        await crawl
        return time.monotonic() - began


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/"])
def test_a_silent_server_does_not_hold_up_the_end(tmp_path, path):
    async def crawl():
        pages = {"/": answers.page(b"a page")} | {path: answers.never()}
        async with FaultServer(pages) as server:
            return await stopped(tmp_path, server)

    assert asyncio.run(crawl()) < crawler_module.GRACE_SECONDS + 1


def test_a_second_stop_waits_for_nothing(tmp_path):
    async def crawl():
        async with FaultServer({"/p": answers.never()}) as server:
            asked = settings(page_rule(server, "/p"))
            async with running(
                asked, store_in(tmp_path), real_time(), limits=PATIENT, seed=1
            ) as crawler:
                crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
                await server.wait_for(2)
                began = time.monotonic()
                crawler.stop()
                await asyncio.sleep(0.05)
                crawler.stop()
                await crawl
                return time.monotonic() - began

    assert asyncio.run(crawl()) < 1


def test_a_visit_that_was_given_up_is_made_by_the_next_crawl(tmp_path):
    async def crawl():
        told: list[PageVisit] = []
        async with FaultServer({"/p": answers.never()}) as server:
            asked = settings(page_rule(server, "/p"))
            async with running(
                asked, store_in(tmp_path), real_time(), limits=PATIENT, seed=1
            ) as crawler:
                crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
                await server.wait_for(2)
                crawler.stop()
                crawler.stop()
                await crawl
            server.pages["/p"] = answers.page(b"a page")
            async with crawling(tmp_path, asked, real_time(), told.append) as crawler:
                await crawler.run(once=True)
        return [visit.outcome.label for visit in told]

    assert asyncio.run(crawl()) == ["first"]


def test_who_watches_and_fails_ends_the_crawl(tmp_path):
    def fail(visit):
        raise CannotWrite("log must have room")

    async def crawl():
        async with (
            FaultServer({"/": answers.page(b"a page")}) as server,
            crawling(tmp_path, settings(page_rule(server)), real_time(), fail) as crawler,
        ):
            await crawler.run(found=lambda *_: None)

    with pytest.raises(CannotWrite):
        asyncio.run(asyncio.wait_for(crawl(), 20))


def test_a_full_disk_ends_the_crawl_and_keeps_what_was_told(tmp_path):
    told: list[PageVisit] = []

    async def crawl():
        names = [f"/{number}" for number in range(200)]
        pages = {name: answers.page(os.urandom(5_000).hex().encode()) for name in names}
        async with FaultServer(pages) as server:
            rules = [page_rule(server, name) for name in names]
            async with crawling(tmp_path, settings(*rules), real_time(), told.append) as crawler:
                connection = crawler._writer._store._connection
                pages = connection.execute("pragma page_count").get
                connection.execute(f"pragma max_page_count = {pages + 12}")
                await crawler.run(found=lambda *_: None)

    with pytest.raises(StoreFull, match="there must be room to write"):
        asyncio.run(asyncio.wait_for(crawl(), 30))

    with Reader(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == len(told)
