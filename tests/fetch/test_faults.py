"""Whatever a host does, a fetch ends within its limits and says what went wrong."""

import asyncio
import gc
import socket
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.bodies import Body
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from tests.fetch.asking import AGENT, PATIENCE_SECONDS, SMALL, ask, check, fetch_all
from tests.servers.answers import (
    bomb,
    dripping,
    endless,
    hang_up,
    many_headers,
    never,
    packed,
    page,
    raw,
    redirect,
    reset,
    wrong_chunk,
    wrong_length,
)
from tests.servers.faults import FaultServer
from tests.waiting import wait_until

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

FAULTS = {
    # Connections that end.
    "hangs up without a word": (hang_up(), "dropped"),
    "hangs up within the headers": (hang_up(OK + b"Content-Le"), "dropped"),
    "hangs up within the body": (wrong_length(b"hello", 10), "dropped"),
    "hangs up within a chunk": (hang_up(CHUNKED + b"5\r\nhel"), "dropped"),
    "hangs up before the last chunk": (hang_up(CHUNKED + b"5\r\nhello\r\n"), "dropped"),
    "resets without a word": (reset(), "dropped"),
    "resets within the body": (reset(OK + b"Content-Length: 10\r\n\r\nhello"), "dropped"),
    "resets a body without a length": (reset(OK + b"\r\nhello"), "dropped"),
    # No HTTP.
    "sends more than it said": (wrong_length(b"hello", 3), "bad-answer"),
    "sends a chunk of no length": (wrong_chunk(), "bad-answer"),
    "sends a chunk longer than all memory": (raw(CHUNKED + b"f" * 20 + b"\r\nhi"), "bad-answer"),
    "sends two lengths": (
        raw(OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nhi"),
        "bad-answer",
    ),
    "sends a negative length": (raw(OK + b"Content-Length: -2\r\n\r\nhi"), "bad-answer"),
    "sends a length and chunks": (
        raw(OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        "bad-answer",
    ),
    "sends no number as status": (raw(b"HTTP/1.1 abc OK\r\n\r\n"), "bad-answer"),
    "sends a huge status": (raw(b"HTTP/1.1 99999 OK\r\n\r\n"), "bad-answer"),
    "speaks HTTP/0.9": (raw(b"<html>hello</html>"), "bad-answer"),
    "speaks SMTP": (raw(b"220 mail.example ESMTP\r\n"), "bad-answer"),
    "changes the protocol": (
        raw(b"HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello"),
        "bad-answer",
    ),
    "sends a header with a NUL": (raw(OK + b"X: a\0b\r\n\r\n"), "bad-answer"),
    "sends a header with a bare CR": (raw(OK + b"X: a\rSet-Cookie: b\r\n\r\n"), "bad-answer"),
    "sends a huge header": (many_headers(1, 100_000), "bad-answer"),
    "sends a thousand headers": (many_headers(1000), "bad-answer"),
    # Encodings.
    "packs nothing and says gzip": (packed(b"hello", label="gzip"), "bad-encoding"),
    "packs nothing and says br": (packed(b"hello", label="br"), "bad-encoding"),
    "packs nothing and says zstd": (packed(b"hello", label="zstd"), "bad-encoding"),
    "packs gzip and says zstd": (packed(b"hello", "gzip", label="zstd"), "bad-encoding"),
    "sends a part of a gzip stream": (
        raw(OK + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0"),
        "bad-encoding",
    ),
    "names an encoding nobody knows": (packed(b"hello", label="lzma"), "bad-encoding"),
    "packs three times": (packed(b"hello", "gzip", "gzip", "gzip"), "bad-encoding"),
    # Size.
    "sends without end": (endless(), "too-large"),
    "announces too much": (wrong_length(b"hello", 2_000_000), "too-large"),
    "sends a gzip bomb": (bomb(100_000_000, "gzip"), "too-large"),
    "sends a deflate bomb": (bomb(100_000_000, "deflate"), "too-large"),
    "sends a brotli bomb": (bomb(100_000_000, "br"), "too-large"),
    "sends a zstd bomb": (bomb(100_000_000, "zstd"), "too-large"),
    "sends a bomb in a bomb": (bomb(100_000_000, "gzip", "gzip"), "too-large"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_host_that(fault):
    behaviour, problem = FAULTS[fault]
    answer, server = ask(behaviour)

    assert answer.problem == problem, answer.detail
    assert len(server.requests) == 1
    assert answer.seconds < PATIENCE_SECONDS


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_does_not_spoil_the_next_request(fault):
    """The rest of one answer must not be taken for the next: a broken connection is given up."""
    behaviour, problem = FAULTS[fault]
    answer, server = ask(behaviour, times=2)

    assert answer.problem == problem
    if problem in {"dropped", "bad-answer"}:
        assert [seen.connection for seen in server.requests] == [0, 1]


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_costs_no_more_memory_than_its_limit(name):
    """200 MB would come out; 20 MB may be kept, and a little more is in work."""
    behaviour = packed(bytes(200_000_000), name)
    limits = RequestLimits()
    tracemalloc.start()
    try:
        answer, _ = ask(behaviour, limits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert answer.problem == "too-large"
    assert peak < limits.decoded_bytes + 3_000_000


def test_an_endless_body_costs_no_more_memory_than_its_limit():
    tracemalloc.start()
    try:
        answer, _ = ask(endless())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert answer.problem == "too-large"
    assert answer.raw_bytes < SMALL.raw_bytes + 1_000_000
    assert peak < SMALL.raw_bytes + 3_000_000


def test_a_host_that_never_answers_is_left_alone_after_the_idle_limit():
    answer, _ = ask(never(), RequestLimits(idle_seconds=0.3))

    assert (answer.problem, answer.status) == ("timeout", 0)
    assert answer.detail == "no data for 0.3 seconds"
    assert 0.3 <= answer.seconds < PATIENCE_SECONDS


@pytest.mark.parametrize("headers_too", [False, True])
def test_a_host_that_drips_is_left_alone_after_the_total_limit(headers_too):
    """It is never idle for long, but would take an hour."""
    dripped = dripping(b"a" * 100_000, 0.05, headers_too=headers_too)
    answer, _ = ask(dripped, RequestLimits(idle_seconds=30, total_seconds=0.6))

    assert answer.problem == "timeout"
    assert answer.status == (0 if headers_too else 200)
    assert answer.detail == "response not complete within 0.6 seconds"
    assert 0.6 <= answer.seconds < PATIENCE_SECONDS


def test_the_headers_that_came_are_kept_when_the_body_fails():
    answer, _ = ask(wrong_length(b"hello", 10))

    assert (answer.status, answer.body, answer.raw_bytes) == (200, b"", 5)
    assert answer.headers["content-length"] == "10"


def test_a_redirect_leads_on_even_if_its_body_fails():
    head = b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 10\r\n\r\nhello"
    answer, server = ask(hang_up(head))

    assert (answer.problem, answer.target) == ("dropped", server.address("/b"))


def test_only_the_first_hundred_headers_are_kept():
    answer, _ = ask(many_headers(120))

    assert (answer.problem, len(answer.headers)) == ("", 100)


def test_headers_cannot_command_a_terminal():
    answer, _ = ask(raw(OK + b"X: a\x1b[2Jb\x85\r\nContent-Length: 2\r\n\r\nhi"))

    assert answer.headers["x"] == "a[2Jb"


def test_nobody_listening_is_refused():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}/"
        (answer,) = asyncio.run(fetch_all([Request(address, local=True)]))

    assert answer.problem == "refused"


def test_a_host_that_takes_no_more_connections_is_a_timeout():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [_knock(full.getsockname()) for _ in range(4)]
        address = f"http://127.0.0.1:{full.getsockname()[1]}/"
        limits = RequestLimits(connect_seconds=0.4)
        (answer,) = asyncio.run(fetch_all([Request(address, local=True)], limits))
        for one in waiting:
            one.close()

    assert answer.problem == "timeout"
    assert answer.detail == "no connection within 0.4 seconds"


def _knock(place):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(place)
    return one


def test_a_name_that_does_not_exist_is_no_answer():
    """`.invalid` is promised never to be given to anyone."""
    (answer,) = asyncio.run(fetch_all([Request("http://host.invalid/")]))

    assert answer.problem == "dns"


def test_a_network_without_a_way_there_is_unreachable():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        if probe.connect_ex(("fd12:3456:789a::1", 80)) == 0:
            pytest.skip("this machine has a route for every address of IPv6")
    (answer,) = asyncio.run(fetch_all([Request("http://[fd12:3456:789a::1]/", local=True)]))

    assert answer.problem == "unreachable"


@pytest.mark.parametrize(
    "address",
    [
        *("", "not an address", "http://", "http:///a", "http://a b/", "http://a/\r\nX: 1"),
        *("http://example.org:99999/", "ftp://example.org/", "http://127.1/", "http://é.example/"),
        *("http://name:word@example.org/", "http://name@example.org/"),
    ],
)
def test_what_is_no_canonical_address_is_not_asked(address):
    (answer,) = asyncio.run(fetch_all([Request(address)]))

    assert answer.problem == "unreachable"


_WHOLE = OK + b"Content-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n"


@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=60).map(lambda tail: OK + tail),
        st.binary(max_size=60).map(lambda tail: CHUNKED + tail),
        st.tuples(st.integers(0, len(_WHOLE)), st.binary(max_size=9)).map(
            lambda cut: _WHOLE[: cut[0]] + cut[1] + _WHOLE[cut[0] :]
        ),
    )
)
def test_no_answer_whatever_breaks_a_fetch(answer):
    ask(raw(answer))  # which checks what holds of every answer


def test_a_slow_host_does_not_hold_up_the_others():
    async def asked():
        limits = RequestLimits(idle_seconds=5.0)
        async with FaultServer({"/never": never(), "/": page(b"hello")}) as server:
            fetcher = HttpFetcher(AGENT, limits, per_address=100)
            slow = [Request(server.address("/never"), local=True)] * 50
            waiting = [asyncio.create_task(fetcher.fetch(request)) for request in slow]
            quick = await fetcher.fetch(Request(server.address("/"), local=True))
            overtaken = sum(not task.done() for task in waiting)
            for request, task in zip(slow, waiting, strict=True):
                check(request, await task, limits)
            await fetcher.close()
        return quick, overtaken

    quick, overtaken = asyncio.run(asked())
    assert quick.body == b"hello"
    assert overtaken == 50


def test_a_target_with_an_injected_line_is_not_followed_blindly():
    answer, server = ask(redirect("/b\tc"))

    assert answer.target in {"", server.address("/bc")}


@pytest.mark.parametrize(
    "behaviour",
    [bomb(30_000_000, "gzip"), wrong_length(bytes(3_000_000), 4_000_000), reset(OK + b"\r\nhello")],
    ids=["too large", "cut off", "reset"],
)
def test_a_body_that_failed_is_let_go_at_once(behaviour):
    """Not by the next collection of cycles: in a crawl those are rare, and bodies are large."""

    def bodies():
        return [each for each in gc.get_objects() if isinstance(each, Body)]

    async def fetched():
        async with FaultServer({"/": behaviour}) as server:
            gc.collect()
            before = bodies()  # of earlier tests, which may hold what they caught
            gc.disable()
            try:
                await fetch_all([Request(server.address("/"), local=True)] * 2, RequestLimits())
                # A thread that unpacked the last one lets go of it a moment after it said so.
                wait_until(lambda: all(any(body is old for old in before) for body in bodies()))
            finally:
                gc.enable()

    asyncio.run(fetched())
