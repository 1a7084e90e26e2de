"""A crawl ends when it is told to, whatever servers do."""

import asyncio
from typing import TYPE_CHECKING

import pytest

from recrawl.crawl import crawler as crawler_module
from recrawl.crawl.running import running
from recrawl.errors import CannotWrite, StoreFull
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.host_slots import HostSlots
from recrawl.frontier.host_table import HostTable
from recrawl.store import open_store
from tests.crawl.crawls import crawling, page_rule, real_time, settings, site, store_in
from tests.noise import noise
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.store.sqlite.connection import connection_of
from tests.waiting import HANGS_SECONDS

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

DAY = 86_400.0
PATIENT = RequestLimits(connect_seconds=DAY, idle_seconds=DAY, total_seconds=DAY)


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/"])
def test_a_silent_server_does_not_hold_up_the_end(tmp_path, path):
    """It is given some seconds, and not the day that it could take."""

    async def crawl():
        pages = {"/": answers.page(b"a page")} | {path: answers.never()}
        async with FaultServer(pages) as server:
            asked, store = settings(site(server, links=1)), store_in(tmp_path)
            async with running(asked, store, real_time(), limits=PATIENT, seed=1) as crawler:
                crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
                while not server.asked(path):
                    await server.wait_for(len(server.requests) + 1)
                crawler.stop()
                await asyncio.wait_for(crawl, HANGS_SECONDS)

    asyncio.run(crawl())


def test_a_second_stop_waits_for_nothing(tmp_path, monkeypatch):
    """Not even for the seconds that a first one gives."""
    monkeypatch.setattr(crawler_module, "GRACE_SECONDS", DAY)

    async def crawl():
        async with FaultServer({"/p": answers.never()}) as server:
            asked = settings(page_rule(server, "/p"))
            async with running(
                asked, store_in(tmp_path), real_time(), limits=PATIENT, seed=1
            ) as crawler:
                crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
                await server.wait_for(2)
                crawler.stop()
                await asyncio.sleep(0.05)
                assert not crawl.done()
                crawler.stop()
                await asyncio.wait_for(crawl, HANGS_SECONDS)

    asyncio.run(crawl())


def test_whoever_waits_in_line_hears_of_the_end_although_the_turn_comes_in_that_moment():
    async def wait():
        hosts = HostTable(delay=0.0)
        host = hosts.add()
        slots = HostSlots(hosts, real_time(), bool)
        slot = await slots.acquire(host)
        waiting = asyncio.create_task(slots.acquire(host))
        await asyncio.sleep(0)  # it stands in line
        slots.release(slot)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(wait())


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
        asyncio.run(asyncio.wait_for(crawl(), HANGS_SECONDS))


def test_a_full_disk_ends_the_crawl_and_keeps_what_was_told(tmp_path):
    told: list[PageVisit] = []

    async def crawl():
        bodies = {f"/{number}": noise(5_000, number).hex() for number in range(200)}
        pages = {name: answers.page(body.encode()) for name, body in bodies.items()}
        async with FaultServer(pages) as server:
            rules = [page_rule(server, name) for name in bodies]
            async with crawling(tmp_path, settings(*rules), real_time(), told.append) as crawler:
                connection = connection_of(crawler._writer._store)
                pages = connection.execute("pragma page_count").get
                connection.execute(f"pragma max_page_count = {pages + 12}")
                await crawler.run(found=lambda *_: None)

    with pytest.raises(StoreFull, match="the disk is full"):
        asyncio.run(asyncio.wait_for(crawl(), HANGS_SECONDS))

    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == len(told)
