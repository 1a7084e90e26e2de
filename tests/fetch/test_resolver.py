"""Names are looked up for real where a name of this machine will do. What a hostile name server
answers cannot be had here, so for that the system's resolver is replaced."""

import asyncio
import socket

import pytest

from recrawl.errors import FetchFailed
from recrawl.fetch.http.resolver import GuardedResolver
from recrawl.parse.messages import Request
from tests.fetch.asking import fetch_all
from tests.servers.answers import page
from tests.servers.faults import FaultServer


def resolved(name, *, local=False):
    async def run():
        resolver = GuardedResolver(local=local)
        try:
            return [place["host"] for place in await resolver.resolve(name, 80)]
        finally:
            await resolver.close()

    return asyncio.run(run())


def answering(monkeypatch, *answers):
    """Let the system's resolver give these lists of addresses, one a question; count questions."""
    asked = []

    def getaddrinfo(host, port, family=0, kind=0, *rest, **more):
        asked.append(host)
        return [
            (
                socket.AF_INET6 if ":" in text else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (text, port),
            )
            for text in answers[min(len(asked), len(answers)) - 1]
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_this_machine_is_private_by_name_too():
    with pytest.raises(FetchFailed, match="is not a public address"):
        resolved("localhost")
    assert "127.0.0.1" in resolved("localhost", local=True)


@pytest.mark.parametrize("number", ["2130706433", "0x7f.1", "127.1", "017700000001"])
def test_numbers_that_the_system_takes_for_this_machine_are_private(number):
    with pytest.raises(FetchFailed, match="is not a public address"):
        resolved(number)


@pytest.mark.parametrize("name", ["host.invalid", "a" * 64 + ".example", "a..b", "\ud800.example"])
def test_what_has_no_address_is_an_error_of_the_system(name):
    """Which is what aiohttp takes from any resolver."""
    with pytest.raises(socket.gaierror):
        resolved(name)


def test_of_mixed_answers_only_the_public_are_used(monkeypatch):
    answering(monkeypatch, ["10.0.0.1", "93.184.215.14", "::1", "169.254.169.254"])

    assert resolved("mixed.example") == ["93.184.215.14"]
    assert resolved("mixed.example", local=True) == ["10.0.0.1", "93.184.215.14", "::1"]


def test_the_address_that_was_judged_is_the_one_connected_to(monkeypatch):
    """A name server that answers a second question differently is never asked one."""

    async def asked():
        async with FaultServer({"/": page(b"hello")}) as server:
            questions = answering(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
            address = server.address("/", host="rebinding.example")
            answers = await fetch_all([Request(address, local=True)] * 2)
            return answers, questions, server

    answers, questions, server = asyncio.run(asked())
    assert [answer.body for answer in answers] == [b"hello", b"hello"]
    assert questions == ["rebinding.example"]
    assert server.requests[0].headers["host"] == f"rebinding.example:{server.port}"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"],  # noqa: S104 - not bound to
)
def test_a_private_host_is_never_connected_to(host):
    async def asked():
        async with FaultServer({"/": page(b"secret")}) as server:
            (answer,) = await fetch_all([Request(server.address("/", host=host))])
            return answer, server

    answer, server = asyncio.run(asked())
    assert answer.problem == "private"
    assert server.connections == 0


def test_a_connection_of_a_local_request_is_not_used_for_another():
    async def asked():
        async with FaultServer({"/": page(b"secret")}) as server:
            address = server.address("/")
            return await fetch_all([Request(address, local=True), Request(address)]), server

    (local, public), server = asyncio.run(asked())
    assert (local.body, public.problem) == (b"secret", "private")
    assert len(server.requests) == 1


def test_a_host_whose_first_address_is_dead_is_reached_by_the_next(monkeypatch):
    """Nobody listens on the second address of loopback."""

    async def asked():
        async with FaultServer({"/": page(b"hello")}) as server:
            answering(monkeypatch, ["127.0.0.2", "127.0.0.1"])
            address = server.address("/", host="two.example")
            return await fetch_all([Request(address, local=True)])

    (answer,) = asyncio.run(asked())
    assert answer.body == b"hello"
