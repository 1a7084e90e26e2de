"""A crawl that is stopped and started again goes on as if it had not been."""

import asyncio
import time
from typing import TYPE_CHECKING

import apsw
import pytest

from recrawl.entries.entries import Checkpoint
from recrawl.plan.budget import Budget
from recrawl.store import open_for_writing, open_store
from recrawl.store.rows import checkpoints
from recrawl.store.sqlite.database import SqliteDatabase
from tests.crawl.crawls import (
    SECOND,
    START,
    crawl_once,
    crawling,
    outcomes,
    page_rule,
    real_time,
    settings,
    site,
    visits,
)
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

NAMES = [f"/s{number % 3}/{number}" for number in range(20)]


def changing():
    """A site whose pages change every fifth of a second, every second fifth, and so on."""
    began = time.monotonic()

    def page(every):
        async def behave(wire):
            version = int((time.monotonic() - began) * 5 / every)
            await answers.page(b"<p>%d</p>" % version)(wire)

        return behave

    return {name: page(number % 4 + 1) for number, name in enumerate(NAMES)}


def with_sitemap(server):
    body = "\n".join(map(server.address, NAMES)).encode()
    server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
    return server


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "learned again"])
def test_what_was_learnt_is_there_again(tmp_path, saved):
    """From what was saved, or from the visits alone where nothing was."""

    async def crawl():
        clock = PatientClock(1.0, START)
        async with FaultServer(changing()) as server:
            asked = settings(site(with_sitemap(server)), budget=Budget(100.0))
            async with crawling(tmp_path, asked, clock) as crawler:
                await crawler.run(until=START + 4, found=lambda *_: None)
                before = crawler.crawl.expected_fresh(START + 5)
            if not saved:
                with open_for_writing(tmp_path / "recrawl.db") as store:
                    store.write([Checkpoint({}, visit=0)])
            async with crawling(tmp_path, asked, clock) as crawler:
                return before, crawler.crawl.expected_fresh(START + 5)

    before, after = asyncio.run(crawl())

    assert before[1] == after[1] == len(NAMES)
    tolerance = 1e-4 if saved else 0.05  # visits are learned from in other batches
    assert after[0] / after[1] == pytest.approx(before[0] / before[1], abs=tolerance)


def test_a_budget_holds_across_restarts(tmp_path):
    async def crawl():
        clock = PatientClock(20.0, START)
        told: list[PageVisit] = []
        async with FaultServer(changing()) as server:
            asked = settings(site(with_sitemap(server)), budget=Budget(10.0))
            for part in range(1, 5):
                async with crawling(tmp_path, asked, clock, told.append) as crawler:
                    await crawler.run(until=START + part * 0.05, found=lambda *_: None)
        return told

    assert len(asyncio.run(crawl())) == 10


def test_failures_and_their_set_times_are_kept(tmp_path):
    async def crawl():
        async with FaultServer({"/p": answers.status(500)}) as server:
            asked = settings(page_rule(server, "/p"))
            first = await crawl_once(tmp_path, asked)
            async with crawling(tmp_path, asked, real_time()) as crawler:
                agenda = crawler.crawl.agenda
                return outcomes(first), agenda.failures(0), agenda.set_time(0) - START

    found, failures, wait = asyncio.run(crawl())

    assert found == ["failed"]
    assert failures == 1
    assert 9 / 1440 < wait < 11 / 1440


def test_a_page_with_an_interval_is_not_visited_at_once(tmp_path):
    async def crawl():
        async with FaultServer({"/p": answers.page(b"a page")}) as server:
            asked = settings(page_rule(server, "/p", interval=1.0))
            first = await crawl_once(tmp_path, asked)
            again = await crawl_once(tmp_path, asked)
            shorter = settings(page_rule(server, "/p", interval=0.3 * SECOND))
            third = await visits(tmp_path, shorter, 1, real_time())
            return outcomes(first), outcomes(again), outcomes(third)

    assert asyncio.run(crawl()) == (["first"], [], ["same"])


def test_pages_of_a_site_that_was_removed_are_not_visited_and_not_lost(tmp_path):
    async def crawl():
        pages = {"/a": answers.page(b"a"), "/b": answers.page(b"b")}
        async with FaultServer(pages) as server:
            a = page_rule(server, "/a", interval=0.1 * SECOND)
            b = page_rule(server, "/b", interval=0.1 * SECOND)
            await crawl_once(tmp_path, settings(page_rule(server, "/a"), page_rule(server, "/b")))
            count = len(server.asked("/b"))
            told = await visits(tmp_path, settings(a), 3, real_time())
            asked = len(server.asked("/b")) - count
            both = await visits(tmp_path, settings(b, a), 6, real_time())
            return {visit.address[-1] for visit in told}, asked, both

    told, asked, both = asyncio.run(crawl())

    assert told == {"a"}
    assert asked == 0
    assert {visit.address[-1] for visit in both} == {"a", "b"}
    assert set(outcomes(both)) == {"same"}


def test_a_budget_for_each_page_does_not_count_pages_without_a_rule(tmp_path):
    async def crawl():
        async with FaultServer(changing()) as server:
            await crawl_once(tmp_path, settings(site(with_sitemap(server))))
            asked = settings(site(server, "/s0/"), budget=Budget(2.0, "page"))
            async with crawling(tmp_path, asked) as crawler:
                return crawler.crawl.agenda.budget_pool(0).bucket.visits_a_day

    in_s0 = sum(name.startswith("/s0/") for name in NAMES)
    assert asyncio.run(crawl()) == 2.0 * in_s0


def test_settings_that_come_back_find_the_rules_of_pages_again(tmp_path):
    """Even if the crawl in between ended before it had saved anything."""

    async def crawl():
        pages = {"/a": answers.page(b"a"), "/b/c": answers.page(b"c")}
        async with FaultServer(pages) as server:
            server.pages["/sitemap.xml"] = answers.status(
                200, server.address("/b/c").encode(), content_type="text/plain"
            )
            one = settings(site(server), budget=Budget(1e6))
            other = settings(site(server, "/b/"), site(server, "/"))
            await crawl_once(tmp_path, one)
            async with crawling(tmp_path, other):
                pass  # neither visits nor savings
            async with crawling(tmp_path, one):
                pass
        with open_store(tmp_path / "recrawl.db") as reader:
            return reader.pages().rule.tolist()

    assert asyncio.run(crawl()) == [0, 0]


def test_a_site_is_looked_at_once_a_day_however_often_a_crawl_is_started(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            asked = settings(site(server))
            for _ in range(3):
                await crawl_once(tmp_path, asked)
            return len(server.asked("/sitemap.xml"))

    assert asyncio.run(crawl()) == 1


def test_two_sites_of_one_host_share_what_is_asked(tmp_path):
    async def crawl():
        pages = dict.fromkeys(["/a/", "/b/", "/a/1", "/b/1"], answers.page(b"a page"))
        async with FaultServer(pages) as server:
            body = "\n".join(map(server.address, ["/a/1", "/b/1"])).encode()
            server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
            told = await crawl_once(tmp_path, settings(site(server, "/a/"), site(server, "/b/")))
            return len(told), len(server.asked("/sitemap.xml"))

    assert asyncio.run(crawl()) == (4, 1)


def test_a_crawl_that_is_killed_again_and_again_reads_a_sitemap_once(tmp_path):
    """When sites were looked at is written down as it happens, not with a checkpoint."""

    async def crawl():
        async with FaultServer({"/": answers.page(b"a page")}) as server:
            asked = settings(site(server))
            for _ in range(3):
                await crawl_once(tmp_path, asked)
                forget_checkpoint(tmp_path / "recrawl.db")
            return [seen.path for seen in server.requests].count("/sitemap.xml")

    assert asyncio.run(crawl()) == 1


def forget_checkpoint(path):
    """As a kill before the first one leaves a store."""
    connection = apsw.Connection(str(path))
    checkpoints.forget(SqliteDatabase(connection))
    connection.close()
