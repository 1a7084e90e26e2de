"""Pages that are copies of others, on real sites."""

import asyncio
from dataclasses import replace

import pytest

from recrawl.inspect.why.why import reasons
from recrawl.settings.filters import DEFAULT_FILTERS, Filters
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.visits.status import DuplicateSign, FeedKind
from tests.crawl.crawls import START, crawl_once, outcomes, settings, site, visits
from tests.crawl.test_filters import pages_of, refused_of, serving
from tests.servers import answers
from tests.servers.news import _words as words
from tests.waiting import PatientClock

DUPLICATES = Filters(duplicates=True)
COPIED, DUPLICATE = ("copied", True), ("duplicate", True)


def article(seed, canonical="", extra=""):
    link = f"<link rel=canonical href='{canonical}'>" if canonical else ""
    head = f"<html><head>{link}<title>A page</title></head>"
    return f"{head}<body><p>{words(seed, 80)}</p><p>{extra}</p></body></html>".encode()


def home(*paths):
    return "".join(f"<a href='{path}'>{path}</a>" for path in paths).encode()


def crawled(tmp_path, pages, filters=DUPLICATES, change=None):
    """What is known of the pages of a site after a crawl, and after another once it has changed."""

    async def crawl():
        async with serving(pages) as server:
            asked = settings(site(server, links=5, filters=filters))
            told = await crawl_once(tmp_path, asked)
            if change is not None:
                change(server)
                # The two days that pass are waited for on a clock that runs fast.
                told += await visits(tmp_path, asked, 25, PatientClock(1.0, START + 3))
            return asked, told

    return asyncio.run(crawl())


def test_a_new_page_with_the_text_of_another_is_a_duplicate_of_it(tmp_path):
    pages = {"/": home("/a", "/b", "/c"), "/a": article(1), "/b": article(1), "/c": article(2)}

    asked, told = crawled(tmp_path, pages)

    assert sorted(outcomes(told)) == ["duplicate", "first", "first", "first"]
    assert pages_of(tmp_path) == {"/": COPIED, "/a": COPIED, "/b": DUPLICATE, "/c": COPIED}
    with open_store(tmp_path / "recrawl.db") as store:
        ((page, original),) = store.duplicates().items()
        assert [each.rsplit("/", 1)[1] for each in store.addresses([page, original.page])] == [
            *("b", "a")
        ]
        assert original.sign is DuplicateSign.CONTENT
        assert store.versions(page) == []
        events = [event for some in store.events() for event in some]
        assert [event.kind for event in events] == [FeedKind.NEW] * 3
        why = reasons(load_snapshot(asked, store, START + 0.5), store, page)
        assert why.constraint == "recheck"
        assert str(why.figures["original"]).endswith("/a")


def test_pages_that_are_empty_without_scripts_are_no_duplicates(tmp_path):
    """Scripts would make other pages of them, and each is to be shown as a shell."""
    shell = b"<title>Shop</title><div id=root></div><script src=/a.js></script>"
    pages = {"/": home("/a", "/b"), "/a": shell, "/b": shell}

    crawled(tmp_path, pages, DEFAULT_FILTERS)

    assert pages_of(tmp_path) == {"/": COPIED, "/a": COPIED, "/b": COPIED}
    with open_store(tmp_path / "recrawl.db") as store:
        assert len(store.shells()) == 2


def test_without_the_setting_both_are_pages(tmp_path):
    pages = {"/": home("/a", "/b"), "/a": article(1), "/b": article(1)}

    crawled(tmp_path, pages, replace(DUPLICATES, duplicates=False))

    assert pages_of(tmp_path) == {"/": COPIED, "/a": COPIED, "/b": COPIED}


@pytest.mark.parametrize("order", [("/a", "/print"), ("/print", "/a"), ("/print",)])
def test_a_page_that_names_another_and_is_like_it_is_its_duplicate(tmp_path, order):
    """In whatever order they are found; one that nobody links to is found by its name."""
    pages = {"/": home(*order), "/a": article(1), "/print": article(1, "/a", "Printed today")}

    crawled(tmp_path, pages)

    assert pages_of(tmp_path) == {"/": COPIED, "/a": COPIED, "/print": DUPLICATE}


def test_a_header_names_it_too(tmp_path):
    async def crawl():
        async with serving({"/": home("/a", "/b"), "/a": article(1)}) as server:
            body = article(1, extra="more")
            server.pages["/b"] = answers.status(200, body, link='</a>; rel="canonical"')
            await crawl_once(tmp_path, settings(site(server, links=1, filters=DUPLICATES)))

    asyncio.run(crawl())

    assert pages_of(tmp_path) == {"/": COPIED, "/a": COPIED, "/b": DUPLICATE}


@pytest.mark.parametrize(
    "target", ["/", "/gone", "/x/out", "https://example.org/b", "/b?utm_source=1", "mailto:a@a.org"]
)
def test_a_name_that_cannot_be_believed_swallows_nothing(tmp_path, target):
    """The home page, one that is gone, left out, of another site, itself, no page at all."""
    pages = {
        "/": home("/a", "/b", "/c") + words(9, 60).encode(),
        "/x/out": article(2),
        **{path: article(number, target) for number, path in enumerate(("/a", "/b", "/c"))},
    }
    filters = replace(DUPLICATES, exclude=("/x/",), drop_parameters=("utm_*",))

    crawled(tmp_path, pages, filters)

    known = pages_of(tmp_path)
    assert [known[path] for path in ("/", "/a", "/b", "/c")] == [COPIED] * 4


def test_of_pages_that_name_each_other_one_stays_and_chains_have_one_link(tmp_path):
    pages = {
        "/": home("/a", "/b", "/c"),
        "/a": article(1, "/b"),
        "/b": article(1, "/c", "b"),
        "/c": article(1, "/a", "c"),
    }

    crawled(tmp_path, pages)

    known = pages_of(tmp_path)
    with open_store(tmp_path / "recrawl.db") as store:
        found = store.duplicates()
        originals = {each.page for each in found.values()}
    assert [known[path] for path in ("/a", "/b", "/c")].count(COPIED) >= 1
    assert found
    assert not originals & found.keys()


def test_a_duplicate_that_differs_is_a_page_again(tmp_path):
    pages = {"/": home("/a", "/b"), "/a": article(1), "/b": article(1)}

    def change(server):
        server.pages["/b"] = answers.status(200, article(2))

    crawled(tmp_path, pages, change=change)

    assert pages_of(tmp_path)["/b"] == COPIED


def test_a_duplicate_of_what_is_gone_is_a_page_again(tmp_path):
    pages = {"/": home("/a", "/b"), "/a": article(1), "/b": article(1)}

    def change(server):
        server.pages["/a"] = answers.status(410)

    crawled(tmp_path, pages, change=change)

    known = pages_of(tmp_path)
    assert known["/a"][0] == "gone"
    assert known["/b"] == COPIED


def test_a_site_that_was_under_maintenance_is_not_taken_for_a_trap_for_ever(tmp_path):
    """Twenty pages that show one text are its copies, and their shape a trap, until they differ."""
    paths = [f"/list/{number}" for number in range(20)]
    pages = {"/": home("/list"), "/list": home(*paths)}
    pages |= dict.fromkeys(paths, b"<p>We are working on it. Back soon.</p>")

    async def crawl():
        async with serving(pages) as server:
            asked = settings(site(server, links=5, filters=DEFAULT_FILTERS))
            await crawl_once(tmp_path, asked)
            during = pages_of(tmp_path)
            for number, path in enumerate(paths):
                server.pages[path] = answers.status(200, article(number))
            await visits(tmp_path, asked, 60, PatientClock(1.0, START + 1))
            return during

    during = asyncio.run(crawl())

    assert [during[path] for path in paths].count(COPIED) == 1
    assert ("new", False) in [during[path] for path in paths]
    after = pages_of(tmp_path)
    assert {path: after[path] for path in paths if after[path] != COPIED} == {}
    assert refused_of(tmp_path)
