"""Webhooks beside the visits of a crawl."""

import asyncio

from recrawl.crawl.running import running
from recrawl.fetch.fetcher import RequestLimits
from recrawl.publish.tasks import Hooks
from recrawl.settings.rules import Rule
from recrawl.store import create_store, open_store
from tests.crawl.crawls import START, settings
from tests.publish.webhooks.receivers import receiving
from tests.waiting import HANGS_SECONDS, PatientClock

VISITS = 40
PATIENT = RequestLimits(idle_seconds=HANGS_SECONDS, total_seconds=HANGS_SECONDS)


def test_visits_do_not_wait_for_a_receiver_that_hangs(tmp_path):
    """Its first attempt is still under way when all visits are made, and is cut off at the end."""
    path = tmp_path / "recrawl.db"
    create_store(path).close()
    told = []

    async def crawl(receivers):
        root = f"http://127.0.0.1:{receivers.port}"
        rules = [Rule(f"{root}/{page}", exact=True, interval=0.02, local=True) for page in "ab"]
        hooks = Hooks((receivers.target("/hangs"),), PATIENT)

        def tell(visit):
            told.append(visit)
            if len(told) == VISITS:
                crawler.stop()

        clock = PatientClock(1.0, START)
        async with (
            running(settings(*rules), path, clock, on_visit=tell, hooks=hooks, seed=1) as crawler,
            asyncio.timeout(HANGS_SECONDS),
        ):
            await crawler.run(found=lambda *_: None)

    with receiving({"/hangs": lambda number, tried: 0}) as receivers:
        receivers.pages = lambda _: (200, b"<p>tea")
        asyncio.run(crawl(receivers))

    assert len(told) >= VISITS
    assert sum(receivers.tried.values()) == 1
    with open_store(path) as reader:
        (at,) = reader.destinations()
        assert (at.cursor, at.attempts) == (0, 0)
