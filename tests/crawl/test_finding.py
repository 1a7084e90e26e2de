"""Looking for new pages at the pace of their sources, on a real site."""

import asyncio

import pytest

from recrawl.entries.filtering import ShapeJudged
from recrawl.entries.sources import SourceKind
from recrawl.parse.addresses import host_of
from recrawl.plan.budget import Budget
from recrawl.settings.filters import Filters
from recrawl.store import open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import START, crawling, settings, site, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS, PatientClock

HOME = b"<link rel=alternate type=application/rss+xml href=/feed>"
HOUR = 1 / 24


def feed(server, *paths):
    items = "".join(f"<item><link>{server.address(path)}</link></item>" for path in paths)
    return answers.page(f"<rss><channel>{items}</channel></rss>".encode())


def sitemap(server, *paths, etag=""):
    urls = "".join(f"<url><loc>{server.address(path)}</loc></url>" for path in paths)
    return answers.page(f"<urlset>{urls}</urlset>".encode(), etag=etag)


def index(server, **dates):
    entries = (
        f"<sitemap><loc>{server.address(f'/{name}.xml')}</loc><lastmod>{date}</lastmod></sitemap>"
        for name, date in dates.items()
    )
    return answers.page(f"<sitemapindex>{''.join(entries)}</sitemapindex>".encode())


async def until(crawler, true):
    """Crawl until something is true."""
    crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
    async with asyncio.timeout(HANGS_SECONDS):
        while not true() and not crawl.done():  # noqa: ASYNC110 - it may be anything
            await asyncio.sleep(0.01)
    crawler.stop()
    await crawl


def known(tmp_path):
    """Sources of the store by path."""
    with open_store(tmp_path / "recrawl.db") as reader:
        return {"/" + each.address.split("/", 3)[3]: each for each in reader.sources()}


def test_a_page_that_a_feed_names_anew_is_found_long_before_a_day_has_passed(tmp_path):
    clock = PatientClock(24.0, START)

    async def crawl():
        pages = {path: answers.page(b"<p>text") for path in ("/1", "/2")}
        async with FaultServer({"/": answers.page(HOME)} | pages) as server:
            server.pages["/feed"] = feed(server, "/1")
            async with crawling(tmp_path, settings(site(server)), clock) as crawler:
                await until(crawler, lambda: server.asked("/1"))
                began = clock.now()
            server.pages["/feed"] = feed(server, "/2", "/1")
            async with crawling(tmp_path, settings(site(server)), clock) as crawler:
                await until(crawler, lambda: server.asked("/2"))
            return clock.now() - began

    assert asyncio.run(crawl()) < 4 * HOUR
    learned = known(tmp_path)["/feed"]
    assert (learned.kind, learned.failures) == (SourceKind.FEED, 0)
    assert learned.new == pytest.approx(1, abs=0.1)


def test_what_a_filter_leaves_out_is_no_new_page_of_a_source(tmp_path):
    """Of five more entries one is another page: the rest is excluded, or known by another name."""
    filters = Filters(exclude=("/x/",), drop_parameters=("utm_*",))

    async def crawl():
        pages = {path: answers.page(b"<p>text") for path in ("/1", "/2")}
        async with FaultServer({"/": answers.page(HOME)} | pages) as server:
            server.pages["/feed"] = feed(server, "/1")
            asked = settings(site(server, filters=filters))
            async with crawling(tmp_path, asked, PatientClock(24.0, START)) as crawler:
                await crawler.discover(0)
            more = "/1?utm_source=feed", "/2?utm_source=feed", "/2", "/x/1", "/x/2"
            server.pages["/feed"] = feed(server, "/1", *more)
            async with crawling(tmp_path, asked, PatientClock(24.0, START + HOUR)) as crawler:
                found = await crawler.discover(0)
            return found.new

    assert asyncio.run(crawl()) == 1
    assert known(tmp_path)["/feed"].new == pytest.approx(1, abs=0.1)


def test_addresses_of_a_trap_are_no_new_pages_of_a_hub(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"<a href=/about>one</a>")}) as server:
            with open_for_writing(store_in(tmp_path)) as store:
                trap = ShapeJudged(host_of(server.address("/")), "/calendar/#", 20, 20)
                store.write([trap])
            server.pages |= {path: answers.page(b"<p>text") for path in ("/about", "/b", "/c")}
            days = [f"/calendar/{number}" for number in range(20)]
            asked = settings(
                site(server, links=1, filters=Filters(traps=True)), budget=Budget(200.0)
            )
            async with crawling(tmp_path, asked, PatientClock(6.0, START)) as crawler:
                crawling_on = asyncio.create_task(crawler.run(found=lambda *_: None))
                async with asyncio.timeout(HANGS_SECONDS):
                    for paths in (["/about"], ["/about", "/b"], ["/about", "/b", *days, "/c"]):
                        links = "".join(f"<a href={path}>{path}</a>" for path in paths)
                        server.pages["/"] = answers.page(links.encode())
                        while not server.asked(paths[-1]):  # noqa: ASYNC110 - it is a list
                            await asyncio.sleep(0.01)
                crawler.stop()
                await crawling_on
            return [seen.path for seen in server.requests if "calendar" in seen.path]

    assert asyncio.run(crawl()) == []
    hub = known(tmp_path)["/"]
    assert hub.kind is SourceKind.HUB
    assert hub.new == pytest.approx(1, abs=0.1)  # with those of the trap it would be 21


def test_a_source_that_has_not_changed_answers_so(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            server.pages["/sitemap.xml"] = sitemap(server, "/", etag='"1"')
            asked = settings(site(server, discover=HOUR))
            async with crawling(tmp_path, asked, PatientClock(24.0, START)) as crawler:
                await until(crawler, lambda: len(server.asked("/sitemap.xml")) >= 3)
            return [seen.headers.get("if-none-match") for seen in server.asked("/sitemap.xml")[:3]]

    assert asyncio.run(crawl()) == [None, '"1"', '"1"']
    assert known(tmp_path)["/sitemap.xml"].exposure > 0


def test_a_person_may_fix_the_pace_or_switch_it_off(tmp_path):
    """Every six hours is every six seconds of this clock; other sites go on as they like."""

    async def crawl():
        clock = PatientClock(24.0, START)
        async with FaultServer() as often, FaultServer() as never:
            for server in (often, never):
                server.pages["/"] = answers.page(HOME)
                server.pages["/sitemap.xml"] = sitemap(server, "/")
            rules = site(often, discover=HOUR), site(never)
            asked = settings(*rules, discover=float("inf"), budget=Budget(100.0))
            async with crawling(tmp_path, asked, clock) as crawler:
                await until(crawler, lambda: clock.now() > START + 5.5 * HOUR)
            looks = len(often.asked("/sitemap.xml"))
            return looks, {seen.path for seen in never.requests}

    looks, asked = asyncio.run(crawl())
    assert 4 <= looks <= 6
    assert asked == {"/robots.txt", "/"}


def test_only_sitemaps_whose_date_in_the_index_moves_are_read_again(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            server.pages |= {path: answers.page(b"<p>text") for path in ("/1", "/2", "/3")}
            server.pages["/sitemap.xml"] = index(server, a="2020-01-01", b="2020-01-01")
            server.pages["/a.xml"] = sitemap(server, "/1")
            server.pages["/b.xml"] = sitemap(server, "/2")
            asked = settings(site(server, discover=HOUR))
            async with crawling(tmp_path, asked, PatientClock(24.0, START)) as crawler:
                await until(crawler, lambda: len(server.asked("/sitemap.xml")) >= 3)
                before = len(server.asked("/a.xml")), len(server.asked("/b.xml"))
            server.pages["/sitemap.xml"] = index(server, a="2020-01-01", b="2020-01-02")
            server.pages["/b.xml"] = sitemap(server, "/2", "/3")
            async with crawling(tmp_path, asked, PatientClock(24.0, START + 0.5)) as crawler:
                await until(crawler, lambda: server.asked("/3"))
            return before, (len(server.asked("/a.xml")), len(server.asked("/b.xml")))

    before, after = asyncio.run(crawl())
    assert before == (1, 1)
    assert after == (1, 2)
    found = known(tmp_path)
    assert found["/b.xml"].follows_index
    assert found["/sitemap.xml"].new == pytest.approx(1, abs=0.1)  # credited with what it announced


def test_sources_that_a_site_has_no_longer_are_forgotten(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(HOME)}) as server:
            server.pages["/feed"] = feed(server, "/")
            server.pages["/sitemap.xml"] = index(server, a="2020-01-01", b="2020-01-01")
            server.pages |= {path: sitemap(server, "/") for path in ("/a.xml", "/b.xml")}
            async with crawling(tmp_path, settings(site(server)), PatientClock(9.0, START)) as one:
                await one.discover(0)
            before = set(known(tmp_path))
            server.pages["/"] = answers.page(b"no feed any more")
            server.pages["/sitemap.xml"] = index(server, a="2020-01-01")
            async with crawling(tmp_path, settings(site(server)), PatientClock(9.0, START)) as one:
                await one.discover(0)
            return before, set(known(tmp_path))

    before, after = asyncio.run(crawl())
    assert before == {"/feed", "/sitemap.xml", "/a.xml", "/b.xml"}
    assert after == {"/sitemap.xml", "/a.xml"}


def test_a_page_whose_links_lead_to_new_pages_again_is_a_hub(tmp_path):
    """It is visited for its links, out of the turn that its own changes give it."""

    async def crawl():
        async with FaultServer({"/": answers.page(b"<a href=/1>one</a>")}) as server:
            server.pages |= {f"/{number}": answers.page(b"<p>text") for number in range(1, 9)}
            asked = settings(site(server, links=1), budget=Budget(200.0))
            clock = PatientClock(6.0, START)
            async with crawling(tmp_path, asked, clock) as crawler:
                crawling_on = asyncio.create_task(crawler.run(found=lambda *_: None))
                async with asyncio.timeout(HANGS_SECONDS):
                    for number in range(1, 9):
                        links = b"".join(b"<a href=/%d>go</a>" % each for each in range(number + 1))
                        server.pages["/"] = answers.page(b"<p>" + links)
                        while not server.asked(f"/{number}"):  # noqa: ASYNC110 - it is a list
                            await asyncio.sleep(0.01)
                crawler.stop()
                await crawling_on

    asyncio.run(crawl())
    hub = known(tmp_path)["/"]
    assert hub.kind is SourceKind.HUB
    assert hub.new > 1


def test_looks_are_paid_for_out_of_the_budget(tmp_path):
    """Four a day for looks and visits together, so a look every hour is not to be had."""

    async def crawl():
        clock = PatientClock(6.0, START)
        async with FaultServer({"/": answers.page(b"home")}) as server:
            server.pages["/sitemap.xml"] = sitemap(server, "/")
            asked = settings(site(server, discover=HOUR), budget=Budget(4.0))
            async with crawling(tmp_path, asked, clock) as crawler:
                await until(crawler, lambda: clock.now() > START + 0.9)
            return [seen.path for seen in server.requests]

    asked = asyncio.run(crawl())
    # Besides robots.txt, the survey and the first look, which take in the site.
    assert len(asked) - 3 <= 4
    assert asked.count("/sitemap.xml") >= 2


def test_a_crawl_that_is_started_again_knows_its_sources(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(HOME)}) as server:
            server.pages["/feed"] = feed(server, "/")
            asked = settings(site(server), budget=Budget(10.0))
            async with crawling(tmp_path, asked, PatientClock(24.0, START)) as crawler:
                await crawler.discover(0)
            count = len(server.requests)
            async with crawling(tmp_path, asked, PatientClock(24.0, START + HOUR)) as crawler:
                sources = {each.address: each for each in crawler.crawl.sources}
                await crawler.run(once=True, found=lambda *_: None)
            return sources, [seen.path for seen in server.requests[count:]]

    sources, asked = asyncio.run(crawl())
    assert {each.address: each for each in known(tmp_path).values()} == sources
    assert set(asked) <= {"/", "/robots.txt"}  # visited, not looked for again
    (found,) = [each for each in sources.values() if each.kind is SourceKind.FEED]
    assert found.looked_at_seconds == pytest.approx(START * SECONDS_A_DAY, abs=HOUR * SECONDS_A_DAY)


# Lists of changed pages.


def changed_list(server, *lines):
    body = "\n".join(lines).replace("SITE", server.address("")).encode()
    return answers.page(body, etag=f'"{hash(body)}"')


def test_a_page_that_a_list_names_anew_is_visited_at_once(tmp_path):
    """Twelve pages that never change share the visits; the listed one comes before the others."""
    paths = [f"/{number}" for number in range(12)]

    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            server.pages |= {path: answers.page(b"<p>as it was") for path in (*paths, "/new")}
            server.pages["/sitemap.xml"] = sitemap(server, *paths)
            server.pages["/changed.txt"] = changed_list(server, "SITE/3")
            rule = site(server, changed=(server.address("/changed.txt"),), discover=HOUR)
            asked = settings(rule, budget=Budget(200.0))
            async with crawling(tmp_path, asked, PatientClock(24.0, START)) as crawler:
                crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
                async with asyncio.timeout(HANGS_SECONDS):
                    while not all(map(server.asked, (*paths, "/changed.txt"))):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                    server.pages["/5"] = answers.page(b"<p>changed from beginning to end")
                    lines = "SITE/3", "SITE/5 2020-01-02", "SITE/new", "https://a.org/other"
                    server.pages["/changed.txt"] = changed_list(server, *lines)
                    looks = len(server.asked("/changed.txt"))
                    while len(server.asked("/changed.txt")) == looks:  # noqa: ASYNC110
                        await asyncio.sleep(0.001)
                    seen = len(server.requests)
                    while not {"/5", "/new"} <= {each.path for each in server.requests[seen:]}:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                crawler.stop()
                await crawl
            since = [each.path for each in server.requests[seen:]]
            return [path for path in since[: since.index("/5")] if path in paths]

    assert len(asyncio.run(crawl())) <= 4
    listed = known(tmp_path)["/changed.txt"]
    assert (listed.kind, listed.failures) == (SourceKind.LIST, 0)
    assert listed.new >= 1.9  # a change and a new page
    assert len(listed.listed) == 3 * 8


def test_an_entry_counts_once_and_again_with_a_later_date(tmp_path):
    async def crawl():
        hints: list[object] = []
        async with FaultServer({"/": answers.page(b"home")}) as server:
            place = server.address("/changed.txt")
            asked = settings(site(server, changed=(place,)))
            for number, lines in enumerate(
                (
                    ["SITE/a 2020-01-01", "SITE/b"],  # the first look teaches nothing
                    ["SITE/b", "SITE/a 2020-01-01"],
                    ["SITE/b", "SITE/a 2020-01-02T03:04:05Z", "SITE/c"],
                    ["SITE/c"],
                    ["SITE/b", "SITE/c"],
                )
            ):
                server.pages["/changed.txt"] = changed_list(server, *lines)
                clock = PatientClock(86_400.0, START + number * HOUR)
                async with crawling(tmp_path, asked, clock) as crawler:
                    give = crawler._finder._hint

                    async def hint(pages, give=give):
                        hints.append([page.rpartition("/")[2] for page in pages])
                        return await give(pages)

                    crawler._finder._hint = hint
                    await crawler.discover(0)
                hints.append("|")
        return hints

    assert asyncio.run(crawl()) == ["|", "|", ["a", "c"], "|", "|", ["b"], "|"]


HOSTILE_LISTS = {
    "lines": b"\x00\xff\xfe javascript:alert()\nfile:///etc/passwd\nhttp://u:p@SITE/x\n//SITE/\n",
    "yaml": b"url: &a [*a, *a]\n---\n!!python/object/apply:os.system ['id']\n",
    "json": b'{"urlList": [null, 1, {}, [], "ftp://a.org/", "http://169.254.169.254/"]}',
    "deep": b'{"urlList":' + b"[" * 100_000,
    "xml": b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><opml>&b;</opml>',
    "html": b"<html><a href=/x>a page</a></html>",
    "zip": b"PK\x03\x04" + b"\x00" * 100,
}


@pytest.mark.parametrize("kind", HOSTILE_LISTS)
def test_a_hostile_list_does_nothing(tmp_path, kind):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            body = HOSTILE_LISTS[kind].replace(b"SITE", server.address("").encode())
            server.pages["/changed.txt"] = answers.page(body)
            asked = settings(site(server, changed=(server.address("/changed.txt"),)))
            async with crawling(tmp_path, asked) as crawler:
                found = await crawler.discover(0)
            return found.addresses, server.address("/")

    addresses, home = asyncio.run(crawl())
    assert list(addresses) == [home]


def test_a_list_that_the_settings_name_no_longer_is_left_alone(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            server.pages["/changed.txt"] = changed_list(server, "SITE/a")
            named = site(server, changed=(server.address("/changed.txt"),))
            for rule in (named, site(server)):
                clock = PatientClock(86_400.0, START)
                async with crawling(tmp_path, settings(rule), clock) as crawler:
                    await crawler.discover(0)
            return len(server.asked("/changed.txt"))

    assert asyncio.run(crawl()) == 1


def test_a_list_that_is_missing_is_told(tmp_path):
    async def crawl():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            place = server.address("/changed.txt")
            async with crawling(tmp_path, settings(site(server, changed=(place,)))) as crawler:
                found = await crawler.discover(0)
            return found.remarks, place

    remarks, place = asyncio.run(crawl())
    assert remarks == [f"{place}: status 404"]
