"""The tools for agents, called by the SDK's own client: over standard streams, and in process."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from recrawl.serve.agents import agent_server
from recrawl.serve.source import ServedCrawl
from tests.cli import crawls, running
from tests.preloaded import RECRAWL
from tests.serve.api_server import HOSTILE, PAGES, crawl_store, write_settings
from tests.servers import answers
from tests.servers.faults import FaultServer


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = write_settings(tmp_path_factory.mktemp("agents"))
    crawl_store(file)
    return file


def call(server, *calls):
    """What some tools answer: values, and sentences of errors."""

    async def ask():
        async with Client(server) as client:
            found = []
            for name, given in calls:
                result = await client.call_tool(name, given)
                (part,) = result.content
                assert isinstance(part, TextContent)
                text = part.text
                found.append(text if result.is_error else json.loads(text))
            return found

    return asyncio.run(ask())


def test_the_tools_only_read(file):
    async def ask():
        async with Client(agent_server(ServedCrawl(file))) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(ask())}
    assert set(tools) == {"get_copy", "changes_since", "why", "status", "search_pages"}
    assert all(tool.annotations.read_only_hint for tool in tools.values())


def test_an_agent_asks_over_standard_streams(file):
    command = StdioServerParameters(command=RECRAWL, args=["mcp", "--settings", str(file)])
    copy, status, found = call(
        command,
        ("get_copy", {"url": PAGES[0]}),
        ("status", {}),
        ("search_pages", {"words": "s1", "host": "a.org"}),
    )
    assert PAGES[0] in copy["markdown"]
    assert HOSTILE not in copy["markdown"]
    assert 0 < copy["fresh"] < 1
    assert status["pages"] == len(PAGES)
    assert {each["address"] for each in found["pages"]} == {PAGES[1], PAGES[4]}


def test_what_changed_is_read_to_the_end(file):
    server = agent_server(ServedCrawl(file))
    (first,) = call(server, ("changes_since", {"limit": 5}))
    assert (len(first["events"]), first["more"]) == (5, True)
    server = agent_server(ServedCrawl(file))
    (rest,) = call(server, ("changes_since", {"cursor": first["cursor"], "limit": 200}))
    ids = [each["id"] for each in first["events"] + rest["events"]]
    assert len(ids) == len(set(ids)) >= len(PAGES)
    assert not rest["more"]


def test_a_copy_says_how_sure_it_is(file):
    unsure, odd, unknown, why = call(
        agent_server(ServedCrawl(file)),
        ("get_copy", {"url": PAGES[0], "fresh": 0.9999}),
        ("get_copy", {"url": PAGES[0], "fresh": 7}),
        ("why", {"url": "https://a.org/none"}),
        ("why", {"url": PAGES[0]}),
    )
    assert unsure["fresh_enough"] is False
    assert "--fetch" in unsure["why_not"]
    assert isinstance(odd, str)
    assert "no page https://a.org/none" in unknown
    assert why["page"] == PAGES[0] or why["words"]


def test_a_server_that_may_fetch_visits_the_page_first(tmp_path):
    with FaultServer({"/": answers.page(b"<p>first version")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server, top='budget = "100000/1d"')
        assert running.run("crawl", "--once", cwd=tmp_path).code == 0
        server.pages["/"] = answers.page(b"<p>second version")
        tools = agent_server(ServedCrawl(tmp_path / "recrawl.toml"), fetches=True)
        (copy,) = call(tools, ("get_copy", {"url": server.address("/"), "fresh": 0.9999999}))

    assert copy["visited"]
    assert "second version" in copy["markdown"]
