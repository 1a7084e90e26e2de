"""Lists read from real servers: pages that follow each other, forms, JSON, and what is hostile."""

import asyncio

import pytest

from recrawl.crawl import listing_fetch as listing_fetching
from recrawl.parse.items.item import Layout
from recrawl.parse.items.paging import PageParameter
from tests.crawl.boards import HTML, Board, HandClock, items, keeping


def read(tmp_path, answer, *, robots="", **rule):
    """What is read of a board, and what it was asked."""

    async def go():
        async with Board(answer, robots=robots) as board:
            wanted = board.rule(**rule)
            async with keeping(tmp_path, wanted) as (crawler, _), asyncio.timeout(30):
                found = await crawler._listings._fetcher.read(wanted, 1.0)
            return found, board

    return asyncio.run(go())


def numbers(found):
    return [int(key.rpartition("/")[2]) for key in found.objects]


def page_of(asked, count, size=10, name="p"):
    """Numbers on a page of a list of so many."""
    page = int(asked.sent.get(name, 1))
    return range((page - 1) * size, min(page * size, count))


def test_a_list_of_one_page_is_read(tmp_path):
    found, board = read(tmp_path, lambda _: items([1, 2]))

    assert found.objects == {
        board.address("/jobs/1"): {"title": "Job 1"},
        board.address("/jobs/2"): {"title": "Job 2"},
    }
    assert (found.pages, found.problem) == (1, "")


def test_pages_are_counted_until_nothing_is_new(tmp_path):
    found, board = read(
        tmp_path, lambda asked: items(page_of(asked, 25)), counted=PageParameter("p")
    )

    assert numbers(found) == list(range(25))
    assert [asked.query["p"] for asked in board.requests] == ["1", "2", "3", "4"]


def test_a_counted_page_that_is_not_there_ends_the_list(tmp_path):
    def answer(asked):
        shown = page_of(asked, 20)
        return items(shown) if shown else (404, "no such page")

    found, _ = read(tmp_path, answer, counted=PageParameter("p"))

    assert numbers(found) == list(range(20))
    assert found.problem == ""


def test_a_site_that_shows_its_last_page_again_ends_the_list(tmp_path):
    def answer(asked):
        return items(range(5) if int(asked.query["p"]) < 2 else range(5, 8))

    found, board = read(tmp_path, answer, counted=PageParameter("p"))

    assert numbers(found) == list(range(8))
    assert len(board.requests) == 3


def test_offsets_are_counted_in_steps(tmp_path):
    def answer(asked):
        start = int(asked.query["start"])
        return items(range(start, min(start + 20, 50)))

    found, board = read(tmp_path, answer, counted=PageParameter("start", 0, 20))

    assert numbers(found) == list(range(50))
    assert [asked.query["start"] for asked in board.requests] == ["0", "20", "40", "60"]


def test_links_to_the_next_page_are_followed(tmp_path):
    def answer(asked):
        page = int(asked.query.get("page", 1))
        link = f"<a class=next href='?page={page + 1}'>next</a>" if page < 3 else ""
        return items(page_of(asked, 30, name="page"), link)

    layout = Layout("li.job", "a@href", {}, "a.next")
    found, board = read(tmp_path, answer, layout=layout)

    assert numbers(found) == list(range(30))
    assert len(board.requests) == 3


def test_links_in_a_ring_end(tmp_path):
    def answer(asked):
        page = int(asked.query.get("page", 0))
        return items([page], f"<a class=next href='/jobs?page={(page + 1) % 3}'>next</a>")

    found, board = read(tmp_path, answer, layout=Layout("li.job", "a@href", {}, "a.next"))

    assert numbers(found) == [0, 1, 2]
    assert len(board.requests) <= 7


def test_a_calendar_without_end_ends_after_some_pages_without_anything_new(tmp_path):
    def answer(asked):
        page = int(asked.query.get("page", 0))
        return items(range(3), f"<a class=next href='/jobs?page={page + 1}'>next</a>")

    found, board = read(tmp_path, answer, layout=Layout("li.job", "a@href", {}, "a.next"))

    assert numbers(found) == [0, 1, 2]
    assert len(board.requests) == 4


def test_a_link_that_leads_to_another_site_is_not_followed(tmp_path):
    """Nobody is asked whom nobody named."""
    link = "<a class=next href='http://127.0.0.2:9/jobs'>next</a>"

    found, board = read(
        tmp_path, lambda _: items([1], link), layout=Layout("li.job", "a@href", {}, "a.next")
    )

    assert found.problem == (
        f"{board.address()}: the next page is on another site: http://127.0.0.2:9/jobs"
    )


def test_a_list_of_ever_new_items_is_given_up(tmp_path, monkeypatch):
    """A thousand pages of a real list take long; five are enough to show it."""
    monkeypatch.setattr(listing_fetching, "_MOST_PAGES", 5)

    found, board = read(
        tmp_path, lambda asked: items(page_of(asked, 10**9)), counted=PageParameter("p")
    )

    assert found.problem == (
        f"{board.address()}: the list has more than 5 pages or 200,000 objects"
    )
    assert len(board.requests) == 5


def test_a_page_that_fails_spoils_the_sync(tmp_path):
    """What stood on it must not be taken for gone."""

    def answer(asked):
        return (500, "sorry") if asked.query["p"] == "2" else items(page_of(asked, 30))

    found, board = read(tmp_path, answer, counted=PageParameter("p"))

    assert found.problem == f"{board.address('/jobs?p=2')}: expected status 200, got 500"


def test_several_addresses_are_one_list(tmp_path):
    def answer(asked):
        return items(range(3) if asked.path == "/a" else range(2, 5))

    async def go():
        async with Board(answer) as board:
            rule = board.rule()
            rule = type(rule)("jobs", (board.address("/a"), board.address("/b")), HTML, local=True)
            async with keeping(tmp_path, rule) as (crawler, _):
                return await crawler._listings._fetcher.read(rule, 1.0)

    assert numbers(asyncio.run(go())) == [0, 1, 2, 3, 4]


def test_a_form_is_sent_with_the_number_of_the_page(tmp_path):
    found, board = read(
        tmp_path,
        lambda asked: items(page_of(asked, 15)),
        form=(("q", "bäcker & co"),),
        counted=PageParameter("p"),
    )

    assert numbers(found) == list(range(15))
    assert {asked.method for asked in board.requests} == {"POST"}
    assert [asked.form for asked in board.requests] == [
        {"q": "bäcker & co", "p": page} for page in "123"
    ]


def test_a_form_that_leads_elsewhere_is_followed_without_it(tmp_path):
    def answer(asked):
        return (303, "/found") if asked.path == "/jobs" else items([7])

    found, board = read(tmp_path, answer, form=(("q", "x"),))

    assert numbers(found) == [7]
    assert [(asked.method, asked.path) for asked in board.requests] == [
        ("POST", "/jobs"),
        ("GET", "/found"),
    ]


def test_json_is_read_by_paths(tmp_path):
    jobs = [{"id": n, "title": f"Job {n}", "place": {"city": "Bern"}} for n in range(3)]
    layout = Layout("$.data.jobs[*]", "id", {"title": "title", "city": "place.city"})

    found, _ = read(tmp_path, lambda _: {"data": {"jobs": jobs}}, layout=layout)

    assert found.objects["1"] == {"title": "Job 1", "city": "Bern"}
    assert len(found.objects) == 3


def test_json_leads_on_by_an_address(tmp_path):
    def answer(asked):
        page = int(asked.query.get("page", 1))
        following = f"/jobs?page={page + 1}" if page < 3 else None
        return {"jobs": [{"id": page}], "next": following}

    found, _ = read(tmp_path, answer, layout=Layout("jobs", "id", {}, "next"))

    assert list(found.objects) == ["1", "2", "3"]


def test_json_leads_on_by_a_word_for_the_next_request(tmp_path):
    after = {"": "abc", "abc": "d&e", "d&e": None}

    def answer(asked):
        here = asked.query.get("cursor", "")
        return {"jobs": [{"id": here or "first"}], "next": after[here]}

    found, _ = read(
        tmp_path, answer, layout=Layout("jobs", "id", {}, "next"), counted=PageParameter("cursor")
    )

    assert list(found.objects) == ["first", "abc", "d&e"]


def test_a_word_that_leads_nowhere_spoils_the_sync(tmp_path):
    """Only a page that is counted may be missing."""

    def answer(asked):
        return (404, "gone") if asked.query else {"jobs": [{"id": 1}], "next": "abc"}

    found, board = read(
        tmp_path, answer, layout=Layout("jobs", "id", {}, "next"), counted=PageParameter("cursor")
    )

    assert found.problem == f"{board.address('/jobs?cursor=abc')}: expected status 200, got 404"


def test_what_robots_forbids_is_not_asked_for(tmp_path):
    found, board = read(tmp_path, lambda _: items([1]), robots="User-agent: *\nDisallow: /jobs")

    assert found.problem == f"{board.address()}: robots.txt forbids it"
    assert board.requests == []


def test_a_list_in_another_charset_is_read(tmp_path):
    page = (
        items([1])
        .replace("Job 1", "Bäcker in Zürich")
        .replace("<html>", "<html><meta charset=iso-8859-1>")
    )

    found, board = read(tmp_path, lambda _: page.encode("latin-1"))

    assert found.objects[board.address("/jobs/1")] == {"title": "Bäcker in Zürich"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<div>" * 100_000, "page is nested too deep, or has too many tags"),
        ("<li class=job>" * 5_000 + "x", "key 'a@href' not found in"),
        ("<div class=job>" * 200 + "<a href=/1>x", "items must not lie within each other"),
    ],
    ids=["deep", "nameless", "nested"],
)
def test_hostile_html_is_refused_in_good_time(tmp_path, body, problem):
    layout = Layout(".job", "a@href")

    found, _ = read(tmp_path, lambda _: body, layout=layout)

    assert problem in found.problem


@pytest.mark.parametrize(
    "body",
    [b"[" * 200_000, b'{"jobs": [' + b"9" * 5_000 + b"]}", b'{"jobs": [{"id"', b"\xff\xfe[\x00"],
    ids=["deep", "digits", "cut", "bytes"],
)
def test_hostile_json_is_refused(tmp_path, body):
    found, _ = read(tmp_path, lambda _: body, layout=Layout("$.jobs[*]", "id"))

    assert "must be JSON" in found.problem


def test_a_wall_is_no_empty_list(tmp_path):
    wall = "<title>Just a moment...</title><p>Checking your browser before you continue."

    found, board = read(tmp_path, lambda _: wall)

    assert found.problem == f"{board.address()}: expected the list, got a wall: bot"


def test_a_list_that_says_that_it_has_nothing_is_empty(tmp_path):
    found, _ = read(tmp_path, lambda _: "<h1>Jobs</h1><p>There are no open positions now.")

    assert (found.objects, found.problem) == ({}, "")


def test_requests_wait_their_turn(tmp_path):
    """A robots.txt that asks for ten seconds between requests gets them."""

    async def go():
        clock = HandClock()
        answer = lambda asked: items(page_of(asked, 30))  # noqa: E731 - passed on
        async with Board(answer, robots="User-agent: *\nCrawl-delay: 10") as board:
            rule = board.rule(counted=PageParameter("p"))
            async with keeping(tmp_path, rule, clock) as (crawler, _):
                began = clock.time
                await crawler._listings._fetcher.read(rule, 1.0)
                return (clock.time - began) * 86_400, len(board.requests)

    seconds, requests = asyncio.run(go())

    assert requests == 4
    assert seconds >= 40
