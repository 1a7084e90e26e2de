"""The example site over HTTP, asked by our own client."""

import asyncio
from typing import Any

import pytest

from recrawl.demo.site import ExampleSite
from recrawl.demo.world import SECTIONS, ExampleWorld, Says
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request, Response
from recrawl.units import SECONDS_A_DAY, http_text

START = 20_000.0
# A page of each section; all of them change at noon of the first day.
PAGES = [(f"/{section.name}/1", number, 1.0) for number, section in enumerate(SECTIONS)]


class HandClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.day = 0.0

    def now(self) -> float:
        return START + self.day

    def seconds(self, days: float) -> float:
        return days * SECONDS_A_DAY

    async def sleep(self, days: float) -> None:
        self.day += days


def ask(
    *requests: tuple[float, str, dict[str, Any]], host: int = 0
) -> tuple[list[Response], ExampleSite]:
    """Answers to requests: the day on which to ask, the path, and the conditions."""
    world = ExampleWorld.of(PAGES, [[START + 0.5]] * len(PAGES), start=START, end=START + 9)
    clock = HandClock()
    site = ExampleSite(world, clock)

    async def all_of_them() -> list[Response]:
        await site.start()
        fetcher = HttpFetcher("test (test@example.org)")
        answers = []
        for day, path, conditions in requests:
            clock.day = day
            request = Request(f"{site.origins[host]}{path}", local=True, **conditions)
            answers.append(await fetcher.fetch(request))
        await fetcher.close()
        await site.close()
        return answers

    return asyncio.run(all_of_them()), site


def path_of(says: Says) -> str:
    return next(f"/{each.name}/1" for each in SECTIONS if each.says is says and each.name)


def test_a_page_changes_when_its_world_does():
    path = path_of(Says.TAG_AND_DATE)
    (before, still, after), _ = ask((0.1, path, {}), (0.4, path, {}), (0.6, path, {}))

    assert before.body == still.body != after.body
    assert before.headers["etag"] == still.headers["etag"] != after.headers["etag"]


def test_dates_are_those_of_the_crawl():
    (answer,), _ = ask((0.75, path_of(Says.DATE), {}))

    assert answer.headers["date"] == http_text((START + 0.75) * SECONDS_A_DAY)
    assert answer.headers["last-modified"] == http_text((START + 0.5) * SECONDS_A_DAY)


@pytest.mark.parametrize("says", [Says.TAG_AND_DATE, Says.DATE])
def test_an_honest_section_answers_conditions_truthfully(says):
    path = path_of(says)
    (first,), _ = ask((0.1, path, {}))
    known = {
        "etag": first.headers.get("etag", ""),
        "modified": first.headers["last-modified"],
    }

    (same, changed), site = ask((0.2, path, known), (0.6, path, known))

    assert (same.status, changed.status) == (304, 200)
    assert site.requests.not_modified == 1


def test_a_tag_goes_before_a_date():
    path = path_of(Says.TAG_AND_DATE)
    later = http_text((START + 9) * SECONDS_A_DAY)

    (answer,), _ = ask((0.6, path, {"etag": '"other"', "modified": later}))

    assert answer.status == 200


def test_a_section_that_says_nothing_has_no_validators_and_a_new_token_each_time():
    path = path_of(Says.NOTHING)
    (one, other), _ = ask((0.1, path, {}), (0.1, path, {}))

    assert not {"etag", "last-modified"} & set(one.headers)
    assert one.body != other.body


def test_a_section_that_lies_is_always_of_now_and_never_unmodified():
    path = path_of(Says.WRONG_DATE)
    now = http_text((START + 0.25) * SECONDS_A_DAY)

    (answer,), _ = ask((0.25, path, {"modified": now}))

    assert answer.status == 200
    assert answer.headers["last-modified"] == now


def test_what_is_gone_moved_or_forbidden_says_so_and_is_counted():
    (gone, moved, hidden), site = ask(
        (0.1, "/docs/retired-1", {}), (0.1, "/archive/old-address", {}), (0.1, "/private/1", {})
    )

    assert (gone.status, moved.status, hidden.status) == (404, 301, 404)
    assert moved.target == f"{site.origins[0]}/archive/1"
    assert site.requests.forbidden == 1
    assert site.requests.all == 3


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/sitemaps/news.xml", "/feed.xml"])
def test_what_leads_to_pages_is_there(path):
    (answer,), site = ask((0.1, path, {}))

    assert answer.status == 200
    assert site.origins[0] in answer.body.decode()


def test_only_this_machine_can_ask():
    _, site = ask()

    assert site.origins[0].startswith("http://127.0.0.1:")


def test_a_host_that_denies_changes_sends_a_page_only_to_who_has_none():
    path = path_of(Says.DENIES)
    since = http_text(START * SECONDS_A_DAY)
    (whole, again), site = ask((0.6, path, {}), (0.7, path, {"modified": since}), host=1)

    assert (whole.status, again.status) == (200, 304)
    assert whole.headers["last-modified"] == since
    assert site.requests.not_modified == 1


def test_a_wall_has_status_200_and_no_page():
    (answer, robots), site = ask(
        (12.5, path_of(Says.DENIES), {}), (12.5, "/robots.txt", {}), host=1
    )

    assert answer.status == 200
    assert b"Checking your browser" in answer.body
    assert b"Disallow" in robots.body
    assert site.requests.walled == 1


def test_each_host_has_pages_of_its_own():
    (answer,), _ = ask((0.1, path_of(Says.DENIES), {}))

    assert answer.status == 404
