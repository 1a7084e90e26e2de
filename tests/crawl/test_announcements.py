"""What sitemaps say of changes, by hand and on real servers."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from recrawl.crawl.announcements import Announcements
from recrawl.crawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.detect.honesty import SITEMAP
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import LIMITS, START, settings, site, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer

DAY = SECONDS_A_DAY
NOON = 10.5 * DAY


def pages(count=1):
    heard = Announcements()
    heard.grow(count)
    return heard


def moved(heard, date, last, kind=1):
    news, late = heard.moved(np.array([0]), np.array([date]), kind, np.array([last]))
    return bool(news[0]), bool(late[0])


def test_a_date_that_moves_on_past_the_last_visit_is_news():
    heard = pages()

    assert moved(heard, NOON - DAY, last=NOON) == (False, False)
    assert moved(heard, NOON - DAY, last=NOON) == (False, False)
    assert moved(heard, NOON + 60, last=NOON) == (True, False)
    assert heard.visited(0, NOON + 90, changed=True) == (SITEMAP, {"right": 1.0})
    assert moved(heard, NOON + 60, last=NOON + 90) == (False, False)
    assert heard.visited(0, NOON + 99, changed=False) == (SITEMAP, {"wrong": 0.0})


def test_news_that_was_none_is_wrong():
    heard = pages()
    moved(heard, NOON, last=NOON - DAY)

    assert heard.visited(0, NOON, changed=False) == (SITEMAP, {"wrong": 1.0})


def test_a_change_that_was_found_before_it_was_announced_is_late_and_no_news():
    heard = pages()
    moved(heard, NOON - DAY, last=NOON - DAY / 2)
    assert heard.visited(0, NOON, changed=True) == (SITEMAP, {"silent": 1.0})
    heard.visited(0, NOON + 5, changed=False)

    assert moved(heard, NOON - 60, last=NOON) == (False, True)
    assert moved(heard, NOON - 60, last=NOON) == (False, False)


def test_a_day_without_a_time_is_late_or_news_and_not_both():
    heard = pages()
    moved(heard, 9 * DAY, last=9.2 * DAY)
    heard.visited(0, 10.4 * DAY, changed=True)

    assert moved(heard, 10 * DAY, last=10.6 * DAY) == (False, True)


def test_what_a_page_that_nobody_dates_does_is_no_word_of_its_host():
    """Dates that come later must not make up for silence that was never counted."""
    heard = pages()
    kind, _ = heard.visited(0, NOON, changed=True)

    assert kind == ""
    assert moved(heard, NOON - 60, last=NOON) == (False, False)


def test_what_was_said_is_kept():
    heard, again = pages(3), pages(5)
    moved(heard, NOON, last=NOON - DAY)

    again.resume(heard.kept())

    assert again.told.tolist() == [1, 0, 0, 0, 0]
    assert pages().kept() == {}


def sitemap_of(server, dates):
    entries = "".join(
        f"<url><loc>{server.address(path)}</loc><lastmod>{date}</lastmod></url>"
        for path, date in dates.items()
    )
    return answers.status(200, f"<urlset>{entries}</urlset>".encode(), content_type="text/xml")


@pytest.mark.parametrize("date", ["2999-01-01", "0001-01-01", "2024-10-04T12:00:00Z", "soon"])
def test_no_date_ends_a_crawl(tmp_path, date):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home"), "/a": answers.page(b"a")}) as server:
            server.pages["/sitemap.xml"] = sitemap_of(server, {"/": date, "/a": date})
            clock = ScaledClock(0.2, START)
            asked = settings(site(server))
            async with running(asked, store_in(tmp_path), clock, limits=LIMITS) as crawler:
                await crawler.run(until=START + 4, found=lambda *_: None)
                return crawler.tally.visits

    assert asyncio.run(crawl()) >= 2


def test_an_honest_sitemap_is_found_right(tmp_path):
    async def crawl():
        async with FaultServer() as server:
            clock = ScaledClock(0.3, START)
            paths = [f"/p{number}" for number in range(6)]

            async def page(wire):
                day = int(clock.now())
                await wire.answer(200, answers.HTML, f"<p>Today is day {day}.".encode())

            async def sitemap(wire):
                day = np.datetime64(int(clock.now()), "D")
                await sitemap_of(server, dict.fromkeys(paths, f"{day}T00:00:00Z"))(wire)

            server.pages |= dict.fromkeys(paths, page) | {"/sitemap.xml": sitemap}
            asked = settings(site(server))
            async with running(asked, store_in(tmp_path), clock, limits=LIMITS) as crawler:
                await crawler.run(until=START + 12, found=lambda *_: None)
                return crawler.crawl.trust.words(SITEMAP)

    (word,) = asyncio.run(crawl()).values()
    assert word.right > 3 * (word.wrong + 1)
