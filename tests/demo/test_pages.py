"""What the example site says, read by our own parsers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.demo import pages
from recrawl.demo.world import HOSTS, SECTIONS, draw_world
from recrawl.detect.text.lines import lines
from recrawl.parse.feeds import read_feed
from recrawl.parse.robots import robots_of_answer
from recrawl.parse.sitemaps import read_sitemap


def visible_text(page):
    """What a reader sees, in one line."""
    return " ".join(lines(page))


ORIGIN = "http://127.0.0.1:8000"
WORLD = draw_world(60, start=20_000.0, days=10.0, seed=1)


@given(st.integers(0, 59), st.integers(0, 40))
def test_a_reader_sees_a_difference_between_a_version_and_the_next(page, version):
    old, new = (visible_text(pages.page_html(WORLD, page, each)) for each in (version, version + 1))

    assert old != new
    assert 150 < len(old.split()) < 500


def test_a_version_is_always_the_same():
    assert pages.page_html(WORLD, 3, 2) == pages.page_html(WORLD, 3, 2)


def test_nobody_sees_a_token():
    plain, hidden = (pages.page_html(WORLD, 3, 2, token) for token in ("", "secret"))

    assert plain != hidden
    assert visible_text(plain) == visible_text(hidden)


def test_sitemaps_name_every_page_and_some_that_they_should_not():
    indexes = [
        read_sitemap(pages.sitemap_index(ORIGIN, host).encode(), f"{ORIGIN}/sitemap.xml")
        for host in range(HOSTS)
    ]
    named = set()
    for section in range(len(SECTIONS)):
        text = pages.sitemap(WORLD, section, ORIGIN, now=20_003.0)
        named |= {entry.address for entry in read_sitemap(text.encode(), f"{ORIGIN}/").pages}

    assert sum(len(index.sitemaps) for index in indexes) == len(SECTIONS)
    others = {*pages.GONE, *pages.MOVED, *pages.HIDDEN}
    assert named == {f"{ORIGIN}{path}" for path in (*WORLD.path, *others)}


def test_the_feed_names_what_is_new():
    feed = read_feed(pages.feed(WORLD, ORIGIN, now=20_005.0).encode(), f"{ORIGIN}/feed.xml")

    found = {entry.address for entry in feed.entries}
    assert any(address.startswith(f"{ORIGIN}/news/") for address in found)
    assert f"{ORIGIN}{pages.HIDDEN[-1]}" in found


@pytest.mark.parametrize(
    ("path", "allowed"), [("/", True), ("/news/1", True), ("/private/1", False)]
)
def test_robots_forbids_one_folder(path, allowed):
    robots = robots_of_answer(200, pages.robots_text(ORIGIN).encode(), "recrawl-demo")

    assert robots.allows(f"{ORIGIN}{path}") is allowed
    assert list(robots.sitemaps) == [f"{ORIGIN}/sitemap.xml"]


def test_what_differs_by_itself_is_there_only_where_it_is_asked_for():
    plain, *noisy = (pages.page_html(WORLD, 3, 2, number=number) for number in (None, 7, 8))

    assert "town clock" not in plain
    assert noisy[0] != noisy[1]
    assert visible_text(plain) != visible_text(noisy[0])
