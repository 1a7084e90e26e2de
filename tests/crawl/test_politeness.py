"""Politeness, from the server's own record of who asked when."""

import asyncio
import time
from itertools import pairwise
from typing import Any

import pytest

from recrawl.clock import ScaledClock
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY, http_text
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

PAGE = answers.page(b"<p>a page</p>")
EARLY = 0.005  # seconds: the two ends of a connection do not look at a clock at the same instant


def sitemap_of(server, *paths):
    body = "\n".join(map(server.address, paths)).encode()
    return answers.status(200, body, content_type="text/plain")


def test_requests_of_all_kinds_keep_their_distance(tmp_path):
    """Robots.txt, a sitemap, a feed, redirects and pages alike."""

    async def crawl():
        names = [f"/{number}" for number in range(6)]
        async with FaultServer(dict.fromkeys(names, PAGE)) as server:
            feed = "<link rel=alternate type=application/rss+xml href=/feed>"
            server.pages["/"] = answers.page(feed.encode())
            server.pages["/feed"] = answers.page(b"<rss></rss>")
            server.pages["/robots.txt"] = answers.redirect("/rules", 302)
            server.pages["/3"] = answers.redirect("/4?again", 302)
            server.pages["/sitemap.xml"] = sitemap_of(server, *names)
            await crawl_once(tmp_path, settings(site(server), delay=0.1 * SECOND))
            return server

    server = asyncio.run(crawl())

    paths = [seen.path for seen in server.requests]
    assert {"/robots.txt", "/sitemap.xml", "/feed", "/0", "/5", "/4?again"} <= set(paths)
    assert min(server.gaps()) >= 0.1 - EARLY


def test_a_slow_host_is_not_asked_before_it_has_answered(tmp_path):
    async def crawl():
        names = [f"/{number}" for number in range(3)]
        slow = answers.late(PAGE, 0.3)
        async with FaultServer(dict.fromkeys(names, slow)) as server:
            rules = [page_rule(server, name, interval=9.0) for name in names]
            await crawl_once(tmp_path, settings(*rules, delay=0.05 * SECOND))
            return [seen.at for seen in server.requests if seen.path != "/robots.txt"]

    assert min(b - a for a, b in pairwise(asyncio.run(crawl()))) >= 0.3


@pytest.mark.parametrize("together", [1, 4])
def test_no_more_than_so_many_requests_are_under_way_at_once(tmp_path, together):
    under_way, most, reached = 0, 0, asyncio.Event()

    async def counted(wire):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if most == together:
            reached.set()
        await reached.wait()
        await asyncio.sleep(0.05)  # one too many would come
        under_way -= 1
        await PAGE(wire)

    async def crawl():
        names = [f"/{number}" for number in range(12)]
        async with FaultServer(dict.fromkeys(names, counted)) as server:
            rules = [page_rule(server, name, interval=9.0) for name in names]
            return await crawl_once(tmp_path, settings(*rules, together=together, delay=0.0))

    assert len(asyncio.run(crawl())) == 12
    assert most == together


def test_the_delay_that_a_host_asks_for_is_kept(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE, "/1": PAGE}) as server:
            server.pages["/robots.txt"] = answers.status(200, b"User-agent: *\nCrawl-delay: 0.4")
            server.pages["/sitemap.xml"] = sitemap_of(server, "/1")
            await crawl_once(tmp_path, settings(site(server)))
            return server

    server = asyncio.run(crawl())

    assert {"/", "/1"} <= {seen.path for seen in server.requests}
    assert min(server.gaps()) >= 0.4 - EARLY


def test_a_host_that_asks_for_long_pauses_does_not_hold_up_the_stop(tmp_path):
    """Its robots.txt came; the page is for an hour later, and no visit waits for that.

    An hour is longer than `crawl_once` lets anything hang.
    """

    async def crawl():
        async with FaultServer({"/": PAGE}) as server:
            server.pages["/robots.txt"] = answers.status(200, b"User-agent: *\nCrawl-delay: 3600")
            told = await crawl_once(tmp_path, settings(page_rule(server)))
            return told, [seen.path for seen in server.requests]

    told, asked = asyncio.run(crawl())

    assert told == []
    assert asked == ["/robots.txt"]


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("kind", ["seconds", "date"])
def test_a_host_is_left_alone_as_long_as_it_says(tmp_path, code, kind):
    """Also by those who look for pages, and after a restart."""
    hour = "3600" if kind == "seconds" else http_text(START * SECONDS_A_DAY + 3600)

    async def crawl():
        async with FaultServer({"/a": answers.status(code, retry_after=hour)}) as server:
            asked = settings(page_rule(server, "/a"), page_rule(server, "/b"))
            first = await crawl_once(tmp_path, asked)
            count = len(server.requests)
            with open_store(tmp_path / "recrawl.db") as reader:
                until = next(iter(reader.hosts())).blocked_until_seconds
            again = await crawl_once(tmp_path, settings(*asked.rules, site(server)))
            return first, again, count, len(server.requests), until

    first, again, before, after, until = asyncio.run(crawl())

    assert outcomes(first) in (["failed"], ["gone", "failed"])
    assert again == []
    assert after == before
    assert until == pytest.approx(START * SECONDS_A_DAY + 3600, abs=5)


def test_a_sitemap_too_may_ask_to_be_left_alone(tmp_path):
    async def crawl():
        busy = answers.status(429, retry_after="3600")
        async with FaultServer({"/": PAGE, "/one.xml": busy}) as server:
            named = [server.address(path) for path in ("/one.xml", "/two.xml")]
            robots = "".join(f"Sitemap: {each}\n" for each in named).encode()
            server.pages["/robots.txt"] = answers.status(200, robots)
            async with crawling(tmp_path, settings(site(server)), real_time()) as crawler:
                found = await crawler.discover(0, patience=0.01)
            return found.remarks, [seen.path for seen in server.requests]

    remarks, asked = asyncio.run(crawl())

    assert asked == ["/robots.txt", "/", "/one.xml"]
    assert remarks[-1].endswith("its host wants to be left alone for now")


def test_a_page_that_leads_to_a_host_that_is_left_alone_waits_for_it(tmp_path):
    async def crawl():
        async with FaultServer() as one, FaultServer() as other:
            one.pages["/p"] = answers.redirect(other.address("/q"), 302)
            other.pages["/busy"] = answers.status(503, retry_after="3600")
            await crawl_once(tmp_path, settings(page_rule(other, "/busy")))
            count = len(other.requests)
            rules = page_rule(other, "/busy"), page_rule(one, "/p")
            told = await crawl_once(tmp_path, settings(*rules))
            return told, len(one.asked("/p")), len(other.requests) - count

    assert asyncio.run(crawl()) == ([], 1, 0)


@pytest.mark.parametrize("far", [False, True], ids=["on its host", "on another host"])
def test_a_redirect_to_a_host_that_wants_long_pauses_is_followed_later(tmp_path, far):
    """Not begun anew after each pause: that would ask for ever, and never visit."""
    pause = answers.status(200, b"User-agent: *\nCrawl-delay: 600")  # longer than a visit waits

    async def crawl():
        async with FaultServer() as one, FaultServer({"/b": PAGE}) as two:
            other = two if far else one
            other.pages |= {"/robots.txt": pause, "/b": PAGE}

            async def redirected(wire):
                if len(one.asked("/a")) > 3:
                    crawler.stop()
                await answers.redirect(other.address("/b"), 302)(wire)

            def tell(visit):
                if visit.address == one.address("/a"):
                    told.append(visit)
                    crawler.stop()

            told: list[Any] = []
            one.pages["/a"] = redirected
            asked = settings(page_rule(one, "/a", interval=9.0), *([site(other)] if far else []))
            clock = ScaledClock(50.0, START)  # 600 s pass in 0.35 s
            async with crawling(tmp_path, asked, clock, tell) as crawler:
                await crawler.run(found=lambda *_: None)
            return outcomes(told), len(one.asked("/a")), len(other.asked("/b"))

    assert asyncio.run(crawl()) == (["first"], 1, 1)


def test_the_next_crawl_does_not_ask_at_once(tmp_path):
    """What was asked a moment before the end may not be written down."""

    async def crawl():
        async with FaultServer({"/": PAGE}) as server:
            asked = settings(page_rule(server, interval=0.1 * SECOND), delay=0.5 * SECOND)
            await visits(tmp_path, asked, 1, real_time())
            before, began = len(server.requests), time.monotonic()
            await visits(tmp_path, asked, 1, real_time())
            return server.requests[before].at - began

    assert asyncio.run(crawl()) >= 0.5 - EARLY


def test_the_delay_that_a_host_asked_for_is_kept_across_a_restart(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE}) as server:
            server.pages["/robots.txt"] = answers.status(200, b"User-agent: *\nCrawl-delay: 0.7")
            asked = settings(page_rule(server, interval=0.1 * SECOND))
            await visits(tmp_path, asked, 1, real_time())
            await visits(tmp_path, asked, 1, real_time())
            return server.gaps()

    assert min(asyncio.run(crawl())) >= 0.7 - EARLY


def test_what_is_not_said_to_be_local_is_never_connected_to(tmp_path):
    """Not even a first connection: neither for robots.txt nor for the page."""

    async def crawl():
        async with FaultServer({"/": PAGE}) as server:
            remarks = []
            async with crawling(
                tmp_path, settings(page_rule(server, local=False)), real_time()
            ) as crawler:
                await crawler.run(once=True, found=lambda _, found: remarks.extend(found.remarks))
            return remarks, server.connections

    remarks, connections = asyncio.run(crawl())

    assert len(remarks) == 1
    assert "public address" in remarks[0]
    assert connections == 0


def test_a_reset_on_a_kept_connection_is_repeated_no_sooner_than_the_delay(tmp_path):
    """By the log of a server that resets every second request of a connection."""

    async def sometimes(wire):
        kept = sum(seen.connection == wire.request.connection for seen in wire.server.requests)
        await (PAGE if kept % 2 else answers.reset())(wire)

    async def crawl():
        names = [f"/{number}" for number in range(8)]
        async with FaultServer(dict.fromkeys(names, sometimes)) as server:
            rules = [page_rule(server, name, interval=9.0) for name in names]
            told = await crawl_once(tmp_path, settings(*rules, delay=0.2 * SECOND))
            return told, server

    told, server = asyncio.run(crawl())

    asked = [seen.path for seen in server.requests if seen.path != "/robots.txt"]
    assert outcomes(told) == ["first"] * 8
    assert len(asked) > 8  # some were repeated
    assert min(server.gaps()) >= 0.2 - EARLY


def test_a_redirect_to_a_port_of_another_service_is_not_followed(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.redirect("http://127.0.0.1:25/", 302)}) as server:
            return await crawl_once(tmp_path, settings(page_rule(server, interval=9.0)))

    (visit,) = asyncio.run(crawl())
    assert visit.outcome.label == "failed"
    assert "port 25 is not one that web servers use" in visit.response.detail


def test_a_sitemap_at_a_port_of_another_service_is_not_read(tmp_path):
    async def crawl():
        robots = answers.status(200, b"Sitemap: http://127.0.0.1:6667/sitemap.xml")
        async with (
            FaultServer({"/": PAGE, "/robots.txt": robots}) as server,
            crawling(tmp_path, settings(site(server)), real_time()) as crawler,
        ):
            return await crawler.discover(0)

    found = asyncio.run(crawl())
    assert any("port 6667 is not one that web servers use" in remark for remark in found.remarks)
