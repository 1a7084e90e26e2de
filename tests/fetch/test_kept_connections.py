"""A request over a kept connection is the one that a session of aiohttp would make."""

import asyncio

import aiohttp
import pytest

from recrawl.fetch.http import kept_connections
from recrawl.fetch.http.client import HttpFetcher
from recrawl.fetch.http.kept_connections import KeptConnections
from recrawl.parse.messages import Request
from tests.fetch.asking import AGENT, SMALL
from tests.fetch.test_faults import FAULTS
from tests.servers.answers import in_turn, page, raw
from tests.servers.faults import FaultServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def sent(*requests):
    """What a fetcher sends for requests over one connection."""
    heard = []

    async def answer(reader, writer):
        while head := await reader.readuntil(b"\r\n\r\n"):
            heard.append(head)
            writer.write(ANSWER)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    fetcher = HttpFetcher(AGENT)
    for path, headers in requests:
        found = await fetcher.fetch(
            Request(f"http://127.0.0.1:{port}{path}", **headers, local=True)
        )
        assert found.body == b"hi", found
    await fetcher.close()
    server.close()
    return heard


@pytest.mark.parametrize(
    "headers", [{}, {"etag": '"ä"'}, {"etag": 'W/"1"', "modified": "Fri, 02 Jan 1970 00:00:00 GMT"}]
)
@pytest.mark.parametrize("path", ["/", "/a%20b?c=%C3%A4&d", "/?", "/x;y"])
def test_the_bytes_of_a_request_are_those_of_a_session(path, headers):
    """The first request opens the connection, through a session; the others use it."""
    first, *others = asyncio.run(sent(*[(path, headers)] * 3))

    assert others == [first, first]


def test_a_second_request_goes_through_no_session(monkeypatch):
    async def refuse(*_, **__):
        pytest.fail("a session was asked")

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            await fetcher.fetch(request)
            with monkeypatch.context() as patch:
                patch.setattr(aiohttp.ClientSession, "_request", refuse)
                found = await fetcher.fetch(request)
            await fetcher.close()
            return found, [each.connection for each in server.requests]

    found, connections = asyncio.run(asked())
    assert (found.body, connections) == (b"a", [0, 0])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_on_a_kept_connection_is_told_as_on_a_new_one(name):
    behaviour, problem = FAULTS[name]

    async def asked(*before):
        async with FaultServer({"/": in_turn(*before, behaviour, page(b"b"))}) as server:
            fetcher = HttpFetcher(AGENT, SMALL)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in (*before, behaviour, "after")]
            if found[-1].stale:  # the host had hung up after the fault
                found[-1] = await fetcher.fetch(request)
            await fetcher.close()
            return found

    *_, new, _ = asyncio.run(asked())
    *_, kept, after = asyncio.run(asked(page(b"a")))

    assert kept.problem == new.problem == problem
    assert kept.stale == (kept.detail == "connection closed before a response")
    assert kept.stale or _told(kept) == _told(new)
    assert after.body == b"b"  # what was left of it is not taken for another response


def _told(answer):
    """What an answer says, without how much had come when it was enough."""
    return answer.status, answer.headers, answer.detail.partition(" (got ")[0]


def test_remarks_on_the_way_are_passed_over():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    async def asked():
        async with FaultServer(
            {"/": in_turn(page(b"a"), raw(hints + ANSWER, keep=True))}
        ) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in range(2)]
            await fetcher.close()
            return found

    assert [each.body for each in asyncio.run(asked())] == [b"a", b"hi"]


def test_other_releases_of_aiohttp_are_asked_through_their_sessions(monkeypatch):
    async def asked(self, *_):
        assert not self._keys

    monkeypatch.setattr(kept_connections, "_TESTED", "0.")
    monkeypatch.setattr(KeptConnections, "ask", asked)
    assert len(asyncio.run(sent(("/", {}), ("/", {})))) == 2
