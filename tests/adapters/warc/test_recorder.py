"""What is fetched is written before it is handed on, and as it was."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from recrawl.adapters.warc.fetches import WarcIndex, body_key
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.adapters.warc.recorder import WarcRecorder
from recrawl.errors import CannotWrite
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from tests.adapters.warc.warcs import files_in, left_open, of_kind, read, read_folder
from tests.noise import noise
from tests.servers import answers
from tests.servers.faults import FaultServer

AGENT = "test-bot (me@example.org)"
LIMITS = RequestLimits(connect_seconds=1.0, idle_seconds=0.3, total_seconds=0.5, raw_bytes=100_000)
BODY = b"<p>" + bytes(range(256)) * 40 + "é☃</p>".encode()
DATED = "Fri, 02 Jan 1970 00:00:00 GMT"


@asynccontextmanager
async def recording(fetcher, folder, **more):
    """A fetcher that records, closed twice."""
    async with WarcRecorder(folder, **more) as recorder:
        recorded = recorder.wrap(fetcher)
        try:
            yield recorded
        finally:
            await recorded.close()
            await recorded.close()


def fetch(folder, pages, *wanted):
    """Fetch paths, each with the validators of a copy or without, and write all of it down."""

    async def work():
        async with FaultServer(pages) as server:
            requests = [
                replace(Request(server.address(path), *validators), local=True)
                for path, *validators in wanted
            ]
            async with recording(HttpFetcher(AGENT, LIMITS), WarcFolder(folder, AGENT)) as fetcher:
                found = [await fetcher.fetch(request) for request in requests]
        return found, server

    return asyncio.run(work())


@pytest.mark.parametrize("name", [*answers.PACK, "gzip, br", "deflate, gzip", "none", "chunked"])
def test_a_body_is_kept_as_it_was_before_it_was_packed(tmp_path, name):
    if name == "chunked":
        page = answers.chunked([BODY[:100], BODY[100:]])
    else:
        page = answers.packed(BODY, *(() if name == "none" else name.split(", ")))
    fetch(tmp_path, {"/": page}, ["/"])

    (response,) = of_kind(read_folder(tmp_path), "response")
    named = dict(response.headers)
    assert response.body == BODY
    assert named["content-length"] == str(len(BODY))
    assert named["content-type"] == "text/html; charset=utf-8"
    assert named.get("x-crawl-content-encoding", "none") in (name, "none", "")
    assert named.get("x-crawl-transfer-encoding", "") == ("chunked" * (name == "chunked"))
    assert not named.keys() & {"transfer-encoding"}


def test_a_request_is_kept_as_the_server_got_it(tmp_path):
    paths = ["/", "/a/b?c=d&e=%20f", "/a//b", "/%C3%A9;x"]
    wanted = [[path, '"1"', DATED] for path in paths]
    _, server = fetch(tmp_path, {}, *wanted)

    requests = of_kind(read_folder(tmp_path), "request")
    got = [(f"GET {seen.path} HTTP/1.1", seen.headers) for seen in server.requests]
    kept = [
        (request.first, {name.lower(): value for name, value in request.headers})
        for request in requests
    ]
    assert kept == got
    assert [list(headers) for _, headers in kept] == [list(headers) for _, headers in got]


def test_a_page_that_stays_is_written_once(tmp_path):
    page = answers.page(BODY, etag='"1"', modified=DATED)
    fetch(tmp_path, {"/": page}, ["/"], ["/", '"1"', DATED], ["/"])

    first, unchanged, same = of_kind(read_folder(tmp_path), "response", "revisit")
    assert first.body == BODY
    assert unchanged.first == "HTTP/1.1 304 Not Modified"
    assert same.first == "HTTP/1.1 200 OK"
    for revisit in (unchanged, same):
        assert revisit.fields["warc-refers-to"] == first.fields["warc-record-id"]
        assert revisit.fields["warc-refers-to-date"] == first.fields["warc-date"]


def test_what_goes_wrong_is_told(tmp_path):
    pages = {
        "/late": answers.never(),
        "/dropped": answers.wrong_length(b"abc", 10),
        "/bad": answers.raw(b"no HTTP\r\n\r\n"),
        "/packed": answers.packed(b"abc", label="gzip"),
        "/large": answers.endless(),
    }
    found, _ = fetch(tmp_path, pages, *([path] for path in pages))

    records = of_kind(read_folder(tmp_path), "metadata")
    said = [dict(line.split(": ", 1) for line in r.body.decode().splitlines()) for r in records]
    assert [each["problem"] for each in said] == [answer.problem for answer in found]
    assert [each["detail"] for each in said] == [answer.detail for answer in found]
    assert {each["problem"] for each in said} == {
        "timeout",
        "dropped",
        "bad-answer",
        "bad-encoding",
        "too-large",
    }


def test_headers_that_attack_a_reader_harm_nobody(tmp_path):
    raw = (
        b"HTTP/1.1 200 OK\r\nX-A: a\rWARC/1.1\x0b\x00b\r\nX-B: \x85\xe9\r\n"
        b"Content-Encoding: identity\r\nContent-Length: 5\r\nWARC-Type: request\r\n\r\nhello"
    )
    fetch(
        tmp_path,
        {"/": answers.raw(raw), "/many": answers.many_headers(90, 900)},
        ["/"],
        ["/many"],
    )

    records = read_folder(tmp_path)
    assert [record.kind for record in records if record.kind != "metadata"] == [
        "warcinfo",
        *["response", "request"] * (len(of_kind(records, "response"))),
    ]
    many = of_kind(records, "response")[-1]
    assert many.address.endswith("/many")
    assert "x-crawl-headers-left-out" in dict(many.headers)


def test_an_answer_is_written_when_it_is_handed_on(tmp_path):
    """So a visit that a crawl keeps is never missing here."""

    async def work():
        async with FaultServer({"/": answers.page(BODY)}) as server:
            folder = WarcFolder(tmp_path, AGENT)
            async with recording(HttpFetcher(AGENT, LIMITS), folder) as fetcher:
                await fetcher.fetch(Request(server.address("/"), local=True))
                (scratch,) = left_open(tmp_path)
                kept = read(scratch.read_bytes())
        return kept

    kept = asyncio.run(work())
    assert [record.kind for record in kept] == ["warcinfo", "response", "request"]
    assert left_open(tmp_path) == []


def test_what_is_written_is_known_for_good_after_a_while(tmp_path):
    """Without anything else being fetched."""

    def is_known():
        known = WarcIndex(tmp_path / "index.db")
        try:
            return known.find(body_key(BODY)) is not None
        finally:
            known.close()

    async def work():
        async with FaultServer({"/": answers.page(BODY)}) as server:
            folder = WarcFolder(tmp_path, AGENT)
            asked = Request(server.address("/"), local=True)
            async with recording(HttpFetcher(AGENT, LIMITS), folder, sync_seconds=0.05) as fetcher:
                await fetcher.fetch(asked)
                async with asyncio.timeout(20):
                    while not is_known():  # noqa: ASYNC110 - a file tells nobody that it has grown
                        await asyncio.sleep(0.02)

    asyncio.run(work())


def test_many_at_once_are_all_written(tmp_path):
    bodies = {f"/{number}": noise(5000, number) for number in range(200)}
    pages = {path: answers.page(body) for path, body in bodies.items()}

    async def work():
        async with FaultServer(pages) as server:
            files = WarcFolder(tmp_path, AGENT, largest_bytes=100_000)
            requests = [Request(server.address(path), local=True) for path in bodies]
            async with recording(HttpFetcher(AGENT, per_address=200), files) as fetcher:
                await asyncio.gather(*map(fetcher.fetch, requests))

    asyncio.run(work())
    records = of_kind(read_folder(tmp_path), "response")
    assert {f"/{r.address.rpartition('/')[2]}": r.body for r in records} == bodies
    assert len(files_in(tmp_path)) > 5


def test_a_fetch_that_is_given_up_does_no_harm(tmp_path):
    async def work():
        async with FaultServer({"/": answers.never(), "/b": answers.page(BODY)}) as server:
            first, second = (Request(server.address(path), local=True) for path in ("/", "/b"))
            async with recording(HttpFetcher(AGENT), WarcFolder(tmp_path, AGENT)) as fetcher:
                waiting = asyncio.create_task(fetcher.fetch(first))
                await server.wait_for(1)
                waiting.cancel()
                await asyncio.wait([waiting])
                await fetcher.fetch(second)

    asyncio.run(work())
    assert [record.body for record in of_kind(read_folder(tmp_path), "response")] == [BODY]


def test_a_folder_that_cannot_be_written_is_told_to_all_who_fetch(tmp_path):
    """A new file cannot be begun in a folder that is gone."""

    async def work():
        async with FaultServer({"/": answers.page(BODY)}) as server:
            folder = tmp_path / "gone"
            request = Request(server.address("/"), local=True)
            async with recording(HttpFetcher(AGENT), WarcFolder(folder, AGENT)) as fetcher:
                folder.rename(tmp_path / "elsewhere")
                both = (fetcher.fetch(request), fetcher.fetch(request))
                found = await asyncio.gather(*both, return_exceptions=True)
        return found

    found = asyncio.run(work())
    assert [type(error) for error in found] == [CannotWrite, CannotWrite]
    assert " cannot be written (no such file or directory)" in str(found[0])


def test_the_fetchers_of_a_process_share_a_recorder(tmp_path):
    """As the slots of a worker do: each comes and goes, and one folder has all that they fetch."""
    bodies = {f"/{number}": noise(500, number) for number in range(3)}

    async def work():
        async with (
            FaultServer({path: answers.page(body) for path, body in bodies.items()}) as server,
            WarcRecorder(WarcFolder(tmp_path, AGENT)) as recorder,
        ):
            for path in bodies:
                fetcher = recorder.wrap(HttpFetcher(AGENT))
                await fetcher.fetch(Request(server.address(path), local=True))
                await fetcher.close()

    asyncio.run(work())
    assert len(files_in(tmp_path)) == 1
    found = [record.body for record in of_kind(read_folder(tmp_path), "response")]
    assert found == list(bodies.values())
