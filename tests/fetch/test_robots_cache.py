"""What origins allow: by scheme, host and port, within bounds, and never by a clock ahead."""

from __future__ import annotations

import asyncio

import pytest

from recrawl.clock import RealClock
from recrawl.crawl.worker_threads import WorkerThreads
from recrawl.entries.entries import RobotsRead
from recrawl.fetch import robots_cache
from recrawl.fetch.robots_cache import RobotsCache
from recrawl.frontier.host_table import HostTable
from recrawl.parse.messages import Response
from recrawl.store import create_store, open_store
from recrawl.units import SECONDS_A_DAY

ALL, NONE = b"User-agent: *\nAllow: /\n", b"User-agent: *\nDisallow: /\n"
OURS = "https://ours.org"
DELAY = 10 / SECONDS_A_DAY


class Cache:
    """A cache over a store, as a crawl has it."""

    def __init__(self, path, *, read=()):
        self.clock = RealClock()
        self.hosts = HostTable(delay=1 / SECONDS_A_DAY)
        self.store = create_store(path)
        self.store.write(list(read))
        self.reader = open_store(path)
        self.robots = RobotsCache(
            self.hosts,
            self.clock,
            "recrawl",
            load=self.reader.robots,
            write=lambda entry: self.store.write([entry]),
            is_ours=lambda address: address.startswith(("http://ours.org", OURS)),
            run=WorkerThreads().run,
        )
        self.robots.resume(self.reader.robots_read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.store.close()

    async def read(self, origin, body, *, status=200):
        response = Response(f"{origin}/robots.txt", status=status, body=body)
        return await self.robots.read(origin, response, stranger=False)

    async def allows(self, address, origin):
        permission = await self.robots.known(origin)
        return permission and permission.robots.allows(address)


def cached(path, work, **rest):
    async def working():
        with Cache(path, **rest) as cache:
            return await work(cache)

    return asyncio.run(working())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def test_http_and_https_of_a_host_have_rules_of_their_own(path):
    """RFC 9309, 2.3: what http allows says nothing of https."""

    async def work(cache):
        await cache.read("http://ours.org", ALL)
        unknown = await cache.robots.known(OURS)
        await cache.read(OURS, NONE)
        return (
            unknown,
            await cache.allows("http://ours.org/secret", "http://ours.org"),
            await cache.allows(f"{OURS}/secret", OURS),
        )

    assert cached(path, work) == (None, True, False)


def test_what_is_at_hand_is_in_memory_and_holds(path, monkeypatch):
    """A file in the store is not at hand until it was asked for, nor is one of yesterday."""

    async def work(cache):
        cache.store.write([RobotsRead(OURS, cache.clock.now() * SECONDS_A_DAY, 200, NONE)])
        stored = cache.robots.at_hand(OURS)
        known = await cache.robots.known(OURS)
        at_hand = cache.robots.at_hand(OURS)
        tomorrow = cache.clock.now() + 1.01  # a fast machine comes here at the same instant
        monkeypatch.setattr(cache.clock, "now", lambda: tomorrow)
        return stored, at_hand is known, cache.robots.at_hand(OURS), await cache.robots.known(OURS)

    assert cached(path, work) == (None, True, None, None)


def test_the_longest_delay_of_its_origins_is_that_of_a_host(path):
    async def work(cache):
        host, delays = cache.hosts.row("ours.org"), []
        for origin, seconds in [(OURS, 30), ("http://ours.org", 10), (OURS, 5)]:
            await cache.read(origin, ALL + b"Crawl-delay: %d\n" % seconds)
            delays.append(round(cache.hosts.delay(host) * SECONDS_A_DAY))
        await cache.read("http://ours.org", ALL)
        await cache.read(OURS, ALL)
        return [*delays, round(cache.hosts.delay(host) * SECONDS_A_DAY)]

    assert cached(path, work) == [30, 30, 10, 1]


def test_a_host_in_trouble_keeps_the_delay_that_it_asked_for(path):
    """Until its robots.txt can be read again, and after a restart as well."""

    async def work(cache):
        host = cache.hosts.row("ours.org")
        await cache.read(OURS, b"User-agent: *\nCrawl-delay: 10\n")
        await cache.read(OURS, b"", status=500)
        found = [cache.hosts.delay(host), cache.reader.robots(OURS).delay]
        await cache.read(OURS, ALL)
        return [*found, cache.hosts.delay(host), cache.reader.robots(OURS).delay]

    assert cached(path, work) == [pytest.approx(DELAY)] * 2 + [pytest.approx(DELAY / 10), None]


def test_files_of_strangers_are_not_written_down(path):
    async def work(cache):
        await cache.read(OURS, ALL)
        await cache.read("https://h1.evil.net", ALL)
        return [read.origin for read in cache.reader.robots_read()]

    assert cached(path, work) == [OURS]


def test_a_thousand_hosts_take_no_more_than_their_share(path, monkeypatch):
    """The least recently used go; those of ours are looked up again, those of others asked for."""
    monkeypatch.setattr(robots_cache, "MOST_BYTES", 1 << 20)
    rules = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % number for number in range(300))

    async def work(cache):
        await cache.read(OURS, NONE)
        for number in range(1000):
            await cache.read(f"https://h{number}.evil.net", rules)
        kept, taken = len(cache.robots._known), cache.robots._bytes
        return (
            kept,
            taken,
            await cache.allows(f"{OURS}/a", OURS),
            await cache.robots.known("https://h0.evil.net"),
            await cache.allows("https://h999.evil.net/7", "https://h999.evil.net"),
        )

    kept, taken, ours, first, last = cached(path, work)
    assert 1 < kept < 20
    assert taken <= 1 << 20
    assert (ours, first, last) == (False, None, False)


def test_a_restart_reads_no_file_before_it_is_needed(path):
    """It knows the delays, and which hosts are left alone."""
    now = RealClock().now() * SECONDS_A_DAY
    read = [
        RobotsRead(OURS, now - 60, 200, NONE, DELAY),
        RobotsRead("https://in-trouble.org", now - 60, 503, None),
    ]

    async def work(cache):
        ours, other = cache.hosts.row("ours.org"), cache.hosts.row("in-trouble.org")
        before = len(cache.robots._known)
        delay, left_alone = cache.hosts.delay(ours), cache.hosts.ready(other)
        return before, delay, left_alone > cache.clock.now(), await cache.allows(f"{OURS}/a", OURS)

    assert cached(path, work, read=read) == (0, pytest.approx(DELAY), True, False)


@pytest.mark.parametrize("days", [-1.1, 0.01, 1.0, 3650.0], ids=["old", "soon", "day", "years"])
def test_what_is_old_or_was_read_in_the_future_is_asked_for_again(path, days):
    """A clock that was ahead must not keep a file for ever."""
    at = (RealClock().now() + days) * SECONDS_A_DAY

    async def work(cache):
        return await cache.robots.known(OURS)

    assert cached(path, work, read=[RobotsRead(OURS, at, 200, NONE)]) is None


def test_a_large_file_is_read_beside_the_loop(path):
    """The loop goes on meanwhile."""
    rules = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % number for number in range(30_000))

    async def work(cache):
        steps = 0

        async def step():
            nonlocal steps
            while True:
                await asyncio.sleep(0)
                steps += 1

        stepping = asyncio.create_task(step())
        await cache.read(OURS, rules)
        stepping.cancel()
        return steps, await cache.allows(f"{OURS}/29999", OURS)

    steps, allowed = cached(path, work)
    assert steps > 10
    assert allowed is False
