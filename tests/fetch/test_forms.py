"""Forms that are sent to a real server."""

import asyncio

import pytest

from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.items.paging import form_text
from recrawl.parse.messages import Request
from tests.crawl.boards import Board

AGENT = "test-bot (me@example.org)"


def sent(form, answer=lambda _: "<p>thanks"):
    """What a server gets, and what it answers."""

    async def go():
        async with Board(answer) as board:
            fetcher = HttpFetcher(AGENT)
            try:
                request = Request(board.address("/find?a=1"), local=True, form=form)
                said = await fetcher.fetch(request)
            finally:
                await fetcher.close()
            return said, board.requests

    return asyncio.run(go())


@pytest.mark.parametrize(
    "pairs",
    [[("q", "baker")], [("q", "Zürich & Bern = 2+2?"), ("page", "1")], [("empty", "")], []],
    ids=["plain", "odd", "empty", "nothing"],
)
def test_a_form_comes_as_it_was_sent(pairs):
    said, (asked,) = sent(form_text(pairs))

    assert (said.status, said.body) == (200, b"<p>thanks")
    assert (asked.method, asked.path, asked.query) == ("POST", "/find", {"a": "1"})
    assert asked.form == dict(pairs)


def test_without_a_form_it_is_an_ordinary_request():
    _, (asked,) = sent(None)

    assert (asked.method, asked.form) == ("GET", {})


def test_where_a_form_leads_is_told_and_not_followed():
    said, requests = sent("q=1", lambda _: (303, "/found"))

    assert said.target.endswith("/found")
    assert len(requests) == 1
