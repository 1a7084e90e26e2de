"""A request over a kept connection is the one that a session of aiohttp would make."""

import asyncio
import gc
import socket
import tracemalloc
from contextlib import ExitStack

import aiohttp
import pytest
from yarl import URL

from recrawl.fetch.access import AccessTable
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http import kept_connections
from recrawl.fetch.http.client import HttpFetcher
from recrawl.fetch.http.kept_connections import KeptConnections
from recrawl.parse.messages import Request
from recrawl.settings.access_keys import AccessRule
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from tests.fetch.asking import AGENT, SMALL
from tests.fetch.test_faults import FAULTS
from tests.servers.answers import chunked, dripping, in_turn, never, page, raw
from tests.servers.faults import FaultServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


class Greeter:
    """A server that answers all requests alike, and a fetcher to ask it.

    Attributes:
        heard: The heads of its requests.
        writers: One for each of its connections.
    """

    async def __aenter__(self):
        self.heard, self.writers = [], []
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        self._fetcher = HttpFetcher(AGENT)
        return self

    async def __aexit__(self, *_):
        await self._fetcher.close()
        self._server.close()

    async def _answer(self, reader, writer):
        self.writers.append(writer)
        while head := await reader.readuntil(b"\r\n\r\n"):
            self.heard.append(head)
            writer.write(ANSWER)

    async def ask(self, path="/", **headers):
        address = f"http://127.0.0.1:{self._port}{path}"
        return await self._fetcher.fetch(Request(address, **headers, local=True))

    async def say_unasked(self, words):
        """Send something over the first connection, which nobody asked for."""
        self.writers[0].write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + words)
        await asyncio.sleep(0.1)


async def sent(*requests):
    """What a fetcher sends for requests over one connection."""
    async with Greeter() as server:
        for path, headers in requests:
            found = await server.ask(path, **headers)
            assert found.body == b"hi", found
        return server.heard


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


@pytest.mark.parametrize(
    ("behaviour", "limits"),
    [
        (never(), RequestLimits(idle_seconds=0.3)),
        (dripping(b"x" * 1000, 0.05), RequestLimits(total_seconds=0.6)),
        (dripping(b"x" * 1000, 0.05, headers_too=True), RequestLimits(total_seconds=0.6)),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", keep=True), None),
    ],
    ids=["silent", "dripping body", "dripping headers", "silent within the body"],
)
def test_limits_of_time_hold_on_kept_connections(behaviour, limits):
    """No request has a timer of its own there."""
    limits = limits or RequestLimits(idle_seconds=0.3)

    async def asked(*before):
        async with FaultServer({"/": in_turn(*before, behaviour, page(b"b"))}) as server:
            fetcher = HttpFetcher(AGENT, limits)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in (*before, behaviour, "after")]
            await fetcher.close()
            return found

    *_, new, _ = asyncio.run(asked())
    *_, kept, after = asyncio.run(asked(page(b"a")))

    assert (kept.problem, kept.detail) == (new.problem, new.detail)
    assert kept.problem == "timeout"
    assert after.body == b"b"


@pytest.mark.parametrize("size", [0, 1, 70_000, 300_000, 900_000])
def test_bodies_of_any_length_come_whole(size):
    """From about 128 kB on the connection waits until somebody has read."""
    body = bytes(range(256)) * (size // 256 + 1)
    pieces = [body[at : at + 5_000] for at in range(0, len(body), 5_000)]

    async def asked():
        behaviour = in_turn(page(b"a"), page(body), chunked(pieces), page(b"b"))
        async with FaultServer({"/": behaviour}) as server:
            fetcher = HttpFetcher(AGENT, SMALL)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in range(4)]
            await fetcher.close()
            return found, {each.connection for each in server.requests}

    found, connections = asyncio.run(asked())
    assert [each.body for each in found] == [b"a", body, body, b"b"]
    assert connections == {0}


def test_what_comes_unasked_is_taken_for_no_response():
    """A host may send two responses to one request; the second is not that of the next page."""

    async def asked():
        async with Greeter() as server:
            for _ in range(2):
                await server.ask()
            await server.say_unasked(b"evil")
            found = await server.ask()
            return found.body, len(server.writers)

    assert asyncio.run(asked()) == (b"hi", 2)


def test_requests_at_once_get_connections_of_their_own():
    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            await fetcher.fetch(request)
            found = await asyncio.gather(*(fetcher.fetch(request) for _ in range(3)))
            await fetcher.close()
            return [each.body for each in found], {each.connection for each in server.requests}

    assert asyncio.run(asked()) == ([b"a"] * 3, {0, 1, 2})


def test_idle_connections_are_closed_after_a_while(monkeypatch):
    monkeypatch.setattr(kept_connections, "_KEPT_SECONDS", 0.1)

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            for _ in range(2):
                await fetcher.fetch(request)
            opened = fetcher._open_sockets.count
            await asyncio.sleep(0.5)
            left = fetcher._open_sockets.count
            await fetcher.close()
            return opened, left

    assert asyncio.run(asked()) == (1, 0)


def test_credentials_are_written_as_a_session_writes_them(tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", "abc")

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            rule = Rule(server.address("/"), access=AccessRule(token="env:WORD"))
            table = AccessTable(Settings(AGENT, rules=(rule,)), tmp_path)
            fetcher = HttpFetcher(AGENT, access=table)
            for _ in range(2):
                await fetcher.fetch(Request(server.address("/"), etag='"1"', local=True))
            await fetcher.close()
            return [(each.connection, each.headers) for each in server.requests]

    first, second = asyncio.run(asked())
    assert first == second
    assert first[1]["authorization"] == "Bearer abc"


@pytest.mark.parametrize(
    "address",
    [
        "http://a.example/",
        "https://a.example/b?c",
        "https://a.example:8443/",
        "http://[::1]/",
        "http://[::1]:8080/",
        "http://xn--bcher-kva.example/",
    ],
)
def test_an_origin_is_known_by_its_addresses(address):
    """Most addresses name no port, for it is the usual one."""

    async def learned():
        connector, loop = aiohttp.TCPConnector(), asyncio.get_running_loop()
        connections = KeptConnections(connector, RequestLimits(), {})
        request = aiohttp.ClientRequest("GET", URL(address, encoded=True), loop=loop)
        connections.learn(request)
        await connector.close()
        return connections.origin_of(address, request.ssl), request.headers["Host"]

    origin, host = asyncio.run(learned())
    assert origin is not None
    assert origin.head == f" HTTP/1.1\r\nHost: {host}\r\n"


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "first",
    [
        ANSWER + b"H",
        ANSWER + b"HTTP/1.1 200 OK\r\nX: ",
        ANSWER + b"HTTP/1.1 103 Early Hints\r\n\r\n",
        ANSWER + b"HTTP/1.1 110 x\r\nContent-Length: 30\r\n\r\n",
        CHUNKED + b"2\r\nhi\r\n0\r\n\r\n" + ANSWER[:20],
        CHUNKED + b"2\r\nhi\r\n0\r\nX-Late: 1\r\n\r\n",
        CHUNKED + b"1\r\nh\r\n" * 4097 + b"0\r\n\r\n",
    ],
    ids=[
        "a byte",
        "half a head",
        "a remark",
        "a remark with a length",
        "half a head behind chunks",
        "a trailer",
        "as many chunks as make the parser pause",
    ],
)
def test_nothing_of_a_response_is_part_of_the_next(first):
    async def asked():
        behaviour = in_turn(page(b"a"), raw(first, keep=True), page(b"b"))
        async with FaultServer({"/": behaviour}) as server:
            fetcher = HttpFetcher(AGENT, RequestLimits(idle_seconds=2.0))
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in range(3)]
            await fetcher.close()
            return found

    before, _, after = asyncio.run(asked())
    assert (after.body, after.problem) == (b"b", "")
    assert after.headers.keys() == before.headers.keys()


def test_what_came_while_a_session_kept_a_connection_is_no_response():
    """The first request goes through a session, which keeps its connection for the second."""

    async def asked():
        async with Greeter() as server:
            await server.ask()
            await server.say_unasked(b"ev")
            return [await server.ask() for _ in range(2)], len(server.writers)

    (refused, found), connections = asyncio.run(asked())
    assert (refused.problem, refused.stale) == ("dropped", True)
    assert (found.body, connections) == (b"hi", 2)


@pytest.mark.parametrize(
    "rest", [b"zz\r\n", b"0\r\nX: " + b"a" * 100_000], ids=["a wrong chunk", "a huge trailer"]
)
def test_a_body_that_turns_out_to_be_malformed_is_a_bad_answer(rest):
    """Its head was fine, and came before."""

    async def behave(wire):
        await wire.send(CHUNKED + b"2\r\nhi\r\n")
        await asyncio.sleep(0.1)
        await wire.send(rest)
        await asyncio.sleep(5.0)

    async def asked():
        async with FaultServer({"/": in_turn(page(b"a"), behave, page(b"b"))}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in range(3)]
            await fetcher.close()
            return found

    _, broken, after = asyncio.run(asked())
    assert (broken.status, broken.problem) == (200, "bad-answer")
    assert broken.detail.startswith("malformed body (")
    assert after.body == b"b"


def test_connecting_counts_for_what_a_request_may_take():
    """A host that answers once, and from then on lets connections wait in its queue."""
    limits = RequestLimits(connect_seconds=5.0, total_seconds=0.4)

    async def asked():
        loop = asyncio.get_running_loop()
        with socket.socket() as host, ExitStack() as queue:
            host.bind(("127.0.0.1", 0))
            host.listen(0)
            host.setblocking(False)
            fetcher = HttpFetcher(AGENT, limits)
            request = Request(f"http://127.0.0.1:{host.getsockname()[1]}/", local=True)
            first = asyncio.create_task(fetcher.fetch(request))
            with (await loop.sock_accept(host))[0] as accepted:
                await loop.sock_recv(accepted, 1000)
                await loop.sock_sendall(accepted, ANSWER)
                await first
            for _ in range(4):  # more than the queue is long
                waiting = queue.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(host.getsockname())
            await asyncio.sleep(0.1)
            began = loop.time()
            found = await fetcher.fetch(request)
            took = loop.time() - began
            await fetcher.close()
            return found, took

    found, took = asyncio.run(asked())
    assert (found.problem, found.detail) == ("timeout", "response not complete within 0.4 seconds")
    assert took < limits.connect_seconds


def test_what_is_known_of_an_origin_holds_no_response():
    """There may be ten thousand, and the headers of each response may take megabytes."""

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            found = await fetcher.fetch(request)
            gc.collect()
            held = [each for each in gc.get_objects() if type(each) is aiohttp.ClientResponse]
            held = [each for each in held if str(each.url) == request.address]
            await fetcher.close()
            return found.body, len(held)

    assert asyncio.run(asked()) == (b"a", 0)


def test_a_connection_that_waits_for_a_request_holds_no_head():
    """A head may have megabytes, and hundreds of connections may wait."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + b"".join(
        b"X-%d: %s\r\n" % (each, b"a" * 50_000) for each in range(100)
    )

    async def asked():
        async with FaultServer({"/": page(b"a"), "/b": raw(head + b"\r\n", keep=True)}) as server:
            fetcher = HttpFetcher(AGENT)
            sizes = []
            for path in ("/", "/", "/b"):
                found = await fetcher.fetch(Request(server.address(path), local=True))
                assert not found.problem
                del found
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
            opened = fetcher._open_sockets.count
            await fetcher.close()
            return opened, sizes[-1] - sizes[-2]

    tracemalloc.start()
    opened, held = asyncio.run(asked())
    tracemalloc.stop()
    assert opened == 1
    assert held < len(head) // 2
