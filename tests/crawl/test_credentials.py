"""Credentials on the way through a crawl: everything of their own origin, nothing of another."""

import asyncio

import pytest

from recrawl.settings.access_keys import AccessRule
from tests.crawl.crawls import AGENT, crawl_once, page_rule, settings, site
from tests.servers.answers import page, redirect
from tests.servers.faults import FaultServer
from tests.servers.locked import demanding

HIDDEN = "hunter2hunter2"
OTHER = "another-secret"
OURS = {"authorization", "cookie", "x-api-key", "accept-language"}
KEYS = AccessRule(
    headers=(("X-Api-Key", "env:WORD"), ("Accept-Language", "de")),
    cookies="cookies.txt",
    token="env:WORD",
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORD", HIDDEN)
    monkeypatch.setenv("OTHER", OTHER)
    text = f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{HIDDEN}\n"
    (tmp_path / "cookies.txt").write_text(text)
    return tmp_path


def shown(seen):
    return OURS & set(seen.headers)


def test_robots_txt_sitemaps_and_feeds_are_asked_for_with_them_too(folder):
    """A site behind a login has all of it there; its block may be a folder of it."""
    urls = "<urlset><url><loc>{}</loc></url></urlset>"

    async def run():
        async with FaultServer() as server:
            robots = f"Sitemap: {server.address('/sitemap.xml')}\n".encode()
            found = urls.format(server.address("/in/found")).encode()
            feed = b'<link rel="alternate" type="application/rss+xml" href="/feed">'
            bodies = {
                "/robots.txt": page(robots, content_type="text/plain"),
                "/sitemap.xml": page(found, content_type="application/xml"),
                "/in/": page(feed + b"<p>hello"),
                "/in/found": page(b"<p>found"),
                "/feed": page(b"<rss><channel></channel></rss>"),
            }
            server.pages = {
                path: demanding(behaviour, {"x-api-key": HIDDEN})
                for path, behaviour in bodies.items()
            }
            visits = await crawl_once(folder, settings(site(server, "/in/", access=KEYS)))
            return server, visits

    server, visits = asyncio.run(run())

    assert {each.path for each in server.requests} == {
        *("/robots.txt", "/sitemap.xml", "/in/", "/in/found", "/feed")
    }
    assert all(shown(each) == OURS for each in server.requests)
    assert {visit.outcome.label for visit in visits} == {"first"}


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_takes_nothing_along(folder, code):
    """Not even what the settings have for that origin: the first has chosen what is asked there.

    One that is for good is not followed to a page of the other site, which is visited as such.
    """

    async def run():
        async with FaultServer() as first, FaultServer() as second:
            first.pages = {
                "/a": redirect(second.address("/b"), code),
                "/c": page(b"<p>back home"),
                "/robots.txt": redirect(second.address("/robots.txt"), code),
            }
            second.pages = {"/b": redirect(first.address("/c"), code)}
            own = AccessRule(token="env:OTHER")
            asked = settings(page_rule(first, "/a", access=KEYS), site(second, access=own))
            await crawl_once(folder, asked)
            return first, second

    first, second = asyncio.run(run())

    assert second.asked("/b")
    assert all(HIDDEN not in str(each.headers) for each in second.requests)
    assert all(OTHER not in str(each.headers) for each in first.requests)
    assert set() in map(shown, second.asked("/robots.txt"))  # where that of the first leads
    assert shown(first.asked("/a")[0]) == OURS
    if code in {302, 303, 307}:
        assert not any(map(shown, second.asked("/b")))
        assert shown(first.asked("/c")[0]) == OURS  # back at the origin where it began


def test_a_site_has_a_delay_of_its_own(folder):
    """Shorter than that of all, for who runs the site may say so."""

    async def run():
        async with FaultServer({f"/{n}": page(b"<p>hello") for n in range(4)}) as server:
            quick = AccessRule(delay=0.05 / 86_400)
            rules = [page_rule(server, f"/{n}", access=quick, interval=1.0) for n in range(4)]
            asked = settings(*rules, delay=3600 / 86_400)
            await crawl_once(folder, asked)
            return server

    gaps = asyncio.run(run()).gaps()

    assert len(gaps) >= 4
    assert min(gaps) >= 0.05 - 0.01


def test_settings_show_where_secrets_are_and_not_what_they_are(folder):
    asked = settings(site(FaultServer(), access=KEYS))

    assert "env:WORD" in repr(asked)
    assert HIDDEN not in repr(asked)
    assert AGENT in repr(asked)
