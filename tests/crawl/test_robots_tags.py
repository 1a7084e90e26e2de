"""What pages ask of crawlers is heeded, unless the settings say otherwise."""

import asyncio

import pytest

from recrawl.store import open_store
from recrawl.visits.status import RobotsTag
from tests.crawl.crawls import START, crawl_once, outcomes, page_rule, settings, site, visits
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

WORDS = " ".join(f"word{number}" for number in range(60))
FIRST, SECOND, THIRD = (f"<p>{WORDS} {each}</p>".encode() for each in ("one", "two", "three"))
LATER = "unavailable_after: Sat, 05 Oct 2024 00:00:00 GMT"  # a day after the crawl begins


def found_by(tmp_path, *behaviours, **rule):
    """First visits to a page after it began to behave so; its copy and versions in the end."""

    async def crawl():
        told = []
        async with FaultServer({}) as server:
            # Once a day of a second: nobody comes a second time before the crawl has stopped.
            asked = settings(page_rule(server, "/p", **{"interval": 0.9} | rule))
            for row, server.pages["/p"] in enumerate(behaviours):
                clock = PatientClock(1.0, START + row)
                told += (await visits(tmp_path, asked, 1, clock))[:1]
        return told

    told = asyncio.run(crawl())
    with open_store(tmp_path / "recrawl.db") as reader:
        return told, reader.copies([0])[0], [reader.body(v.digest) for v in reader.versions(0)]


def forbidden(body, header="noarchive"):
    return answers.page(body, x_robots_tag=header)


def test_of_a_page_that_asks_for_noarchive_no_version_is_kept(tmp_path):
    told, copy, versions = found_by(tmp_path, forbidden(FIRST), forbidden(FIRST))

    assert outcomes(told) == ["first", "same"]
    assert copy.robots == RobotsTag.NOARCHIVE
    assert versions == []


def test_its_changes_are_found_all_the_same(tmp_path):
    """By signature and simhash, as where versions = 0; so rates are learned and visits planned."""
    told, copy, versions = found_by(
        tmp_path, forbidden(FIRST), forbidden(b"<div>" + FIRST), forbidden(SECOND)
    )

    assert outcomes(told) == ["first", "cosmetic", "changed"]
    assert 0 <= told[2].verdict.share < 0.5
    assert copy.simhash is not None
    assert versions == []


@pytest.mark.parametrize("body", [FIRST, SECOND])
def test_versions_are_dropped_when_a_page_begins_to_ask(tmp_path, body):
    told, copy, versions = found_by(tmp_path, answers.page(FIRST), forbidden(body))

    assert outcomes(told) == ["first", "same" if body == FIRST else "changed"]
    assert copy.robots == RobotsTag.NOARCHIVE
    assert versions == []


def test_a_304_may_ask_and_takes_nothing_back(tmp_path):
    body = b"<meta name=robots content=noindex>" + FIRST
    plain, asking = (
        answers.page(body, etag='"1"', **more) for more in ({}, {"x_robots_tag": "noarchive"})
    )

    async def silent(wire):
        """Answers 304 without the header that the page has, which an audit may fetch."""
        await (plain if "if-none-match" in wire.request.headers else asking)(wire)

    told, copy, versions = found_by(tmp_path, plain, asking, silent)

    assert outcomes(told) == ["first", "not_modified", "not_modified"]
    assert copy.robots == RobotsTag.NOINDEX | RobotsTag.NOARCHIVE
    assert versions == []


def test_versions_are_kept_again_when_a_page_no_longer_asks(tmp_path):
    _, copy, versions = found_by(tmp_path, forbidden(FIRST), answers.page(SECOND))

    assert copy.robots == 0
    assert versions == [SECOND]


def test_of_a_page_that_asks_for_noindex_versions_are_kept_and_marked(tmp_path):
    _, copy, versions = found_by(tmp_path, forbidden(FIRST, "noindex"))

    assert copy.robots == RobotsTag.NOINDEX
    assert versions == [FIRST]


@pytest.mark.parametrize("header", ["other-bot: noarchive", "noimageindex, nosnippet"])
def test_what_is_asked_of_others_or_of_no_matter_changes_nothing(tmp_path, header):
    _, copy, versions = found_by(tmp_path, forbidden(FIRST, header))

    assert (copy.robots, versions) == (0, [FIRST])


def test_on_sites_of_ones_own_tags_may_be_ignored(tmp_path):
    _, copy, versions = found_by(tmp_path, forbidden(FIRST), robots_tags=False)

    assert (copy.robots, versions) == (0, [FIRST])


def test_versions_go_when_the_date_has_come(tmp_path):
    """Visits are rare here: what is due is dropped with the next checkpoint."""
    _, copy, versions = found_by(tmp_path, forbidden(FIRST, LATER))
    assert (copy.robots, copy.unavailable_after_seconds) == (0, START * 86_400 + 86_400)
    assert versions == [FIRST]

    asked = settings(page_rule(FaultServer({}), "/p", interval=100.0))
    asyncio.run(crawl_once(tmp_path, asked, PatientClock(1.0, START + 2)))
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.versions(0) == []


LINKS = b"<a href=/a>a</a>"


@pytest.mark.parametrize(
    ("home", "followed"),
    [
        (answers.page(LINKS), True),
        (answers.page(LINKS, x_robots_tag="noarchive"), True),
        (answers.page(LINKS, x_robots_tag="nofollow"), False),
        (answers.page(LINKS, x_robots_tag="other-bot: nofollow"), True),
        (answers.page(b"<meta name=robots content=none>" + LINKS), False),
        (answers.page(b"<meta name=test-bot content=nofollow>" + LINKS), False),
    ],
)
@pytest.mark.parametrize("heeded", [True, False])
def test_links_are_followed_unless_the_page_asks_not_to(tmp_path, home, followed, heeded):
    async def crawl():
        async with FaultServer({"/": home, "/a": answers.page(FIRST)}) as server:
            asked = settings(site(server, links=1, robots_tags=heeded))
            await crawl_once(tmp_path, asked)
            return len(server.asked("/a"))

    assert asyncio.run(crawl()) == (followed or not heeded)


@pytest.mark.parametrize("heeded", [True, False])
def test_feeds_of_a_page_that_asks_for_nofollow_are_not_read(tmp_path, heeded):
    head = b"<link rel=alternate type=application/rss+xml href=/feed>"
    home = answers.page(head, x_robots_tag="nofollow")

    async def crawl():
        async with FaultServer({"/": home}) as server:
            await crawl_once(tmp_path, settings(site(server, robots_tags=heeded)))
            return len(server.asked("/feed"))

    assert asyncio.run(crawl()) == (not heeded)
