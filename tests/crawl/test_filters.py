"""Real crawls of sites with copies of addresses and addresses without end."""

import asyncio
from collections import Counter
from dataclasses import replace

from recrawl.inspect.left_out import LeftOut, left_out
from recrawl.inspect.why.why import reasons
from recrawl.settings.filters import DEFAULT_FILTERS
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.visits.status import PageStatus, Refusal
from tests.crawl.crawls import (
    START,
    crawl_once,
    crawl_until,
    outcomes,
    real_time,
    settings,
    site,
)
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.servers.news import ARTICLES, NewsServer

PLAIN = replace(DEFAULT_FILTERS, duplicates=False, traps=False)


def pages_of(folder):
    """Addresses that a store knows, their status and whether they have a rule, by path."""
    with open_store(folder / "recrawl.db") as store:
        columns = store.pages()
        addresses = [each for some in store.all_addresses() for each in some]
    rows = zip(addresses, columns.status.tolist(), columns.rule.tolist(), strict=True)
    return {
        "/" + address.split("/", 3)[3]: (PageStatus(status).label, rule >= 0)
        for address, status, rule in rows
    }


def refused_of(folder):
    with open_store(folder / "recrawl.db") as store:
        return {(each.reason, each.detail): each.addresses for _, each in store.refused_addresses()}


def test_a_news_site_is_crawled_once_and_its_traps_are_left(tmp_path):
    """Without filters every visit to the shop makes two more pages, and nothing ends."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()

    def is_trapped(told):
        seen = {each.address for each in told}
        sessions = [each for each in seen if "sid=" in each or "sessionid" in each]
        return len(sessions) > 10 and sum("utm_" in each for each in seen) == 2 * ARTICLES

    async def crawl():
        async with NewsServer() as server:
            await crawl_until(before, settings(site(server, links=30)), is_trapped, real_time())
            asked = settings(site(server, links=30, filters=DEFAULT_FILTERS))
            return asked, server.address(""), await crawl_once(after, asked)

    asked, base, told = asyncio.run(crawl())

    copied, known = pages_of(before), pages_of(after)
    assert sum("utm_" in path for path in copied) == 2 * ARTICLES
    articles = {f"/articles/{number}" for number in range(1, ARTICLES + 1)}
    assert articles <= {path for path, each in known.items() if each == ("copied", True)}
    assert not [path for path in known if "utm_" in path or "sid=" in path or ";" in path]
    taken_in = Counter(path.split("/")[1] for path, (_, ruled) in known.items() if ruled)
    assert taken_in["calendar"] <= 12
    assert taken_in["wiki"] <= 2
    prints = [each for path, each in known.items() if path.endswith("/print")]
    assert set(prints) <= {("duplicate", True), ("new", False)}
    assert len(told) < ARTICLES + 12 + 12 + 5

    refused = refused_of(after)
    assert refused[Refusal.PARAMETER, "utm_source"] == 2 * ARTICLES
    assert refused[Refusal.TRAP, "/calendar/#-#"] >= 1
    with open_store(after / "recrawl.db") as store:
        why = left_out(asked, store, f"{base}/calendar/2031-04")
        assert why is not None
        assert (why["refusal"], why["detail"]) == ("trap", "/calendar/#-#")
        assert left_out(asked, store, f"{base}/articles/1") is None
        words = LeftOut.of(asked, store).words
        assert words(f"{base}/calendar/2031-04") == "trap /calendar/#-#"
        assert words(f"{base}/articles/1?utm_source=a") == "utm_source is dropped"
        assert words(f"{base}/articles/1") == words("https://elsewhere.org/") == ""


def test_what_exclude_matches_is_withdrawn_and_include_brings_it_back(tmp_path):
    pages = {
        "/": b"<a href=/a>a</a> <a href=/b>b</a> <a href=/c/d>d</a>",
        **{path: answers_of(path) for path in ("/a", "/b", "/c/d")},
    }

    async def crawl(asked_for):
        async with serving(pages) as server:
            every = site(server, links=3, filters=PLAIN)
            shown = []
            for filters in asked_for:
                told = await crawl_once(
                    tmp_path, settings(replace(every, filters=replace(PLAIN, **filters)))
                )
                shown.append((len(told), pages_of(tmp_path)))
            return shown

    # One server, so that addresses stay the same.
    first, excluded, included = asyncio.run(
        crawl([{}, {"exclude": ("/c/", "/b")}, {"include": ("/c/", "/b")}])
    )

    assert first[1] == dict.fromkeys(("/", "/a", "/b", "/c/d"), ("copied", True))
    kept = {"/": ("copied", True), "/a": ("copied", True)}
    assert excluded[1] == {**kept, "/b": ("copied", False), "/c/d": ("copied", False)}
    back = dict.fromkeys(("/", "/b", "/c/d"), ("copied", True))
    assert included[1] == {**back, "/a": ("copied", False)}


def test_pages_known_with_tracking_parameters_make_way_for_those_without(tmp_path):
    """They are withdrawn, and what they are without the parameter is taken in at once."""
    pages = {"/": b"<a href='/a?utm_source=x'>a</a>", "/a": b"<p>once</p>"}

    async def crawl():
        async with serving(pages) as server:
            old = site(server, links=3)
            await crawl_once(tmp_path, settings(old))
            pages_before = pages_of(tmp_path)
            server.pages["/"] = answers.status(200, b"<p>no links any more</p>")
            await crawl_once(tmp_path, settings(replace(old, filters=PLAIN)))
            return pages_before

    before = asyncio.run(crawl())

    assert before["/a?utm_source=x"] == ("copied", True)
    assert pages_of(tmp_path) == {
        "/": ("copied", True),
        "/a?utm_source=x": ("copied", False),
        "/a": ("copied", True),
    }


def test_a_sitemap_is_filtered_and_counted(tmp_path):
    paths = ["/a?utm_source=feed", "/a", "/x/1", "/x/2", "/secret"]
    urls = "".join(f"<url><loc>HOST{path}</loc></url>" for path in paths)
    pages = {
        "/robots.txt": b"User-agent: *\nDisallow: /secret",
        "/sitemap.xml": f"<urlset>{urls}</urlset>".encode(),
        "/": b"<p>home</p>",
        "/a": b"<p>a page</p>",
    }

    async def crawl():
        async with serving(pages) as server:
            asked = settings(site(server, filters=replace(PLAIN, exclude=("/x/",))))
            await crawl_once(tmp_path, asked)

    asyncio.run(crawl())

    assert pages_of(tmp_path) == {"/": ("copied", True), "/a": ("copied", True)}
    assert refused_of(tmp_path) == {
        (Refusal.EXCLUDED, "/x/"): 2,
        (Refusal.PARAMETER, "utm_source"): 1,
        (Refusal.ROBOTS, ""): 1,
    }


def test_a_redirect_to_its_own_address_with_a_session_id_is_followed(tmp_path):
    pages = {"/": b"<a href=/a>a</a>", "/a;jsessionid=12": b"<p>the page</p>"}

    async def crawl():
        async with serving(pages) as server:
            server.pages["/a"] = answers.redirect("/a;jsessionid=12")
            return await crawl_once(tmp_path, settings(site(server, links=1, filters=PLAIN)))

    told = asyncio.run(crawl())

    assert outcomes(told) == ["first", "first"]
    assert pages_of(tmp_path) == {"/": ("copied", True), "/a": ("copied", True)}


def test_a_page_that_moves_to_what_is_left_out_is_moved_and_nothing_is_fetched(tmp_path):
    pages = {"/": b"<a href=/a>a</a>", "/login": b"<p>log in</p>"}

    async def crawl():
        async with serving(pages) as server:
            server.pages["/a"] = answers.redirect("/login")
            filters = replace(PLAIN, exclude=("/login",))
            await crawl_once(tmp_path, settings(site(server, links=1, filters=filters)))
            return server.asked("/login")

    assert asyncio.run(crawl()) == []
    assert pages_of(tmp_path) == {"/": ("copied", True), "/a": ("moved", True)}


def test_why_says_which_pattern_leaves_a_page_out(tmp_path):
    pages = {"/": b"<a href=/a>a</a>", "/a": b"<p>a page</p>"}

    async def crawl():
        async with serving(pages) as server:
            every = site(server, links=1, filters=PLAIN)
            await crawl_once(tmp_path, settings(every))
            filters = replace(PLAIN, exclude=("/a",))
            return settings(replace(every, filters=filters))

    asked = asyncio.run(crawl())

    with open_store(tmp_path / "recrawl.db") as store:
        found = reasons(load_snapshot(asked, store, START + 1), store, 1)
    assert (found.constraint, found.figures["detail"]) == ("filtered", "/a")


def answers_of(path):
    return f"<p>the page at {path}</p>".encode()


class serving:  # noqa: N801 - reads as a verb
    """A server with these pages; `HOST` in a body stands for its address."""

    def __init__(self, pages):
        self._pages = pages
        self._server = FaultServer()

    async def __aenter__(self):
        server = await self._server.__aenter__()
        for path, body in self._pages.items():
            filled = body.replace(b"HOST", server.address("").encode())
            server.pages[path] = answers.status(200, filled)
        return server

    async def __aexit__(self, *error):
        await self._server.__aexit__(*error)
