"""Large bodies wait for a place in memory; small ones do not."""

import asyncio
import gc
import gzip

import pytest

from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.client import HttpFetcher
from recrawl.fetch.http.large_bodies import SMALL, LargeBodies
from recrawl.parse.messages import Request
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

LARGE = b"<p>large</p>" * (3 * SMALL // 12)
PAGES = {
    "/large": answers.page(LARGE),
    "/zipped": answers.status(200, gzip.compress(LARGE), content_encoding="gzip"),
    "/small": answers.page(b"<p>small</p>"),
    "/never": answers.never(),
}


def fetching(places, work, limits=None):
    async def working():
        async with FaultServer(PAGES) as server, asyncio.timeout(HANGS_SECONDS):
            fetcher = HttpFetcher("bot (me@example.org)", limits)
            fetcher._large = LargeBodies(places)

            async def get(path):
                return await fetcher.fetch(Request(server.address(path), local=True))

            try:
                return await work(get)
            finally:
                await fetcher.close()

    return asyncio.run(working())


@pytest.mark.parametrize("path", ["/large", "/zipped"])
def test_no_more_large_responses_are_in_memory_than_there_are_places(path):
    """A response that nobody has any more makes room for the next."""

    async def work(get):
        waiting = {asyncio.create_task(get(path)) for _ in range(5)}
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 2:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        small = await get("/small")
        late, waiting = await asyncio.wait(waiting, timeout=0.5)
        bodies = {task.result().body for task in done}
        done.clear()
        gc.collect()
        rest = 0
        while waiting:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            rest += sum(task.result().body == LARGE for task in more)
            more.clear()
        return small.ok, len(late), bodies, rest

    assert fetching(2, work) == (True, 0, {LARGE}, 3)


def test_one_that_is_too_large_gives_its_place_back():
    async def work(get):
        return [(await get("/zipped")).problem for _ in range(3)]

    limits = RequestLimits(decoded_bytes=2 * SMALL)
    assert fetching(1, work, limits) == ["too-large"] * 3


def test_a_request_that_is_given_up_gives_its_place_back():
    async def work(get):
        held = await get("/large")
        waiting = asyncio.create_task(get("/large"))
        await asyncio.sleep(0.3)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert held.body == LARGE
        del held
        return [len((await get("/large")).body) for _ in range(3)]

    assert fetching(1, work) == [len(LARGE)] * 3
