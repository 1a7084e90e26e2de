"""Redirects between sites that different slots hold."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from recrawl.crawl.workers.worker import Worker
from recrawl.parse.addresses import host_of
from recrawl.parse.messages import Response
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.settings.slots import slot_of
from recrawl.store import create_store
from recrawl.store.slots.leases import lease_slots, open_slot
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.servers import postgres
from tests.waiting import HANGS_SECONDS

FIRST, SECOND = "https://site0.org", "https://site4.org"
SETTINGS = Settings(
    "test-bot (me@example.org)",
    slots=2,
    rules=(Rule(f"{FIRST}/old", exact=True), Rule(f"{SECOND}/")),
)


class Web:
    """Two sites, the first of which leads to the second.

    Args:
        status: Of the redirect.
        asked: Hosts that are asked through this fetcher.
    """

    def __init__(self, status, asked):
        self.status = status
        self.asked = asked

    async def fetch(self, request, on_send):
        on_send()
        self.asked.add(host_of(request.address))
        if request.address.endswith("/robots.txt"):
            return Response(request.address, 404)
        if request.address == f"{FIRST}/old":
            return Response(request.address, self.status, target=f"{SECOND}/new")
        body = f"<html><body><p>{request.address}</p></body></html>".encode()
        return Response(request.address, 200, {"content-type": "text/html"}, body)

    async def close(self):
        pass


def test_the_sites_lie_in_different_slots():
    assert slot_of(f"{FIRST}/", 2) != slot_of(f"{SECOND}/", 2)


@pytest.mark.parametrize("status", [301, 302])
def test_a_redirect_to_another_slot_is_a_move_that_the_other_slot_follows(status):
    asked = list[set[str]]()

    def record(_):
        asked.append(set())
        return Web(status, asked[-1])

    async def run(place):
        leases = lease_slots(place, 30.0)
        leases.prepare(2)
        worker = Worker(SETTINGS, leases, partial(open_slot, place))
        worker.record = record
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(HANGS_SECONDS):
            while not is_visited(place):
                assert not running.done()
                await asyncio.sleep(0.2)
        worker.stop()
        await running

    def is_visited(place):
        with postgres.reading(place) as reader:
            (page,) = reader.find_pages([f"{SECOND}/new"])
            return page is not None and bool(len(reader.history(page).visit))

    with postgres.place() as place:
        create_store(place).close()
        asyncio.run(run(place))
        with postgres.reading(place) as reader:
            (old,) = reader.find_pages([f"{FIRST}/old"])
            assert old is not None
            assert reader.pages().status[old] == PageStatus.MOVED
            assert reader.history(old).outcome[0] == VisitOutcome.MOVED
            assert reader.moves([old]) == [f"{SECOND}/new"]
    assert len(asked) == 2
    assert all(len(each) == 1 for each in asked)  # nobody asked the other's host
