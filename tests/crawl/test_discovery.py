"""Finding the pages of a site, on a real one."""

import asyncio
import gzip

from tests.crawl.crawls import crawling, real_time, settings, site
from tests.servers import answers
from tests.servers.faults import FaultServer


def found_on(tmp_path, pages, **rule):
    """What is found of a site, by path; `HOST` in a body stands for its address."""

    async def find():
        async with FaultServer() as server:
            for path, body in pages.items():
                filled = body.replace(b"HOST", server.address("").encode())
                filled = gzip.compress(filled) if path.endswith(".gz") else filled
                server.pages[path] = answers.status(200, filled)
            async with crawling(tmp_path, settings(site(server, **rule)), real_time()) as crawler:
                found = await crawler.discover(0)
            paths = [each.removeprefix(server.address("")) for each in found.addresses]
            return found, paths, [seen.path for seen in server.requests]

    return asyncio.run(find())


def test_an_index_of_sitemaps_is_followed_in_gzip_too(tmp_path):
    index = b"<sitemapindex><sitemap><loc>HOST/a.xml.gz</loc></sitemap></sitemapindex>"
    urls = (
        b"<urlset><url><loc>HOST/1</loc></url><url><loc>https://example.org/</loc></url></urlset>"
    )

    found, paths, _ = found_on(tmp_path, {"/sitemap.xml": index, "/a.xml.gz": urls, "/": b"home"})

    assert paths == ["/", "/1"]
    assert found.sitemaps == 2
    assert found.remarks == []


def test_an_index_that_names_itself_ends(tmp_path):
    index = b"<sitemapindex><sitemap><loc>HOST/sitemap.xml</loc></sitemap></sitemapindex>"

    _, _, asked = found_on(tmp_path, {"/sitemap.xml": index, "/": b"home"})

    assert asked.count("/sitemap.xml") == 1


def test_of_a_broken_sitemap_what_can_be_read_counts(tmp_path):
    broken = b"<urlset><url><loc>HOST/1</loc></url><url><loc>HO"

    found, paths, _ = found_on(tmp_path, {"/sitemap.xml": broken, "/": b"home"})

    assert paths == ["/", "/1"]
    assert len(found.remarks) == 1


def test_sitemaps_that_robots_names_are_read_and_missing_ones_remarked(tmp_path):
    robots = b"Sitemap: HOST/one.xml\nSitemap: HOST/two.xml"
    urls = b"<urlset><url><loc>HOST/1</loc></url></urlset>"

    found, paths, asked = found_on(
        tmp_path, {"/robots.txt": robots, "/one.xml": urls, "/": b"home"}
    )

    assert paths == ["/", "/1"]
    assert "/sitemap.xml" not in asked
    assert [remark.rpartition(": ")[2] for remark in found.remarks] == ["status 404"]


def test_feeds_that_the_home_page_names_are_read(tmp_path):
    home = b"<link rel=alternate type=application/rss+xml href=/feed>"
    feed = b"<rss><channel><item><link>HOST/new</link></item></channel></rss>"

    found, paths, _ = found_on(tmp_path, {"/": home, "/feed": feed})

    assert paths == ["/", "/new"]
    assert found.feeds == 1


def test_what_robots_forbids_is_neither_found_nor_asked_for(tmp_path):
    robots = b"User-agent: *\nDisallow: /private\nDisallow: /feed"
    urls = b"<urlset><url><loc>HOST/private/1</loc></url><url><loc>HOST/1</loc></url></urlset>"
    home = b"<link rel=alternate type=application/rss+xml href=/feed>"

    _, paths, asked = found_on(
        tmp_path, {"/robots.txt": robots, "/sitemap.xml": urls, "/": home, "/feed": b"<rss/>"}
    )

    assert paths == ["/", "/1"]
    assert "/feed" not in asked
    assert "/private/1" not in asked


def test_a_large_sitemap_does_not_hold_up_the_loop(tmp_path):
    """Others go on while fifty thousand entries are read."""
    urls = b"".join(b"<url><loc>HOST/%d</loc></url>" % number for number in range(50_000))
    longest = 0.0

    async def watch():
        nonlocal longest
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(0.01)
            longest = max(longest, loop.time() - before)

    async def find():
        async with FaultServer({"/": answers.page(b"home")}) as server:
            body = b"<urlset>" + urls.replace(b"HOST", server.address("").encode()) + b"</urlset>"
            server.pages["/sitemap.xml"] = answers.status(200, body)
            async with crawling(tmp_path, settings(site(server)), real_time()) as crawler:
                watching = asyncio.create_task(watch())
                found = await crawler.discover(0)
                watching.cancel()
            return len(found.addresses)

    assert asyncio.run(find()) == 50_001
    assert longest < 0.5
