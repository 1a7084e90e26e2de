"""A crawl that is killed again and again has told every change that was asked for, in order."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import urllib.request
from collections import Counter
from functools import partial
from itertools import pairwise

from recrawl.clock import ScaledClock
from recrawl.crawl.running import running
from recrawl.publish.retries import Attempt
from recrawl.publish.tasks import Hooks
from recrawl.settings.rules import Rule
from recrawl.store import create_store, open_store
from recrawl.units import utc_text
from recrawl.visits.status import FeedKind
from tests.crawl.crawls import START, settings
from tests.kills.killing import enter, instants, run
from tests.publish.notify.notifying import notifying, target
from tests.publish.notify.people import chatting
from tests.waiting import HANGS_SECONDS

KILLS, LONGEST_SECONDS = 14, 0.5
PAGES, SPELL_SECONDS = 6, 0.05
DAY_SECONDS = 1.0  # of the crawl
EVERY = 0.1  # days
TOLD = range(1, PAGES, 2)  # pages whose changes were asked for
_NOTICE = re.compile(
    r"^changed: .*?(?:, last of (\d+) changes)?\nhttp://\S*/(\d+)\n.*seen (.*) UTC$", re.MULTILINE
)


class Site:
    """Pages that change each time that somebody asks whether they have, but for a short while.

    Whoever asks twice at once, to see what differs by itself, gets the same twice.
    """

    def __init__(self):
        self.texts: Counter[str] = Counter()
        self.changed: dict[str, float] = {}

    def page(self, path, tag):
        if path == "/robots.txt":
            return 404, b"", ""
        now, current = time.monotonic(), f'"{self.texts[path]}"'
        if tag == current and now - self.changed.get(path, 0.0) > SPELL_SECONDS:
            self.texts[path] += 1
            self.changed[path] = now
        elif tag == current:
            return 304, b"", tag
        words = " ".join(f"w{self.texts[path]}x{each}" for each in range(30))
        text = f"<main><h1>Page {path}</h1><p>{words}</main>"
        return 200, text.encode(), f'"{self.texts[path]}"'


async def post(service, message):
    """Send a message as apprise would, in far less time, so that kills come at all instants."""
    body = json.dumps({"title": message.title, "message": message.body}).encode()

    def work():
        try:
            urllib.request.urlopen(service.address, body, timeout=5).close()  # noqa: S310 - ours
        except OSError:
            return Attempt("answered 500")
        return Attempt()

    return await asyncio.get_running_loop().run_in_executor(None, work)


def ours(chat):
    site = f"http://127.0.0.1:{chat.port}"
    told = tuple(f"{site}/{number}" for number in TOLD)
    return target(address=f"{site}/in", every=EVERY, kinds=("changed",), sections=told)


def clock():
    return ScaledClock(DAY_SECONDS, START + time.monotonic() / DAY_SECONDS)


def crawl(store, chat):
    """Crawl and tell until the system ends it."""
    rules = [
        Rule(f"http://127.0.0.1:{chat.port}/{number}", exact=True, interval=0.08, local=True)
        for number in range(PAGES)
    ]
    hooks = Hooks(recipients=(ours(chat),), send=post)

    async def work():
        async with running(
            settings(*rules, together=4), store, clock(), hooks=hooks, seed=1
        ) as crawler:
            enter()
            await crawler.run(found=lambda *_: None)

    asyncio.run(work())


async def tell_the_rest(store, chat):
    async with notifying(store, post, ours(chat), clock=clock()):
        async with asyncio.timeout(HANGS_SECONDS):
            while position(store) != newest(store):  # noqa: ASYNC110 - the store tells
                await asyncio.sleep(0.05)


def position(store):
    with open_store(store) as reader:
        (at,) = reader.destinations()
        return at.cursor


def newest(store):
    with open_store(store) as reader:
        return reader.feed_range().newest


def test_killed_at_random_every_change_is_in_some_message(tmp_path):
    """None is lost, none comes in a message before an older one, and few come twice."""
    store, chance = tmp_path / "recrawl.db", random.Random(11)  # noqa: S311 - instants
    create_store(store).close()
    with chatting(lambda tried: 200 if tried % 4 else 500) as chat:
        chat.pages = Site().page
        kills = killed_until_changes_came(store, chat, chance)
        asyncio.run(tell_the_rest(store, chat))

    changes = changes_of(store)
    told = [covered(body, changes) for body in chat.bodies]
    every = sorted(number for each in changes.values() for _, number in each)
    assert sorted(set().union(*told)) == every
    assert [min(each) for each in told] == sorted(min(each) for each in told)
    assert [max(each) for each in told] == sorted(max(each) for each in told)
    assert sum(bool(one & other) for one, other in pairwise(told)) <= kills  # the last one again


def killed_until_changes_came(store, chat, chance):
    """Kill crawls so often at least, and until enough has changed; how often that was.

    On a busy machine a crawl comes to nothing in half a second: then the next may live longer.
    """
    kills, longest = 0, LONGEST_SECONDS
    while kills < KILLS or sum(map(len, changes_of(store).values())) <= KILLS:
        before = newest(store)
        seconds = instants(chance, longest)
        assert run(partial(crawl, store, chat), 1, seconds).inside
        kills += 1
        longest *= 1.0 if newest(store) > before or seconds < longest / 2 else 1.5
        assert longest < HANGS_SECONDS
    return kills


def changes_of(store):
    """Changes of each page that were asked for: when each was seen, and its number."""
    found: dict[int, list[tuple[str, int]]] = {number: [] for number in TOLD}
    with open_store(store) as reader:
        for event in (event for batch in reader.events() for event in batch):
            page = int(event.address.rpartition("/")[2])
            if page in found and event.kind is FeedKind.CHANGED:
                found[page].append((utc_text(event.at_seconds), event.number))
    return found


def covered(body, changes):
    """Numbers of the events that a message tells of: so many of a page up to the last."""
    notices = _NOTICE.findall(body)
    assert len(notices) == body.count("://"), body
    found: set[int] = set()
    for times, page, seen in notices:
        ours = changes[int(page)]
        last = [at for at, _ in ours].index(seen) + 1
        found |= {number for _, number in ours[last - int(times or 1) : last]}
    return found
