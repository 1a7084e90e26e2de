"""A site on the public network tries to lead a crawl to this machine, or in circles.

No test asks anybody on the public network: a relay hands requests for one made-up site to a server
on loopback, and leaves all others to the real fetcher.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from recrawl.crawl.running import running
from recrawl.parse.addresses import canonical
from recrawl.parse.messages import Request
from recrawl.settings.rules import Rule
from tests.crawl.crawls import (
    LIMITS,
    crawl_once,
    outcomes,
    real_time,
    settings,
    site,
    store_in,
)
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

PUBLIC = "http://public.test"
# Spellings of this machine; each leads to the port of a server that must not be asked.
HERE = (
    *("127.0.0.1", "127.1", "127.0.0.2", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1"),
    *("localhost", "localhost.", "LOCALHOST", "%31%32%37.0.0.1", "[::1]", "[::ffff:127.0.0.1]"),
    *("[0:0:0:0:0:0:0:1]", "0.0.0.0", "0", "[::]"),  # noqa: S104 - where nobody listens
)


class Relay:
    """Fetches the pages of the public site from a server on loopback, and all else as it is.

    Args:
        fetcher: What fetches.
        server: Where the public site is.
    """

    def __init__(self, fetcher, server):
        self._fetcher = fetcher
        self._server = server

    async def fetch(self, request, on_send=bool):
        if not request.address.startswith(PUBLIC + "/"):
            return await self._fetcher.fetch(request, on_send)
        address = self._server.address(request.address.removeprefix(PUBLIC))
        answer = await self._fetcher.fetch(Request(address, local=True), on_send)
        location = answer.headers.get("location", "")
        target = canonical(location, request.address) if answer.target else None
        return replace(answer, address=request.address, target=target or "")

    async def close(self):
        await self._fetcher.close()


async def relayed(tmp_path, asked, public):
    """Visits of one crawl for which a server on loopback is the public site."""
    told: list[PageVisit] = []
    store, clock = store_in(tmp_path), real_time()
    relay = partial(Relay, server=public)
    async with running(
        asked, store, clock, on_visit=told.append, limits=LIMITS, record=relay, seed=1
    ) as crawler:
        async with asyncio.timeout(HANGS_SECONDS):
            await crawler.run(once=True, found=lambda *_: None)
    return told


def crawled(tmp_path, pages):
    """Visits of one crawl of the public site, and how often this machine was asked.

    Args:
        tmp_path: Where the store is.
        pages: Makes the pages of the public site, from a port of this machine.
    """

    async def crawl():
        async with FaultServer() as public, FaultServer({"/": answers.page(b"here")}) as here:
            public.pages |= pages(here.port)
            told = await relayed(tmp_path, settings(Rule(PUBLIC + "/", links=3)), public)
            return told, here.connections

    return asyncio.run(crawl())


@pytest.mark.parametrize("spelling", HERE)
def test_a_rule_that_is_not_local_leads_to_no_machine_of_ours(tmp_path, spelling):
    async def crawl():
        async with FaultServer({"/": answers.page(b"here")}) as here:
            address = canonical(f"http://{spelling}:{here.port}/")
            assert address is not None
            told = await crawl_once(tmp_path, settings(Rule(address)))
            return told, here.connections

    assert asyncio.run(crawl()) == ([], 0)


def test_redirects_of_the_public_network_lead_to_no_machine_of_ours(tmp_path):
    def pages(port):
        to_here = {
            f"/{number}": answers.redirect(f"http://{spelling}:{port}/", 302 if number % 2 else 301)
            for number, spelling in enumerate(HERE)
        }
        links = "".join(f"<a href={path}>" for path in to_here).encode()
        return to_here | {"/": answers.page(links), "/last": answers.page(b"last")}

    told, connections = crawled(tmp_path, pages)
    visited = {visit.address.removeprefix(PUBLIC): visit for visit in told}

    assert connections == 0
    assert visited.pop("/").outcome.label == "first"
    assert {visit.outcome.label for visit in visited.values()} == {"failed"}
    refused = "is not a public address", "host not found"
    details = [visit.response.detail for visit in visited.values()]
    assert all(any(each in detail for each in refused) for detail in details)


def _feed(here):
    return f"<link rel=alternate type=application/rss+xml href={here}/feed>".encode()


def _entries(here):
    entry = f"<url><loc>{here}/</loc></url>"
    return f"<!DOCTYPE urlset SYSTEM '{here}/dtd'><urlset>{entry}</urlset>".encode()


@pytest.mark.parametrize(
    "told_by",
    [
        lambda here: {"/robots.txt": answers.redirect(f"{here}/robots.txt", 302)},
        lambda here: {"/robots.txt": answers.status(200, f"Sitemap: {here}/s.xml".encode())},
        lambda here: {"/sitemap.xml": answers.redirect(f"{here}/sitemap.xml", 302)},
        lambda here: {"/sitemap.xml": answers.status(200, _entries(here))},
        lambda here: {"/": answers.page(_feed(here))},
    ],
    ids=["robots", "named-sitemap", "moved-sitemap", "entries", "feed"],
)
def test_nothing_that_tells_of_pages_leads_to_a_machine_of_ours(tmp_path, told_by):
    told, connections = crawled(
        tmp_path,
        lambda port: {"/": answers.page(b"home")} | told_by(f"http://localhost:{port}"),
    )

    assert connections == 0
    assert set(outcomes(told)) <= {"first"}


def test_a_stranger_does_not_keep_a_crawl_from_a_site_of_ours(tmp_path):
    """What may not be asked for a stranger's sake says nothing of the host that was meant."""

    async def crawl():
        async with FaultServer() as public, FaultServer({"/": answers.page(b"here")}) as here:
            public.pages["/"] = answers.redirect(here.address("/"), 302)
            stranger = Rule(PUBLIC + "/")
            await relayed(tmp_path, settings(stranger), public)
            assert here.connections == 0
            await relayed(tmp_path, settings(stranger, site(here)), public)
            return here.asked("/")

    assert asyncio.run(crawl()) != []


def test_pages_that_move_for_ever_are_no_way_around_the_depth(tmp_path):
    """A page that has moved is no nearer to where a person began than the link that led there."""

    async def crawl():
        chain = {f"/{n}": answers.redirect(f"/{n + 1}", 301) for n in range(60)}
        home = {"/": answers.page(b"<a href=/0>")}
        async with FaultServer(home | chain) as server:
            await crawl_once(tmp_path, settings(site(server, links=2)))
            return len(server.requests)

    assert asyncio.run(crawl()) < 20
