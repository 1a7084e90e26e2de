"""Open connections: so many to one address, none repeated at once, and none without a file."""

import asyncio
import errno
import socket
import ssl
from functools import partial

import pytest
import trustme

from recrawl.fetch.http import client
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from recrawl.parse.ports import BLOCKED_PORTS, blocked_port
from tests.fetch.asking import AGENT, ask
from tests.fetch.sockets import connected_to
from tests.servers.answers import hang_up, in_turn, page, reset
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS


@pytest.mark.parametrize("ends", [reset(), hang_up()], ids=["reset", "closed"])
def test_a_kept_connection_that_has_ended_is_told_and_not_asked_again_at_once(ends):
    async def asked():
        async with FaultServer({"/": in_turn(page(b"a"), ends, page(b"b"))}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            found = [await fetcher.fetch(request) for _ in range(2)]
            count = len(server.requests)
            found.append(await fetcher.fetch(request))
            await fetcher.close()
            return found, count

    found, count = asyncio.run(asked())
    assert count == 2
    assert [answer.problem for answer in found] == ["", "dropped", ""]
    assert [answer.stale for answer in found] == [False, True, False]


def test_a_new_connection_that_ends_is_none_to_be_asked_again():
    answer, _ = ask(reset())

    assert (answer.problem, answer.stale) == ("dropped", False)


def test_a_form_is_never_sent_twice():
    async def asked():
        async with FaultServer({"/": in_turn(page(b"a"), reset())}) as server:
            fetcher = HttpFetcher(AGENT)
            await fetcher.fetch(Request(server.address("/"), local=True))
            found = await fetcher.fetch(Request(server.address("/"), local=True, form="a=1"))
            await fetcher.close()
            return found

    answer = asyncio.run(asked())
    assert (answer.problem, answer.stale) == ("dropped", False)


@pytest.mark.parametrize("ending", ["keep-alive", "close"])
@pytest.mark.parametrize("secure", [False, True])
def test_no_connection_is_open_after_close(secure, ending):
    """With TLS both sides say goodbye, and a server may never do so."""
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)

    async def asked(server):
        fetcher = HttpFetcher(AGENT, tls=trusted)
        found = await fetcher.fetch(Request(server.address("/"), local=True))
        before = connected_to(server.port)
        await fetcher.close()
        return found, before, connected_to(server.port)

    pages = {"/": page(b"a", Connection=ending)}
    with FaultServer(pages, tls=tls if secure else None).in_thread() as server:
        answer, before, after = asyncio.run(asked(server))

    assert answer.body == b"a", answer.detail
    assert (before, after) == (1, 0)


@pytest.mark.parametrize("port", [1, 22, 25, 6000, 6667, 10080])
def test_nothing_is_asked_at_a_port_of_another_service(port):
    async def asked():
        fetcher = HttpFetcher(AGENT)
        found = await fetcher.fetch(Request(f"http://127.0.0.1:{port}/", local=True))
        await fetcher.close()
        return found, fetcher._sessions

    answer, sessions = asyncio.run(asked())
    assert answer.problem == "private"
    assert (
        answer.detail == f"port {port} is not one that web servers use; no requests are made to it"
    )
    assert not sessions  # none was ever opened


def test_ports_of_web_servers_are_open():
    assert not BLOCKED_PORTS & {80, 443, 591, 8000, 8008, 8080, 8443, 8888, 3000, 5000, 9000}
    assert not blocked_port(None)


def test_only_so_many_requests_go_to_one_address_whatever_its_names():
    """Two ports of one address, as two names would be; the rest are told to come later."""
    under_way, most, go = 0, 0, asyncio.Event()

    async def counted(wire):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await go.wait()
        under_way -= 1
        await page(b"hello")(wire)

    async def asked():
        async with (
            asyncio.timeout(HANGS_SECONDS),
            FaultServer({"/": counted}) as one,
            FaultServer({"/": counted}) as two,
        ):
            fetcher = HttpFetcher(AGENT, per_address=4)
            servers = [one, two] * 5
            tasks = [
                asyncio.create_task(fetcher.fetch(Request(server.address("/"), local=True)))
                for server in servers
            ]
            ended = asyncio.as_completed(tasks)
            for _ in range(6):
                await next(ended)
            go.set()
            found = await asyncio.gather(*tasks)
            for left in ended:
                await left
            # Connections are kept now, and make no difference.
            go.clear()
            again = [asyncio.create_task(fetcher.fetch(Request(one.address("/"), local=True)))]
            again += [asyncio.create_task(fetcher.fetch(Request(two.address("/"), local=True)))]
            again += [asyncio.create_task(fetcher.fetch(Request(one.address("/"), local=True)))]
            await one.wait_for(sum(not answer.problem for answer in found[::2]) + 2)
            go.set()
            later = await asyncio.gather(*again)
            await fetcher.close()
            return found, later, dict(fetcher._addresses._under_way)

    found, later, under_way_in_the_end = asyncio.run(asked())
    problems = [answer.problem for answer in found]
    assert sorted(problems) == [""] * 4 + ["overloaded"] * 6
    details = {answer.detail for answer in found if answer.problem}
    assert details == {"4 other requests to 127.0.0.1 are under way"}
    assert most <= 4
    assert all(answer.ok for answer in later)
    assert under_way_in_the_end == {}


def test_the_wait_for_a_free_file_ends(monkeypatch):
    """In a sentence that says what would help, and blames nobody."""

    class NoFiles(socket.socket):
        def __init__(self, *_):
            raise OSError(errno.EMFILE, "Too many open files")

    async def asked():
        fetcher = HttpFetcher(AGENT)
        fetcher._longest_wait_for_file = 0.0
        found = await fetcher.fetch(Request("http://127.0.0.1:8080/", local=True))
        await fetcher.close()
        return found

    monkeypatch.setattr(client, "_CountedSocket", NoFiles)
    answer = asyncio.run(asked())
    assert answer.problem == "overloaded"
    assert answer.detail == (
        "the process may open no more files; a higher limit (`ulimit -n`) would help"
    )


def test_a_request_is_told_to_be_sent_when_nothing_of_ours_is_left_to_wait_for():
    """So whoever counts seconds between requests counts those that the host sees."""

    async def asked():
        answered = asyncio.Event()
        sent: list[str] = []

        async def slow(wire):
            await answered.wait()
            await page(b"a")(wire)

        async with FaultServer({"/": slow}) as server:
            fetcher = HttpFetcher(AGENT, connections=1)
            request = Request(server.address("/"), local=True)
            both = [
                asyncio.create_task(fetcher.fetch(request, partial(sent.append, name)))
                for name in ("first", "second")
            ]
            async with asyncio.timeout(HANGS_SECONDS):
                while not server.requests:  # noqa: ASYNC110 - there is no event to wait for
                    await asyncio.sleep(0.01)
            before = list(sent)
            answered.set()
            await asyncio.gather(*both)
            await fetcher.close()
            return before, sent

    assert asyncio.run(asked()) == (["first"], ["first", "second"])


def test_a_request_that_must_not_be_sent_is_not():
    def refuse():
        raise LookupError

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT, connections=1)
            request = Request(server.address("/"), local=True)
            with pytest.raises(LookupError):
                await fetcher.fetch(request, refuse)
            count = server.connections
            found = await fetcher.fetch(request)  # the connection is free again
            await fetcher.close()
            return count, found.ok

    assert asyncio.run(asked()) == (0, True)


def test_a_request_waits_for_a_free_file_before_it_is_sent(monkeypatch):
    tries = []

    class FewFiles(socket.socket):
        def __init__(self, *more, **named):
            tries.append(sent.copy())
            if len(tries) <= 2:
                raise OSError(errno.EMFILE, "Too many open files")
            super().__init__(*more, **named)

    sent: list[str] = []

    async def asked():
        async with FaultServer({"/": page(b"a")}) as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            monkeypatch.setattr(socket, "socket", FewFiles)
            found = await fetcher.fetch(request, lambda: sent.append("sent"))
            monkeypatch.undo()
            await fetcher.close()
            return found.ok

    monkeypatch.setattr(client, "_WAIT_FOR_FILE_SECONDS", 0.01)
    assert asyncio.run(asked())
    assert tries[:3] == [[], [], []]
    assert sent == ["sent"]
