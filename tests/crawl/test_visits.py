"""What one visit after the other makes of what a server says."""

import asyncio
from itertools import pairwise

import pytest

from recrawl.store import open_store
from recrawl.visits.status import PageStatus
from tests.crawl.crawls import START, crawl_once, outcomes, page_rule, settings, site, visits
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

FIRST, SECOND = b"<p>one</p>", b"<p>two</p>"


def found_by(tmp_path, behaviour, count=3, **rule):
    """Outcomes of visits to a page that behaves so, and the requests for it."""

    async def crawl():
        async with FaultServer({"/p": behaviour}) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/p", **rule)), count)
            return told[:count], server.asked("/p")

    return asyncio.run(crawl())


def test_equal_bytes_are_the_same_page(tmp_path):
    told, _ = found_by(tmp_path, answers.page(FIRST))

    assert outcomes(told) == ["first", "same", "same"]


def test_other_text_is_a_change(tmp_path):
    behaviour = answers.in_turn(answers.page(FIRST), answers.page(SECOND))

    told, _ = found_by(tmp_path, behaviour)

    assert outcomes(told) == ["first", "changed", "same"]


def test_other_tags_around_the_same_text_are_no_change(tmp_path):
    behaviour = answers.in_turn(answers.page(b"<p>one</p>"), answers.page(b"<div>one</div>"))

    told, _ = found_by(tmp_path, behaviour)

    assert outcomes(told) == ["first", "cosmetic", "same"]


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"'])
def test_a_tag_is_sent_back_as_it_came(tmp_path, tag):
    told, asked = found_by(tmp_path, answers.page(FIRST, etag=tag))

    assert outcomes(told) == ["first", "not_modified", "not_modified"]
    assert [seen.headers.get("if-none-match") for seen in asked[:2]] == [None, tag]


def test_a_date_is_sent_back_as_it_came(tmp_path):
    date = "Mon, 01 Jan 2024 00:00:00 GMT"

    told, asked = found_by(tmp_path, answers.page(FIRST, modified=date))

    assert outcomes(told) == ["first", "not_modified", "not_modified"]
    assert asked[1].headers["if-modified-since"] == date


@pytest.mark.parametrize(
    "trouble",
    [
        answers.status(500),
        answers.status(403, b"<p>who are you?</p>"),
        answers.status(200, b""),
        answers.hang_up(),
        answers.reset(),
        answers.wrong_length(b"<p>half", 100),
        answers.wrong_chunk(),
        answers.packed(SECOND, "gzip", label="br"),
        answers.status(503),
        answers.never(),
        answers.raw(b"no http at all\r\n\r\n"),
    ],
    ids=[
        "500",
        "403",
        "empty",
        "hang-up",
        "reset",
        "length",
        "chunk",
        "label",
        "503",
        "never",
        "raw",
    ],
)
def test_trouble_is_no_change(tmp_path, trouble):
    """The copy from before is what the next visit is compared with.

    Twice, for a kept connection that ends is tried once more.
    """
    behaviour = answers.in_turn(answers.page(FIRST), trouble, trouble, answers.page(FIRST))

    told, _ = found_by(tmp_path, behaviour, 4)

    assert outcomes(told)[:2] == ["first", "failed"]
    assert outcomes(told)[-1] == "same"
    assert "changed" not in outcomes(told)


def test_a_page_that_cannot_be_read_does_not_end_the_crawl(tmp_path):
    """Whatever it holds: here a selector that no parser takes stands in for the unthinkable."""
    told, _ = found_by(tmp_path, answers.page(FIRST), 2, watch=("[[[",))

    assert outcomes(told) == ["failed", "failed"]
    assert told[0].response.problem == "bad-answer"
    assert told[0].response.detail.startswith("the page cannot be read (")


def test_a_redirect_that_may_end_is_followed_at_every_visit(tmp_path):
    async def crawl():
        pages = {"/p": answers.redirect("/q", 302), "/q": answers.page(FIRST, etag='"1"')}
        async with FaultServer(pages) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/p")), 2)
            return told[:2], server.asked("/q")

    told, asked = asyncio.run(crawl())

    assert outcomes(told) == ["first", "same"]
    assert all("if-none-match" not in seen.headers for seen in asked)


def test_validators_of_one_address_are_not_sent_to_another(tmp_path):
    """A page that begins to redirect is compared by its bytes, not by dates of the other."""
    date = "Mon, 01 Jan 2024 00:00:00 GMT"

    async def crawl():
        first = answers.page(FIRST, modified=date)
        pages = {
            "/p": answers.in_turn(first, answers.redirect("/q", 302)),
            "/q": answers.page(SECOND, modified=date),
        }
        async with FaultServer(pages) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/p")), 2)
            return told[:2]

    assert outcomes(asyncio.run(crawl())) == ["first", "changed"]


def test_a_page_that_moved_for_good_becomes_another_page(tmp_path):
    async def crawl():
        pages = {"/p": answers.redirect("/q", 308), "/q": answers.page(FIRST)}
        async with FaultServer(pages) as server:
            told = await crawl_once(tmp_path, settings(site(server, "/p"), site(server, "/q")))
            return told, server

    told, server = asyncio.run(crawl())

    assert sorted((visit.address, visit.outcome.label) for visit in told) == [
        (server.address("/p"), "moved"),
        (server.address("/q"), "first"),
    ]
    with open_store(tmp_path / "recrawl.db") as reader:
        assert set(reader.pages().status.tolist()) == {PageStatus.MOVED, PageStatus.COPIED}


def test_a_page_that_moved_for_good_to_where_no_rule_holds_is_followed(tmp_path):
    async def crawl():
        pages = {"/p": answers.redirect("/q", 301), "/q": answers.page(FIRST)}
        async with FaultServer(pages) as server:
            return (await visits(tmp_path, settings(page_rule(server, "/p")), 1))[:1]

    assert outcomes(asyncio.run(crawl())) == ["first"]


def test_for_good_counts_only_if_every_hop_says_so(tmp_path):
    async def crawl():
        pages = {
            "/p": answers.redirect("/m", 302),
            "/m": answers.redirect("/q", 301),
            "/q": answers.page(FIRST),
        }
        async with FaultServer(pages) as server:
            rules = page_rule(server, "/p"), page_rule(server, "/q", interval=90.0)
            told = await visits(tmp_path, settings(*rules), 2)
            return {visit.address: visit.outcome.label for visit in told[:2]}, server

    told, server = asyncio.run(crawl())

    assert told == {server.address("/p"): "first", server.address("/q"): "first"}


def test_permanent_hops_are_not_asked_again(tmp_path):
    """The temporary ones are, at every visit; a page of the crawl that moved is asked, too."""

    async def crawl():
        pages = {
            "/p": answers.redirect("/m", 302),
            "/m": answers.redirect("/n", 301),
            "/n": answers.redirect("/o", 302),
            "/o": answers.redirect("/q", 308),
            "/q": answers.page(FIRST),
        }
        async with FaultServer(pages) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/p")), 3)
            return told, [len(server.asked(path)) for path in ("/p", "/m", "/n", "/o", "/q")]

    told, asked = asyncio.run(crawl())

    assert {visit.outcome.label for visit in told} == {"first", "same"}
    assert asked[1] == asked[3] == 1
    assert min(asked[0], asked[2], asked[4]) >= 3


def test_a_permanent_hop_that_leads_nowhere_any_more_is_asked_again(tmp_path):
    async def crawl():
        pages = {
            "/p": answers.redirect("/m", 301),
            "/m": answers.in_turn(
                answers.page(FIRST), answers.status(500), answers.page(FIRST), answers.page(FIRST)
            ),
        }
        async with FaultServer(pages) as server:
            await visits(tmp_path, settings(page_rule(server, "/p")), 4)
            return len(server.asked("/p"))

    assert asyncio.run(crawl()) == 2


@pytest.mark.parametrize("code", [301, 302])
def test_a_loop_of_redirects_ends(tmp_path, code):
    async def crawl():
        pages = {"/p": answers.redirect("/q", code), "/q": answers.redirect("/p", code)}
        async with FaultServer(pages) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/p")), 1)
            return told[0], server.requests

    visit, requests = asyncio.run(crawl())

    assert visit.outcome.label == "failed"
    assert "redirects" in visit.response.detail
    assert visit.response.status == code
    assert [seen.path for seen in requests[:3]] == ["/robots.txt", "/p", "/q"]


def test_an_endless_chain_of_redirects_ends(tmp_path):
    async def crawl():
        pages = {f"/{hop}": answers.redirect(f"/{hop + 1}", 302) for hop in range(30)}
        async with FaultServer(pages) as server:
            told = await visits(tmp_path, settings(page_rule(server, "/0")), 1)
            return told[0]

    visit = asyncio.run(crawl())

    assert visit.response.detail.startswith("no end after")


def test_a_page_that_is_gone_is_confirmed_looked_at_ever_more_rarely_and_revived(tmp_path):
    """An hour, a day, two days, four: on a clock with ten days a second."""
    missing = [answers.status(404), answers.status(410), *[answers.status(404)] * 3]

    async def crawl():
        behaviour = answers.in_turn(answers.page(FIRST), *missing, answers.page(SECOND))
        async with FaultServer({"/p": behaviour}) as server:
            asked = settings(page_rule(server, "/p", interval=0.5))
            return await visits(tmp_path, asked, 7, PatientClock(0.1, START))

    told = asyncio.run(crawl())

    assert outcomes(told[:7]) == ["first", *["gone"] * 5, "changed"]
    waits = [after.at - before.at for before, after in pairwise(told[1:7])]
    for wait, least in zip(waits, [1 / 24, 1.0, 2.0, 4.0, 8.0], strict=True):
        assert 0.95 * least <= wait <= least + 1.0


def test_links_are_followed_as_deep_as_asked(tmp_path):
    async def crawl():
        pages = {
            "/": answers.page(b"<a href=/1>1</a><a href=/no>no</a><a href=//127.0.0.2/>x</a>"),
            "/robots.txt": answers.status(200, b"User-agent: *\nDisallow: /no"),
            "/1": answers.page(b"<a href=/2>2</a>"),
            "/2": answers.page(b"<a href=/3>3</a>"),
            "/3": answers.page(b"too deep"),
        }
        async with FaultServer(pages) as server:
            told = await crawl_once(tmp_path, settings(site(server, links=2)))
            return [visit.address.removeprefix(server.address("")) for visit in told]

    assert asyncio.run(crawl()) == ["/", "/1", "/2"]
