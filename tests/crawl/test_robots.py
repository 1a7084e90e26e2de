"""What hosts allow, asked of real ones."""

import asyncio

import pytest

from recrawl.store import open_store
from tests.crawl.crawls import crawl_once, outcomes, page_rule, settings, site
from tests.servers import answers
from tests.servers.faults import FaultServer

PAGE = answers.page(b"<p>a page</p>")


def crawled(tmp_path, robots, **more):
    """Visits to a site with such a robots.txt, and paths asked for."""

    async def crawl():
        pages = {"/": PAGE, "/private": PAGE, "/robots.txt": robots} | more
        async with FaultServer(pages) as server:
            told = await crawl_once(tmp_path, settings(site(server)))
            return told, [seen.path for seen in server.requests]

    return asyncio.run(crawl())


@pytest.mark.parametrize("robots", [answers.status(404), answers.status(403), answers.status(410)])
def test_without_robots_everything_is_allowed(tmp_path, robots):
    told, _ = crawled(tmp_path, robots)

    assert outcomes(told) == ["first"]


def test_with_a_mark_at_its_beginning_it_is_read(tmp_path):
    body = b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /sitemap.xml\r\n"

    told, asked = crawled(tmp_path, answers.status(200, body))

    assert outcomes(told) == ["first"]
    assert "/sitemap.xml" not in asked


def test_what_is_forbidden_is_never_asked_for(tmp_path):
    told, asked = crawled(tmp_path, answers.status(200, b"User-agent: *\nDisallow: /"))

    assert told == []
    assert asked == ["/robots.txt"]


@pytest.mark.parametrize(
    "robots",
    [answers.status(500), answers.status(503), answers.never(), answers.hang_up()],
    ids=["500", "503", "never", "hang up"],
)
def test_a_host_in_trouble_is_left_alone(tmp_path, robots):
    """It is asked once, by whoever looks for its pages, and then not for an hour."""
    told, asked = crawled(tmp_path, robots)

    assert told == []
    assert asked == ["/robots.txt"]


def test_a_host_in_trouble_is_left_alone_after_a_restart(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE}) as server:
            asked = settings(site(server))
            first = await crawl_once(tmp_path, asked)
            server.pages["/robots.txt"] = answers.status(500)
            with open_store(tmp_path / "recrawl.db") as reader:
                (read,) = reader.robots_read()
            return outcomes(first), read.http

    assert asyncio.run(crawl()) == (["first"], 404)


def test_it_may_be_at_another_host(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE, "/no": PAGE}) as server, FaultServer() as other:
            other.pages["/rules"] = answers.status(200, b"User-agent: *\nDisallow: /no")
            server.pages["/robots.txt"] = answers.redirect(other.address("/rules"))
            server.pages["/sitemap.xml"] = answers.status(
                200, server.address("/no").encode(), content_type="text/plain"
            )
            rules = page_rule(other, "/rules", interval=None)
            told = await crawl_once(tmp_path, settings(site(server), rules))
            return outcomes(told), other.asked("/rules"), server.asked("/no")

    found, rules, forbidden = asyncio.run(crawl())

    assert set(found) == {"first"}
    assert rules
    assert not forbidden


def test_a_site_of_ours_leads_to_no_other_on_this_machine(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE}) as server, FaultServer() as other:
            server.pages["/robots.txt"] = answers.redirect(other.address("/rules"))
            await crawl_once(tmp_path, settings(site(server)))
            return other.connections

    assert asyncio.run(crawl()) == 0


def test_two_hosts_whose_robots_are_at_each_other_do_not_wait_for_ever(tmp_path):
    async def crawl():
        async with FaultServer({"/": PAGE}) as one, FaultServer({"/": PAGE}) as other:
            one.pages["/robots.txt"] = answers.late(answers.redirect(other.address("/r")), 0.1)
            other.pages["/robots.txt"] = answers.late(answers.redirect(one.address("/r")), 0.1)
            return await crawl_once(tmp_path, settings(site(one), site(other)))

    assert outcomes(asyncio.run(crawl())) == ["first", "first"]


def test_it_is_asked_for_once_however_many_want_to_know(tmp_path):
    async def crawl():
        names = [f"/{number}" for number in range(30)]
        async with FaultServer(dict.fromkeys(names, PAGE)) as server:
            server.pages["/robots.txt"] = answers.late(answers.status(404), 0.2)
            asked = settings(*(site(server, name, exact=True) for name in names), together=10)
            told = await crawl_once(tmp_path, asked)
            return outcomes(told), len(server.asked("/robots.txt"))

    assert asyncio.run(crawl()) == (["first"] * 30, 1)
