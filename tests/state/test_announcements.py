"""What sitemaps say of changes, by hand and on real servers."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from recrawl.crawl.running import running
from recrawl.detect.reliability import SITEMAP
from recrawl.entries.sources import Source, SourceKind
from recrawl.state.announcements import Announcements, hear
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import LIMITS, START, settings, site, store_in
from tests.inspect.looked import BEGAN, made, opened
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

DAY = SECONDS_A_DAY
NOON = 10.5 * DAY


def pages(count=1):
    heard = Announcements()
    heard.grow(count)
    return heard


def moved(heard, date, last, kind=1):
    if not heard.of_kind(np.array([0]), kind).all():
        return None
    news, late = heard.moved(np.array([0]), np.array([date]), np.array([last]))
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


def test_what_a_feed_names_first_is_news_all_the_same_where_the_sitemap_dates_the_page():
    """The sitemap could not be read on the day on which the page changed."""
    heard = pages()
    assert moved(heard, NOON - DAY, last=NOON) == (False, False)

    assert moved(heard, NOON + 60, last=NOON, kind=2) is None
    assert moved(heard, NOON + 60, last=NOON) == (True, False)


def test_a_feed_is_silent_about_pages_as_far_as_it_reaches_back():
    """It has named pages 0 and 1, and names page 2 from then on."""
    heard = pages(3)

    def read(named, now, oldest):
        return heard.read("/feed", np.array(named), now, oldest).tolist()

    assert read([0, 1], NOON, NOON - DAY) == []  # for the first time
    assert read([2], NOON + DAY, NOON - DAY) == [0, 1]
    # So many entries are new that some may be left out: until it reaches back, nothing is silent.
    assert read([2], NOON + 2 * DAY, NOON + 1.5 * DAY) == []
    assert heard.read_again("/feed", NOON + 2.5 * DAY).tolist() == []
    assert read([2], NOON + 3 * DAY, NOON + 1.5 * DAY) == []
    assert read([2], NOON + 4 * DAY, NOON + 0.5 * DAY) == [0, 1]


def test_a_feed_says_nothing_of_what_another_names():
    heard = pages(3)
    heard.read("/one", np.array([0]), NOON, NOON - DAY)
    heard.read("/two", np.array([1]), NOON, NOON - DAY)

    assert heard.read("/one", np.array([2]), NOON + DAY, NOON - DAY).tolist() == [0]


def test_a_source_that_is_as_it_was_is_silent_about_all_that_it_dates():
    heard = pages(3)
    assert heard.read_again("/sitemap.xml", NOON).tolist() == []  # nobody knows what it dates

    heard.read("/sitemap.xml", np.array([0, 1, 2]), NOON)
    heard.read("/sitemap.xml", np.array([0, 2]), NOON + DAY)

    assert heard.read_again("/sitemap.xml", NOON + 2 * DAY).tolist() == [0, 2]
    heard.forget("/sitemap.xml")
    assert heard.read_again("/sitemap.xml", NOON + 3 * DAY).tolist() == []


# Sixty pages of one host in six folders.


@pytest.fixture(scope="module")
def made_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "recrawl.db"
    return path, made(path)


def recall_of(made_store, sitemaps):
    """What a policy believes of a host that dates its pages in so many sitemaps, read in turn.

    Visits have met half of the changes without an announcement that they would have met if none
    were ever announced.
    """
    path, asked = made_store
    with open_store(path) as reader:
        crawl = opened(asked, path, BEGAN + 12)
        addresses = [each for some in reader.all_addresses() for each in some]
        state: Any = crawl.agenda.frontier(0).state
        for at in (BEGAN + 12, BEGAN + 12.001):
            for number, some in enumerate(np.array_split(addresses, sitemaps)):
                source = Source(f"https://a.org/{number}.xml", "https://a.org", SourceKind.SITEMAP)
                dates = dict.fromkeys(some.tolist(), (BEGAN + 1) * DAY)
                for _ in hear(crawl, reader, source, dates, at):
                    pass
            state.announced.watched[:] = 30.0
            state.announced.silent[:] = 0.0  # which would teach that pages change less often
            awaited = crawl.agenda.unannounced_changes(np.arange(len(addresses))).sum()
            crawl.trust.count_signal(0, SITEMAP, right=awaited, silent=awaited / 2)
        return state.announced.recall


def test_it_does_not_matter_in_how_many_sitemaps_a_host_dates_its_pages(made_store):
    """Unannounced changes are counted by host, so those awaited must be of all its pages."""
    together, apart = recall_of(made_store, 1), recall_of(made_store, 6)

    np.testing.assert_allclose(together, 0.5, atol=0.05)
    np.testing.assert_allclose(apart, 0.5, atol=0.05)


def test_others_count_what_hosts_that_are_heeded_were_silent_about():
    heard = pages()

    assert heard.share_of_others(1, SITEMAP, 18.0, 4.0) == pytest.approx(1 - 5 / 20)
    assert heard.share_of_others(2, SITEMAP, 20.0, 5.0) == pytest.approx(1 - 10 / 40)
    assert heard.share_of_others(1, SITEMAP, 38.0, 4.0) == pytest.approx(1 - 10 / 60)
    assert heard.share_of_others(1, SITEMAP, 0.0, 90.0) == 0


def test_a_policy_that_begins_anew_is_told_again():
    heard = pages()
    moved(heard, NOON - DAY, last=NOON)
    moved(heard, NOON + 60, last=NOON)
    assert moved(heard, NOON + 60, last=NOON) == (False, False)

    heard.repeat_all()

    assert moved(heard, NOON + 60, last=NOON) == (True, False)


def test_what_was_said_is_kept():
    heard, again = pages(3), pages(5)
    moved(heard, NOON, last=NOON - DAY)

    again.resume(heard.dump())

    assert again.unvisited.tolist() == [1, 0, 0, 0, 0]
    assert pages().dump() == {}


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
            clock = PatientClock(0.2, START)
            asked = settings(site(server))
            async with running(asked, store_in(tmp_path), clock, limits=LIMITS, seed=1) as crawler:
                await crawler.run(until=START + 4, found=lambda *_: None)
                return crawler.tally.visits

    assert asyncio.run(crawl()) >= 2


def test_an_honest_sitemap_is_found_right(tmp_path):
    async def crawl():
        async with FaultServer() as server:
            clock = PatientClock(1.0, START)  # a request is short against a day
            paths = [f"/p{number}" for number in range(6)]

            async def page(wire):
                day = int(clock.now())
                await wire.answer(200, answers.HTML, f"<p>Today is day {day}.".encode())

            async def sitemap(wire):
                day = np.datetime64(int(clock.now()), "D")
                await sitemap_of(server, dict.fromkeys(paths, f"{day}T00:00:00Z"))(wire)

            server.pages |= dict.fromkeys(paths, page) | {"/sitemap.xml": sitemap}
            asked = settings(site(server))
            async with running(asked, store_in(tmp_path), clock, limits=LIMITS, seed=1) as crawler:
                await crawler.run(until=START + 6, found=lambda *_: None)
                return crawler.crawl.trust.records(SITEMAP)

    (word,) = asyncio.run(crawl()).values()
    assert word.right > 3 * (word.wrong + 1)


def test_pages_that_a_feed_no_longer_names_are_silent(tmp_path):
    """Ten pages, of which a feed names the three that changed last: the policy hears of all."""

    async def crawl():
        async with FaultServer() as server:
            clock = PatientClock(0.3, START)
            paths = [f"/p{number}" for number in range(10)]

            async def page(wire):
                turn = int(clock.now() - START) // 10
                await wire.answer(
                    200, answers.HTML, f"<p>{wire.request.path} in turn {turn}.".encode()
                )

            async def feed(wire):
                day = int(clock.now())
                entries = "".join(
                    f"<entry><link href='{server.address(paths[(day - back) % 10])}'/>"
                    f"<updated>{np.datetime64(day - back, 'D')}T00:00:00Z</updated></entry>"
                    for back in range(3)
                )
                text = f"<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>"
                await wire.answer(200, {"Content-Type": "application/atom+xml"}, text.encode())

            home = b"<link rel=alternate type='application/atom+xml' href=/feed><p>Home"
            server.pages |= dict.fromkeys(paths, page)
            server.pages |= {"/": answers.page(home), "/feed": feed}
            asked = settings(site(server))
            async with running(asked, store_in(tmp_path), clock, limits=LIMITS, seed=1) as crawler:
                await crawler.run(until=START + 16, found=lambda *_: None)
                heard, agenda = crawler.crawl.announcements, crawler.crawl.agenda
                state: Any = agenda.frontier(0).state
                return heard.kind, agenda.pages(0), state.announced.asked, clock.now()

    kind, page_of, asked, now = asyncio.run(crawl())
    dated = kind[page_of] == 2
    assert dated.sum() > 3
    assert (asked[dated] > now - 3).all()
