"""A crawl that is killed again and again has told its receivers exactly what it saw."""

from __future__ import annotations

import asyncio
import random
import time
from functools import partial

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.publish.tasks import Hooks
from recrawl.settings.rules import Rule
from recrawl.store import create_store
from tests.crawl.crawls import START, settings
from tests.kills.killing import enter, instants, run
from tests.publish.followed import truth_of
from tests.publish.webhooks.receivers import LIMITS, delivering, receiving
from tests.waiting import HANGS_SECONDS

KILLS, LONGEST_SECONDS = 25, 0.5
PAGES, SPELL_SECONDS = 8, 0.15
KINDS = {"changed", "removed", "back"}
DAY_SECONDS = 1.0  # of the crawl; three days of attempts take three seconds

BAD = {
    "/fine": {},
    "/failing": {0: 500, 1: 503},
    "/hanging": {0: 0},
    "/hanging-up": {0: -1},
    "/redirecting": {0: 307, 1: 301},
    "/leaving": {0: 410},
}


def answering(path, well):
    """Fail at every fifth event at first, in the way of the path; not at all once all is well."""

    def answer(number, tried):
        if well or number % 5:
            return 200
        return BAD[path].get(tried, 200)

    return answer


def page(path):
    """A page by the time: another text in each spell, gone in some."""
    number = int(path.strip("/") or 0) if path.strip("/").isdigit() else 0
    spell = int(time.monotonic() / SPELL_SECONDS) + number
    if path == "/robots.txt" or (number >= PAGES // 2 and spell % 6 in (3, 4)):
        return 404, b"<p>no such page"
    text = " ".join(f"w{spell}x{each}" for each in range(30))
    return 200, f"<main><h1>Page {number}</h1><p>{text}</main>".encode()


def crawl(store, receivers):
    """Crawl and deliver until the system ends it."""
    clock = ScaledClock(DAY_SECONDS, START + time.monotonic() / DAY_SECONDS)
    rules = [
        Rule(f"http://127.0.0.1:{receivers.port}/{number}", exact=True, interval=0.08, local=True)
        for number in range(PAGES)
    ]
    targets = tuple(receivers.target(path) for path in BAD)

    async def work():
        async with running(
            settings(*rules, together=4), store, clock, hooks=Hooks(targets, LIMITS), seed=1
        ) as crawler:
            enter()
            await crawler.run(found=lambda *_: None)

    asyncio.run(work())


async def deliver_the_rest(store, receivers, newest):
    """Deliver by hand what is left, also to the one that had enough."""
    clock = ScaledClock(DAY_SECONDS, START + time.monotonic() / DAY_SECONDS)
    targets = [receivers.target(path) for path in BAD]
    async with delivering(store, *targets, clock=clock, by_hand=True):
        async with asyncio.timeout(HANGS_SECONDS):
            while any(last_of(receivers, path) != newest for path in BAD):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


def last_of(receivers, path):
    taken = receivers.ids(path)
    return int(taken[-1].rpartition("-")[2]) if taken else 0


def test_killed_at_random_every_receiver_has_the_truth(tmp_path):
    store, chance = tmp_path / "recrawl.db", random.Random(7)  # noqa: S311 - instants
    well: list[str] = []
    create_store(store).close()
    with receiving({path: answering(path, well) for path in BAD}) as receivers:
        receivers.pages = page
        kill_until_all_kinds_came(store, receivers, chance)
        truth, events = truth_of(store)
        newest = len(events)
        well.append("all")
        asyncio.run(deliver_the_rest(store, receivers, newest))

    assert receivers.wrong == []
    assert truth
    for path in BAD:
        assert receivers.mirror(path) == truth, path
        told = list(dict.fromkeys(receivers.ids(path)))
        assert [int(each.rpartition("-")[2]) for each in told] == list(range(1, newest + 1)), path


def kill_until_all_kinds_came(store, receivers, chance):
    """Kill crawls so often at least, and until pages have changed, gone and come back.

    On a busy machine a crawl comes to nothing in half a second: then the next may live longer.
    One that was to live for an instant only says nothing about that.
    """
    kills, longest, seen = 0, LONGEST_SECONDS, 0
    while kills < KILLS or not set(truth_of(store)[1].values()) >= KINDS:
        seconds = instants(chance, longest)
        assert run(partial(crawl, store, receivers), 1, seconds).inside
        kills += 1
        before, seen = seen, len(truth_of(store)[1])
        longest *= 1.0 if seen > before or seconds < longest / 2 else 1.5
        assert longest < HANGS_SECONDS
