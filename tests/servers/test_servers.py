"""The servers that other tests lean on do what they say, by Python's own HTTP client."""

import http.client
import time

from tests.servers.answers import in_turn, late, page, redirect, status
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS


def get(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANGS_SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def test_a_server_in_a_thread_answers_and_writes_down():
    with FaultServer({"/": page(b"hello", etag='"1"')}).in_thread() as server:
        assert get(server, "/")[:2] == (200, b"hello")
        assert get(server, "/", **{"If-None-Match": 'W/"1"'})[:2] == (304, b"")
        assert get(server, "/nowhere?a=b")[0] == 404

    assert [seen.path for seen in server.requests] == ["/", "/", "/nowhere?a=b"]
    assert [seen.connection for seen in server.requests] == [0, 1, 2]
    assert server.requests[1].headers["if-none-match"] == 'W/"1"'


def test_pages_may_change_while_the_server_runs():
    with FaultServer({"/": in_turn(page(b"a"), page(b"b"))}).in_thread() as server:
        seen = [get(server, "/")[1] for _ in range(3)]
        server.pages["/"] = status(410)
        assert get(server, "/")[0] == 410

    assert seen == [b"a", b"b", b"b"]


def test_gaps_are_those_between_requests():
    with FaultServer({"/": redirect("/")}).in_thread() as server:
        get(server, "/")
        time.sleep(0.2)
        assert get(server, "/")[2]["Location"] == "/"

    (gap,) = server.gaps()
    assert gap >= 0.2


def test_a_server_ends_although_an_answer_is_due():
    began = time.monotonic()
    with FaultServer({"/": late(page(b""), 3600)}).in_thread() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANGS_SECONDS)
        connection.request("GET", "/")
        while not server.requests:
            time.sleep(0.01)
    connection.close()

    assert time.monotonic() - began < HANGS_SECONDS
