"""What a fetcher does where the host behaves."""

import asyncio
import time
from pathlib import Path

import pytest

from recrawl.errors import InvalidParameter
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from tests.fetch.asking import AGENT, SMALL, ask, fetch_all
from tests.servers.answers import (
    chunked,
    hang_up,
    in_turn,
    late,
    never,
    packed,
    page,
    raw,
    raw_deflated,
    redirect,
    status,
    wrong_length,
)
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
OPEN_FILES = Path("/proc/self/fd")


def test_a_page_comes_as_it_is():
    answer, _ = ask(page(b"<p>hello</p>", etag='"1"', modified=DATE))

    assert (answer.status, answer.body, answer.raw_bytes) == (200, b"<p>hello</p>", 12)
    assert answer.headers["etag"] == '"1"'
    assert answer.headers["last-modified"] == DATE
    assert answer.ok


def test_a_host_learns_who_asks_and_nothing_else():
    _, server = ask(page(b""))

    sent = server.requests[0].headers
    assert server.requests[0].method == "GET"
    assert sent.pop("host") == f"127.0.0.1:{server.port}"
    assert sent.pop("user-agent") == AGENT
    assert sent.pop("accept-encoding") == "gzip, br, zstd"
    assert "text/html" in sent.pop("accept")
    assert sent == {}


def test_an_unchanged_page_is_not_sent_again():
    strong, _ = ask(page(b"hello", etag='"1"'), etag='"1"')
    weak, _ = ask(page(b"hello", etag='W/"1"'), etag='W/"1"')
    dated, _ = ask(page(b"hello", modified=DATE), modified=DATE)
    other, _ = ask(page(b"hello", etag='"2"', modified=DATE), etag='"1"', modified=DATE)

    assert [answer.status for answer in (strong, weak, dated)] == [304, 304, 304]
    assert [answer.body for answer in (strong, weak, dated)] == [b"", b"", b""]
    assert other.status == 200


def test_validators_are_sent_as_the_host_wrote_them():
    _, server = ask(page(b""), etag='W/"a\\b, c"', modified="yesterday")

    assert server.requests[0].headers["if-none-match"] == 'W/"a\\b, c"'
    assert server.requests[0].headers["if-modified-since"] == "yesterday"


def test_a_validator_that_would_be_two_headers_is_not_sent():
    answer, server = ask(page(b"hello"), etag='"1"\r\nX-Evil: 1', modified="\0")

    assert answer.body == b"hello"
    assert not {"if-none-match", "if-modified-since", "x-evil"} & set(server.requests[0].headers)


def test_the_address_is_sent_letter_by_letter():
    """Quoting it anew would ask for another page than the one that is known."""

    async def asked(path):
        async with FaultServer() as server:
            await fetch_all([Request(server.address(path), local=True)])
        return server.requests[0].path

    for path in ("/a%2Fb?x=%20&y=a+b&z=%41", "/~a;b=1,c/", "/a//b/%7e"):
        assert asyncio.run(asked(path)) == path


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_told_and_not_followed(code):
    answer, server = ask(redirect("../b?c#d", code))

    assert answer.status == code
    assert answer.target == server.address("/b?c")
    assert len(server.requests) == 1


def test_a_loop_is_one_request():
    answer, server = ask(redirect("/"))

    assert answer.target == answer.address
    assert len(server.requests) == 1


@pytest.mark.parametrize("target", ["mailto:someone@example.org", "javascript:x", "http://", ""])
def test_a_redirect_to_what_cannot_be_fetched_has_no_target(target):
    answer, _ = ask(redirect(target))

    assert (answer.status, answer.target, answer.problem) == (301, "", "")


def test_a_redirect_may_name_letters_beyond_ascii():
    utf8, server = ask(raw(b"HTTP/1.1 302 x\r\nLocation: /\xc3\xa9\r\nContent-Length: 0\r\n\r\n"))

    assert utf8.target == server.address("/%C3%A9")


def test_a_location_without_a_redirect_is_no_target():
    answer, _ = ask(status(201, b"", location="/b"))

    assert answer.target == ""


@pytest.mark.parametrize("code", [204, 404, 410, 429, 500, 503])
def test_any_status_is_an_answer(code):
    answer, _ = ask(status(code, b"" if code == 204 else b"sorry", retry_after="120"))

    assert (answer.status, answer.problem) == (code, "")
    assert answer.headers["retry-after"] == "120"


def test_when_to_come_again_may_be_a_date():
    answer, _ = ask(status(429, b"", retry_after=DATE))

    assert answer.headers["retry-after"] == DATE


@pytest.mark.parametrize(
    "names",
    [["gzip"], ["x-gzip"], ["br"], ["zstd"], ["deflate"], ["gzip", "br"], ["zstd", "zstd"]],
)
def test_a_packed_page_is_unpacked(names):
    body = b"hello world, " * 1000
    answer, _ = ask(packed(body, *names))

    assert answer.body == body
    assert answer.raw_bytes == int(answer.headers["content-length"]) < len(body)


def test_deflate_may_lack_its_header():
    answer, _ = ask(raw_deflated(b"hello " * 100))

    assert answer.body == b"hello " * 100


def test_an_empty_page_needs_no_encoding():
    """A host may name one all the same, above all in a 304."""
    answer, _ = ask(status(200, b"", content_encoding="gzip"))

    assert (answer.body, answer.problem) == (b"", "")


def test_a_page_may_come_in_chunks_or_until_the_end_of_the_connection():
    in_chunks, _ = ask(chunked([b"he", b"llo"]))
    until_the_end, _ = ask(hang_up(b"HTTP/1.0 200 OK\r\n\r\nhello"))

    assert in_chunks.body == until_the_end.body == b"hello"


def test_remarks_on_the_way_are_not_the_answer():
    early = b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
    answer, _ = ask(raw(early + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))

    assert (answer.status, answer.body) == (200, b"hi")


def test_a_connection_is_used_again():
    _, server = ask(page(b"hello"), times=3)

    assert [seen.connection for seen in server.requests] == [0, 0, 0]


def test_a_kept_connection_that_was_closed_meanwhile_is_opened_again():
    """The host may have hung up before it saw the request: asking again is no pressing."""
    answer, server = ask(in_turn(page(b"a"), hang_up(), page(b"b")), times=2)

    assert answer.body == b"b"
    assert [seen.connection for seen in server.requests] == [0, 0, 1]


def test_a_host_that_hangs_up_on_a_new_connection_is_asked_once():
    answer, server = ask(hang_up())

    assert answer.problem == "dropped"
    assert len(server.requests) == 1


def test_cookies_are_not_kept():
    _, server = ask(status(200, b"x", set_cookie="id=1; Path=/"), times=2)

    assert "cookie" not in server.requests[1].headers


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    answer, _ = ask(page(b"hello"))

    assert answer.body == b"hello"


def test_times_are_those_of_the_host():
    """But for the time in which a busy machine would not have let us notice."""

    async def asked():
        async with FaultServer({"/": late(page(b"hello"), 0.3)}) as server:
            fetcher = HttpFetcher(AGENT)
            answer = await fetcher.fetch(Request(server.address("/"), local=True))
            await fetcher.close()
            return answer, fetcher._lag._late

    answer, late_by = asyncio.run(asked())
    assert answer.seconds >= answer.waited_seconds >= 0.3 - late_by


def test_time_in_which_the_loop_was_held_up_is_not_the_hosts():
    """It answers soon, and we hear of it when other work has ended."""

    async def asked():
        behaviour = in_turn(page(b"hello"), late(page(b"hello"), 0.2))
        with FaultServer({"/": behaviour}).in_thread() as server:
            fetcher = HttpFetcher(AGENT)
            request = Request(server.address("/"), local=True)
            await fetcher.fetch(request)
            waiting = asyncio.create_task(fetcher.fetch(request))
            while len(server.requests) < 2:  # noqa: ASYNC110 - it is in another thread
                await asyncio.sleep(0.001)
            time.sleep(1.0)  # noqa: ASYNC251 - this is what holds the loop up
            answer = await waiting
            await fetcher.close()
        return answer

    answer = asyncio.run(asked())
    assert answer.seconds >= 1.0
    assert answer.waited_seconds < 0.9


def test_a_cancelled_fetch_ends_and_leaves_the_fetcher_usable():
    async def asked():
        async with FaultServer({"/never": never(), "/": page(b"hello")}) as server:
            fetcher = HttpFetcher(AGENT, SMALL)
            waiting = asyncio.create_task(
                fetcher.fetch(Request(server.address("/never"), local=True))
            )
            await server.wait_for(1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            answer = await fetcher.fetch(Request(server.address("/"), local=True))
            await fetcher.close()
            return answer, server

    answer, server = asyncio.run(asked())
    assert answer.body == b"hello"
    assert server.asked("/")[0].connection == 1


def test_many_requests_at_a_time_do_not_mix():
    async def asked():
        pages = {f"/{number}": page(b"%d" % number) for number in range(200)}
        async with FaultServer(pages) as server:
            fetcher = HttpFetcher(AGENT, per_address=200)
            requests = [Request(server.address(path), local=True) for path in pages]
            answers = await asyncio.gather(*map(fetcher.fetch, requests))
            await fetcher.close()
        return [answer.body for answer in answers]

    assert asyncio.run(asked()) == [b"%d" % number for number in range(200)]


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="needs a system that lists open files")
def test_nothing_stays_open_after_closing():
    def open_files():
        return len(list(OPEN_FILES.iterdir()))

    pages = {"/": page(b"hello"), "/no": hang_up(), "/half": wrong_length(b"hello", 10)}

    async def asked():
        async with FaultServer(pages) as server:
            before = open_files()
            await fetch_all([Request(server.address(path), local=True) for path in pages])
            async with asyncio.timeout(HANGS_SECONDS):
                # The server, too, must see the ends of its connections.
                while open_files() != before:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)

    asyncio.run(asked())


@pytest.mark.parametrize("agent", ["", " ", "a\r\nX-Evil: 1", "naïve"])
def test_an_agent_must_be_a_header(agent):
    with pytest.raises(InvalidParameter, match="agent must be printable ASCII text"):
        HttpFetcher(agent)
